"""Methods whose result is a view: a change in place of it changes the tensor that it was taken of.

To read, a view keeps the values that the tensor had when it was taken; a change through it begins
with those that the tensor has by then. `functions` has the same functions, whose results are no
views.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec

from ..core.dtype import DType, is_dtype
from ..core.shape import check_axis
from ..functions import elementwise, indexing, manipulation
from ..functions.selection import with_items
from ..functions.shapes import chunk as pieces_of
from ..functions.shapes import flatten as flattened
from ..functions.shapes import permute as permuted
from ..functions.shapes import squeeze as squeezed
from ..functions.shapes import t as transposed_matrix
from ..functions.shapes import transpose as transposed
from ..functions.shapes import unflatten as axis_split
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


squeeze = _reshaped(squeezed)
unflatten = _reshaped(axis_split)
flatten = _reshaped(flattened)
permute = _reordered(permuted)
transpose = _reordered(transposed)
t = _reordered(transposed_matrix)
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
    return _cut(input, pieces_of(input, chunks, dim), dim)


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
