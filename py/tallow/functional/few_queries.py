"""Products of a few rows, element by element: no weight is put into another order first, and a sum
may end at a length that the device reads."""

from __future__ import annotations

from collections.abc import Callable

from .. import functions as f
from ..tensor import Tensor


def products(length: int | Tensor | None) -> Callable[[Tensor, Tensor], Tensor]:
    """The function rows @ other, over the first `length` of what is added up; None is all."""

    def product(rows: Tensor, other: Tensor) -> Tensor:
        if length is None:
            return f.sum(f.expand_dims(rows, -2) * f.expand_dims(other.mT, -3), axis=-1)
        each = f.expand_dims(rows, -1) * f.expand_dims(other, -3)
        return f.sum(f.fill_from(each, length, 0, axis=-2), axis=-2)

    return product
