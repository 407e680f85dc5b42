"""Operators that read elements at indices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..... import functions as f
from .....compile.passes.fold import host_value
from .....core import dtype as dt
from .....core.hostarray import from_values
from .....core.shape import Shape, check_axis, size_of, strides_of
from .....errors import OnnxFormatError
from .....functions.indexing import position
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import operator, text_operator

if TYPE_CHECKING:
    from .....arrays import Array, NumPy


def check_range(indices: Tensor, length: int) -> None:
    """Checks indices that are already known; for others see docs/onnx.md."""
    known = host_value(indices.node)
    if known is not None and known.size:
        values = known.flat()
        if min(values) < -length or max(values) >= length:
            raise OnnxFormatError(
                f"an index is out of range: {min(values)} to {max(values)} along {length} elements"
            )
    if not length and indices.size:
        raise OnnxFormatError("there is nothing to gather: the axis is empty")


@operator("Gather")
def gather(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    """x[..., indices, ...] along an axis: the axes of the indices take its place."""
    axis = check_axis(call.get("axis", int, 0), x.ndim, "gather")
    check_range(indices, x.shape[axis])
    return f.take(x, indices, axis)


@operator("GatherElements", since=11)
def gather_elements(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    """The indices may be shorter than x along the other axes: the rest of x is not read."""
    axis = check_axis(call.get("axis", int, 0), x.ndim, "gather")
    check_range(indices, x.shape[axis])
    if indices.ndim == x.ndim:
        index = [
            slice(None) if a == axis else slice(0, min(dim, x.shape[a]))
            for a, dim in enumerate(indices.shape)
        ]
        x = x[tuple(index)]
    return f.take_along_axis(x, indices, axis)


def flat_indices(indices: Tensor, shape: Shape, clamped: bool, first: int = 0) -> Tensor:
    """Tuples of indices (..., axes of `shape`) as row-major offsets in that shape, (...).

    NumPy rejects an index that is out of range. On a GPU it becomes the last one along its axis if
    `clamped`; otherwise its tuple gets the offset after the last element. first: the number of the
    first of these axes, for errors.
    """
    total: Tensor | None = None
    inside: Tensor | None = None
    for axis, (length, stride) in enumerate(zip(shape, strides_of(shape), strict=True)):
        index = indices[..., axis]
        check_range(index, length)
        index = position(index, length, first + axis)
        if clamped:
            index = f.minimum(index, length - 1)
        else:
            fits = index < length
            inside = fits if inside is None else f.logical_and(inside, fits)
        offset = index.astype(dt.int32) * stride
        total = offset if total is None else total + offset
    assert total is not None
    return total if inside is None else f.where(inside, total, size_of(shape))


@operator("GatherND", since=11)
def gather_nd(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    """x[indices[..., 0], indices[..., 1], ..., :], where the first `batch_dims` axes of both are
    batch axes."""
    batch = call.get("batch_dims", int, 0)
    depth = indices.shape[-1] if indices.ndim else 0
    if not 0 <= batch < min(x.ndim, indices.ndim) or not 0 < depth <= x.ndim - batch:
        raise OnnxFormatError(
            f"indices {indices.shape} do not fit {x.shape} with {batch} batch axes"
        )
    if x.shape[:batch] != indices.shape[:batch]:
        raise OnnxFormatError(f"the batches of {x.shape} and of indices {indices.shape} differ")
    lead, rest = x.shape[batch : batch + depth], x.shape[batch + depth :]
    each, count = size_of(lead), size_of(x.shape[:batch])
    offsets = f.reshape(
        flat_indices(indices, lead, True, batch), (count, -1) if indices.size else (count, 0)
    )
    offsets = offsets + f.reshape(f.arange(count), (count, 1)) * each
    rows = f.reshape(x, (count * each, *rest))
    return f.reshape(f.take(rows, offsets, 0), (*indices.shape[:-1], *rest))


@operator("ArrayFeatureExtractor", domain="ai.onnx.ml")
def array_feature_extractor(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    """Elements of the last axis; the result has at least two axes."""
    if not x.ndim:
        raise OnnxFormatError("its input has no axes")
    check_range(indices, x.shape[-1])
    taken = f.take(x, f.reshape(indices, (indices.size,)), -1)
    return taken if x.ndim > 1 else f.expand_dims(taken, 0)


@text_operator("ArrayFeatureExtractor", domain="ai.onnx.ml")
def array_feature_extractor_of_texts(call: Call, np: NumPy, x: Array, indices: Array) -> Array:
    """The elements of the last axis of strings at some indices."""
    flat = np.asarray(indices).reshape(-1)
    if not x.ndim or (len(flat) and not 0 <= flat.min() <= flat.max() < x.shape[-1]):
        raise OnnxFormatError(f"the indices {flat.tolist()} are out of range for {x.shape}")
    taken = x[..., flat]
    return taken if x.ndim > 1 else taken[None]


@operator("Compress", since=9)
def compress(call: Call, x: Tensor, condition: Tensor) -> Tensor:
    """The elements along an axis (by default of the flattened x) whose condition is true."""
    axis = call.get("axis", int, None)
    if condition.ndim != 1 or condition.dtype != dt.bool_:
        raise OnnxFormatError(
            f"the condition must be a list of bool, not {condition.dtype.name} {condition.shape}"
        )
    known = call.known(condition, "the condition").flat()
    flat = f.reshape(x, (x.size,)) if axis is None else x
    axis = 0 if axis is None else check_axis(axis, x.ndim, "compress")
    if len(known) > flat.shape[axis]:
        raise OnnxFormatError(f"{len(known)} conditions for axis {axis} of {flat.shape}")
    chosen = [index for index, wanted in enumerate(known) if wanted]
    return f.take(flat, asarray(from_values(chosen, (len(chosen),), dt.int64)), axis)


@operator("OneHot", since=9)
def one_hot(call: Call, indices: Tensor, depth: Tensor, values: Tensor) -> Tensor:
    """values = (off, on); an index out of range gives a row of off."""
    axis = call.get("axis", int, -1)
    if values.shape != (2,):
        raise OnnxFormatError(f"values must be (off, on), but their shape is {values.shape}")
    count = call.known_integer(depth, "depth")
    if count < 1:
        raise OnnxFormatError(f"depth must be positive, not {count}")
    wide = _widened(indices)
    if wide.dtype.kind != "u":
        wide = f.where(wide < 0, wide + count, wide)
    axis = check_axis(axis, indices.ndim + 1, "one_hot")
    shape = [1] * (indices.ndim + 1)
    shape[axis] = count
    line = f.reshape(f.arange(count).astype(wide.dtype), shape)
    return f.where(f.equal(f.expand_dims(wide, axis), line), values[1:2], values[0:1])


def _widened(indices: Tensor) -> Tensor:
    """Indices in a type of at least 32 bits. Floating numbers are truncated but stay floating,
    since NaN and large numbers are undefined as integers."""
    if indices.dtype.is_integer:
        return indices.astype(dt.int32) if indices.dtype.bits < 32 else indices
    return f.trunc(indices if indices.dtype == dt.float64 else indices.astype(dt.float32))


@operator("Trilu", since=14)
def trilu(call: Call, x: Tensor, k: Tensor | None = None) -> Tensor:
    """The upper or lower triangle of the last two axes, from the k-th diagonal on."""
    diagonal = 0 if k is None else call.known_integer(k, "k")
    return f.triu(x, diagonal) if call.flag("upper", True) else f.tril(x, diagonal)
