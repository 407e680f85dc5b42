"""Sorting and scattering."""

from __future__ import annotations

from typing import NamedTuple

from ..core import dtype as dt
from ..core.shape import check_axis, size_of
from ..errors import OptionError, ShapeError
from ..graph import Node, make
from ..ops import arrange, movement, source
from ..ops.kinds import Elementwise
from ..tensor import Tensor
from .indexing import position, take_along_axis
from .manipulation import concat, moveaxis, permute_dims, reshape

_REDUCTIONS = ("none", "add", "mul", "max", "min")


class Ordered(NamedTuple):
    """Elements in order along an axis, and the indices that they had."""

    values: Tensor
    indices: Tensor


def argsort(
    x: Tensor,
    axis: int = -1,
    descending: bool = False,
    count: int | None = None,
    *,
    dim: int | None = None,
    stable: bool = True,
) -> Tensor:
    """Gives the indices that sort the elements along an axis; equal elements always keep their
    order.

    x: numbers or booleans, of one axis or more.
    axis: the axis along which to sort.
    descending: whether the largest element comes first.
    count: how many indices to return, the first ones; None returns all.
    dim: PyTorch's name of axis.
    stable: changes nothing, since the order is always stable.
    Returns: the indices, of the default integer type and the shape of x; along the axis there are
      `count` of them if it is given.
    Raises: AxisError for an axis that x doesn't have; ShapeError if count exceeds the axis.
    Source: Python array API standard 2024.12, `argsort`.
    """
    axis = check_axis(axis if dim is None else dim, x.ndim, "argsort")
    length = x.shape[axis] if count is None else count
    last = moveaxis(x, axis, -1)
    node = make(arrange.argsort, last.node, descending=descending, count=length)
    return moveaxis(Tensor(node), -1, axis).astype(dt.default_integer())


def ordered(x: Tensor, axis: int = -1, descending: bool = False) -> Ordered:
    """Sorts the elements along an axis and tells where they were; equal ones always keep their
    order.

    x: numbers or booleans, of one axis or more.
    axis: the axis along which to sort.
    descending: whether the largest element comes first.
    Returns: (values, indices), both of the shape of x: the elements in order, and the indices that
      they had.
    Raises: AxisError for an axis that x doesn't have.
    """
    indices = argsort(x, axis, descending)
    return Ordered(take_along_axis(x, indices, axis), indices)


def sort(x: Tensor, axis: int = -1, descending: bool = False, *, stable: bool = True) -> Tensor:
    """Sorts the elements along an axis; equal ones always keep their order.

    x: numbers or booleans, of one axis or more.
    axis: the axis along which to sort.
    descending: whether the largest element comes first.
    stable: changes nothing, since the order is always stable.
    Returns: the elements in order, of the shape and the type of x.
    Raises: AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `sort`.
    """
    return ordered(x, axis, descending).values


def scatter(x: Tensor, places: Tensor, updates: Tensor, reduction: str = "none") -> Tensor:
    """Writes rows of `updates` into x at the indices `places` of its first axis.

    NumPy rejects an index that is out of range; a GPU skips its update.

    x: (n, ...), elements of any type; it stays as it is.
    places: (j,), integers; negative ones count from the end.
    updates: (j, ...), in the type of x, with the other axes of x.
    reduction: "none" (the last update of an index wins), or how updates combine with the existing
      elements: "add", "mul", "max", "min".
    Returns: x with the updates, of the same shape and type.
    Raises: ShapeError for shapes that do not fit; DTypeError for types that do not fit; OptionError
      for another reduction; IndexRangeError on NumPy for an index out of range, when the result is
      computed.
    """
    if not x.ndim or places.ndim != 1 or updates.shape != (*places.shape, *x.shape[1:]):
        raise ShapeError(
            f"scatter: updates {updates.shape} at indices {places.shape} do not fit into {x.shape}"
        )
    count, length = x.shape[0], size_of(x.shape[1:])
    flat = scatter_rows(
        x.reshape((1, count, length)),
        places.reshape((1, places.size)),
        updates.reshape((1, places.size, length)),
        reduction,
        0,
    )
    return flat.reshape(x.shape)


def scatter_rows(
    x: Tensor, indices: Tensor, updates: Tensor, reduction: str, axis: int | None = None
) -> Tensor:
    """`scatter` for each element of a batch: x (b, n, s), indices (b, j), updates (b, j, s). axis:
    the number of x's second axis where the user sees it, for errors."""
    if reduction not in _REDUCTIONS:
        raise OptionError(f"scatter: {reduction!r} is not one of {', '.join(_REDUCTIONS)}")
    indices = position(indices, x.shape[1], axis).astype(dt.int32)
    return Tensor(make(arrange.scatter, x.node, indices.node, updates.node, reduction=reduction))


