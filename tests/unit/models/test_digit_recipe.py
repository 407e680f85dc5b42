"""The recipe of the digit network: its changes of pictures, and the file that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from models.mnist.augment import augment
from models.mnist.network import DigitNetwork, write
from models.mnist.strokes import drawn_digits

import tallow as tl
from tallow import nn, optim
from tallow_build.paths import ROOT

pytestmark = pytest.mark.unit

DRAWN = np.stack([picture for _, picture in drawn_digits(0.12, repeats=1)])


def changed(lightly: float) -> np.ndarray:
    tl.manual_seed(5)
    return augment(tl.asarray(DRAWN), lightly).numpy()


def test_changed_digits_are_prepared_as_on_the_page() -> None:
    """They fit the box, with a tenth more at most, and their mass is near the middle."""
    pictures = changed(0.0)
    assert pictures.shape == DRAWN.shape
    assert pictures.min() >= 0 and pictures.max() <= 1
    for picture in pictures:
        for axis in (0, 1):
            inked = np.flatnonzero((picture > 0.3).any(axis))
            assert inked[-1] - inked[0] + 1 <= 24
            middle = picture.sum(1 - axis) @ np.arange(28) / picture.sum()
            assert 13.5 - 1.3 < middle < 14.5 + 1.3
    longer = [max(np.ptp(np.flatnonzero((p > 0.3).any(axis))) for axis in (0, 1)) for p in pictures]
    assert min(longer) >= 15


def test_digits_change_lightly_or_not() -> None:
    """A light change leaves more of the picture, and no two changes are the same."""
    light, full = (np.abs(changed(share) - DRAWN).mean() for share in (1.0, 0.0))
    assert 0.01 < light < 0.75 * full
    tl.manual_seed(5)
    twice = augment(tl.asarray(np.stack([DRAWN[0]] * 2)), 0.0).numpy()
    assert np.abs(twice[0] - twice[1]).max() > 0.2


def test_an_upright_stroke_can_become_thicker_and_thinner() -> None:
    stroke = np.zeros((64, 28, 28), np.float32)
    stroke[:, 4:24, 13:15] = 1
    tl.manual_seed(1)
    ink = augment(tl.asarray(stroke), 0.0).numpy().sum((1, 2))
    assert ink.min() < 35 and ink.max() > 90


def test_what_is_written_answers_as_the_network(tmp_path: Path) -> None:
    """After some steps, whose statistics batch norm then has: they are folded into the file."""
    tl.manual_seed(2)
    network = DigitNetwork()
    card = json.loads((ROOT / "models" / "mnist" / "card.json").read_text("utf-8"))
    folded = sum(p.size for p in network.parameters()) - 16 - 24 - 32 - 64 - 64
    assert folded == card["parameters"]
    optimizer = optim.AdamW(network.parameters(), lr=3e-3)
    x = tl.asarray(DRAWN[:, None])
    labels = tl.asarray(np.int32([digit for digit, _ in drawn_digits(0.12, repeats=1)]))
    losses = []
    for _ in range(6):
        loss = nn.functional.cross_entropy(network(x), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]
    path = tmp_path / "digits.onnx"
    write(network.eval(), path)
    made, shipped = (onnx.load(str(p)) for p in (path, ROOT / "models" / "mnist" / "mnist.onnx"))
    onnx.checker.check_model(made, full_check=True)
    kinds = [n.op_type for n in made.graph.node]
    assert kinds == [n.op_type for n in shipped.graph.node]
    (got,) = onnxruntime.InferenceSession(str(path)).run(None, {"image": DRAWN[:5, None]})
    np.testing.assert_allclose(got, network(x[:5]).numpy(), rtol=1e-3, atol=1e-3)
