"""The site's data sets in the idx format: MNIST and Fashion-MNIST."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from tallow.core import dtype as dt
from tallow.core.hostarray import HostArray
from tallow.data import TensorDataset
from tallow.errors import DataError, OptionError
from tallow.graph import constant
from tallow.tensor import Tensor
from tallow.vision.datasets.base import check_labels
from tallow.vision.datasets.mnist import MNIST, FashionMNIST, read_idx_bytes

from ..published import fetched
from .data import Data

_CLASSES = {
    "mnist": [each.partition(" ")[0] for each in MNIST.classes],
    "fashion-mnist": FashionMNIST.classes,
}
_PARTS = {"train": "train", "valid": "t10k"}

_MEASURED = 1000
"""So many pictures tell the mean and the deviation of all."""


class PublishedDataError(DataError):
    """Files of the site that are damaged, or whose labels do not fit. The page has words for it."""


async def opened_idx(source: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
    """A data set: a `Fetching` for each step, and last the Data.

    source: as for `opened_data`. Raises OptionError for an unknown name, PublishedDataError for
    damaged files, FetchError.
    """
    name = str(source["published"])
    if name not in _CLASSES:
        raise OptionError(f"{name!r} is no data set; there are {', '.join(_CLASSES)}")
    files: dict[str, Any] = {}
    async with aclosing(fetched(source)) as steps:
        async for step in steps:
            if "stage" in step:
                yield step
            else:
                files = step
    contents = {each: memoryview(await file.read_async()) for each, file in files.items()}
    yield data_of(name, contents)


def data_of(name: str, contents: Mapping[str, Any]) -> Data:
    """The Data of a data set's four files, by their names: bytes, or views of bytes, which are not
    copied then. Raises PublishedDataError for damaged ones."""
    classes = _CLASSES[name]
    pixels: dict[str, memoryview] = {}
    labels: dict[str, array[int]] = {}
    sets: dict[str, TensorDataset] = {}
    height = width = 0
    for part, prefix in _PARTS.items():
        pictures, marks = f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte"
        try:
            found, (count, height, width) = read_idx_bytes(contents[pictures], 3, pictures)
            numbers = array("i", list(read_idx_bytes(contents[marks], 1, marks)[0]))
            check_labels(numbers, count, len(classes), marks)
        except DataError as error:
            raise PublishedDataError(str(error)) from error
        pixels[part], labels[part] = memoryview(found), numbers
        x = Tensor(constant(HostArray(pixels[part], (count, 1, height, width), dt.uint8)))
        y = Tensor(constant(HostArray(memoryview(numbers).cast("B"), (count,), dt.int32)))
        sets[part] = TensorDataset(x, y)
    mean, deviation = moments(pixels["train"], height * width)
    return Data(
        name, "pictures", classes, sets["train"], sets["valid"], (1, height, width),
        mean, deviation, pixels, labels,
    )  # fmt: skip


def moments(pixels: memoryview, size: int) -> tuple[float, float]:
    """The mean and the standard deviation of bytes, of some samples of `size` bytes that are spread
    evenly; the deviation is 1 if all are equal."""
    step = max(1, len(pixels) // size // _MEASURED)
    found: Counter[int] = Counter()
    for number in range(0, len(pixels) // size, step):
        found.update(pixels[number * size : (number + 1) * size])
    total = sum(found.values())
    mean = sum(value * times for value, times in found.items()) / total
    square = sum((value - mean) ** 2 * times for value, times in found.items()) / total
    return mean, square**0.5 or 1.0