def scatter_elements(
    x: Tensor, axis: int, indices: Tensor, updates: Tensor, reduction: str
) -> Tensor:
    """updates[i, j] goes to x[indices[i, j], j] for axis 0, and so on; see `scatter`.

    indices and updates have one shape, which may be shorter than x along the other axes. An index
    that is the same along some of these, as an expanded one is, is looked for once, and whole rows
    are written. Raises ShapeError for shapes that do not fit.
    """
    others = [a for a in range(x.ndim) if a != axis]
    if (
        indices.shape != updates.shape
        or indices.ndim != x.ndim
        or any(indices.shape[a] > x.shape[a] for a in others)
    ):
        raise ShapeError(
            f"scatter: updates {updates.shape} at indices {indices.shape} do not fit into {x.shape}"
        )
    alike = {a for a in alike_along(indices.node) if indices.shape[a]}
    lines, along = [a for a in others if a not in alike], [a for a in others if a in alike]
    column = indices[tuple(slice(0, 1 if a in along else n) for a, n in enumerate(indices.shape))]
    part = x[tuple(slice(0, x.shape[a] if a == axis else n) for a, n in enumerate(indices.shape))]
    order = (*lines, axis, *along)
    batch, count = size_of(indices.shape[a] for a in lines), indices.shape[axis]
    rows, at, new = (permute_dims(tensor, order) for tensor in (part, column, updates))
    length = size_of(indices.shape[a] for a in along)
    written = scatter_rows(
        reshape(rows, (batch, x.shape[axis], length)),
        reshape(at, (batch, count)),
        reshape(new, (batch, count, length)),
        reduction,
        axis,
    )
    back = tuple(order.index(a) for a in range(x.ndim))
    return _around(permute_dims(reshape(written, rows.shape), back), x)


def _around(part: Tensor, x: Tensor) -> Tensor:
    """x with its first elements along every axis replaced by those of `part`."""
    for axis, (length, whole) in enumerate(zip(part.shape, x.shape, strict=True)):
        if length < whole:
            index = [slice(0, n) for n in part.shape]
            index[axis] = slice(length, whole)
            part = concat([part, x[tuple(index)]], axis)
    return part


_MAX_CONSTANT, _MAX_NODES = 1 << 20, 64
"""Elements of a constant that is looked at, and nodes that are: an index has few behind it."""


def alike_along(node: Node) -> set[int]:
    """The axes along which all elements of a node are known to be the same."""
    known: dict[Node, set[int]] = {}
    waiting = [node]
    while waiting:
        if len(known) + len(waiting) > _MAX_NODES:
            return {a for a, n in enumerate(node.shape) if n == 1}
        missing = [child for child in _passed(waiting[-1]) if child not in known]
        waiting += missing
        if not missing:
            done = waiting.pop()
            known[done] = {a for a, n in enumerate(done.shape) if n == 1} | _alike(done, known)
    return known[node]


def _passed(node: Node) -> tuple[Node, ...]:
    """The operands whose axes tell something of those of a node."""
    moves = (movement.expand, movement.permute, movement.reshape, movement.slice_)
    return node.inputs if isinstance(node.op, Elementwise) or node.op in moves else ()


def _alike(node: Node, known: dict[Node, set[int]]) -> set[int]:
    """See `alike_along`; axes of length 1 aside."""
    op, shape = node.op, node.shape
    if node.is_constant:
        return _alike_in(node) if node.size <= _MAX_CONSTANT else set()
    if op is source.iota:
        return {a for a in range(len(shape)) if a != node.attrs["axis"]}
    if not _passed(node):
        return set()
    if op is movement.permute:
        return {a for a, before in enumerate(node.attrs["axes"]) if before in known[node.inputs[0]]}
    if op is movement.reshape:
        (child,) = node.inputs
        before = [a for a, n in enumerate(child.shape) if n != 1]
        after = [a for a, n in enumerate(shape) if n != 1]
        if [child.shape[a] for a in before] != [shape[a] for a in after]:
            return set()
        return {b for a, b in zip(before, after, strict=True) if a in known[child]}
    return set.intersection(*(known[child] for child in node.inputs))


def _alike_in(node: Node) -> set[int]:
    """Of a constant, whose elements are compared."""
    items, shape, found = bytes(node.attrs["data"].words()), node.shape, set()
    for axis, length in enumerate(shape):
        step = size_of(shape[axis + 1 :]) * len(items) // max(node.size, 1)
        whole = step * length
        starts = range(0, len(items), whole) if whole else ()
        if all(items[i : i + whole] == items[i : i + step] * length for i in starts):
            found.add(axis)
    return found
