"""Indexing: x[...] and gathers."""

from __future__ import annotations

from math import prod
from typing import Any

from ..core import dtype as dt
from ..core.hostarray import HostArray, from_values
from ..core.shape import Shape, broadcast_shapes, check_axis
from ..errors import AxisError, DTypeError, IndexRangeError, ShapeError
from ..graph import Node, constant, make
from ..ops import gather, movement
from ..tensor import Tensor, asarray, host_values
from . import creation, elementwise
from .elementwise import expand_node


def take(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """Takes x at integer indices along an axis.

    NumPy rejects an index that is out of range; a GPU takes the last element instead.

    x: a tensor of any type, with one axis or more.
    indices: integers, of any shape; negative ones count from the end.
    axis: the axis.
    Returns: the elements, in the type of x; the axes of indices stand where the axis was.
    Raises: AxisError for an axis that x doesn't have; DTypeError for indices that are not integers;
      IndexRangeError on NumPy for an index out of range, when the result is computed.
    Source: Python array API standard 2024.12, `take`.
    """
    axis = check_axis(axis, x.ndim, "take")
    indices = asarray(indices)
    node = make(gather.take, x.node, indices.node, axis=axis)
    if x.shape[axis] != 1:
        return Tensor(node)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    only = x.reshape((*before, *(1,) * indices.ndim, *after))
    spread = indices.reshape((*(1,) * len(before), *indices.shape, *(1,) * len(after)))
    return _only(only, spread, node.shape, axis)


def _only(x: Tensor, indices: Tensor, shape: Shape, axis: int) -> Tensor:
    """A gather from an axis with one element: that element, broadcast to the shape.

    A gather kernel would not read the indices here, and a device rejects a buffer that its kernel
    does not read. Indices are range-checked where they are read, though, so the result reads those
    that are not constant, whatever their values.
    """
    spread = Tensor(expand_node(x.node, shape))
    if indices.node.is_constant:
        return spread
    at = position(indices, 1, axis)
    return elementwise.where(elementwise.equal(at, 0), spread, spread)


def take_along_axis(x: Tensor, indices: Tensor, axis: int = -1) -> Tensor:
    """Takes x at one index per element: result[i, j] = x[indices[i, j], j] for axis 0, and so on.

    x: a tensor of any type, with one axis or more.
    indices: integers, with as many axes as x, which may be shorter along the other axes.
    axis: the axis along which they are indices.
    Returns: the elements, of the shape of indices and the type of x.
    Raises: AxisError for an axis that x doesn't have; ShapeError for indices that do not fit.
    Source: Python array API standard 2024.12, `take_along_axis`.
    """
    axis = check_axis(axis, x.ndim, "take_along_axis")
    node = asarray(indices).node
    others = [a for a in range(x.ndim) if a != axis]
    if len(node.shape) != x.ndim or any(node.shape[a] > x.shape[a] for a in others):
        raise ShapeError(f"take_along_axis: indices {node.shape} do not fit into {x.shape}")
    picked = make(gather.take_along_axis, x.node, node, axis=axis)
    if x.shape[axis] != 1:
        return Tensor(picked)
    part = x[tuple(slice(0, 1 if a == axis else dim) for a, dim in enumerate(node.shape))]
    return _only(part, Tensor(node), picked.shape, axis)


def position(indices: Tensor, length: int, axis: int | None = None) -> Tensor:
    """Integer indices along an axis of `length` elements, counted from its front. axis: its number
    in errors, if that says something to the user.

    NumPy rejects an index that is out of range; a GPU gives it the position `length`.
    """
    wide = indices.astype(dt.int32) if indices.dtype.size < 4 else indices
    number = creation.full((), length, wide.dtype)
    named = {} if axis is None else {"axis": axis}
    return Tensor(make(gather.position, wide.node, expand_node(number.node, wide.shape), **named))


def checked_indices(indices: Tensor, count: int, what: str, ignored: int | None = None) -> Tensor:
    """Returns the indices unchanged, and checks that each is in 0 to count - 1 or is ignored.

    indices: integers, of any shape.
    count: how many elements they choose from.
    what: how the error's message begins.
    ignored: a number that is allowed as well; None allows no other.
    Returns: the integers.
    Raises: IndexRangeError for others: on every device where the host feeds them, and on NumPy
      where they are computed.
    """
    node = make(gather.checked, indices.node, count=count, ignored=ignored, what=what)
    return Tensor(node)


def nonzero_indices(x: Tensor) -> tuple[Tensor, ...]:
    """The indices of the elements that are not 0, a vector for each axis. Reads the
    elements, and blocks."""
    found = [n for n, value in enumerate(host_values([x])[0].flat()) if value]
    indices: list[Tensor] = []
    for size in reversed(x.shape):
        line = from_values([n % size for n in found], (len(found),), dt.default_integer())
        indices.insert(0, asarray(line))
        found = [n // size for n in found]
    return tuple(indices)


def _with_indices(x: Tensor, items: list[Any]) -> list[Any]:
    """The items of a key, with the indices where booleans are true instead of these. Raises
    ShapeError if they have another shape than the axes that they choose from."""
    found: list[Any] = []
    axis = 0
    for item in items:
        if isinstance(item, (list, Tensor)) or hasattr(item, "__array__"):
            mask = asarray(item)
            if mask.dtype == dt.bool_ and mask.ndim:
                if mask.shape != x.shape[axis : axis + mask.ndim]:
                    raise AxisError(
                        f"x[mask]: the mask {mask.shape} does not fit the axes from {axis} on of "
                        f"{x.shape}"
                    )
                found += nonzero_indices(mask)
                axis += mask.ndim
                continue
        axis += item is not None
        found.append(item)
    return found


def _axes(item: Any) -> int:
    """How many axes an item of a key takes."""
    if item is None:
        return 0
    if isinstance(item, (list, Tensor)) or hasattr(item, "__array__"):
        given = asarray(item)
        return max(given.ndim, 1) if given.dtype == dt.bool_ else 1
    return 1


def getitem(x: Tensor, key: Any) -> Tensor:
    """Indexes x as NumPy does: by integers, slices with steps, None, ..., tensors of integers, and
    masks.

    A mask, booleans in the shape of the axes that it chooses from, is read, which blocks.

    x: a tensor of any type.
    key: one of these, or a tuple of them.
    Returns: the elements, in the type of x.
    Raises: ShapeError or DTypeError for keys that do not fit; IndexRangeError for a number, or
      known elements of a tensor, out of range.
    Source: Python array API standard 2024.12, indexing, and NumPy.
    """
    items = _items(x, [*key] if isinstance(key, tuple) else [key])
    node = x.node
    dims = node.shape
    used = sum([item is not None for item in items])
    if used > len(dims):
        raise AxisError(f"{used} indices are too many for a tensor of shape {dims}")
    starts: list[int] = []
    steps: list[int] = []
    sizes: list[int] = []
    shape: list[int] = []
    gathers: list[tuple[int, Tensor]] = []
    axis = 0
    for item in items:
        if item is None:
            shape.append(1)
            continue
        start, step, size = 0, 1, dims[axis]
        if isinstance(item, slice):
            if item.start is not None or item.stop is not None or item.step is not None:
                start, stop, step = item.indices(size)
                size = len(range(start, stop, step))
            shape.append(size)
        elif isinstance(item, int) and not isinstance(item, bool):
            start, size = check_index(item, size, axis, x), 1
        else:
            indices = asarray(item)
            if not indices.dtype.is_integer:
                raise DTypeError(f"an index must be an integer, a slice or None, not {item!r}")
            gathers.append((len(shape), indices))
            shape.append(size)
        starts.append(start if size else 0)
        steps.append(step)
        sizes.append(size)
        axis += 1
    if axis < len(dims):  # the axes that the key leaves out are taken whole
        rest = dims[axis:]
        starts += [0] * len(rest)
        steps += [1] * len(rest)
        sizes += rest
        shape += rest
    cut, wanted = tuple(sizes), tuple(shape)
    if cut != dims or steps.count(1) != len(steps):
        node = _known_rows(x, starts, steps, cut) or make(
            movement.slice_, node, starts=tuple(starts), steps=tuple(steps), shape=cut
        )
    if wanted != cut:
        node = make(movement.reshape, node, shape=wanted)
    if len(gathers) > 1:
        return _at_points(Tensor(node), gathers)
    for gathered_axis, indices in gathers:
        node = make(gather.take, node, indices.node, axis=gathered_axis)
    return Tensor(node)


def _known_rows(x: Tensor, starts: list[int], steps: list[int], cut: Shape) -> Node | None:
    """Successive rows of data that the host has, as data of their own, which share its bytes: a
    program that goes through its data in pieces builds one graph for all of them. None for what is
    cut otherwise, for a single number, and for what receives a gradient."""
    node = x.node
    if not node.is_constant or node.dtype.coded or "varies" in node.attrs:
        return None
    size = prod(cut)
    if size < 2 or cut[1:] != node.shape[1:] or steps.count(1) != len(steps) or x.requires_grad:
        return None
    row = prod(cut[1:]) * node.dtype.size
    part = node.attrs["data"].data.cast("B")[starts[0] * row : (starts[0] + cut[0]) * row]
    return constant(HostArray(part, cut, node.dtype))


def _items(x: Tensor, items: list[Any]) -> list[Any]:
    """The items of a key, with slices instead of ..., and with indices instead of masks."""
    at = None
    used = 0
    for number, item in enumerate(items):
        kind = type(item)
        if kind is slice or kind is int:
            used += 1
        elif item is Ellipsis and at is None:
            at = number
        elif item is not None:
            break
    else:  # numbers and slices alone, as most keys have
        if at is not None:
            items[at : at + 1] = [slice(None)] * (x.ndim - used)
        return items
    if any(item is Ellipsis for item in items):
        at = next(i for i, item in enumerate(items) if item is Ellipsis)
        used = sum(_axes(item) for item in items if item is not Ellipsis)
        items[at : at + 1] = [slice(None)] * (x.ndim - used)
    return _with_indices(x, items)


def _at_points(x: Tensor, gathers: list[tuple[int, Tensor]]) -> Tensor:
    """x at points: the axes, in order, with the indices along each, which broadcast. The axes of
    these stand where the first axis was, or first of all if others are between."""
    axes = [axis for axis, _ in gathers]
    others = [axis for axis in range(x.ndim) if axis not in axes]
    sizes = [x.shape[axis] for axis in axes]
    points = broadcast_shapes(*(indices.shape for _, indices in gathers), what="x[...]")
    flat: Tensor | None = None
    for size, (axis, indices) in zip(sizes, gathers, strict=True):
        along = position(indices, size, axis)
        flat = along if flat is None else flat * size + along
    assert flat is not None
    order = (*axes, *others)
    turned = Tensor(make(movement.permute, x.node, axes=order))
    rows = turned.reshape((prod(sizes), *(x.shape[axis] for axis in others)))
    found = take(rows, flat, 0)
    if axes[-1] - axes[0] >= len(axes):
        return found
    before = [len(points) + n for n in range(axes[0])]
    after = [len(points) + n for n in range(axes[0], len(others))]
    moved = (*before, *range(len(points)), *after)
    return Tensor(make(movement.permute, found.node, axes=moved))


def check_index(index: int, dim: int, axis: int, x: Tensor) -> int:
    """The index counted from the front; IndexRangeError, which ends a loop over what is indexed, if
    it is out of range."""
    if not -dim <= index < dim:
        raise IndexRangeError(f"index {index} is out of range for axis {axis} of shape {x.shape}")
    return index % dim
