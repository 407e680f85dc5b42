"""How elements are stored in a slot of a plan, on any device.

Each takes a word of 32 bits, two if its type has 64. Narrow types stay packed as they came:
float16, bfloat16, int16 and uint16 two to a word, int8 and uint8 four, integers of 4 and 2 bits
eight and sixteen. A GPU reads packed elements and writes whole words; it stores a bool as the
word 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.codes import packed_bytes
from ..core.dtype import DType
from .index import Coord


@dataclass(frozen=True)
class Region:
    """Where a result is stored inside a larger one: runs of `length` elements in row-major order,
    each `stride` elements after the one before, the first at `start`."""

    start: int
    length: int
    stride: int

    def flat_index(self, linear: Coord) -> Coord:
        """The flat index in the larger one of the element whose own flat index is `linear`."""
        run = linear // self.length
        return run * self.stride + linear % self.length + self.start


def element_bytes(dtype: DType, size: int) -> int:
    """Bytes that `size` elements take on the device."""
    return packed_bytes(dtype, size) if is_packed(dtype) else max(4, dtype.size) * size


def stored_bytes(dtype: DType, size: int) -> int:
    """Bytes of a buffer for `size` elements; whole groups of 16."""
    return max(16, -(-element_bytes(dtype, size) // 16) * 16)


def is_packed(dtype: DType) -> bool:
    """Whether several elements share a word."""
    return dtype.size < 4 and dtype.kind != "b"


def words_of_bools(content: memoryview) -> memoryview:
    """Bools, a byte each, as words of 32 bits."""
    words = bytearray(4 * len(content))
    words[::4] = content
    return memoryview(words)


def bools_of_words(content: memoryview) -> memoryview:
    """The bools, a byte each, that were stored as words of 32 bits."""
    return memoryview(bytes(content[::4]))
