"""What all readers of weights share: arrays over bytes of a file; its mistakes are FormatError."""

from __future__ import annotations

from ..core.dtype import DType
from ..core.hostarray import HostArray
from ..core.shape import MAX_AXES, Shape
from ..errors import FormatError, ShapeError
from ..graph import constant
from ..tensor import Tensor

MAX_LENGTH = 1 << 48
"""Elements of an array, which no memory holds; keeps products of lengths small."""


def number(value: object, what: str) -> int:
    """A length, an offset or a stride: an integer from 0 on. Raises FormatError."""
    if type(value) is not int or not 0 <= value <= MAX_LENGTH:
        small = type(value) is int and abs(value) <= 1 << 64
        shown = str(value) if small else f"a {type(value).__name__}"
        raise FormatError(f"{what}: {shown} is not a length")
    return value


def checked_shape(lengths: object, what: str) -> Shape:
    """A shape of a file, a list or tuple of lengths, whose product is in range, too."""
    if not isinstance(lengths, (list, tuple)):
        raise FormatError(f"{what}: the shape is a {type(lengths).__name__}, not a list")
    if len(lengths) > MAX_AXES:
        raise FormatError(f"{what}: an array of {len(lengths)} axes; {MAX_AXES} at most")
    shape = tuple(number(length, what) for length in lengths)
    size = 1
    for length in shape:
        size *= length
        if size > MAX_LENGTH:
            raise FormatError(f"{what}: an array of shape {shape} fits no memory")
    return shape


def tensor_of(data: memoryview, shape: Shape, dtype: DType, what: str) -> Tensor:
    """A tensor over bytes. Raises FormatError if there are too many or too few, or bytes of a bool
    that are neither 0 nor 1."""
    if dtype.kind == "b" and data.nbytes and max(data) > 1:
        raise FormatError(f"{what}: a boolean is neither 0 nor 1")
    try:
        return Tensor(constant(HostArray(data.toreadonly(), shape, dtype)))
    except ShapeError as error:
        raise FormatError(f"{what}: {error}") from error
