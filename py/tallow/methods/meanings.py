"""PyTorch's meaning of names that mean something else in the array API: `x.sort()` gives values and
indices, `tl.sort(x)` values. Methods of tensors, and `tallow.torch`, mean what PyTorch's do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.dtype import DType, in_pytorch
from ..core.results import printed_as
from ..core.shape import check_axis
from ..errors import ArgumentError, DTypeError
from ..functions import arrange, elementwise, indexing, manipulation, reduction
from ..functions.shapes import expand
from ..tensor import Scalar, Tensor

Axes = int | Sequence[int] | None


class Extremes(NamedTuple):
    """The largest or smallest elements along an axis, and their indices along it."""

    values: Tensor
    indices: Tensor


def _extremes(input: Tensor, dim: int, keepdim: bool, greatest: bool) -> Extremes:
    """The largest or smallest elements along an axis, and their first indices."""
    axis = check_axis(dim, input.ndim, "max" if greatest else "min")
    indices = (reduction.argmax if greatest else reduction.argmin)(input, axis, True)
    # Their gradient goes to one of equal elements.
    values = indexing.take_along_axis(input, indices, axis)
    if keepdim:
        return Extremes(values, indices)
    return Extremes(manipulation.squeeze(values, axis), manipulation.squeeze(indices, axis))


@printed_as("max")
def max(input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
    """The largest element; along an axis, with its index; or the larger of two elements.

    input: numbers, of any shape.
    dim: None for the largest of all elements; an axis; or a tensor that broadcasts with input, for
      the larger of two elements.
    keepdim: keeps the axis, with length 1.
    Returns: a tensor without axes; for an axis (values, indices), of equal elements the first,
      which takes the whole gradient; for a tensor the larger elements.
    Raises: ShapeError over an empty axis, AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.max`.
    """
    if isinstance(dim, Tensor):
        return elementwise.maximum(input, dim)
    return reduction.max(input) if dim is None else _extremes(input, dim, keepdim, True)


@printed_as("min")
def min(input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False) -> Any:
    """The smallest element; along an axis, with its index; or the smaller of two elements.

    input: numbers, of any shape.
    dim: None for the smallest of all elements; an axis; or a tensor that broadcasts with input, for
      the smaller of two elements.
    keepdim: keeps the axis, with length 1.
    Returns: a tensor without axes; for an axis (values, indices), of equal elements the first,
      which takes the whole gradient; for a tensor the smaller elements.
    Raises: ShapeError over an empty axis, AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.min`.
    """
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
    """The squared distance from the mean, summed and divided by count - correction.

    input: floating numbers, of any shape.
    dim: the axis or axes; None is all.
    unbiased: False means a correction of 0, True one of 1.
    keepdim: keeps these axes, with length 1.
    correction: what is subtracted from the count, instead of unbiased. That of the array API's
      `var` is 0 by default.
    Returns: the shape of input without these axes.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.var`.
    """
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
    """The square root of `var`.

    input: floating numbers, of any shape.
    dim: the axis or axes; None is all.
    unbiased: False means a correction of 0, True one of 1.
    keepdim: keeps these axes, with length 1.
    correction: what is subtracted from the count, instead of unbiased.
    Returns: the shape of input without these axes.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.std`.
    """
    taken = float(unbiased if correction is None else correction)
    return reduction.std(input, dim, taken, keepdim)


@printed_as("sort")
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = True
) -> arrange.Ordered:
    """The elements in order along an axis, and their indices.

    input: numbers, of any shape.
    dim: the axis.
    descending: the largest first.
    stable: changes nothing: equal elements always keep their order.
    Returns: (values, indices), both in the shape of input.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.sort`.
    """
    return arrange.ordered(input, dim, descending)


def sign(input: Tensor) -> Tensor:
    """Gives -1, 0 or 1 by the sign of each element. NaN gives 0; `tl.sign` gives NaN.

    input: numbers, of any shape.
    Returns: the signs, of the shape and the type of input.
    Raises: DTypeError for booleans.
    Source: PyTorch, `torch.sign`.
    """
    signs = elementwise.sign(input)
    return (
        elementwise.where(elementwise.isnan(input), 0, signs) if input.dtype.is_floating else signs
    )


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shape and all elements are equal; reads them. `tl.equal` compares element by element.

    input: any tensor.
    other: the tensor to compare with.
    Returns: True or False, Python's.
    Source: PyTorch, `torch.equal`.
    """
    same = input.shape == other.shape
    return same and bool(reduction.all(elementwise.equal(input, other)))


def where(input: Tensor, condition: Tensor, other: Tensor | Scalar) -> Tensor:
    """The element where the condition is true, else that of other.

    input: any tensor.
    condition: booleans, which broadcast with input.
    other: a number, or a tensor that broadcasts with input.
    Returns: the chosen elements, in the shape that all broadcast to.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch, `torch.Tensor.where`.
    """
    return elementwise.where(condition, input, other)


def flip(input: Tensor, *dims: int | Sequence[int]) -> Tensor:
    """The order along axes reversed: x.flip(0, 1), x.flip((0, 1)).

    input: any tensor.
    dims: the axes, one by one or as one sequence.
    Returns: the shape of input.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.flip`.
    """
    if not dims:
        raise ArgumentError("flip: takes the axes to reverse, dims")
    axes = dims if isinstance(dims[0], int) else dims[0]
    return manipulation.flip(input, axes)  # type: ignore[arg-type]


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """The tensor broadcast to the shape of another one.

    input: any tensor.
    other: the tensor that has the shape.
    Returns: the shape of other.
    Raises: ShapeError for a shape that input does not broadcast to.
    Source: PyTorch, `torch.Tensor.expand_as`.
    """
    return expand(input, other.shape)


def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at indices into the flattened tensor.

    input: any tensor.
    index: integers; negative ones count from the end.
    Returns: the shape of index.
    Raises: IndexRangeError for an index beyond the elements.
    Source: PyTorch, `torch.take`.
    """
    return indexing.take(manipulation.reshape(input, (-1,)), index, 0)


def mean(
    input: Tensor, dim: Axes = None, keepdim: bool = False, *, dtype: DType | str | None = None
) -> Tensor:
    """The arithmetic mean.

    input: numbers, of any shape.
    dim: the axis or axes; None is all.
    keepdim: keeps these axes, with length 1.
    dtype: the type that elements are converted to first; None leaves it.
    Returns: the shape of input without these axes.
    Raises: AxisError for an axis that input doesn't have; DTypeError for integers, where
      `tallow.torch` was imported.
    Source: PyTorch, `torch.mean`.
    """
    given = input if dtype is None else input.astype(dtype)
    if in_pytorch() and not given.dtype.is_floating:
        raise DTypeError(f"mean: of {given.dtype.name}; give dtype=, a floating type")
    return reduction.mean(given, dim, keepdim)
