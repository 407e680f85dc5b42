"""Matrix products."""

from __future__ import annotations

from typing import Any

from ..errors import ShapeError
from ..graph import make
from ..ops import contract
from ..shape import broadcast_shapes, size_of
from ..tensor import Tensor, asarray
from .elementwise import expand_node, promote_all
from .manipulation import reshape


def matrix_transpose(x: Tensor) -> Tensor:
    """The last two axes exchanged."""
    return x.mT


def matmul(a: Any, b: Any) -> Tensor:
    """The matrix product over the last two axes; the others broadcast.

    A one-dimensional operand is a row on the left, a column on the right, and its axis goes.
    Raises ShapeError with both shapes if the inner lengths differ.
    """
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError(f"matmul: {a.shape} and {b.shape}: operands need an axis each")
    dtype = promote_all([a.dtype, b.dtype])
    left = reshape(a, [1, -1]) if a.ndim == 1 else a
    right = reshape(b, [-1, 1]) if b.ndim == 1 else b
    (m, k), (inner, n) = left.shape[-2:], right.shape[-2:]
    if k != inner:
        raise ShapeError(f"matmul: {a.shape} @ {b.shape}: the inner lengths {k}, {inner} differ")
    batch = broadcast_shapes(left.shape[:-2], right.shape[:-2], what="matmul")
    if right.ndim == 2:  # one matrix for all: the batch joins the rows
        rows = size_of(left.shape[:-1])
        flat = [reshape(left, [1, rows, k]), reshape(right, [1, k, n])]
    else:
        count = size_of(batch)
        wide = [Tensor(expand_node(x.node, (*batch, *x.shape[-2:]))) for x in (left, right)]
        flat = [reshape(x, [count, *x.shape[-2:]]) for x in wide]
    product = Tensor(make(contract.matmul, *(x.astype(dtype).node for x in flat)))
    shape = [*batch, *([m] if a.ndim > 1 else []), *([n] if b.ndim > 1 else [])]
    return reshape(product, shape)
