"""PyTorch's names for functions that write at places, or find them; see torch_math.py."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

from .. import dtype as dt
from ..errors import DTypeError, OptionError, ShapeError
from ..hostarray import from_values
from ..shape import check_axis
from ..tensor import Scalar, Tensor, asarray, host_values
from . import elementwise
from .arrange import Ordered, scatter_rows
from .creation import arange, full, ones, zeros, zeros_like
from .indexing import checked_indices, take, take_along_axis
from .manipulation import broadcast_to, expand_dims, moveaxis, pad, reshape
from .reduction import any as any_of
from .torch_elements import diagonal, scatter_along, with_items


def _along(line: Tensor, axis: int, rank: int) -> Tensor:
    """A vector that broadcasts along an axis."""
    return reshape(line, (-1, *(1,) * (rank - axis - 1)))


# ---- writing at places ---------------------------------------------------------------------------


def index_fill(input: Tensor, dim: int, index: Tensor, value: Scalar | Tensor) -> Tensor:
    """One number at the indices of a vector along an axis; what is there elsewhere."""
    axis = check_axis(dim, input.ndim, "index_fill")
    length = input.shape[axis]
    filled = full(index.shape, True)
    marked = scatter_along(zeros((length,), "bool"), 0, index % length, filled)
    number = asarray(value).astype(input.dtype)
    return elementwise.where(_along(marked, axis, input.ndim), number, input)


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Slices of source at the indices of a vector along an axis; what is there elsewhere. Raises
    ShapeError if there are not as many."""
    axis = check_axis(dim, input.ndim, "index_copy")
    if index.shape != source.shape[axis : axis + 1]:
        raise ShapeError(f"index_copy: {index.shape} indices for {source.shape} along {axis}")
    places = broadcast_to(_along(index, axis, source.ndim), source.shape)
    return scatter_along(input, axis, places, source)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The first elements of source, in order, where a mask, which broadcasts, is true. As on a GPU
    in PyTorch, nothing checks that there are enough; the last one is repeated."""
    if mask.dtype != dt.bool_:
        raise DTypeError(f"masked_scatter: the mask must be bool, not {mask.dtype.name}")
    return with_items(input, broadcast_to(mask, input.shape), reshape(source, (-1,)))


_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}


def scatter_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Elements of src combined at indices along an axis with what is there, or, unless
    include_self, only with each other. reduce: "sum", "prod", "mean", "amax" or "amin". Raises
    OptionError for another one, and what `scatter` raises."""
    if reduce not in _NEUTRAL:
        raise OptionError(f"scatter_reduce: {reduce!r} is not one of {', '.join(_NEUTRAL)}")
    base, count = input, None
    if reduce == "mean" or not include_self:
        own = ones(input.shape, input.dtype) if include_self else zeros_like(input)
        count = scatter_along(own, dim, index, ones(src.shape, input.dtype), "add")
    if not include_self:
        if not input.dtype.is_floating and math.isinf(_NEUTRAL[reduce]):
            raise DTypeError(
                f"scatter_reduce: {reduce} without include_self needs floating numbers"
            )
        base = elementwise.where(count > 0, _NEUTRAL[reduce], input)  # type: ignore[operator]
    found = scatter_along(base, dim, index, src, "sum" if reduce == "mean" else reduce)
    if reduce != "mean":
        return found
    assert count is not None
    return elementwise.divide(found, elementwise.maximum(count, 1)).astype(input.dtype)


