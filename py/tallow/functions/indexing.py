"""Indexing: x[...] and gathers."""

from __future__ import annotations

from typing import Any

from .. import dtype as dt
from ..errors import DTypeError, ShapeError
from ..graph import make
from ..ops import gather, movement
from ..shape import Shape, check_axis
from ..tensor import Tensor, apply, asarray
from .elementwise import expand_node


def take(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """x at integer indices along an axis; negative ones count from the end.

    The axis is replaced by the axes of `indices`. Raises DTypeError for indices that are not
    integers. NumPy rejects an index that is out of range; a GPU takes the last element instead.
    """
    axis = check_axis(axis, x.ndim, "take")
    indices = asarray(indices)
    node = make(gather.take, x.node, indices.node, axis=axis)
    if x.shape[axis] != 1:
        return Tensor(node)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    only = x.reshape((*before, *(1,) * indices.ndim, *after))
    spread = indices.reshape((*(1,) * len(before), *indices.shape, *(1,) * len(after)))
    return _only(only, spread, node.shape)


def _only(x: Tensor, indices: Tensor, shape: Shape) -> Tensor:
    """A gather from an axis with one element: that element, broadcast to the shape.

    A gather kernel would not read the indices here, and a device rejects a buffer that its kernel
    does not read. Indices are range-checked where they are read, though, so the result reads those
    that are not constant, whatever their values.
    """
    spread = Tensor(expand_node(x.node, shape))
    if indices.node.is_constant:
        return spread
    return apply("where", apply("equal", position(indices, 1), 0), spread, spread)


def take_along_axis(x: Tensor, indices: Tensor, axis: int = -1) -> Tensor:
    """x at one index per element: result[i, j] = x[indices[i, j], j] for axis 0, and so on."""
    axis = check_axis(axis, x.ndim, "take_along_axis")
    node = asarray(indices).node
    others = [a for a in range(x.ndim) if a != axis]
    if len(node.shape) != x.ndim or any(node.shape[a] > x.shape[a] for a in others):
        raise ShapeError(f"take_along_axis: indices {node.shape} do not fit into {x.shape}")
    picked = make(gather.take_along_axis, x.node, node, axis=axis)
    if x.shape[axis] != 1:
        return Tensor(picked)
    part = x[tuple(slice(0, 1 if a == axis else dim) for a, dim in enumerate(node.shape))]
    return _only(part, Tensor(node), picked.shape)


def position(indices: Tensor, length: int) -> Tensor:
    """Integer indices along an axis of `length` elements, counted from its front.

    NumPy rejects an index that is out of range; a GPU gives it the position `length`.
    """
    wide = indices.astype(dt.int32) if indices.dtype.size < 4 else indices
    number = apply("full", (), length, wide.dtype)
    return Tensor(make(gather.position, wide.node, expand_node(number.node, wide.shape)))


def checked_indices(indices: Tensor, count: int, what: str, ignored: int | None = None) -> Tensor:
    """The same integers, of which each must be in 0 to count - 1, or be the ignored one.

    IndexRangeError, which begins with `what`, for others: on every device where the host feeds
    them, and on NumPy where they are computed.
    """
    node = make(gather.checked, indices.node, count=count, ignored=ignored, what=what)
    return Tensor(node)


def getitem(x: Tensor, key: Any) -> Tensor:
    """Integers, slices with steps, None, ... and one integer tensor, as in NumPy."""
    items = list(key) if isinstance(key, tuple) else [key]
    if any(item is Ellipsis for item in items):
        at = next(i for i, item in enumerate(items) if item is Ellipsis)
        used = sum(item is not None and item is not Ellipsis for item in items)
        items[at : at + 1] = [slice(None)] * (x.ndim - used)
    used = sum(item is not None for item in items)
    if used > x.ndim:
        raise ShapeError(f"{used} indices are too many for a tensor of shape {x.shape}")
    items += [slice(None)] * (x.ndim - used)
    starts, steps, sizes, shape = [], [], [], []
    gathers: list[tuple[int, Tensor]] = []
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        dim = x.shape[axis]
        if isinstance(item, slice):
            start, stop, step = item.indices(dim)
            size = len(range(start, stop, step))
            shape.append(size)
        elif isinstance(item, int) and not isinstance(item, bool):
            start, step, size = check_index(item, dim, axis, x), 1, 1
        else:
            indices = asarray(item)
            if not indices.dtype.is_integer:
                raise DTypeError(f"an index must be an integer, a slice or None, not {item!r}")
            gathers.append((len(shape), indices))
            start, step, size = 0, 1, dim
            shape.append(dim)
        starts.append(start if size else 0)
        steps.append(step)
        sizes.append(size)
        axis += 1
    if len(gathers) > 1:
        raise ShapeError("only one axis can be indexed by a tensor; call take once per axis")
    node = x.node
    if tuple(sizes) != x.shape or any(step != 1 for step in steps):
        node = make(
            movement.slice_, node, starts=tuple(starts), steps=tuple(steps), shape=tuple(sizes)
        )
    if tuple(shape) != node.shape:
        node = make(movement.reshape, node, shape=tuple(shape))
    for gathered_axis, indices in gathers:
        node = make(gather.take, node, indices.node, axis=gathered_axis)
    return Tensor(node)


def check_index(index: int, dim: int, axis: int, x: Tensor) -> int:
    """The index counted from the front; ShapeError if it is out of range."""
    if not -dim <= index < dim:
        raise ShapeError(f"index {index} is out of range for axis {axis} of shape {x.shape}")
    return index % dim
