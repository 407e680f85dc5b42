"""A fair test of the digit model: 300 digits as strokes, and 120 numbers whose digits touch, drawn,
taken apart and prepared by the page's own code.

Their ways of writing, sizes, brushes and tilts are those of tests/data/make_stroke_digits.py and
make_touching_digits.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow_build.paths import ROOT

BATCH = 100

PREPARE = """async (ink, examples) => {
    const load = path => import(new URL(path, document.baseURI));
    const [{ splitDigits }, { prepareDigit }, { piecesOf }, { SIDE }] = await Promise.all(
        ["prepare/split.js", "prepare/digit.js", "prepare/touching.js", "widgets/pad/pad.js"]
            .map(load));
    const canvas = new OffscreenCanvas(SIDE, SIDE);
    const drawn = new ink.Ink(canvas.getContext("2d", { willReadFrequently: true }));
    window.parts = examples.map(({ width, strokes }) => {
        drawn.clear();
        for (const [[x, y], ...others] of strokes) {
            drawn.begin({ width, erases: false }, { x, y });
            for (const [x, y] of others) drawn.extend({ x, y });
            drawn.end();
        }
        return splitDigits(drawn.read()).map(part =>
            ({ part, pieces: piecesOf(part, drawn.layers) }));
    });
    return window.parts.map(parts => parts.map(({ pieces }) => pieces.map(({ digit }) =>
        Array.from(prepareDigit(digit.ink, digit.width, digit.height)))));
}"""
CHOOSE = """({ likeliest }, shares) => window.parts.map((parts, i) => parts.map(
    ({ part, pieces }, j) => likeliest(part, pieces, shares[i][j])))"""

Reader = Callable[[str], tuple[list[dict[str, Any]], list[str], list[int]]]


@pytest.fixture
def read(module: Any) -> Reader:
    """read(file): the examples of tests/data, the number read from each, and how many
    pictures the network was asked about."""
    model = ROOT / "models" / "mnist"
    card = json.loads((model / "card.json").read_text("utf-8"))
    session = tl.onnx.load(model / "mnist.onnx").session(device="numpy", shapes={"N": BATCH})
    name, output = card["input"]["name"], card["output"]["name"]

    def shares_of(pictures: list[list[float]]) -> np.ndarray:
        padded = np.zeros((-(-len(pictures) // BATCH) * BATCH, 1, 28, 28), np.float32)
        padded[: len(pictures)] = np.float32(pictures).reshape(-1, 1, 28, 28)
        batches = padded.reshape(-1, BATCH, 1, 28, 28)
        logits = np.concatenate([session.run({name: some})[output] for some in batches])
        powers = np.exp(logits.astype(np.float64) - logits.max(1, keepdims=True))
        return (powers / powers.sum(1, keepdims=True))[: len(pictures)]

    def take(file: str) -> tuple[list[dict[str, Any]], list[str], list[int]]:
        examples = json.loads((ROOT / "tests" / "data" / file).read_text("utf-8"))
        prepared = module("./widgets/pad/ink.js", PREPARE, examples)
        found = iter(shares_of([p for parts in prepared for pieces in parts for p in pieces]))
        shares = [[[next(found) for _ in pieces] for pieces in parts] for parts in prepared]
        lists = [[[s.tolist() for s in pieces] for pieces in parts] for parts in shares]
        chosen = module("./prepare/touching.js", CHOOSE, lists)
        numbers = [
            "".join(str(pieces[i].argmax()) for pieces, row in zip(*one, strict=True) for i in row)
            for one in zip(shares, chosen, strict=True)
        ]
        return examples, numbers, [sum(map(len, parts)) for parts in prepared]

    return take


def test_thick_thin_small_large_tilted_and_off_centre_digits_are_read(read: Reader) -> None:
    examples, numbers, asked = read("stroke_digits.json")
    assert len(examples) >= 200
    pairs = list(zip(examples, numbers, strict=True))
    wrong = [f"{e['kind']}: read as {n}" for e, n in pairs if n != str(e["digit"])]
    right = 1 - len(wrong) / len(examples)
    print(f"{right:.2%} of {len(examples)} are read; wrong:", *wrong, sep="\n  ")
    assert not [f"{e['kind']}: split into {n}" for e, n in pairs if len(n) != 1]
    assert set(asked) == {1}  # no answer takes longer because digits might touch
    assert right >= 0.97, wrong


def test_digits_that_touch_are_read_as_a_number(read: Reader) -> None:
    examples, numbers, asked = read("touching_digits.json")
    assert len(examples) >= 60
    pairs = list(zip(examples, numbers, strict=True))
    wrong = [f"{e['kind']}: read as {n}" for e, n in pairs if n != e["number"]]
    right = 1 - len(wrong) / len(examples)
    print(f"{right:.2%} of {len(examples)} are read, of up to {max(asked)} pictures; wrong:")
    print(*wrong, sep="\n")
    assert max(asked) <= 20
    assert right >= 0.9, wrong
