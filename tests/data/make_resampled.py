"""Writes resampled.json: what Pillow's BICUBIC makes of pictures that a formula gives, to test
web/prepare/resample.js against it without Pillow.

    python tests/data/make_resampled.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

SIDES = (1, 90, 256, 400)
STEP = 31  # each so many pixels, across and down, of 224


def wave(at: np.ndarray, half: int) -> np.ndarray:
    """A triangle wave of whole numbers, 0 to half, with the period 2 * half."""
    return half - np.abs(at % (2 * half) - half)


def picture(side: int) -> np.ndarray:
    """RGB, as tests/js/prepare.test.js has it too."""
    y, x, channel = np.indices((side, side, 3))
    return (wave(5 * x + 40 * channel, 127) + wave(3 * y + x, 100)).astype(np.uint8)


def main() -> None:
    """Writes the file."""
    told = {}
    for side in SIDES:
        image = Image.fromarray(picture(side)).resize((256, 256), Image.Resampling.BICUBIC)
        told[side] = np.asarray(image)[16:240:STEP, 16:240:STEP].ravel().tolist()
    file = Path(__file__).with_name("resampled.json")
    file.write_text(json.dumps(told, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
