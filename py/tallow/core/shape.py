"""Pure shape rules: broadcasting, axes, slices, windows. No tensors, no NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Self

from ..errors import AxisError, ShapeError

Shape = tuple[int, ...]


class Size(tuple[int, ...]):
    """A shape as PyTorch has it, `torch.Size`: a tuple that counts elements and says its name."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Size(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(super().__add__(tuple(other)))

    def __radd__(self, other: Iterable[int]) -> Size:
        return Size((*other, *self))


@lru_cache(maxsize=4096)
def as_size(shape: Shape) -> Size:
    """A shape as PyTorch has it; programs ask for the same ones again."""
    return Size(shape)


MAX_AXES = 64
"""Axes of an array; NumPy, on which everything must run, has no more."""


def size_of(shape: Iterable[int]) -> int:
    """The number of elements."""
    return math.prod(shape)


def strides_of(shape: Sequence[int]) -> Shape:
    """Row-major strides, in elements."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def check_shape(shape: Iterable[int], what: str) -> Shape:
    """The shape as a tuple of non-negative Python integers."""
    dims = tuple(shape)
    if {*map(type, dims)} == {int} and min(dims) >= 0:
        return dims
    for dim in dims:
        if isinstance(dim, bool) or not hasattr(dim, "__index__") or dim.__index__() < 0:
            raise ShapeError(f"{what}: a shape holds non-negative integers, got {dims}")
    return tuple(dim.__index__() for dim in dims)


def check_rank(shape: Shape, what: str) -> Shape:
    """The shape itself; ShapeError if it has more axes than an array can have."""
    if len(shape) > MAX_AXES:
        raise ShapeError(f"{what}: an array of {len(shape)} axes; {MAX_AXES} at most")
    return shape


def broadcast_shapes(*shapes: Shape, what: str = "broadcast") -> Shape:
    """The common shape (array API, "Broadcasting"); ShapeError names the shapes that do not fit."""
    first = shapes[0] if shapes else ()
    for other in shapes:
        if other != first:
            return _broadcast(shapes, what)
    return first


@lru_cache(maxsize=1024)
def _broadcast(shapes: tuple[Shape, ...], what: str) -> Shape:
    """The common shape of several; programs ask for the same ones in every turn of a loop."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = []
    for position in range(-rank, 0):
        dims = {shape[position] for shape in shapes if len(shape) >= -position} - {1}
        if len(dims) > 1:
            listed = " and ".join(str(shape) for shape in shapes)
            raise ShapeError(
                f"{what}: shapes {listed} do not broadcast: axis {position} has "
                f"{' and '.join(map(str, sorted(dims)))}, which are neither equal nor 1"
            )
        result.append(dims.pop() if dims else 1)
    return tuple(result)


def check_axis(axis: int, rank: int, what: str) -> int:
    """The axis counted from the front, 0 <= axis < rank."""
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise ShapeError(f"{what}: an axis is an integer, got {axis!r}")
    if not -rank <= axis < rank:
        raise AxisError(f"{what}: axis {axis} is out of range for {rank} dimensions")
    return axis % rank


def check_axes(axes: int | Sequence[int] | None, rank: int, what: str) -> Shape:
    """Sorted axes without duplicates; None stands for all of them."""
    if axes is None:
        return tuple(range(rank))
    if isinstance(axes, int):
        return (check_axis(axes, rank, what),)
    listed = list(axes)
    result = sorted(check_axis(axis, rank, what) for axis in listed)
    if len(set(result)) != len(result):
        raise ShapeError(f"{what}: an axis stands twice in {tuple(listed)}")
    return tuple(result)


def infer_reshape(shape: Shape, wanted: Sequence[int], what: str = "reshape") -> Shape:
    """The wanted shape with a single -1 filled in so that the element counts agree."""
    dims = list(wanted)
    if math.prod(dims) == math.prod(shape) and min(dims, default=0) >= 0:
        return tuple(dims)
    unknown = [axis for axis, dim in enumerate(dims) if dim == -1]
    if len(unknown) > 1 or any(dim < -1 for dim in dims):
        raise ShapeError(f"{what}: at most one dimension may be -1, got {tuple(wanted)}")
    if unknown:
        known = math.prod(dim for dim in dims if dim != -1)
        if known == 0 or size_of(shape) % known:
            raise ShapeError(f"{what}: {shape} does not divide into {tuple(wanted)}")
        dims[unknown[0]] = size_of(shape) // known
    if size_of(dims) != size_of(shape):
        raise ShapeError(
            f"{what}: {shape} has {size_of(shape)} elements, {tuple(dims)} needs {size_of(dims)}"
        )
    return tuple(dims)


def check_permutation(axes: Sequence[int], rank: int, what: str) -> Shape:
    """The permutation with every axis counted from the front."""
    given, every = tuple(axes), list(range(rank))
    if {*map(type, given)} == {int} and sorted(given) == every:
        return given
    result = tuple(check_axis(axis, rank, what) for axis in given)
    if sorted(result) != every:
        raise ShapeError(f"{what}: {given} is not a permutation of {rank} axes")
    return result


def window_size(size: int, kernel: int, stride: int, dilation: int, ceil: bool = False) -> int:
    """How many windows fit along an axis of `size` elements, its padding counted in.

    With `ceil`, a last window that only begins inside counts too.
    """
    span = size - dilation * (kernel - 1) - 1
    if span < 0:
        return 0
    return (span + stride - 1 if ceil else span) // stride + 1


def ceil_border(size: int, low: int, high: int, kernel: int, stride: int, dilation: int) -> int:
    """Padding at the end so that a last window that only begins inside fits (ceil_mode).

    As in PyTorch, a window that would begin in the padding at the end is left out.
    """
    count = window_size(size + low + high, kernel, stride, dilation, True)
    if (count - 1) * stride >= size + low:
        count -= 1
    reach = (count - 1) * stride + dilation * (kernel - 1) + 1
    return max(high, reach - size - low)


def positions_inside(start: int, kernel: int, dilation: int, first: int, last: int) -> int:
    """How many positions of a window that begins at `start` satisfy first <= position < last."""
    before = max(0, -((start - first) // dilation))
    after = min(kernel - 1, (last - 1 - start) // dilation)
    return max(0, after - before + 1)


class Count(int):
    """The number of elements: `x.size`, as in the array API. Called, as in PyTorch, it gives the
    shape, or the length of one axis: `x.size()`, `x.size(0)`."""

    shape: tuple[int, ...]

    def __new__(cls, count: int, shape: tuple[int, ...]) -> Self:
        found = super().__new__(cls, count)
        found.shape = shape
        return found

    def __call__(self, dim: int | None = None) -> Shape | int:
        return self.shape if dim is None else self.shape[dim]

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        """A copy, or what was pickled, is a plain number."""
        return int, (int(self),)
