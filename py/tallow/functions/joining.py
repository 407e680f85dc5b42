"""Tensors joined, cut, stacked, mirrored."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..core.shape import check_axis
from ..errors import IndexRangeError, OptionError, ShapeError
from ..tensor import Tensor, asarray
from . import creation, elementwise, manipulation
from .creation import arange
from .indexing import take
from .manipulation import concat, expand_dims, moveaxis, reshape
from .shapes import diag


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Makes a matrix with all elements, in order, on a diagonal.

    input: a tensor of any shape.
    offset: which diagonal: 0 is the main one, positive ones are above it.
    Returns: the matrix, which is square; the other elements are 0.
    Source: PyTorch's documentation, `torch.diagflat`.
    """
    return diag(reshape(input, (-1,)), offset)


def ravel(input: Tensor) -> Tensor:
    """Gives all elements as a vector.

    input: a tensor of any shape.
    Returns: the elements, row-major, (n,).
    Source: PyTorch's documentation, `torch.ravel`.
    """
    return reshape(input, (-1,))


def atleast_1d(input: Tensor) -> Tensor:
    """Makes sure that a tensor has at least one axis.

    input: a tensor of any shape.
    Returns: input, or its only element as a vector (1,).
    Source: PyTorch's documentation, `torch.atleast_1d`.
    """
    return reshape(input, (1,)) if not input.ndim else input


def atleast_2d(input: Tensor) -> Tensor:
    """Makes sure that a tensor has at least two axes; a vector becomes a row.

    input: a tensor of any shape.
    Returns: input, or (1, n) of a vector.
    Source: PyTorch's documentation, `torch.atleast_2d`.
    """
    return expand_dims(atleast_1d(input), 0) if input.ndim < 2 else input


