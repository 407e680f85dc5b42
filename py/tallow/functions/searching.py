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
    """How many elements are not 0, along axes or of all; int32."""
    return reduction.sum(input != 0, dim)


def unravel_index(indices: Tensor, shape: Sequence[int]) -> tuple[Tensor, ...]:
    """Indices into the flattened shape as indices along each axis."""
    found: list[Tensor] = []
    for size in reversed(tuple(shape)):
        found.insert(0, indices % size)
        indices = indices // size
    return tuple(found)


def nonzero(input: Tensor, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not 0, a row each; as_tuple: a vector for each axis.
    Reads the elements, and blocks."""
    indices = nonzero_indices(input)
    if as_tuple:
        return indices
    if not indices:
        return creation.zeros((int(bool(input)), 0), dt.default_integer())
    return manipulation.stack(indices, 1)


argwhere = nonzero


def bucketize(input: Tensor, boundaries: Tensor, *, right: bool = False) -> Tensor:
    """Between which of the boundaries, a vector in order, each element lies; int32. An element that
    is a boundary lies before it, or behind it if right."""
    return searchsorted(boundaries, input, right=right)


def searchsorted(sorted_sequence: Tensor, input: Tensor, *, right: bool = False) -> Tensor:
    """Where elements would go into the last axis of a sequence in order; int32. It compares all
    with all."""
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
