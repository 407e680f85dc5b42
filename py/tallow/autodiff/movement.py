"""Derivatives of movements: the gradient goes back to where its element came from."""

from __future__ import annotations

from collections.abc import Sequence

from .. import functions as f
from ..core import dtype as dt
from ..core.shape import Shape, size_of
from ..functions.arrange import scatter_elements
from ..functions.transposed import dilated
from ..graph import make
from ..ops import gather, movement, positions, reduce, source
from ..tensor import Tensor
from .rules import Gradients, rule


@rule(movement.after)
def _after(gradient: Tensor, y: Tensor, x: Tensor, other: Tensor) -> Gradients:
    return [gradient, None]


@rule(movement.reshape)
def _reshape(gradient: Tensor, y: Tensor, x: Tensor, shape: Shape) -> Gradients:
    before = x.node.shape
    if before == gradient.node.shape:
        return [gradient]
    return [Tensor(make(movement.reshape, gradient.node, shape=before))]


@rule(movement.permute)
def _permute(gradient: Tensor, y: Tensor, x: Tensor, axes: Shape) -> Gradients:
    back = tuple([axes.index(axis) for axis in range(len(axes))])
    return [Tensor(make(movement.permute, gradient.node, axes=back))]


@rule(movement.expand)
def _expand(gradient: Tensor, y: Tensor, x: Tensor, shape: Shape) -> Gradients:
    before = x.node.shape
    repeated = tuple([axis for axis, dim in enumerate(shape) if dim != before[axis]])
    if not repeated:
        return [gradient]
    return [Tensor(make(reduce.sum_, gradient.node, axes=repeated))]


@rule(movement.slice_)
def _slice(
    gradient: Tensor, y: Tensor, x: Tensor, starts: Shape, steps: Shape, shape: Shape
) -> Gradients:
    before = x.node.shape
    if steps.count(1) == len(steps):  # as most slices are
        around = [*zip(starts, shape, before, strict=True)]
        borders = [(low, dim - low - size) if size else (0, dim) for low, size, dim in around]
        return [f.pad(gradient, borders)]
    back = tuple(axis for axis, step in enumerate(steps) if step < 0)
    if back:
        gradient = f.flip(gradient, back)
    pads = []
    for axis, (start, step, size) in enumerate(zip(starts, steps, shape, strict=True)):
        low = start if step > 0 else start + step * (size - 1)
        gradient = dilated(gradient, axis, abs(step))
        pads.append(
            (low, x.shape[axis] - low - gradient.shape[axis]) if size else (0, x.shape[axis])
        )
    return [f.pad(gradient, pads)]


@rule(movement.pad)
def _pad(
    gradient: Tensor, y: Tensor, x: Tensor, pads: Sequence[tuple[int, int]], value: float
) -> Gradients:
    inside = [slice(low, low + dim) for (low, _), dim in zip(pads, x.shape, strict=True)]
    return [gradient[tuple(inside)]]


@rule(movement.concat)
def _concat(gradient: Tensor, y: Tensor, *parts: Tensor, axis: int) -> Gradients:
    found, start = [], 0
    steps = (1,) * len(gradient.node.shape)
    for part in parts:
        shape = part.node.shape
        starts = (*(0,) * axis, start if shape[axis] else 0, *(0,) * (len(shape) - axis - 1))
        cut = make(movement.slice_, gradient.node, starts=starts, steps=steps, shape=shape)
        found.append(Tensor(cut))
        start += shape[axis]
    return found


@rule(positions.slice_at)
def _slice_at(
    gradient: Tensor, y: Tensor, x: Tensor, *starts: Tensor, axes: Shape, shape: Shape
) -> Gradients:
    nothing, nodes = f.zeros(x.shape, x.dtype), [start.node for start in starts]
    numbers = (0,) * x.ndim
    written = make(
        positions.update_at, nothing.node, gradient.node, *nodes, axes=axes, starts=numbers
    )
    return [Tensor(written), *(None for _ in starts)]


@rule(positions.fill_from)
def _fill_from(
    gradient: Tensor, y: Tensor, x: Tensor, start: Tensor, axis: int, value: float
) -> Gradients:
    return [f.fill_from(gradient, start, 0, axis), None]


@rule(positions.update_at)
def _update_at(
    gradient: Tensor,
    y: Tensor,
    x: Tensor,
    new: Tensor,
    *positions_: Tensor,
    axes: Shape,
    starts: Shape,
) -> Gradients:
    where: list[int | Tensor] = list(starts)
    for axis, at in zip(axes, positions_, strict=True):
        where[axis] = at
    outside = f.update_at(gradient, where, f.zeros(new.shape, new.dtype))
    return [outside, f.slice_at(gradient, where, new.shape), *(None for _ in positions_)]


@rule(gather.take)
def _take(gradient: Tensor, y: Tensor, x: Tensor, indices: Tensor, axis: int) -> Gradients:
    """Rows are added up where they came from: x as (before, rows, after)."""
    before, after = size_of(x.shape[:axis]), size_of(x.shape[axis + 1 :])
    rows = f.reshape(gradient, (before, indices.size, after))
    at = f.broadcast_to(f.reshape(indices, (1, indices.size, 1)), rows.shape)
    nothing = f.zeros((before, x.shape[axis], after), x.dtype)
    return [f.reshape(scatter_elements(nothing, 1, at, rows, "add"), x.shape), None]


@rule(gather.take_along_axis)
def _take_along_axis(
    gradient: Tensor, y: Tensor, x: Tensor, indices: Tensor, axis: int
) -> Gradients:
    """Each line along the axis is a batch of its own. Where the result is one line, as in losses
    that pick the score of a class, every element is compared with its index instead."""
    if indices.shape[axis] == 1 and all(
        a == b for n, (a, b) in enumerate(zip(x.shape, indices.shape, strict=True)) if n != axis
    ):
        line = Tensor(make(source.iota, shape=x.shape, dtype=dt.int32, axis=axis))
        indices = indices.astype(dt.int32)  # in which the sum below stays on every device
        counted = f.where(indices < 0, indices + x.shape[axis], indices)
        return [f.where(f.equal(line, counted), gradient, f.zeros((), x.dtype)), None]
    if any(x.shape[a] != indices.shape[a] for a in range(x.ndim) if a != axis):
        # The lines beyond those of the indices were not read.
        whole = [(0, x.shape[a] - indices.shape[a] if a != axis else 0) for a in range(x.ndim)]
        inside = tuple(
            slice(None) if a == axis else slice(0, indices.shape[a]) for a in range(x.ndim)
        )
        (part, _) = _take_along_axis(gradient, y, x[inside], indices, axis)
        assert part is not None
        return [f.pad(part, whole), None]
    return [scatter_elements(f.zeros(x.shape, x.dtype), axis, indices, gradient, "add"), None]
