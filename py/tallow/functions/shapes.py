"""The same elements in another shape or order, under PyTorch's names; diagonals."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence

from ..core.shape import check_axis
from ..errors import OptionError, ShapeError
from ..tensor import Tensor
from . import elementwise, manipulation
from .creation import arange
from .indexing import take
from .reduction import Axis

Shape = int | Sequence[int]


def _numbers(given: Sequence[Shape]) -> list[int]:
    """Numbers that are given one by one or as one sequence."""
    if len(given) == 1 and not isinstance(given[0], int):
        return list(given[0])
    return list(given)  # type: ignore[arg-type]


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


def permute(input: Tensor, *dims: Shape) -> Tensor:
    """Orders the axes anew: axis i of the result is axis dims[i].

    The order may be one sequence or numbers, permute(x, (1, 0)) or permute(x, 1, 0).

    input: a tensor of any shape.
    dims: all axes of input, in their new order, as numbers or as one sequence.
    Returns: the tensor with its axes in that order.
    Raises: ShapeError for what is no permutation of the axes.
    Source: PyTorch's documentation, `torch.permute`.
    """
    return manipulation.permute_dims(input, _numbers(dims))


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


def expand(input: Tensor, *sizes: Shape) -> Tensor:
    """Broadcasts to a shape, of which -1 keeps an axis.

    input: a tensor of a shape that broadcasts to the other one.
    sizes: the shape of the result, as numbers or as one sequence.
    Returns: the tensor in that shape.
    Raises: ShapeError if input does not broadcast to it.
    Source: PyTorch's documentation, `torch.Tensor.expand`.
    """
    wanted = _numbers(sizes)
    added = len(wanted) - input.ndim
    if added < 0 or -1 in wanted[:added]:
        raise ShapeError(f"expand: {input.shape} cannot become {tuple(wanted)}")
    own = [1] * added + list(input.shape)
    shape = [mine if size == -1 else size for size, mine in zip(wanted, own, strict=True)]
    return manipulation.broadcast_to(input, shape)


def repeated(input: Tensor, *repeats: Shape) -> Tensor:
    """Repeats the whole, with a count per axis.

    input: a tensor of any shape.
    repeats: how often, for each axis, as numbers or as one sequence; more numbers than axes add
      axes in front.
    Returns: the repeated tensor, in the type of input.
    Raises: ShapeError for fewer counts than axes.
    Source: PyTorch's documentation, `torch.Tensor.repeat`.
    """
    counts = _numbers(repeats)
    if len(counts) < input.ndim:
        raise ShapeError(f"repeat: {len(counts)} counts for the {input.ndim} axes")
    return manipulation.tile(input, counts)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Splits a tensor into that many pieces along an axis, or fewer; the last is shorter if it does
    not divide.

    input: a tensor with one axis or more.
    chunks: how many pieces, 1 or more.
    dim: the axis.
    Returns: the pieces.
    Raises: OptionError for fewer than one piece; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.chunk`.
    """
    if chunks < 1:
        raise OptionError(f"chunk: {chunks} pieces")
    length = input.shape[check_axis(dim, input.ndim, "chunk")]
    return manipulation.split(input, builtins.max(1, -(-length // chunks)), dim)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Gives the slices along an axis, which they no longer have.

    input: a tensor with one axis or more.
    dim: the axis.
    Returns: as many slices as the axis is long.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.unbind`.
    """
    return manipulation.unstack(input, dim)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Joins tensors along an axis.

    tensors: one tensor or more, of shapes that agree in all other axes.
    dim: the axis.
    Returns: the joined tensor, in the promoted type.
    Raises: ShapeError for shapes that do not agree, and for no tensors; AxisError for an axis that
      they don't have.
    Source: PyTorch's documentation, `torch.cat`.
    """
    return manipulation.concat(tensors, dim)


def roll(input: Tensor, shifts: int | Sequence[int], dims: Axis = None) -> Tensor:
    """Shifts the elements along axes; those that leave at one end come in at the other.

    input: a tensor of any shape.
    shifts: how far, for each axis; negative ones shift towards the front.
    dims: the axis or axes; None shifts the flattened tensor.
    Returns: the elements, of the shape of input.
    Raises: ShapeError for another number of shifts than axes; AxisError for an axis that input
      doesn't have.
    Source: Python array API standard 2024.12, `roll`.
    """
    if dims is None:
        flat = roll(manipulation.reshape(input, (-1,)), shifts, 0)
        return manipulation.reshape(flat, input.shape)
    by = [shifts] if isinstance(shifts, int) else list(shifts)
    along = [dims] if isinstance(dims, int) else list(dims)
    if len(by) != len(along):
        raise ShapeError(f"roll: {len(by)} shifts for {len(along)} axes")
    for shift, dim in zip(by, along, strict=True):
        axis = check_axis(dim, input.ndim, "roll")
        length = input.shape[axis]
        if length and shift % length:
            at = length - shift % length
            ends = manipulation.split(input, [at, length - at], axis)
            input = manipulation.concat([ends[1], ends[0]], axis)
    return input


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Takes the elements on a diagonal of two axes, as a new last axis.

    input: a tensor with two axes or more.
    offset: which diagonal: 0 is the main one, positive ones are above it.
    dim1, dim2: the axes of the rows and the columns.
    Returns: the elements: the other axes, then the diagonal.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.diagonal`.
    """
    dim1, dim2 = (check_axis(axis, input.ndim, "diagonal") for axis in (dim1, dim2))
    moved = manipulation.moveaxis(manipulation.moveaxis(input, dim1, -1), dim2 - (dim2 > dim1), -1)
    rows, columns = moved.shape[-2:]
    start = max(offset, 0) - min(offset, 0) * columns
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    flat = manipulation.reshape(moved, (*moved.shape[:-2], rows * columns))
    if not count:
        return flat[..., :0]
    return flat[..., start : start + (count - 1) * (columns + 1) + 1 : columns + 1]


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Takes the diagonal of a matrix, or makes the matrix with a vector as its diagonal.

    input: a matrix or a vector.
    diagonal: which diagonal: 0 is the main one, positive ones are above it.
    Returns: the diagonal, a vector; or the matrix, which is square and 0 elsewhere.
    Raises: ShapeError for what is neither a matrix nor a vector.
    Source: PyTorch's documentation, `torch.diag`.
    """
    if input.ndim == 2:
        return input.diagonal(diagonal)
    if input.ndim != 1:
        raise ShapeError(f"diag: {input.shape} is neither a vector nor a matrix")
    side = input.shape[0] + abs(diagonal)
    rows, columns = arange(side)[:, None], arange(side)[None, :]
    at = elementwise.minimum(rows, columns)
    line = manipulation.pad(input, [(0, abs(diagonal))])
    return elementwise.where(columns - rows == diagonal, take(line, at), 0)
