"""Sets: different elements, membership."""

from __future__ import annotations

import builtins
import math
from typing import Any

from ..core import dtype as dt
from ..core.hostarray import from_values
from ..core.shape import check_axis
from ..tensor import Scalar, Tensor, asarray, host_values
from . import elementwise
from .indexing import take
from .manipulation import expand_dims, moveaxis, reshape
from .reduction import any as any_of


def isin(elements: Tensor | Scalar, test_elements: Tensor | Scalar) -> Tensor:
    """Tells where elements are among others; it compares all with all.

    elements: numbers, of any shape.
    test_elements: the others, of any shape.
    Returns: booleans, of the shape of elements.
    Source: PyTorch's documentation, `torch.isin`.
    """
    return any_of(expand_dims(asarray(elements), -1) == reshape(asarray(test_elements), (-1,)), -1)


class _Missing:
    """A NaN, which equals no other."""


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Gives the different elements, in order; NaN comes last and equals no other. Reads the
    elements, and blocks.

    input: numbers or booleans, of any shape.
    sorted: changes nothing, since they are always in order.
    return_inverse: whether to give also the index of each element among them.
    return_counts: whether to give also how often each occurs.
    dim: the axis, for its different slices instead; None takes all elements.
    Returns: the different elements, a vector, or the slices; with either option a tuple of these,
      the indices and the counts, as far as they are asked for.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.unique`.
    """
    if dim is not None:
        return _unique_slices(input, check_axis(dim, input.ndim, "unique"), return_inverse,
                              return_counts)  # fmt: skip
    items = [_Missing() if item != item else item for item in host_values([input])[0].flat()]
    counts: dict[Any, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    different = [item for item in counts if not isinstance(item, _Missing)]
    order = builtins.sorted(different) + [each for each in counts if isinstance(each, _Missing)]
    index_of = {value: index for index, value in enumerate(order)}
    values = [math.nan if isinstance(item, _Missing) else item for item in order]
    found = [asarray(from_values(values, (len(values),), input.dtype))]
    if return_inverse:
        inverse = from_values([index_of[item] for item in items], input.shape, dt.default_integer())
        found.append(asarray(inverse))
    if return_counts:
        found.append(
            asarray(from_values([counts[v] for v in order], (len(values),), dt.default_integer()))
        )
    return found[0] if len(found) == 1 else tuple(found)


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Gives the elements, or the slices along an axis, that differ from the one before. Reads where
    they differ, and blocks.

    input: numbers or booleans, of any shape.
    return_inverse: whether to give also the index of each element among them.
    return_counts: whether to give also how many equal ones follow each other.
    dim: the axis, for its slices; None takes all elements.
    Returns: the elements, a vector, or the slices; with either option a tuple of these, the indices
      and the counts, as far as they are asked for.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.unique_consecutive`.
    """
    x = reshape(input, (-1,)) if dim is None else input
    axis = check_axis(dim or 0, x.ndim, "unique_consecutive")
    length, before = x.shape[axis], (slice(None),) * axis
    changes = elementwise.not_equal(
        x[(*before, slice(1, None))], x[(*before, slice(None, max(length - 1, 0)))]
    )
    others = tuple(each for each in range(x.ndim) if each != axis)
    differs = host_values([any_of(changes, others) if others else changes])[0].flat()
    begins = [0, *(n + 1 for n, new in enumerate(differs) if new)] if length else []
    found = [take(x, asarray(begins, "int32"), axis) if begins else x]
    ends = [*begins[1:], length]
    counts = [end - begin for begin, end in zip(begins, ends, strict=length > 0)]
    if return_inverse:
        indices = [n for n, count in enumerate(counts) for _ in range(count)]
        inverse = asarray(indices, dt.default_integer())
        found.append(reshape(inverse, input.shape) if dim is None else inverse)
    if return_counts:
        found.append(asarray(counts, dt.default_integer()))
    return found[0] if len(found) == 1 else tuple(found)


def _unique_slices(input: Tensor, axis: int, inverse: bool, counted: bool) -> Any:
    """The different slices along an axis, in order, as `unique`."""
    length = input.shape[axis]
    (data,) = host_values([reshape(moveaxis(input, axis, 0), (length, -1))])
    slices = [tuple(line) for line in data.tolist()]
    order = builtins.sorted(set(slices))
    index_of = {each: index for index, each in enumerate(order)}
    kind = dt.default_integer()
    firsts = [slices.index(each) for each in order]
    found = [take(input, asarray(from_values(firsts, (len(order),), kind)), axis)]
    if inverse:
        found.append(asarray(from_values([index_of[each] for each in slices], (length,), kind)))
    if counted:
        counts = [slices.count(each) for each in order]
        found.append(asarray(from_values(counts, (len(order),), kind)))
    return found[0] if len(found) == 1 else tuple(found)
