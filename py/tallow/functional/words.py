"""int8 packed in words: four elements in an int32, the first one in the lowest bits. GPUs write
whole words."""

from __future__ import annotations

from .. import functions as f
from ..core.dtype import int32
from ..tensor import Tensor, asarray

IN_WORD = 4


def packed(codes: Tensor) -> Tensor:
    """Packs int8 (..., 4 n) into words, int32 (..., n)."""
    x = f.reshape(codes.astype(int32), (*codes.shape[:-1], -1, IN_WORD))
    bits = f.bitwise_left_shift(f.bitwise_and(x, 255), _shifts([0, 8, 16, 24]))
    return f.sum(bits, axis=-1, dtype=int32)


def unpacked(words: Tensor) -> Tensor:
    """Unpacks words, int32 (..., n), into their elements, int32 (..., 4 n)."""
    x = f.broadcast_to(f.expand_dims(words, -1), (*words.shape, IN_WORD))
    codes = f.bitwise_right_shift(f.bitwise_left_shift(x, _shifts([24, 16, 8, 0])), 24)
    return f.reshape(codes, (*words.shape[:-1], -1))


def _shifts(bits: list[int]) -> Tensor:
    return asarray(bits, int32)
