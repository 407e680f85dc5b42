"""Linear maps along one axis, in which a result depends on few elements: resampling, borders,
windows laid out. Each result is a list of (index, weight); the derivative is the transposed map,
which is of the same kind, so that nothing is scattered.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import functions as f
from ..autodiff import with_gradient
from ..core import dtype as dt
from ..core.hostarray import from_values
from ..tensor import Tensor, asarray

Row = Sequence[tuple[int, float]]
"""The elements that a result is the weighted sum of."""

_UNROLLED = 8
"""Up to this many elements of a row are added one by one; more are gathered and reduced."""


def mapped(x: Tensor, axis: int, rows: Sequence[Row]) -> Tensor:
    """x with an axis of which element i is the weighted sum of x at rows[i].

    A weight of 1 in all rows of one length costs no multiplication."""
    length = x.shape[axis]
    if [*map(list, rows)] == [[(i, 1.0)] for i in range(length)]:
        return x
    count = max((len(row) for row in rows), default=0)
    if not count:
        return f.zeros((*x.shape[:axis], len(rows), *x.shape[axis + 1 :]), x.dtype)
    # A short row repeats its first element, so that no other one can make it NaN.
    full = [[*row, *[(row[0][0] if row else 0, 0.0)] * (count - len(row))] for row in rows]
    weighted = any(weight != 1.0 for row in full for _, weight in row)
    if count <= _UNROLLED:
        result = _unrolled(x, axis, full, count, weighted)
    else:
        at = f.take(x, _table([i for row in full for i, _ in row], (len(rows), count)), axis)
        line = [1] * at.ndim
        line[axis : axis + 2] = len(rows), count
        if weighted:
            at = at * _weights([w for row in full for _, w in row], line, x)
        result = f.sum(at, axis + 1)
    if not x.dtype.is_floating:
        return result
    back = transposed_rows(rows, length)
    return with_gradient(result, [x], lambda gradient, result: [mapped(gradient, axis, back)])


def _unrolled(
    x: Tensor, axis: int, rows: Sequence[Row], count: int, weighted: bool
) -> Tensor:  # fmt: skip
    line = [1] * x.ndim
    line[axis] = len(rows)
    total: Tensor | None = None
    for tap in range(count):
        part = f.take(x, _table([row[tap][0] for row in rows], (len(rows),)), axis)
        if weighted:
            part = part * _weights([row[tap][1] for row in rows], line, x)
        total = part if total is None else total + part
    assert total is not None
    return total


def _table(indices: list[int], shape: tuple[int, ...]) -> Tensor:
    return asarray(from_values(indices, shape, dt.int32))


def _weights(values: list[float], line: Sequence[int], x: Tensor) -> Tensor:
    return asarray(from_values(values, tuple(line), x.dtype))


def transposed_rows(rows: Sequence[Row], length: int) -> list[list[tuple[int, float]]]:
    """The rows of the transposed map, from results to the `length` elements."""
    found: list[list[tuple[int, float]]] = [[] for _ in range(length)]
    for number, row in enumerate(rows):
        for index, weight in row:
            found[index].append((number, weight))
    return found
