"""What a network learns from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tallow.data import Subset
from tallow.errors import OptionError

Part = Literal["train", "valid"]


@dataclass(frozen=True)
class Data:
    """What a network learns from, and what it is measured by.

    kind: "pictures", "features", "sounds" or "text". classes: their names. train, valid: datasets
    for a DataLoader, of (x, y): x uint8 or float32, y a class; valid may be None. shape: of one x;
    (channels, height, width) of pictures. mean, deviation: of all numbers in x. pixels: uint8 of
    each part's pictures, row-major (number, channels, height, width). labels: of each part.
    shown: (channels, height, width) of the pictures in `pixels`, if x is none. numbers: those that
    the page gives the visitor's own examples, of each part.
    """

    name: str
    kind: str
    classes: Sequence[str]
    train: Any
    valid: Any
    shape: tuple[int, ...]
    mean: float = 0.0
    deviation: float = 1.0
    pixels: Mapping[str, memoryview] = field(default_factory=dict)
    labels: Mapping[str, Sequence[int]] = field(default_factory=dict)
    shown: tuple[int, int, int] | None = None
    numbers: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def picture(self, part: Part, index: int) -> tuple[int, int, int, bytes]:
        """A picture for display: (height, width, channels, bytes), channels beside each other."""
        channels, height, width = self.shown or self.shape
        size = channels * height * width
        planes = bytes(self.pixels[part][index * size : (index + 1) * size])
        if channels == 1:
            return height, width, 1, planes
        found = bytearray(size)
        for each in range(channels):
            found[each::channels] = planes[each * height * width : (each + 1) * height * width]
        return height, width, channels, bytes(found)


def some(dataset: Any, count: int | None) -> Any:
    """So many samples of a dataset, evenly spread over it; all of them if None, or if it has no
    more. Raises OptionError for a number below 1."""
    if count is not None and count < 1:
        raise OptionError(f"{count} samples are too few to learn from; take 1 or more")
    if count is None or count >= len(dataset):
        return dataset
    return Subset(dataset, [number * len(dataset) // count for number in range(count)])
