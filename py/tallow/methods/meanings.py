"""PyTorch's meaning of names that mean something else in the array API: `x.sort()` gives values and
indices, `tl.sort(x)` values. Methods of tensors, and `tallow.torch`, mean what PyTorch's do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.dtype import DType, in_pytorch
from ..core.shape import check_axis
from ..errors import DTypeError
from ..functions import arrange, elementwise, indexing, manipulation, reduction
from ..functions.shapes import expand
from ..tensor import Scalar, Tensor

Axes = int | Sequence[int] | None


class Extremes(NamedTuple):
    """The largest or smallest elements along an axis, and their indices along it."""

    values: Tensor
    indices: Tensor


def _extremes(input: Tensor, dim: int, keepdim: bool, greatest: bool) -> Extremes:
    """The largest or smallest elements along an axis, and the first index of each."""
    axis = check_axis(dim, input.ndim, "max" if greatest else "min")
    indices = (reduction.argmax if greatest else reduction.argmin)(input, axis, True)
    # Their gradient goes to one of equal elements.
    values = indexing.take_along_axis(input, indices, axis)
    if keepdim:
        return Extremes(values, indices)
    return Extremes(manipulation.squeeze(values, axis), manipulation.squeeze(indices, axis))


def max(input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
    """The largest element. With dim, (values, indices) along that axis: the first of equal ones,
    which takes the whole gradient. With another tensor in its place, the larger of two elements.
    Raises ShapeError over an empty axis."""
    if isinstance(dim, Tensor):
        return elementwise.maximum(input, dim)
    return reduction.max(input) if dim is None else _extremes(input, dim, keepdim, True)


def min(input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
    """The smallest element, as `max` the largest."""
    if isinstance(dim, Tensor):
        return elementwise.minimum(input, dim)
    return reduction.min(input) if dim is None else _extremes(input, dim, keepdim, False)


def var(
    input: Tensor,
    dim: Axes = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Scalar | None = None,
) -> Tensor:
    """The squared distance from the mean, summed and divided by count - correction. That is 1, or 0
    if unbiased is False; the array API's is 0."""
    taken = float(unbiased if correction is None else correction)
    return reduction.var(input, dim, taken, keepdim)


def std(
    input: Tensor,
    dim: Axes = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: Scalar | None = None,
) -> Tensor:
    """The square root of `var`."""
    taken = float(unbiased if correction is None else correction)
    return reduction.std(input, dim, taken, keepdim)


def sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = True
) -> arrange.Ordered:
    """(values, indices): the elements in order along an axis, and their indices. Equal ones always
    keep their order."""
    return arrange.ordered(input, dim, descending)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shape and all elements are equal; reads them. `tl.equal` compares element by
    element."""
    same = input.shape == other.shape
    return same and bool(reduction.all(elementwise.equal(input, other)))


def where(input: Tensor, condition: Tensor, other: Tensor | Scalar) -> Tensor:
    """The element where the condition is true, else that of other."""
    return elementwise.where(condition, input, other)


def flip(input: Tensor, *dims: int | Sequence[int]) -> Tensor:
    """The order along axes reversed: x.flip(0, 1), x.flip((0, 1))."""
    axes = dims if isinstance(dims[0], int) else dims[0]
    return manipulation.flip(input, axes)  # type: ignore[arg-type]


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Broadcast to the shape of another tensor. Raises ShapeError."""
    return expand(input, other.shape)


def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at indices into the flattened tensor, negative ones from the end, in the shape
    of index."""
    return indexing.take(manipulation.reshape(input, (-1,)), index, 0)


def mean(
    input: Tensor, dim: Axes = None, keepdim: bool = False, *, dtype: DType | str | None = None
) -> Tensor:
    """The arithmetic mean. dtype: what the elements are cast to first. Raises DTypeError for
    integers where they are PyTorch's, that is where `tallow.torch` was imported."""
    given = input if dtype is None else input.astype(dtype)
    if in_pytorch() and not given.dtype.is_floating:
        raise DTypeError(f"mean: of {given.dtype.name}; give dtype=, a floating type")
    return reduction.mean(given, dim, keepdim)
