"""Methods whose result is a view: a change in place of it changes the tensor that it was taken of.

To read, a view keeps the values that the tensor had when it was taken; a change through it begins
with those that the tensor has by then. The array API's functions of this kind, in `functions`, give
no views.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec

from ..core.dtype import DType, is_dtype
from ..core.shape import check_axis
from ..errors import OptionError, ShapeError
from ..functions import elementwise, indexing, manipulation
from ..functions.selection import with_items
from ..functions.shapes import Shape, numbers_of
from ..tensor import Tensor, is_basic

P = ParamSpec("P")
Shaper = Callable[Concatenate[Tensor, P], Tensor]


def _in_shape(tensor: Tensor, result: Tensor) -> Tensor:
    """A result that has the elements of a tensor in another shape, as a view of it."""
    shape = result.shape
    return result.view_of(
        tensor, lambda whole: whole.reshape(shape), lambda whole, new: new.reshape(whole.shape)
    )


def _in_order(tensor: Tensor, result: Tensor) -> Tensor:
    """A result that has the axes of a tensor in another order, as a view of it."""
    order = result.node.attrs["axes"]  # of the op `permute`
    back = [order.index(axis) for axis in range(len(order))]
    return result.view_of(
        tensor, lambda whole: whole.permute(*order), lambda _, new: new.permute(*back)
    )


def _reshaped(function: Shaper[P]) -> Shaper[P]:
    """A function that gives the elements in another shape, with a view as its result."""

    @wraps(function)
    def method(input: Tensor, /, *args: P.args, **options: P.kwargs) -> Tensor:
        return _in_shape(input, function(input, *args, **options))

    return method


def _reordered(function: Shaper[P]) -> Shaper[P]:
    """A function that gives the axes in another order, with a view as its result."""

    @wraps(function)
    def method(input: Tensor, /, *args: P.args, **options: P.kwargs) -> Tensor:
        return _in_order(input, function(input, *args, **options))

    return method


@_reshaped
def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Removes axes of length 1: all, or those among dim. Unlike the array API's, it leaves an axis
    of another length.

    input: a tensor of any shape.
    dim: the axis or axes; None removes all of length 1.
    Returns: the tensor without these axes.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.squeeze`.
    """
    if dim is None:
        return manipulation.squeeze(input)
    dims = [dim] if isinstance(dim, int) else dim
    axes = [check_axis(axis, input.ndim, "squeeze") for axis in dims]
    return manipulation.squeeze(input, [axis for axis in axes if input.shape[axis] == 1])


@_reshaped
def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Splits an axis into several.

    input: a tensor with one axis or more.
    dim: the axis.
    sizes: the lengths of the new axes, of which one may be -1: it follows from the others.
    Returns: the elements, row-major, in the new shape.
    Raises: ShapeError for lengths that do not fit; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.unflatten`.
    """
    at = check_axis(dim, input.ndim, "unflatten")
    known = math.prod(size for size in sizes if size != -1)
    whole = [input.shape[at] // max(known, 1) if size == -1 else size for size in sizes]
    return manipulation.reshape(input, (*input.shape[:at], *whole, *input.shape[at + 1 :]))


@_reshaped
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Joins the axes from start_dim to end_dim, inclusive, into one.

    input: a tensor of any shape.
    start_dim, end_dim: the first and the last of these axes.
    Returns: the elements, row-major; a vector of a tensor without axes.
    Raises: ShapeError if end_dim comes before start_dim; AxisError for an axis that input doesn't
      have.
    Source: PyTorch's documentation, `torch.flatten`.
    """
    if not input.ndim:
        return manipulation.reshape(input, (1,))
    first = check_axis(start_dim, input.ndim, "flatten")
    last = check_axis(end_dim, input.ndim, "flatten")
    if first > last:
        raise ShapeError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
    joined = math.prod(input.shape[first : last + 1])
    return manipulation.reshape(input, (*input.shape[:first], joined, *input.shape[last + 1 :]))


@_reordered
def permute(input: Tensor, *dims: Shape) -> Tensor:
    """Orders the axes anew: axis i of the result is axis dims[i].

    The order may be one sequence or numbers, permute(x, (1, 0)) or permute(x, 1, 0).

    input: a tensor of any shape.
    dims: all axes of input, in their new order, as numbers or as one sequence.
    Returns: the tensor with its axes in that order.
    Raises: ShapeError for what is no permutation of the axes.
    Source: PyTorch's documentation, `torch.permute`.
    """
    return manipulation.permute_dims(input, numbers_of(dims))


@_reordered
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Exchanges two axes.

    input: a tensor with one axis or more.
    dim0, dim1: the axes.
    Returns: the tensor with these axes exchanged.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.transpose`.
    """
    order = list(range(input.ndim))
    first = check_axis(dim0, input.ndim, "transpose")
    second = check_axis(dim1, input.ndim, "transpose")
    order[first], order[second] = second, first
    return manipulation.permute_dims(input, order)


@_reordered
def t(input: Tensor) -> Tensor:
    """Transposes a matrix; a vector stays as it is.

    input: a tensor with two axes at most.
    Returns: the transposed matrix.
    Raises: ShapeError for more than two axes.
    Source: PyTorch's documentation, `torch.t`.
    """
    if input.ndim > 2:
        raise ShapeError(f"t and T: {input.shape} has more than two axes; use mT or transpose")
    return manipulation.permute_dims(input, range(input.ndim)[::-1])


movedim = _reordered(manipulation.moveaxis)

T = property(t, doc="A matrix transposed; a vector as it is. ShapeError beyond two axes: see `mT`.")


def reshape(
    input: Tensor, *sizes: int | Sequence[int], shape: int | Sequence[int] | None = None
) -> Tensor:
    """The elements in another shape: reshape(2, 3), reshape((2, 3)).

    input: any tensor.
    sizes: the lengths of the axes, one by one or as one sequence. One of them may be -1, and
      follows from the others.
    shape: the lengths by name, as in the array API.
    Returns: a view of that shape.
    Raises: ShapeError for another number of elements.
    Source: PyTorch, `torch.reshape`.
    """
    wanted: int | Sequence[int | Sequence[int]]
    wanted = sizes if shape is None else shape
    if sizes and len(sizes) == 1 and not isinstance(sizes[0], int):
        wanted = sizes[0]
    lengths: Sequence[int] = [wanted] if isinstance(wanted, int) else wanted  # type: ignore[assignment]
    return _in_shape(input, manipulation.reshape(input, lengths))


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """An axis of length 1 inserted.

    input: any tensor.
    dim: the position of the axis in the result.
    Returns: a view with one more axis.
    Raises: AxisError for a position that the result doesn't have.
    Source: PyTorch, `torch.unsqueeze`.
    """
    return _in_shape(input, manipulation.expand_dims(input, dim))


def view(input: Tensor, *shape: int | Sequence[int] | DType | str) -> Tensor:
    """The elements in another shape, as `reshape`; or their bits in another type.

    input: any tensor.
    shape: the lengths of the axes, one by one or as one sequence; or an element type of as many
      bytes.
    Returns: a view of that shape; or the same bits in that type, as a tensor of its own.
    Raises: ShapeError for another number of elements, DTypeError for a type of another size.
    Source: PyTorch, `torch.Tensor.view`.
    """
    if len(shape) == 1 and is_dtype(shape[0]):
        return elementwise.bitcast(input, shape[0])  # type: ignore[arg-type]
    return reshape(input, *shape)  # type: ignore[arg-type]


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of another tensor.

    input: any tensor.
    other: the tensor that has the shape.
    Returns: a view in the shape of other.
    Raises: ShapeError for another number of elements.
    Source: PyTorch, `torch.Tensor.view_as`.
    """
    return reshape(input, other.shape)


