"""A fair test of the digit model: 300 digits as strokes, drawn and prepared by the page's own code.

Their ways of writing, sizes, brushes and tilts are tests/data/make_stroke_digits.py's.
"""

from __future__ import annotations

import json

import numpy as np

import tallow as tl
from tallow_build.paths import ROOT

BATCH = 100

PREPARE = """async (ink, digits) => {
    const [{ splitDigits }, { prepareDigit }, { SIDE }] = await Promise.all(
        ["./prepare/split.js", "./prepare/digit.js", "./widgets/pad.js"].map(path =>
            import(new URL(path, document.baseURI))));
    const canvas = new OffscreenCanvas(SIDE, SIDE);
    const drawn = new ink.Ink(canvas.getContext("2d", { willReadFrequently: true }));
    return digits.map(({ width, strokes }) => {
        drawn.clear();
        for (const [[x, y], ...others] of strokes) {
            drawn.begin({ width, erases: false }, { x, y });
            for (const [x, y] of others) drawn.extend({ x, y });
            drawn.end();
        }
        return splitDigits(drawn.read(), SIDE, SIDE).map(part =>
            Array.from(prepareDigit(part.ink, part.width, part.height)));
    });
}"""


def test_thick_thin_small_large_tilted_and_off_centre_digits_are_read(module):
    digits = json.loads((ROOT / "tests" / "data" / "stroke_digits.json").read_text("utf-8"))
    assert len(digits) >= 200
    prepared = module("./widgets/ink.js", PREPARE, digits)
    split = [d["kind"] for d, parts in zip(digits, prepared, strict=True) if len(parts) != 1]
    pictures = np.float32([parts[0] for parts in prepared]).reshape(-1, BATCH, 1, 28, 28)
    model = ROOT / "models" / "mnist"
    card = json.loads((model / "card.json").read_text("utf-8"))
    session = tl.onnx.load(model / "mnist.onnx").session(device="numpy", shapes={"N": BATCH})
    name, output = card["input"]["name"], card["output"]["name"]
    answers = np.concatenate([session.run({name: some})[output] for some in pictures]).argmax(1)
    wrong = [
        f"{each['kind']}: read as {answer}"
        for each, answer in zip(digits, answers.tolist(), strict=True)
        if answer != each["digit"]
    ]
    right = 1 - len({*wrong}) / len(digits)
    print(f"{right:.2%} of {len(digits)} are read; wrong:", *wrong, sep="\n  ")
    assert not split, split
    assert right >= 0.97, wrong
