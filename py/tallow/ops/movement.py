"""Movement: elements move, none is computed. An index rule each; see `Movement.pick`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.bounds import first
from ..core.shape import Shape, size_of, strides_of
from ..errors import DTypeError
from .kinds import Attrs, Coordinates, Movement, Pick, Read, Spec

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


def runs_of(source: Shape, target: Shape) -> list[tuple[list[int], list[int]]]:
    """Pairs of runs of axes, of source and target, with equal numbers of elements.

    An index need only be taken apart within a run, so that axes a reshape leaves alone cost
    nothing.
    """
    runs: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(source) or j < len(target):
        a: list[int] = []
        b: list[int] = []
        left = right = 1
        while True:
            if left <= right and i < len(source) and (left < right or not a):
                a.append(i)
                left *= source[i]
                i += 1
            elif j < len(target) and (right < left or not b):
                b.append(j)
                right *= target[j]
                j += 1
            elif left == right:
                break
            elif i < len(source):
                a.append(i)
                left *= source[i]
                i += 1
            else:
                b.append(j)
                right *= target[j]
                j += 1
        runs.append((a, b))
    return runs


def reshape_coords(source: Shape, target: Shape, coords: Sequence[Any]) -> tuple[Any, ...]:
    """The coordinates in `source` of the element at `coords` in `target`."""
    if size_of(source) == 0:
        return tuple(0 for _ in source)
    result: list[Any] = [0] * len(source)
    for a, b in runs_of(source, target):
        inner = [target[axis] for axis in b]
        flat: Any = 0
        for axis, stride in zip(b, strides_of(inner), strict=True):
            if target[axis] > 1:
                flat = flat + coords[axis] * stride
        dims = [source[axis] for axis in a]
        outermost = True
        for axis, stride in zip(a, strides_of(dims), strict=True):
            if source[axis] == 1:
                continue
            coord = flat // stride
            result[axis] = coord if outermost else coord % source[axis]
            outermost = False
    return tuple(result)


def _target(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    return attrs["shape"], operands[0][1]


reshape = Movement(
    "reshape",
    lambda np, x, shape: np.reshape(x, shape),
    _target,
    lambda shapes, attrs, coords, read: [
        Pick(0, reshape_coords(shapes[0], attrs["shape"], coords))
    ],
    view=True,
    bijective=True,
)

permute = Movement(
    "permute",
    lambda np, x, axes: np.transpose(x, axes),
    lambda operands, attrs: (
        tuple(operands[0][0][axis] for axis in attrs["axes"]),
        operands[0][1],
    ),
    lambda shapes, attrs, coords, read: [
        Pick(0, tuple(coords[attrs["axes"].index(axis)] for axis in range(len(coords))))
    ],
    view=True,
    bijective=True,
)

expand = Movement(
    "expand",
    lambda np, x, shape: np.broadcast_to(x, shape),
    _target,
    lambda shapes, attrs, coords, read: [
        Pick(0, tuple(0 if dim == 1 else c for dim, c in zip(shapes[0], coords, strict=True)))
    ],
    view=True,
)
"""Repeats axes of length 1; rank stays."""


def _slice_numpy(np: NumPy, x: Array, starts: Shape, steps: Shape, shape: Shape) -> Array:
    index = []
    for start, step, size in zip(starts, steps, shape, strict=True):
        stop: int | None = start + step * size
        if stop is not None and stop < 0:
            stop = None
        index.append(slice(start, stop, step) if size else slice(0, 0))
    return x[tuple(index)]


slice_ = Movement(
    "slice",
    _slice_numpy,
    _target,
    lambda shapes, attrs, coords, read: [
        Pick(
            0,
            tuple(
                c * step + start
                for c, start, step in zip(coords, attrs["starts"], attrs["steps"], strict=True)
            ),
        )
    ],
    view=True,
)
"""Every `steps`-th element from `starts` on, `shape` of them; steps may be negative."""


def _pad_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    shape, dtype = operands[0]
    padded = (low + dim + high for dim, (low, high) in zip(shape, attrs["pads"], strict=True))
    return tuple(padded), dtype


def _pad_pick(shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read) -> list[Pick]:
    when = tuple(
        (c, low, low + dim)
        for c, dim, (low, high) in zip(coords, shapes[0], attrs["pads"], strict=True)
        if low or high
    )
    moved = tuple(
        c - low if low or high else c for c, (low, high) in zip(coords, attrs["pads"], strict=True)
    )
    return [Pick(0, moved, when)]


pad = Movement(
    "pad",
    lambda np, x, pads, value: np.pad(x, pads, constant_values=value),
    _pad_rule,
    _pad_pick,
)
"""`pads`: (before, after) per axis, not negative; filled with the Python number `value`."""


def _concat_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    shape, dtype = operands[0]
    for _, other in operands[1:]:
        if other != dtype:
            raise DTypeError(f"concat: operands must have one type, got {dtype.name}, {other.name}")
    axis = attrs["axis"]
    total = sum(other[axis] for other, _ in operands)
    return (*shape[:axis], total, *shape[axis + 1 :]), dtype


def _concat_pick(
    shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read
) -> list[Pick]:
    axis = attrs["axis"]
    picks = []
    start = 0
    for operand, shape in enumerate(shapes):
        end = start + shape[axis]
        moved = (*coords[:axis], coords[axis] - start, *coords[axis + 1 :])
        if end > start:
            picks.append(Pick(operand, moved, ((coords[axis], start, end),)))
        start = end
    return picks


after = Movement(
    "after",
    lambda np, x, other: x,
    lambda operands, attrs: operands[0],
    lambda shapes, attrs, coords, read: [Pick(0, tuple(coords))],
    view=True,
    bounds=first,
)
"""The first operand, not before the second is computed: compile/order.py takes it out again."""

concat = Movement(
    "concat",
    lambda np, *xs, axis: np.concatenate(xs, axis=axis),
    _concat_rule,
    _concat_pick,
    bijective=True,
)
