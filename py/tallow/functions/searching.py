"""Where elements are: indices of those that are not 0, positions in sorted boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import dtype as dt
from ..errors import ShapeError
from ..tensor import Tensor, asarray
from . import creation, elementwise, manipulation, reduction
from .indexing import nonzero_indices
from .manipulation import expand_dims
from .reduction import Axis


def count_nonzero(input: Tensor, dim: Axis = None) -> Tensor:
    """Counts the elements that are not 0, along axes or of all.

    input: numbers or booleans, of any shape.
    dim: the axis or axes; None counts all elements.
    Returns: the counts, of the default integer type and the shape of input without these axes.
    Raises: AxisError for an axis that input doesn't have.
    Source: Python array API standard 2024.12, `count_nonzero`.
    """
    return reduction.sum(input != 0, dim)


def unravel_index(indices: Tensor, shape: Sequence[int]) -> tuple[Tensor, ...]:
    """Turns indices among all elements of a shape into indices along each axis.

    indices: integers, of any shape.
    shape: the shape.
    Returns: for each axis the indices along it, of the shape of indices.
    Source: PyTorch's documentation, `torch.unravel_index`.
    """
    found: list[Tensor] = []
    for size in reversed(tuple(shape)):
        found.insert(0, indices % size)
        indices = indices // size
    return tuple(found)


def nonzero(input: Tensor, as_tuple: bool = False) -> Any:
    """Gives the indices of the elements that are not 0. Reads the elements, and blocks.

    input: numbers or booleans, of any shape.
    as_tuple: whether the result is a vector for each axis instead of one matrix.
    Returns: the indices, a row for each element; with as_tuple a tuple of vectors.
    Source: PyTorch's documentation, `torch.nonzero`.
    """
    indices = nonzero_indices(input)
    if as_tuple:
        return indices
    if not indices:
        return creation.zeros((int(bool(input)), 0), dt.default_integer())
    return manipulation.stack(indices, 1)


argwhere = nonzero


def bucketize(input: Tensor, boundaries: Tensor, *, right: bool = False) -> Tensor:
    """Tells between which of the boundaries each element lies.

    input: numbers, of any shape.
    boundaries: a vector in order.
    right: whether an element that is a boundary lies behind it; without it, before it.
    Returns: how many boundaries lie before each element, of the default integer type and the shape
      of input.
    Source: PyTorch's documentation, `torch.bucketize`.
    """
    return searchsorted(boundaries, input, right=right)


def searchsorted(sorted_sequence: Tensor, input: Tensor, *, right: bool = False) -> Tensor:
    """Tells where elements would go into the last axis of a sequence in order.

    It compares all elements with all.

    sorted_sequence: a vector in order, or (..., n), with vectors in order.
    input: numbers; of any shape for a vector, else (..., m), with the same first axes.
    right: whether an element goes behind equal ones; without it, before them.
    Returns: the indices, of the default integer type and the shape of input.
    Raises: ShapeError if the first axes differ.
    Source: Python array API standard 2024.12, `searchsorted`.
    """
    values = asarray(input)
    if sorted_sequence.ndim > 1 and sorted_sequence.shape[:-1] != values.shape[:-1]:
        raise ShapeError(f"searchsorted: {values.shape} into {sorted_sequence.shape}")
    line = expand_dims(sorted_sequence, -2) if sorted_sequence.ndim > 1 else sorted_sequence
    each = expand_dims(values, -1)
    before = line <= each if right else line < each
    if values.dtype.is_floating:  # NaN is the last
        known = elementwise.isnan(each) & (
            True if right else ~elementwise.isnan(elementwise.floating(line))
        )
        before = before | known
    return reduction.sum(before, -1)
