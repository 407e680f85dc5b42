"""Broadcasts, repeats, rolls and diagonals, under PyTorch's names. What gives the same elements in
another shape or order gives a view, and stands in methods/views.py."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.shape import check_axis
from ..errors import ShapeError
from ..tensor import Tensor
from . import elementwise, manipulation
from .creation import arange
from .indexing import take
from .reduction import Axis

Shape = int | Sequence[int]


def numbers_of(given: Sequence[Shape]) -> list[int]:
    """Numbers that are given one by one or as one sequence."""
    if len(given) == 1 and not isinstance(given[0], int):
        return list(given[0])
    return list(given)  # type: ignore[arg-type]


def expand(input: Tensor, *sizes: Shape) -> Tensor:
    """Broadcasts to a shape, of which -1 keeps an axis.

    input: a tensor of a shape that broadcasts to the other one.
    sizes: the shape of the result, as numbers or as one sequence.
    Returns: the tensor in that shape.
    Raises: ShapeError if input does not broadcast to it.
    Source: PyTorch's documentation, `torch.Tensor.expand`.
    """
    wanted = numbers_of(sizes)
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
    counts = numbers_of(repeats)
    if len(counts) < input.ndim:
        raise ShapeError(f"repeat: {len(counts)} counts for the {input.ndim} axes")
    return manipulation.tile(input, counts)


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
