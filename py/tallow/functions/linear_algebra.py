"""Matrix products and determinants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import casting
from ..core.shape import Shape, broadcast_shapes, size_of
from ..errors import DTypeError, ShapeError
from ..graph import Node, make
from ..ops import contract, movement
from ..ops.elementwise import cast
from ..tensor import Tensor, asarray
from . import elementwise
from .creation import arange
from .elementwise import expand_node, promote_all
from .manipulation import moveaxis, reshape
from .reduction import argmax, prod
from .reduction import sum as total


def matrix_transpose(x: Tensor) -> Tensor:
    """Exchanges the last two axes.

    x: matrices (..., m, n).
    Returns: the matrices (..., n, m).
    Raises: ShapeError for fewer than two axes.
    Source: Python array API standard 2024.12, `matrix_transpose`.
    """
    return x.mT


def matmul(a: Any, b: Any) -> Tensor:
    """Computes the matrix product over the last two axes; the others broadcast.

    A one-dimensional operand is a row on the left or a column on the right; its axis is removed.

    a: matrices (..., m, k), or a vector (k,).
    b: matrices (..., k, n), or a vector (k,).
    Returns: the products (..., m, n), in the promoted type.
    Raises: ShapeError, with both shapes, for inner lengths that differ, for batches that do not
      broadcast, and for an operand without axes.
    Source: Python array API standard 2024.12, `matmul`.
    """
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError(f"matmul: {a.shape} and {b.shape}: both operands need at least one axis")
    return casting.product(contract.matmul, _matmul, a, b)


def _matmul(a: Tensor, b: Tensor) -> Tensor:
    left, right = a.node, b.node
    dtype = promote_all([left.dtype, right.dtype])
    shape = (*left.shape[-2:-1], *(right.shape[-1:] if len(right.shape) > 1 else ()))
    if len(left.shape) == 1:
        left = _shaped(left, (1, *left.shape))
    if len(right.shape) == 1:
        right = _shaped(right, (*right.shape, 1))
    (m, k), (inner, n) = left.shape[-2:], right.shape[-2:]
    if k != inner:
        raise ShapeError(f"matmul: {a.shape} @ {b.shape}: the inner lengths {k}, {inner} differ")
    batch = broadcast_shapes(left.shape[:-2], right.shape[:-2], what="matmul")
    if len(right.shape) == 2:  # one matrix for all: the batch joins the rows
        left = _shaped(left, (1, size_of(left.shape[:-1]), k))
        right = _shaped(right, (1, k, n))
    else:
        count = size_of(batch)
        left = _shaped(expand_node(left, (*batch, m, k)), (count, m, k))
        right = _shaped(expand_node(right, (*batch, k, n)), (count, k, n))
    if left.dtype != dtype:
        left = make(cast, left, dtype=dtype)
    if right.dtype != dtype:
        right = make(cast, right, dtype=dtype)
    return Tensor(_shaped(make(contract.matmul, left, right), (*batch, *shape)))


def _shaped(node: Node, shape: Shape) -> Node:
    """The node in another shape, which has as many elements."""
    return node if node.shape == shape else make(movement.reshape, node, shape=shape)


def vecdot(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor:
    """Sums products along an axis; the other axes broadcast.

    x, y: numbers, as long along the axis.
    axis: the axis, of both.
    Returns: the sums, without that axis, in the promoted type.
    Raises: ShapeError for axes of unequal length, and for shapes that do not broadcast; AxisError
      for an axis that x or y doesn't have.
    Source: Python array API standard 2024.12, `vecdot`.
    """
    last = [moveaxis(each, axis, -1) for each in (x, y)]
    if last[0].shape[-1] != last[1].shape[-1]:
        raise ShapeError(f"vecdot: axis {axis} of {x.shape} and of {y.shape} differ in length")
    products = last[0] * last[1]
    return total(products, axis=-1, dtype=products.dtype)


def det(x: Tensor) -> Tensor:
    """Computes the determinants of square matrices, by Gaussian elimination.

    The pivot is the largest element of all that remain: if that is 0, so is the gradient; it is
    right for singular matrices, too. The graph grows with every row, so this is meant for small
    matrices.

    x: matrices (..., n, n), floating.
    Returns: the determinants (...,), in the type of x.
    Raises: ShapeError for matrices that are not square; DTypeError for elements that are not
      floating.
    Source: Python array API standard 2024.12, `linalg.det`.
    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"det: the matrices are not square: {x.shape}")
    if not x.dtype.is_floating:
        raise DTypeError(f"det: takes floating elements, not {x.dtype.name}")
    n, batch = x.shape[-1], x.shape[:-2]
    if not x.size:  # the determinant of a matrix without elements is 1
        return prod(reshape(x, (*batch, n * n)), axis=-1)
    rest = reshape(x, (-1, n, n))
    factors: list[Tensor] = []
    zero = asarray(0.0).astype(x.dtype)
    for size in range(n, 1, -1):
        at = argmax(abs(reshape(rest, (-1, size * size))), axis=1)
        row, column = at // size, at % size
        in_row = reshape(arange(size), (1, size, 1)) == reshape(row, (-1, 1, 1))
        in_column = reshape(arange(size), (1, 1, size)) == reshape(column, (-1, 1, 1))
        # The first row takes the position of the pivot's, and the first column that of its column.
        pivot_row = total(elementwise.where(in_row, rest, zero), axis=1, keepdims=True)
        others = elementwise.where(in_row, rest[:, 0:1], rest)[:, 1:]
        pivot = total(elementwise.where(in_column, pivot_row, zero), axis=2, keepdims=True)
        below = total(elementwise.where(in_column, others, zero), axis=2, keepdims=True)
        right, others = (
            elementwise.where(in_column, each[:, :, 0:1], each)[:, :, 1:]
            for each in (pivot_row, others)
        )
        rest = others - below / elementwise.where(pivot == 0, 1.0, pivot) * right
        kept = (row == 0) == (column == 0)  # one swap flips the sign, two do not
        factors.append(elementwise.where(reshape(kept, (-1, 1, 1)), pivot, -pivot))
    result = rest
    for factor in factors:
        result = result * factor
    return reshape(result, batch)


def unpacked(flat: Tensor, parts: Sequence[Shape]) -> list[Tensor]:
    """The parts of a packed result (..., length) of ops/linalg.py, each (..., *shape)."""
    found, start = [], 0
    for part in parts:
        end = start + size_of(part)
        found.append(reshape(flat[..., start:end], (*flat.shape[:-1], *part)))
        start = end
    return found


def projected(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """a @ b + bias: what ops/recurrence.py calls a product."""
    return matmul(a, b) if bias is None else matmul(a, b) + bias