def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Slices of source combined, as by `scatter_reduce`, at the indices of a vector along an axis.
    reduce: "prod", "mean", "amax" or "amin". Raises ShapeError if there are not as many indices."""
    axis = check_axis(dim, input.ndim, "index_reduce")
    if index.shape != source.shape[axis : axis + 1]:
        raise ShapeError(f"index_reduce: {index.shape} indices for {source.shape} along {axis}")
    places = broadcast_to(_along(index, axis, source.ndim), source.shape)
    return scatter_reduce(input, axis, places, source, reduce, include_self=include_self)


def _numbered(input: Tensor) -> Tensor:
    """The place of each element among all."""
    return reshape(arange(input.size), input.shape)


def _written(input: Tensor, places: Tensor, values: Tensor | Scalar, add: bool = False) -> Tensor:
    """input with values, which broadcast, at places among all elements, or added to those there."""
    new = broadcast_to(asarray(values).astype(input.dtype), places.shape)
    flat = scatter_rows(
        reshape(input, (1, -1, 1)),
        reshape(places, (1, -1)),
        reshape(new, (1, -1, 1)),
        "add" if add else "none",
    )
    return reshape(flat, input.shape)


def index_put(
    input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """input in which input[indices] are values, which broadcast; accumulate: they are added, also
    several at one place. An index of None takes the whole axis."""
    key = tuple(slice(None) if each is None else each for each in indices)
    return _written(input, _numbered(input)[key], values, accumulate)


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """input in which the elements at places among all, negative ones from the end, are those of
    source; accumulate: they are added. Raises ShapeError if there are not as many."""
    if index.node.size != source.node.size:
        raise ShapeError(f"put: {index.shape} places for {source.shape}")
    at = checked_indices(index % input.node.size, input.node.size, "put: the index")
    return _written(input, reshape(at, (-1,)), reshape(source, (-1,)), accumulate)


def _filled(input: Tensor, key: Any, src: Tensor, what: str) -> Tensor:
    places = _numbered(input)[key]
    if places.shape != src.shape:
        raise ShapeError(f"{what}: src {src.shape} does not fit {places.shape}")
    return _written(input, places, src)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """input with src as its slice at an index along an axis. Raises ShapeError if src has another
    shape, as those below do."""
    axis = check_axis(dim, input.ndim, "select_scatter")
    return _filled(input, (*(slice(None),) * axis, index), src, "select_scatter")


def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """input with src as its slices from start to end along an axis."""
    axis = check_axis(dim, input.ndim, "slice_scatter")
    key = (*(slice(None),) * axis, slice(start, end, step))
    return _filled(input, key, src, "slice_scatter")


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """input with src on a diagonal of two axes."""
    places = diagonal(_numbered(input), offset, dim1, dim2)
    if places.shape != src.shape:
        raise ShapeError(f"diagonal_scatter: src {src.shape} does not fit {places.shape}")
    return _written(input, places, src)


# ---- finding -------------------------------------------------------------------------------------


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of `size` elements along an axis, `step` apart, as a new last axis. Raises
    OptionError for a window that does not fit."""
    axis = check_axis(dimension, input.ndim, "unfold")
    length = input.shape[axis]
    if not 0 <= size <= length or step < 1:
        raise OptionError(f"unfold: windows of {size}, {step} apart, of {length} elements")
    places = arange(0, length - size + 1, step)[:, None] + arange(size)
    return moveaxis(take(input, places, axis), axis + 1, -1)


def isin(elements: Tensor | Scalar, test_elements: Tensor | Scalar) -> Tensor:
    """Where elements are among others, tensors or numbers; it compares all with all."""
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
    """The different elements, in order; NaN comes last, and equals no other. return_inverse: also
    the place of each element among them;
    return_counts: also how often each occurs. dim: the different slices along an axis instead.
    Reads the elements, and blocks. Raises AxisError for an axis that there is not."""
    if dim is not None:
        return _unique_slices(input, check_axis(dim, input.ndim, "unique"), return_inverse,
                              return_counts)  # fmt: skip
    items = [_Missing() if item != item else item for item in host_values([input])[0].flat()]
    counts: dict[Any, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    different = [item for item in counts if not isinstance(item, _Missing)]
    order = builtins.sorted(different) + [each for each in counts if isinstance(each, _Missing)]
    places = {value: place for place, value in enumerate(order)}
    values = [math.nan if isinstance(item, _Missing) else item for item in order]
    found = [asarray(from_values(values, (len(values),), input.dtype))]
    if return_inverse:
        inverse = from_values([places[item] for item in items], input.shape, dt.default_integer())
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
    """The elements, or the slices along an axis, that differ from the one before. return_inverse:
    also the place of each among them; return_counts: also how many follow each other. Reads
    where they differ, and blocks."""
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
        places = [n for n, count in enumerate(counts) for _ in range(count)]
        inverse = asarray(places, dt.default_integer())
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
    places = {each: place for place, each in enumerate(order)}
    kind = dt.default_integer()
    firsts = [slices.index(each) for each in order]
    found = [take(input, asarray(from_values(firsts, (len(order),), kind)), axis)]
    if inverse:
        found.append(asarray(from_values([places[each] for each in slices], (length,), kind)))
    if counted:
        counts = [slices.count(each) for each in order]
        found.append(asarray(from_values(counts, (len(order),), kind)))
    return found[0] if len(found) == 1 else tuple(found)


def _running(input: Tensor, dim: int, greatest: bool) -> Ordered:
    """The extreme elements so far along an axis, and their last places, in log2(n) steps: see
    cumulative.py."""
    axis = check_axis(dim, input.ndim, "cummax" if greatest else "cummin")
    length = input.shape[axis]
    lines = broadcast_to(_along(arange(length), axis, input.ndim), input.shape)
    values, places, shift = input.detach(), lines, 1
    while shift < length:
        moved = [(shift, -shift) if a == axis else (0, 0) for a in range(input.ndim)]
        before, there = pad(values, moved), pad(places, moved)
        better = before > values if greatest else before < values
        if input.dtype.is_floating:  # a NaN stays
            better = better | (elementwise.isnan(before) & ~elementwise.isnan(values))
        better = better & (lines >= shift)
        values = elementwise.where(better, before, values)
        places = elementwise.where(better, there, places)
        shift *= 2
    return Ordered(take_along_axis(input, places, axis), places)


def cummax(input: Tensor, dim: int) -> Ordered:
    """The greatest elements so far along an axis, and their places, the last of equal ones."""
    return _running(input, dim, True)


def cummin(input: Tensor, dim: int) -> Ordered:
    """The least elements so far along an axis, and their places, the last of equal ones."""
    return _running(input, dim, False)
