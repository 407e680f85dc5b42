"""Products of a few rows, as elementwise products and sums. They read the matrix in the order in
which it is stored, and widen a narrow type as they read it; a sum may end at a length that the
device reads."""

from __future__ import annotations

from collections.abc import Callable

from .. import functions as f
from ..core.dtype import int32
from ..core.shape import broadcast_shapes
from ..tensor import Tensor
from .words import unpacked


def products(length: int | Tensor | None) -> Callable[[Tensor, Tensor], Tensor]:
    """The function rows @ other, (..., m, k) @ (..., k, n), which sums the first `length` of k
    products; None is all."""

    def product(rows: Tensor, other: Tensor) -> Tensor:
        if length is None:
            return f.sum(_times(f.expand_dims(rows, -2), f.expand_dims(other.mT, -3)), axis=-1)
        each = _times(f.expand_dims(rows, -1), f.expand_dims(other, -3))
        return f.sum(f.fill_from(each, length, 0, axis=-2), axis=-2)

    return product


def _times(x: Tensor, other: Tensor) -> Tensor:
    """x * other, in x's type. A narrower other, or one of int32 words, is broadcast before it is
    widened, so that one kernel does both, and reads other as it is stored."""
    in_words = other.dtype == int32
    if not in_words and other.dtype.size >= x.dtype.size:
        return x * other
    lines = broadcast_shapes(x.shape[:-1], other.shape[:-1])
    spread = f.broadcast_to(other, (*lines, other.shape[-1]))
    return x * (unpacked(spread) if in_words else spread).astype(x.dtype)
