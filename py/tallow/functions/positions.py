"""Regions of a tensor at a position that the device reads."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as whole
from typing import Any, Union

from ..core.shape import Shape, check_axis
from ..errors import DTypeError, IndexRangeError, ShapeError
from ..graph import Node, make
from ..ops import movement, positions
from ..tensor import Scalar, Tensor, asarray
from . import elementwise
from .elementwise import dtype_cast
from .indexing import check_index, checked_indices
from .manipulation import reshape

Start = Union[int, Tensor]  # noqa: UP007 - a runtime alias


def slice_at(x: Tensor, start: Start | Sequence[Start], size: int | Sequence[int]) -> Tensor:
    """The region of x with a start and a size; the start may be in a tensor.

    One plan serves all positions, since the device reads them. A start in a tensor that is negative
    counts from the end, and the start is then clamped so that the region lies within x, as in JAX.
    A number is known before anything runs, so one that is out of range is an error.

    x: a tensor of any type, with one axis or more.
    start: where the region begins: integers, or tensors of one integer without axes, for the first
      axes of x; one alone is for the first axis. The other axes are taken whole.
    size: as many integers: the lengths of the region.
    Returns: the elements, in the type of x, with as many axes.
    Raises: ShapeError for a region larger than x, for more starts than axes, for starts and sizes
      that do not match, and for a start with axes; DTypeError for a start that is no integer;
      IndexRangeError for a number out of range.
    Source: JAX's documentation, `jax.lax.dynamic_slice`.
    """
    starts = _each(start)
    sizes = [size] if isinstance(size, int) else list(size)
    if len(starts) != len(sizes):
        raise ShapeError(f"slice_at: {len(starts)} starts do not match {len(sizes)} sizes")
    given = min(len(sizes), x.ndim)
    shape = (*(whole(each) for each in sizes[:given]), *x.shape[given:])
    numbers, axes, nodes = _known("slice_at", x, starts, shape)
    node = x.node
    cut = tuple(dim if axis in axes else shape[axis] for axis, dim in enumerate(x.shape))
    if 0 in shape:
        numbers, cut = (0,) * x.ndim, shape
    if cut != x.shape:
        steps = (1,) * len(cut)
        node = make(movement.slice_, node, starts=numbers, steps=steps, shape=cut)
    if not axes or 0 in shape:
        return Tensor(node)
    return Tensor(make(positions.slice_at, node, *nodes, axes=axes, shape=shape))


def update_at(x: Tensor, start: Start | Sequence[Start], new: Tensor) -> Tensor:
    """x with other elements in a region; its start may be in a tensor.

    Starts mean what they mean to `slice_at`. A tensor does not change; but where x is needed no
    later, the device writes the region into its memory and moves nothing else. So a step of
    `@tl.jit` that assigns the result to a `tl.Variable` costs what the region costs.

    x: a tensor of any type, with one axis or more.
    start: where the region begins: integers, or tensors of one integer without axes, for the first
      axes of x; one alone is for the first axis. Along the other axes it begins at 0.
    new: the elements, in the type of x, with as many axes, none longer than that of x.
    Returns: the elements, of the shape and the type of x.
    Raises: ShapeError for a region larger than x, for more starts than axes, for other axes, and
      for a start with axes; DTypeError for a start that is no integer, and for elements of
      another type; IndexRangeError for a number out of range.
    Source: JAX's documentation, `jax.lax.dynamic_update_slice`.
    """
    new = asarray(new)
    if new.ndim != x.ndim:
        raise ShapeError(f"update_at: {new.shape} has not as many axes as {x.shape}")
    if new.dtype != x.dtype:
        raise DTypeError(f"update_at: {new.dtype.name} into {x.dtype.name}")
    numbers, axes, nodes = _known("update_at", x, _each(start), new.shape)
    if not new.size:
        return Tensor(x.node)
    if new.shape == x.shape:
        return Tensor(new.node)
    return Tensor(make(positions.update_at, x.node, new.node, *nodes, axes=axes, starts=numbers))


def fill_from(x: Tensor, start: Start, value: Scalar, axis: int = -1) -> Tensor:
    """x, but `value` from a position on along an axis; the position may be in a tensor.

    What is behind the position is not computed. A sum of it filled with 0, a product with 1, a
    maximum with `-math.inf` and a minimum with `math.inf` end there, on WebGPU and WebAssembly: so
    attention over a cache costs what the cache holds. A product of float32 ends there on every
    device if both operands are filled with 0, from one position on, along what it adds up.

    x: a tensor of any type, with one axis or more.
    start: an integer, or a tensor of one without axes; a negative one counts from the end, and one
      beyond the axis leaves x as it is.
    value: a number.
    axis: the axis.
    Returns: the elements, of the shape and the type of x.
    Raises: AxisError for an axis that x doesn't have; DTypeError for a start that is no integer;
      ShapeError for a start with axes; IndexRangeError for a number out of range.
    """
    axis = check_axis(axis, x.ndim, "fill_from")
    if not x.size:
        return Tensor(x.node)
    empty = (*x.shape[:axis], 0, *x.shape[axis + 1 :])
    numbers, axes, nodes = _known("fill_from", x, [*(0,) * axis, start], empty)
    number = nodes[0] if axes else asarray(numbers[axis]).node
    filler = dtype_cast(value, x.dtype)
    return Tensor(make(positions.fill_from, x.node, number, axis=axis, value=filler))


def region_of(x: Tensor, key: Any) -> tuple[list[Start], Shape, Shape] | None:
    """The starts and sizes of the region that a key means, and the shape that x[key] has, where it
    is one: a key of numbers, of slices without steps, and of one integer in a tensor."""
    items = list(key) if isinstance(key, tuple) else [key]
    starts: list[Start] = []
    sizes: list[int] = []
    shape: list[int] = []
    read = 0
    if len(items) > x.ndim:
        return None
    for axis, (item, dim) in enumerate(zip(items, x.shape, strict=False)):
        if isinstance(item, slice):
            ends = (item.start, item.stop, item.step)
            if not all(end is None or isinstance(end, int) for end in ends):
                return None
            start, stop, step = item.indices(dim)
            if step != 1 or stop <= start:
                return None
            starts.append(start)
            sizes.append(stop - start)
            shape.append(stop - start)
        elif isinstance(item, int) and not isinstance(item, bool):
            starts.append(check_index(item, dim, axis, x))
            sizes.append(1)
        elif isinstance(item, Tensor) and item.size == 1 and item.ndim < 2:
            if not item.dtype.is_integer or not dim:
                return None
            at = reshape(item, ())
            front = elementwise.where(elementwise.less(at, 0), at + dim, at)
            starts.append(checked_indices(front, dim, "x[...] = value: the index"))
            sizes.append(1)
            shape += item.shape
            read += 1
        else:
            return None
    rest = x.shape[len(items) :]
    if read > 1:  # as points: the axes of the result may stand elsewhere
        return None
    return starts, (*sizes, *rest), (*shape, *rest)


def _each(start: Start | Sequence[Start]) -> list[Start]:
    return list(start) if isinstance(start, (tuple, list)) else [start]  # type: ignore[list-item]


def _known(
    name: str, x: Tensor, starts: Sequence[Start], shape: Shape
) -> tuple[Shape, Shape, list[Node]]:
    """The starts that are numbers, 0 for others; the axes of the others, and their nodes."""
    if len(starts) > x.ndim:
        raise ShapeError(f"{name}: {len(starts)} starts for the axes of {x.shape}")
    if any(not 0 <= size <= dim for size, dim in zip(shape, x.shape, strict=True)):
        raise ShapeError(f"{name}: a region of {shape} does not lie within {x.shape}")
    numbers, axes, nodes = [0] * x.ndim, [], []
    for axis, start in enumerate(starts):
        room = x.shape[axis] - shape[axis]
        if isinstance(start, Tensor) or hasattr(start, "__array__"):
            at = asarray(start)
            if not at.dtype.is_integer:
                raise DTypeError(f"{name}: a start must be an integer, not {at.dtype.name}")
            if at.ndim:
                raise ShapeError(f"{name}: a start must be one integer, not {at.shape}")
            if room:
                axes.append(axis)
                nodes.append(at.node)
            continue
        try:
            number = whole(start)
        except TypeError:
            number = None
        if number is None or isinstance(start, bool):
            raise DTypeError(f"{name}: a start must be an integer, not {start!r}")
        number += x.shape[axis] if number < 0 else 0
        if not 0 <= number <= room:
            raise IndexRangeError(
                f"{name}: a region of {shape[axis]} elements from {start} on is out of range for "
                f"axis {axis} of {x.shape}"
            )
        numbers[axis] = number
    return tuple(numbers), tuple(axes), nodes
