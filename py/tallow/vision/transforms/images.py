"""What is an image here: tensors [..., C, H, W], Pillow's images; their sizes, types and checks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias

from ... import functions as f
from ...core import dtype as dt
from ...core.dtype import DType
from ...core.hostarray import from_values
from ...errors import DTypeError, OptionError, ShapeError
from ...graph import make
from ...ops import source
from ...tensor import Tensor

Picture: TypeAlias = Any
"""A tensor [..., C, H, W], or an image of Pillow's."""

Number: TypeAlias = "float | Tensor"
"""One for the whole batch, or a tensor with one for each image of a batch."""

Fill: TypeAlias = "float | Sequence[float] | None"
"""What stands beyond an image: a number, or one for each channel; None is 0."""


class InterpolationMode(Enum):
    """How an image is read between its pixels. BOX, HAMMING and LANCZOS are Pillow's alone."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_PILLOW_CODES = {
    0: InterpolationMode.NEAREST, 2: InterpolationMode.BILINEAR, 3: InterpolationMode.BICUBIC,
    4: InterpolationMode.BOX, 5: InterpolationMode.HAMMING, 1: InterpolationMode.LANCZOS,
}  # fmt: skip


def interpolation_of(given: object, what: str, known: Sequence[str] = ()) -> InterpolationMode:
    """A mode by itself, its name, or Pillow's number. known: the names that `what` takes; empty
    for all. Raises OptionError for another."""
    found: InterpolationMode | None = None
    if isinstance(given, InterpolationMode):
        found = given
    elif isinstance(given, int):
        found = _PILLOW_CODES.get(int(given))
    elif isinstance(given, str):
        found = next((each for each in InterpolationMode if each.value == given), None)
    names = [*known] or [each.value for each in InterpolationMode]
    if found is None or found.value not in names:
        raise OptionError(f"{what}: the interpolation {given!r} is not one of {', '.join(names)}")
    return found


def is_pil(img: object) -> bool:
    """Whether it is an image of Pillow's, which is not imported for the question."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(img, pillow.Image)


def checked(img: object, what: str) -> Tensor:
    """An image that is a tensor. Raises DTypeError for another object, ShapeError for fewer than
    two axes."""
    if not isinstance(img, Tensor):
        raise DTypeError(
            f"{what}: {type(img).__name__} is neither a tensor nor an image of Pillow's; "
            "ToTensor() or ToImage() converts a NumPy array"
        )
    if img.ndim < 2:
        raise ShapeError(f"{what}: {img.shape} is no image (..., c, h, w)")
    return img


def dimensions(img: Picture, what: str = "get_dimensions") -> tuple[int, int, int]:
    """Channels, height and width."""
    if is_pil(img):
        return len(img.getbands()), img.height, img.width
    x = checked(img, what)
    return x.shape[-3] if x.ndim > 2 else 1, x.shape[-2], x.shape[-1]


def check_channels(img: Tensor, permitted: Sequence[int], what: str) -> int:
    """The number of channels. Raises ShapeError if it is not one of those."""
    found = dimensions(img, what)[0]
    if found not in permitted:
        listed = " or ".join(map(str, permitted))
        raise ShapeError(f"{what}: an image of {found} channels, and {listed} are expected")
    return found


def bound(dtype: DType) -> float:
    """The value of white: 1 of floating types, else the greatest integer."""
    return 1.0 if dtype.is_floating else float(f.iinfo(dtype).max)


def working(x: Tensor) -> Tensor:
    """The image in a floating type, in which it is computed."""
    return x if x.dtype.is_floating else x.astype(dt.float32)


def restored(x: Tensor, dtype: DType, rounded: bool = True) -> Tensor:
    """What was computed of an image, in the image's type. rounded: integers are rounded and kept
    in range, else cut off."""
    if dtype.is_floating or x.dtype == dtype:
        return x.astype(dtype)
    if rounded:
        x = f.clip(f.round(x), 0 if dtype.kind == "u" else -bound(dtype) - 1, bound(dtype))
    return x.astype(dtype)


# Why: docs/decisions/vision.md, "Parameters of a transform are data, never part of a graph"
def fed(values: float | Sequence[float], dtype: DType = dt.float32) -> Tensor:
    """Numbers that a plan reads as an input, so that others need no other plan."""
    many = isinstance(values, Sequence)
    numbers: list[Any] = [*values] if isinstance(values, Sequence) else [values]
    shape = (len(numbers),) if many else ()
    data = from_values(numbers, shape, dtype)
    return Tensor(make(source.constant, data=data, shape=shape, dtype=dtype, varies=True))


def per_image(value: Number | bool, img: Tensor, axes: int = 3) -> Tensor:
    """A parameter that broadcasts with an image, or with that many of its last axes: a number as
    data, one for each image with axes of length 1."""
    if not isinstance(value, Tensor):
        return fed(float(value), img.dtype if img.dtype.is_floating else dt.float32)
    if not value.ndim:
        return value
    if img.ndim != 4 or value.shape != img.shape[:1]:
        raise ShapeError(f"parameters {value.shape} for images {img.shape}, not one for each image")
    return f.reshape(value, (-1, *[1] * axes))


def select(chosen: bool | Tensor, one: Tensor, other: Tensor) -> Tensor:
    """Of each image one or the other. A bool is data, so that both choices share a plan."""
    if not isinstance(chosen, Tensor):
        return f.where(fed(float(chosen)) > 0.5, one, other)
    return f.where(per_image(chosen, one), one, other)


def fills(fill: Fill, channels: int, what: str) -> list[float]:
    """What stands beyond an image, for each channel. Raises ShapeError for another number."""
    numbers = [0.0] if fill is None else [fill] if isinstance(fill, (int, float)) else [*fill]
    if len(numbers) not in (1, channels):
        raise ShapeError(f"{what}: {len(numbers)} numbers in fill for {channels} channels")
    return [float(each) for each in (numbers if len(numbers) > 1 else numbers * channels)]


def pair(given: Any, what: str) -> tuple[int, int]:
    """(h, w) of one number or two. Raises OptionError for numbers that are not whole and above
    0."""
    values = [given] if isinstance(given, int) else [*given] if isinstance(given, Sequence) else []
    if len(values) not in (1, 2) or any(
        not isinstance(each, int) or isinstance(each, bool) or each < 1 for each in values
    ):
        raise OptionError(f"{what}: {given!r} is no size; give one or two whole numbers above 0")
    return values[0], values[-1]


def batched(x: Tensor) -> Tensor:
    """An image as (n, c, h, w), whatever stands before its channels."""
    shape = (1,) * (3 - x.ndim) + x.shape
    count = 1
    for length in shape[:-3]:
        count *= length
    return f.reshape(x, (count, *shape[-3:]))
