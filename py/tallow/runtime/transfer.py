"""Converts elements between the form in a GPU's slots and the form that the user sees."""

from __future__ import annotations

from array import array
from math import copysign, inf

from ..codegen.layout import bools_of_words, words_of_bools
from ..core.dtype import DType, device_type, float16
from ..core.hostarray import HostArray, elements, from_values
from ..core.shape import size_of
from ..errors import FeedRangeError


def for_device(data: HostArray, name: str, most: int | None = None) -> memoryview:
    """The elements as a GPU slot holds them: 64-bit ones as 32-bit, bool as 32-bit words.

    most: the bound of 64-bit integers, see Port; FeedRangeError for those beyond it.
    """
    dtype = data.dtype
    if dtype.coded:
        return data.words()
    if dtype.kind == "b":
        return words_of_bools(data.data)
    if dtype.size != 8:
        return data.data
    values = elements(data.data, dtype)
    try:
        packed = array(device_type(dtype).code, values)
    except OverflowError as error:
        raise FeedRangeError(
            name,
            f"the input {name!r} holds {dtype.name} values beyond 32 bits, which the GPU does not "
            "compute: use device='numpy'",
        ) from error
    if most is not None and most < 1 << 31 and data.size:
        low, high = min(packed), max(packed)
        if low < -most or high >= most:
            raise FeedRangeError(
                name,
                f"the input {name!r} holds {dtype.name} values from {low} to {high}; what this "
                f"plan computes of values beyond {most - 1} may not fit in the 32 bits that the "
                "GPU has: use device='numpy'",
            )
    return memoryview(packed).cast("B")


def to_device(data: HostArray) -> memoryview:
    """The elements as a GPU keeps what it computed: each in a word, in `device_type`.

    Raises FeedRangeError for 64-bit integers that 32 bits do not hold.
    """
    held = device_type(data.dtype)
    if data.dtype.size >= 4 or data.dtype.kind == "b":
        return for_device(data, "array")
    return memoryview(array(held.code, data.flat())).cast("B")


def from_device(content: memoryview, dtype: DType, shape: tuple[int, ...]) -> HostArray:
    """A GPU slot's bytes as the element type that the user sees."""
    held = device_type(dtype)
    content = content.cast("B")[: 4 * size_of(shape)]  # buffers are padded
    if dtype.kind == "b":
        return HostArray(bools_of_words(content), shape, dtype)
    if held == dtype:
        return HostArray(content, shape, dtype)
    values = elements(content, held)
    if dtype == float16:
        values = [copysign(inf, value) if abs(value) >= _BEYOND_HALF else value for value in values]
    return from_values(values, shape, dtype)


_BEYOND_HALF = 65520.0
"""Rounded to float16, this and all that is greater is infinite."""
