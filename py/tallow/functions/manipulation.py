"""Functions that move elements: shapes, axes, joins, borders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.shape import (
    broadcast_shapes,
    check_axes,
    check_axis,
    check_permutation,
    check_shape,
    infer_reshape,
)
from ..errors import OptionError, ShapeError
from ..graph import make
from ..ops import movement
from ..ops.elementwise import cast
from ..tensor import Scalar, Tensor, asarray, host_values
from . import indexing
from .elementwise import dtype_cast, expand_node, promote_all


def reshape(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Gives the same elements, row-major, in another shape.

    x: a tensor of any shape.
    shape: the lengths of the axes, of which one may be -1: it follows from the others.
    Returns: the tensor in that shape.
    Raises: ShapeError for a shape that has another number of elements.
    Source: Python array API standard 2024.12, `reshape`.
    """
    return Tensor(make(movement.reshape, x.node, shape=infer_reshape(x.shape, shape)))


def permute_dims(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Orders the axes anew: axis i of the result is axis axes[i] of x.

    x: a tensor of any shape.
    axes: all axes of x, in their new order.
    Returns: the tensor with its axes in that order.
    Raises: ShapeError for what is no permutation of the axes.
    Source: Python array API standard 2024.12, `permute_dims`.
    """
    order = check_permutation(axes, x.ndim, "permute_dims")
    return Tensor(make(movement.permute, x.node, axes=order))


def moveaxis(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Moves axes to other positions; the others keep their order.

    x: a tensor with one axis or more.
    source: the axis or axes to move.
    destination: the position of each in the result.
    Returns: the tensor with its axes moved.
    Raises: ShapeError for two lists of different lengths; AxisError for an axis that x doesn't
      have.
    Source: Python array API standard 2024.12, `moveaxis`.
    """
    moved = [source] if isinstance(source, int) else list(source)
    targets = [destination] if isinstance(destination, int) else list(destination)
    if len(moved) != len(targets):
        raise ShapeError(f"moveaxis: {len(moved)} axes to {len(targets)} positions")
    moved = [check_axis(axis, x.ndim, "moveaxis") for axis in moved]
    targets = [check_axis(axis, x.ndim, "moveaxis") for axis in targets]
    left = iter(axis for axis in range(x.ndim) if axis not in moved)
    there = dict(zip(targets, moved, strict=True))
    return permute_dims(x, [there[n] if n in there else next(left) for n in range(x.ndim)])


def broadcast_to(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Repeats x along axes of length 1 (or missing in front) until it has the shape.

    x: a tensor of a shape that broadcasts to the other one.
    shape: the shape of the result.
    Returns: the tensor in that shape.
    Raises: ShapeError if x does not broadcast to it.
    Source: Python array API standard 2024.12, `broadcast_to`.
    """
    wanted = check_shape(shape, "broadcast_to")
    if broadcast_shapes(x.shape, wanted, what="broadcast_to") != wanted:
        raise ShapeError(f"broadcast_to: {x.shape} cannot become {wanted}")
    return Tensor(expand_node(x.node, wanted))


def broadcast_arrays(*tensors: Tensor) -> list[Tensor]:
    """Broadcasts tensors to their common shape.

    tensors: tensors whose shapes broadcast.
    Returns: a list of all of them, in that shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: Python array API standard 2024.12, `broadcast_arrays`.
    """
    shape = broadcast_shapes(*(tensor.shape for tensor in tensors), what="broadcast_arrays")
    return [Tensor(expand_node(tensor.node, shape)) for tensor in tensors]


def expand_dims(x: Tensor, axis: int | Sequence[int] = 0) -> Tensor:
    """Inserts axes of length 1.

    x: a tensor of any shape.
    axis: the position or the positions of the new axes in the result.
    Returns: the tensor with these axes.
    Raises: AxisError for a position that the result doesn't have.
    Source: Python array API standard 2024.12, `expand_dims`.
    """
    count = 1 if isinstance(axis, int) else len(axis)
    axes = check_axes(axis, x.ndim + count, "expand_dims")
    rest = iter(x.shape)
    return reshape(x, [1 if a in axes else next(rest) for a in range(x.ndim + count)])


def squeeze(x: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """Removes axes of length 1.

    x: a tensor of any shape.
    axis: the axis or axes; None removes all of length 1.
    Returns: the tensor without these axes.
    Raises: ShapeError for an axis of another length; AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `squeeze`.
    """
    if axis is None:
        axes = tuple(a for a, dim in enumerate(x.shape) if dim == 1)
    else:
        axes = check_axes(axis, x.ndim, "squeeze")
    wrong = [a for a in axes if x.shape[a] != 1]
    if wrong:
        raise ShapeError(f"squeeze: axis {wrong[0]} of {x.shape} is not of length 1")
    return reshape(x, [dim for a, dim in enumerate(x.shape) if a not in axes])


def flip(
    x: Tensor,
    axis: int | Sequence[int] | None = None,
    *,
    dims: int | Sequence[int] | None = None,
) -> Tensor:
    """Reverses the order of elements along axes.

    x: a tensor of any shape.
    axis: the axis or axes; None reverses all.
    dims: PyTorch's name of axis.
    Returns: the elements, of the shape of x.
    Raises: AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `flip`.
    """
    axes = check_axes(axis if dims is None else dims, x.ndim, "flip")
    starts = tuple(max(d - 1, 0) if a in axes else 0 for a, d in enumerate(x.shape))
    steps = tuple(-1 if a in axes else 1 for a in range(x.ndim))
    return Tensor(make(movement.slice_, x.node, starts=starts, steps=steps, shape=x.shape))


def concat(tensors: Sequence[Tensor], axis: int | None = 0, *, dim: int | None = None) -> Tensor:
    """Joins tensors along an axis.

    tensors: one tensor or more, of shapes that agree in all other axes.
    axis: the axis; None flattens the tensors first.
    dim: PyTorch's name of axis.
    Returns: the joined tensor, in the promoted type.
    Raises: ShapeError for shapes that do not agree, and for no tensors; AxisError for an axis that
      they don't have.
    Source: Python array API standard 2024.12, `concat`.
    """
    if not tensors:
        raise ShapeError("concat: there are no tensors to join")
    axis = axis if dim is None else dim
    if axis is None:
        tensors, axis = [reshape(x, [-1]) for x in tensors], 0
    nodes = [x.node for x in tensors]
    first = nodes[0].shape
    axis = check_axis(axis, len(first), "concat")
    for node in nodes:
        other = node.shape
        if other != first and (
            len(other) != len(first)
            or other[:axis] != first[:axis]
            or other[axis + 1 :] != first[axis + 1 :]
        ):
            raise ShapeError(f"concat: {first} and {other} differ in an axis other than {axis}")
    dtype = promote_all([node.dtype for node in nodes])
    nodes = [node if node.dtype == dtype else make(cast, node, dtype=dtype) for node in nodes]
    return Tensor(nodes[0] if len(nodes) == 1 else make(movement.concat, *nodes, axis=axis))


def stack(tensors: Sequence[Tensor], axis: int = 0, *, dim: int | None = None) -> Tensor:
    """Joins tensors along a new axis.

    tensors: one tensor or more, of one shape.
    axis: the position of the new axis in the result.
    dim: PyTorch's name of axis.
    Returns: the joined tensor, in the promoted type.
    Raises: ShapeError for different shapes, and for no tensors; AxisError for a position that the
      result doesn't have.
    Source: Python array API standard 2024.12, `stack`.
    """
    axis = axis if dim is None else dim
    return concat([expand_dims(x, axis) for x in tensors], axis)


def split(
    x: Tensor, sizes: int | Sequence[int], axis: int = 0, *, dim: int | None = None
) -> tuple[Tensor, ...]:
    """Splits a tensor into pieces along an axis.

    x: a tensor with one axis or more.
    sizes: the length of every piece, of which the last may be shorter; or the length of each, which
      must add up to that of the axis.
    axis: the axis.
    dim: PyTorch's name of axis.
    Returns: the pieces.
    Raises: ShapeError for lengths that do not add up; OptionError for pieces without elements;
      AxisError for an axis that x doesn't have.
    Source: PyTorch's documentation, `torch.split`.
    """
    axis = check_axis(axis if dim is None else dim, x.ndim, "split")
    if isinstance(sizes, int):
        if sizes < 1:
            raise OptionError(f"split: pieces of {sizes} elements")
        length = x.shape[axis]
        sizes = [min(sizes, length - start) for start in range(0, length, sizes)] or [0]
    if sum(sizes) != x.shape[axis] or any(size < 0 for size in sizes):
        raise ShapeError(f"split: {tuple(sizes)} does not add up to axis {axis} of {x.shape}")
    pieces, start = [], 0
    for size in sizes:
        index: list[Any] = [slice(None)] * x.ndim
        index[axis] = slice(start, start + size)
        pieces.append(x[tuple(index)])
        start += size
    return tuple(pieces)


def unstack(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """Gives the slices along an axis, which they no longer have.

    x: a tensor with one axis or more.
    axis: the axis.
    Returns: as many slices as the axis is long.
    Raises: AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `unstack`.
    """
    axis = check_axis(axis, x.ndim, "unstack")
    return tuple(squeeze(piece, axis) for piece in split(x, [1] * x.shape[axis], axis))


def pad(x: Tensor, pads: Sequence[tuple[int, int]], value: Scalar = 0) -> Tensor:
    """Adds a border; negative widths crop.

    x: a tensor of any shape.
    pads: for each axis the widths before and after the elements.
    value: the number in the border.
    Returns: the tensor with its border, in the type of x.
    Raises: ShapeError for another number of pairs than axes.
    """
    if len(pads) != x.ndim:
        raise ShapeError(f"pad: {len(pads)} pairs for the {x.ndim} axes of {x.shape}")
    if any(low < 0 or high < 0 for low, high in pads):
        cuts = zip(pads, x.shape, strict=True)
        x = x[tuple(slice(max(-low, 0), dim - max(-high, 0)) for (low, high), dim in cuts)]
        pads = [(max(low, 0), max(high, 0)) for low, high in pads]
    if not any(low or high for low, high in pads):
        return x
    widths = tuple((int(low), int(high)) for low, high in pads)
    return Tensor(make(movement.pad, x.node, pads=widths, value=dtype_cast(value, x.dtype)))


def tile(x: Tensor, repetitions: Sequence[int]) -> Tensor:
    """Repeats x as a whole.

    x: a tensor of any shape.
    repetitions: how often, for each axis; fewer numbers than axes count for the last axes, and more
      of them add axes in front.
    Returns: the repeated tensor, in the type of x.
    Source: Python array API standard 2024.12, `tile`.
    """
    counts = (1,) * (x.ndim - len(repetitions)) + tuple(repetitions)
    dims = (1,) * (len(counts) - x.ndim) + x.shape
    interleaved = reshape(x, [part for dim in dims for part in (1, dim)])
    wide = [part for count, dim in zip(counts, dims, strict=True) for part in (count, dim)]
    result = [count * dim for count, dim in zip(counts, dims, strict=True)]
    return reshape(broadcast_to(interleaved, wide), result)


def repeat(x: Tensor, repeats: int | Tensor, axis: int | None = None) -> Tensor:
    """Repeats each element along an axis.

    x: a tensor of any shape.
    repeats: a number for all elements, or a vector of one for each, which is read.
    axis: the axis; None flattens x first.
    Returns: the repeated elements, in the type of x.
    Raises: ShapeError for another number of repeats than elements; OptionError for a negative one;
      AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `repeat`.
    """
    if axis is None:
        x, axis = reshape(x, [-1]), 0
    axis = check_axis(axis, x.ndim, "repeat")
    if not isinstance(repeats, int):
        given = asarray(repeats)
        counts = [int(count) for count in host_values([given])[0].flat()]
        if given.ndim > 1 or len(counts) not in (1, x.shape[axis]) or not given.dtype.is_integer:
            raise ShapeError(
                f"repeat: {given.dtype.name} {given.shape} for {x.shape[axis]} elements; give a "
                "whole number, or one for each"
            )
        if min(counts, default=0) < 0:
            raise OptionError(f"repeat: {min(counts)} times")
        counts = counts * x.shape[axis] if len(counts) == 1 else counts
        indices = [index for index, count in enumerate(counts) for _ in range(count)]
        return indexing.take(x, asarray(indices, "int32"), axis)
    if repeats < 0:
        raise OptionError(f"repeat: {repeats} times")
    wide = (*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :])
    result = (*x.shape[:axis], x.shape[axis] * repeats, *x.shape[axis + 1 :])
    return reshape(broadcast_to(expand_dims(x, axis + 1), wide), result)
