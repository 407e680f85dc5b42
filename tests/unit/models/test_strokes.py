"""The recipe prepares the digits that it draws as MNIST's were."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from models.mnist.strokes import CANVAS, DIGITS, Stroke, drawn_digits, polyline, prepare, shaky

from tallow_build.paths import ROOT

pytestmark = pytest.mark.unit


def test_each_digit_fits_the_box_and_is_centred_by_its_mass() -> None:
    pairs = list(drawn_digits(0.1, repeats=1))
    assert [digit for digit, _ in pairs] == [d for d, ways in enumerate(DIGITS) for _ in ways]
    for digit, picture in pairs:
        assert picture.shape == (28, 28) and picture.min() >= 0 and picture.max() <= 1, digit
        inked = [np.flatnonzero(picture.any(axis)) for axis in (0, 1)]
        assert max(indices[-1] - indices[0] + 1 for indices in inked) == 20, digit
        for axis in (0, 1):
            middle = picture.sum(1 - axis) @ (np.arange(28) + 0.5) / picture.sum()
            assert 14 <= middle <= 15 + 1e-6, digit


def test_the_reduction_keeps_the_mean_of_the_area() -> None:
    ink = np.zeros((80, 60), np.uint8)
    ink[10:70, 20:40] = 255
    picture = prepare(ink)
    assert np.isclose(picture.sum(), 20 * 7)  # 6.67 columns, rounded to 7, all of them full
    assert np.flatnonzero(picture.any(1)).size == 20


def test_a_smooth_stroke_passes_through_its_points() -> None:
    stroke = Stroke(((0.0, 0.0), (0.5, 1.0), (1.0, 0.0)), smooth=True)
    path = polyline(stroke, pieces=4)
    for point in stroke.points:
        assert np.isclose(path, point).all(1).any()


def test_the_page_prepares_a_drawing_in_the_same_way(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    inks = [shaky(way, 0.12, random) for ways in DIGITS for way in ways]
    (tmp_path / "inks").write_bytes(np.stack(inks).tobytes())
    script = f"""
        import {{ readFileSync, writeFileSync }} from "node:fs";
        import {{ prepareDigit }} from "{(ROOT / "web" / "prepare" / "digit.js").as_uri()}";
        const [inks, side] = [readFileSync("inks"), {CANVAS}];
        const pictures = new Float32Array({len(inks)} * 784);
        for (let i = 0; i < {len(inks)}; i++) {{
          const ink = inks.subarray(i * side * side, (i + 1) * side * side);
          pictures.set(prepareDigit(ink, side, side), i * 784);
        }}
        writeFileSync("pictures", Buffer.from(pictures.buffer));
    """
    command = ["node", "--input-type=module", "--eval", script]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    found = np.fromfile(tmp_path / "pictures", "<f4").reshape(-1, 28, 28)
    np.testing.assert_allclose(found, np.stack([prepare(ink) for ink in inks]), atol=1e-6)