def atleast_3d(input: Tensor) -> Tensor:
    """Makes sure that a tensor has at least three axes; of several new ones, the last comes last.

    input: a tensor of any shape.
    Returns: input, or (m, n, 1) of a matrix, (1, n, 1) of a vector.
    Source: PyTorch's documentation, `torch.atleast_3d`.
    """
    return expand_dims(atleast_2d(input), -1) if input.ndim < 3 else input


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joins tensors along the second axis, vectors one after the other.

    tensors: one tensor or more, equal in the other axes.
    Returns: the joined tensor, in the promoted type.
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch's documentation, `torch.hstack`.
    """
    whole = [atleast_1d(each) for each in tensors]
    return concat(whole, 0 if whole and whole[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joins tensors along the first axis, vectors as rows.

    tensors: one tensor or more, equal in the other axes.
    Returns: the joined tensor, in the promoted type, with two axes or more.
    Raises: ShapeError for shapes that do not fit, and for no tensors.
    Source: PyTorch's documentation, `torch.vstack`.
    """
    return concat([atleast_2d(each) for each in tensors], 0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joins tensors along the third axis.

    tensors: one tensor or more, equal in the other axes once `atleast_3d` has given them three.
    Returns: the joined tensor, in the promoted type.
    Raises: ShapeError for shapes that do not fit, and for no tensors.
    Source: PyTorch's documentation, `torch.dstack`.
    """
    return concat([atleast_3d(each) for each in tensors], 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Joins tensors along the second axis, vectors as columns.

    tensors: one tensor or more, equal in the other axes.
    Returns: the joined tensor, in the promoted type.
    Raises: ShapeError for shapes that do not fit, and for no tensors.
    Source: PyTorch's documentation, `torch.column_stack`.
    """
    return concat([reshape(x, (-1, 1)) if x.ndim < 2 else x for x in tensors], 1)


row_stack = vstack


def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Splits a tensor along an axis into a number of parts, or into parts that begin at indices.

    input: a tensor with one axis or more.
    indices_or_sections: how many parts there are, of which the first ones may be longer by 1; or
      the indices at which parts begin, but for the first.
    dim: the axis.
    Returns: the parts.
    Raises: AxisError for an axis that input doesn't have; OptionError for fewer than one part.
    Source: PyTorch's documentation, `torch.tensor_split`.
    """
    axis = check_axis(dim, input.ndim, "tensor_split")
    length = input.shape[axis]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count < 1:
            raise OptionError(f"tensor_split: {count} parts")
        each, more = divmod(length, count)
        starts = [n * each + min(n, more) for n in range(count + 1)]
    else:
        starts = [0, *(slice(at, None).indices(length)[0] for at in indices_or_sections), length]
    before = (slice(None),) * axis
    return tuple(input[(*before, slice(start, max(start, end)))] for start, end in pairwise(starts))


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Splits a tensor into pieces of given lengths along an axis.

    input: a tensor with one axis or more.
    split_sizes: the lengths.
    dim: the axis.
    Returns: the pieces.
    Raises: ShapeError if the lengths do not add up to that of the axis; AxisError for an axis that
      input doesn't have.
    Source: PyTorch's documentation, `torch.split_with_sizes`.
    """
    return manipulation.split(input, list(split_sizes), dim)


def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Splits a tensor along its second axis, a vector along its only one.

    input: a tensor with one axis or more.
    indices_or_sections: how many parts of one length there are, or the indices at which parts
      begin, but for the first.
    Returns: the parts.
    Raises: ShapeError for a number that does not divide the length, and for a tensor without axes.
    Source: PyTorch's documentation, `torch.hsplit`.
    """
    return _even_parts(input, indices_or_sections, 0 if input.ndim == 1 else 1, 1, "hsplit")


def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Splits a tensor along its first axis.

    input: a tensor with two axes or more.
    indices_or_sections: how many parts of one length there are, or the indices at which parts
      begin, but for the first.
    Returns: the parts.
    Raises: ShapeError for a number that does not divide the length, and for fewer than two axes.
    Source: PyTorch's documentation, `torch.vsplit`.
    """
    return _even_parts(input, indices_or_sections, 0, 2, "vsplit")


def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Splits a tensor along its third axis.

    input: a tensor with three axes or more.
    indices_or_sections: how many parts of one length there are, or the indices at which parts
      begin, but for the first.
    Returns: the parts.
    Raises: ShapeError for a number that does not divide the length, and for fewer than three axes.
    Source: PyTorch's documentation, `torch.dsplit`.
    """
    return _even_parts(input, indices_or_sections, 2, 3, "dsplit")


def _even_parts(
    input: Tensor, parts: int | Sequence[int], axis: int, least: int, what: str
) -> tuple[Tensor, ...]:
    if input.ndim < least:
        raise ShapeError(f"{what}: {input.shape} has fewer than {least} axes")
    if isinstance(parts, int) and (parts < 1 or input.shape[axis] % parts):
        raise ShapeError(f"{what}: {parts} parts of the {input.shape[axis]} along axis {axis}")
    return tensor_split(input, parts, axis)


def as_strided(
    input: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int = 0
) -> Tensor:
    """Gives the elements of input whose indices, among all in order, are storage_offset plus the
    strides times the indices of the result.

    It is a copy: to change it in place raises OptionError.

    input: a tensor of any shape.
    size: the shape of the result.
    stride: the step of each axis, in elements.
    storage_offset: the index, among all elements, of the first one.
    Returns: the elements, of the shape size.
    Raises: ShapeError for another number of strides than sizes; IndexRangeError for an index beyond
      the last element.
    Source: PyTorch's documentation, `torch.as_strided`.
    """
    shape, steps = tuple(size), tuple(stride)
    if len(shape) != len(steps):
        raise ShapeError(f"as_strided: {len(steps)} strides for {len(shape)} sizes")
    last = storage_offset + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    if 0 not in shape and not 0 <= last < input.node.size:
        raise IndexRangeError(f"as_strided: there is no element {last} of {input.node.size}")
    offsets = asarray(storage_offset, "int32")
    for axis, (n, step) in enumerate(zip(shape, steps, strict=True)):
        line = creation.arange(n) * step
        offsets = offsets + reshape(line, (n, *(1,) * (len(shape) - axis - 1)))

    def again(whole: Tensor) -> Tensor:
        return take(reshape(whole, (-1,)), offsets, 0)

    def put_back(whole: Tensor, new: Tensor) -> Tensor:
        raise OptionError("in place: what as_strided gives is a copy; change a clone() of it")

    return again(input).view_of(input, again, put_back)


def block_diag(*tensors: Tensor) -> Tensor:
    """Makes a matrix with matrices along its diagonal; vectors are rows.

    tensors: matrices, vectors or single numbers.
    Returns: the matrix, 0 elsewhere; (1, 0) of no tensors.
    Raises: ShapeError for more than two axes.
    Source: PyTorch's documentation, `torch.block_diag`.
    """
    blocks: list[Tensor] = []
    for each in tensors:
        if each.ndim > 2:
            raise ShapeError(f"block_diag: {each.shape} is no matrix")
        blocks.append(atleast_2d(each))
    width, left, rows = sum(each.shape[1] for each in blocks), 0, []
    for each in blocks:
        right = width - left - each.shape[1]
        rows.append(manipulation.pad(each, [(0, 0), (left, right)]))
        left += each.shape[1]
    return concat(rows, 0) if rows else creation.zeros((1, 0))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Broadcasts tensors to the shape that they have together.

    tensors: tensors whose shapes broadcast.
    Returns: a tuple of all of them, in that shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.broadcast_tensors`.
    """
    return tuple(manipulation.broadcast_arrays(*tensors))


def fliplr(input: Tensor) -> Tensor:
    """Reverses the order of columns.

    input: a tensor with two axes or more.
    Returns: the elements, of the shape of input.
    Raises: AxisError for fewer than two axes.
    Source: PyTorch's documentation, `torch.fliplr`.
    """
    return manipulation.flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """Reverses the order of rows.

    input: a tensor with one axis or more.
    Returns: the elements, of the shape of input.
    Raises: AxisError for a tensor without axes.
    Source: PyTorch's documentation, `torch.flipud`.
    """
    return manipulation.flip(input, 0)


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turns a tensor by k right angles, from the first of two axes to the second.

    input: a tensor with two axes or more.
    k: how many right angles; negative ones turn the other way.
    dims: the two axes.
    Returns: the elements, turned.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.rot90`.
    """
    if len(dims) != 2:
        raise ShapeError(f"rot90: turns in a plane of two axes, not {tuple(dims)}")
    first, second = (check_axis(axis, input.ndim, "rot90") for axis in dims)
    if first == second:
        raise ShapeError(f"rot90: turns in a plane of two axes, not {tuple(dims)}")
    if k % 4 == 2:
        return manipulation.flip(manipulation.flip(input, first), second)
    if k % 4 == 1:
        return manipulation.flip(input.transpose(first, second), first)
    if k % 4 == 3:
        return manipulation.flip(input.transpose(first, second), second)
    return input


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Makes matrices that have the last axis on a diagonal.

    input: a tensor (..., n).
    offset: which diagonal: 0 is the main one, positive ones are above it.
    dim1, dim2: the axes of the result that hold the rows and the columns.
    Returns: the matrices, with one axis more than input; the other elements are 0.
    Raises: AxisError for an axis that the result doesn't have; ShapeError if dim1 and dim2 are the
      same.
    Source: PyTorch's documentation, `torch.diag_embed`.
    """
    length = input.shape[-1] + abs(offset)
    rank = input.ndim + 1
    first, second = (check_axis(each, rank, "diag_embed") for each in (dim1, dim2))
    if first == second:
        raise ShapeError(f"diag_embed: dim1 and dim2 are both {first}")
    if not offset:
        found = expand_dims(input, -1) * creation.eye(length, dtype=input.dtype)
    else:
        rows, columns = creation.arange(length)[:, None], creation.arange(length)[None, :]
        line = manipulation.pad(input, [(0, 0)] * (rank - 2) + [(0, abs(offset))])
        at = elementwise.minimum(rows, columns)
        found = elementwise.where(columns - rows == offset, take(line, at, -1), 0)
    if (first, second) == (rank - 2, rank - 1):
        return found
    order = [axis for axis in range(rank) if axis not in (first, second)]
    axes = [0] * rank
    for number, axis in enumerate([*order, first, second]):
        axes[axis] = number
    return manipulation.permute_dims(found, axes)


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Takes windows along an axis, as a new last axis.

    input: a tensor with one axis or more.
    dimension: the axis.
    size: how many elements a window has.
    step: how far apart windows begin.
    Returns: the windows: along the axis their number, along the last axis their elements.
    Raises: OptionError for a window that does not fit, or a step below 1; AxisError for an axis
      that input doesn't have.
    Source: PyTorch's documentation, `torch.Tensor.unfold`.
    """
    axis = check_axis(dimension, input.ndim, "unfold")
    length = input.shape[axis]
    if not 0 <= size <= length or step < 1:
        raise OptionError(f"unfold: windows of {size}, {step} apart, of {length} elements")
    indices = arange(0, length - size + 1, step)[:, None] + arange(size)
    return moveaxis(take(input, indices, axis), axis + 1, -1)
