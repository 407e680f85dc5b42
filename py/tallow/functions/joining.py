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
from .shapes import diag, transpose


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements, in order, on a diagonal."""
    return diag(reshape(input, (-1,)), offset)


def ravel(input: Tensor) -> Tensor:
    """All elements as a vector."""
    return reshape(input, (-1,))


def atleast_1d(input: Tensor) -> Tensor:
    """With one axis at least."""
    return reshape(input, (1,)) if not input.ndim else input


def atleast_2d(input: Tensor) -> Tensor:
    """With two axes at least; a vector is a row."""
    return expand_dims(atleast_1d(input), 0) if input.ndim < 2 else input


def atleast_3d(input: Tensor) -> Tensor:
    """With three axes at least, the last added one last."""
    return expand_dims(atleast_2d(input), -1) if input.ndim < 3 else input


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the second axis; vectors one after the other."""
    whole = [atleast_1d(each) for each in tensors]
    return concat(whole, 0 if whole[0].ndim == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the first axis, vectors as rows."""
    return concat([atleast_2d(each) for each in tensors], 0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the third axis."""
    return concat([atleast_3d(each) for each in tensors], 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the second axis, vectors as columns."""
    return concat([reshape(x, (-1, 1)) if x.ndim < 2 else x for x in tensors], 1)


row_stack = vstack


def tensor_split(
    input: Tensor, indices_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """So many parts along an axis, the first ones perhaps longer by 1, or parts that begin at
    indices."""
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
    """Pieces of these lengths along an axis. Raises ShapeError if they do not add up to it."""
    return manipulation.split(input, list(split_sizes), dim)


def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """As `tensor_split` along the second axis, of a vector the first; so many parts are of one
    length. Raises ShapeError for other lengths, and for a single number."""
    return _even_parts(input, indices_or_sections, 0 if input.ndim == 1 else 1, 1, "hsplit")


def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """As `hsplit`, along the first axis of two or more."""
    return _even_parts(input, indices_or_sections, 0, 2, "vsplit")


def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
    """As `hsplit`, along the third axis."""
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
    """A tensor of the elements of input at storage_offset plus the strides times the indices, among
    all in order. It is a copy: to change it in place raises OptionError.

    Raises ShapeError for another number of strides than sizes, IndexRangeError for an index beyond
    the last element.
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
    """A matrix with matrices along its diagonal; vectors are rows. Raises ShapeError for more than
    two axes."""
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
    """All broadcast to the shape that they have together."""
    return tuple(manipulation.broadcast_arrays(*tensors))


def fliplr(input: Tensor) -> Tensor:
    """The order of columns reversed."""
    return manipulation.flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """The order of rows reversed."""
    return manipulation.flip(input, 0)


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turned by k right angles, from the first of two axes to the second."""
    first, second = (check_axis(axis, input.ndim, "rot90") for axis in dims)
    if k % 4 == 2:
        return manipulation.flip(manipulation.flip(input, first), second)
    if k % 4 == 1:
        return manipulation.flip(transpose(input, first, second), first)
    if k % 4 == 3:
        return manipulation.flip(transpose(input, first, second), second)
    return input


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last axis on a diagonal of the axes dim1 and dim2 of the result."""
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
    """Windows of `size` elements along an axis, `step` apart, as a new last axis. Raises
    OptionError for a window that does not fit."""
    axis = check_axis(dimension, input.ndim, "unfold")
    length = input.shape[axis]
    if not 0 <= size <= length or step < 1:
        raise OptionError(f"unfold: windows of {size}, {step} apart, of {length} elements")
    indices = arange(0, length - size + 1, step)[:, None] + arange(size)
    return moveaxis(take(input, indices, axis), axis + 1, -1)