def _cut(tensor: Tensor, pieces: Sequence[Tensor], dim: int) -> tuple[Tensor, ...]:
    """Pieces along an axis, as views of a tensor."""
    start, views = 0, []
    for piece in pieces:
        stop = start + piece.shape[dim]
        key = (*[slice(None)] * (dim % len(piece.shape)), slice(start, stop))
        views.append(_at(tensor, piece, key))
        start = stop
    return tuple(views)


def _at(tensor: Tensor, piece: Tensor, key: object) -> Tensor:
    """tensor[key], as a view."""

    def again(whole: Tensor) -> Tensor:
        return indexing.getitem(whole, key)

    def put_back(whole: Tensor, new: Tensor) -> Tensor:
        return with_items(whole, key, new)

    view = piece.view_of(tensor, again, put_back)
    view.view_key = key
    return view


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """The tensor cut along an axis, into as many pieces as wanted or fewer.

    input: any tensor.
    chunks: the number of pieces; the last is shorter if the length does not divide.
    dim: the axis.
    Returns: views, a tuple.
    Raises: OptionError for fewer than one piece, AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.chunk`.
    """
    if chunks < 1:
        raise OptionError(f"chunk: {chunks} pieces")
    length = input.shape[check_axis(dim, input.ndim, "chunk")]
    return split(input, max(1, -(-length // chunks)), dim)


def split(input: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """The tensor cut along an axis, into pieces of given lengths.

    input: any tensor.
    split_size: one length for all pieces, the last of which may be shorter, or a length for each.
    dim: the axis.
    Returns: views, a tuple.
    Raises: ShapeError for lengths that don't add up, OptionError for pieces without elements,
      AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.split`.
    """
    return _cut(input, manipulation.split(input, split_size, dim), dim)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, without that axis.

    input: any tensor.
    dim: the axis.
    Returns: views, a tuple.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.unbind`.
    """
    axis = check_axis(dim, input.ndim, "unbind")
    before = (slice(None),) * axis
    return tuple(getitem(input, (*before, at)) for at in range(input.shape[axis]))


def getitem(input: Tensor, key: object) -> Tensor:
    """input[key]: the elements that a key chooses.

    input: any tensor.
    key: numbers, slices, `...` and None; tensors of indices or of truth values; or a tuple of
      these.
    Returns: a view, or for tensors among the keys a tensor of its own, like PyTorch's.
    Raises: ShapeError or DTypeError for keys that do not fit, IndexRangeError for a number, or
      known elements of a tensor, out of range.
    """
    found = indexing.getitem(input, key)
    return _at(input, found, key) if is_basic(key) else found
