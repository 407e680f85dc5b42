"""Data for tests of the Train view: bars and squares, which a network learns in a few steps."""

from __future__ import annotations

import random
from array import array
from collections.abc import Sequence

from tallow.core import dtype as dt
from tallow.core.hostarray import HostArray
from tallow.data import TensorDataset
from tallow.graph import constant
from tallow.tensor import Tensor
from tallow_page.train.data import Data

SIDE = 12
CLASSES = ["bar", "beam", "square"]


def picture(label: int, draw: random.Random) -> bytes:
    """A picture of a class, 12 x 12, at some place, with noise."""
    height, width = [(8, 2), (2, 8), (4, 4)][label]
    top, left = draw.randrange(SIDE - height), draw.randrange(SIDE - width)
    pixels = bytearray(draw.randrange(40) for _ in range(SIDE * SIDE))
    for y in range(top, top + height):
        for x in range(left, left + width):
            pixels[y * SIDE + x] = 200 + draw.randrange(50)
    return bytes(pixels)


def dataset(pixels: bytes, labels: Sequence[int]) -> TensorDataset:
    """Pictures and their labels, as the view's data have them."""
    x = HostArray(memoryview(pixels), (len(labels), 1, SIDE, SIDE), dt.uint8)
    y = HostArray(memoryview(array("i", labels)).cast("B"), (len(labels),), dt.int32)
    return TensorDataset(Tensor(constant(x)), Tensor(constant(y)))


def shapes(train: int = 300, valid: int = 90, seed: int = 0) -> Data:
    """So many pictures of three classes, in turn."""
    draw = random.Random(seed)
    pixels: dict[str, memoryview] = {}
    labels: dict[str, Sequence[int]] = {}
    for part, count in (("train", train), ("valid", valid)):
        labels[part] = [number % 3 for number in range(count)]
        pixels[part] = memoryview(b"".join(picture(each, draw) for each in labels[part]))
    return data_of(pixels, labels)


def data_of(pixels: dict[str, memoryview], labels: dict[str, Sequence[int]]) -> Data:
    """The Data of pictures."""
    train, valid = (dataset(bytes(pixels[part]), labels[part]) for part in ("train", "valid"))
    return Data(
        "shapes", "pictures", CLASSES, train, valid, (1, SIDE, SIDE), 40.0, 70.0, pixels, labels
    )
