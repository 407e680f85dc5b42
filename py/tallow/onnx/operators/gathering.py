"""Operators whose places are read from indices."""

from __future__ import annotations

from ... import dtype as dt
from ... import functions as f
from ...compile.fold import host_value
from ...errors import OnnxFormatError
from ...shape import check_axis
from ...tensor import Tensor
from ..call import Call
from ..registry import operator


def _check_range(indices: Tensor, length: int) -> None:
    """Indices that are known now must lie inside; those that are not are clamped by the device."""
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
    axis = check_axis(call.get("axis", int, 0), x.ndim, "gather")
    _check_range(indices, x.shape[axis])
    return f.take(x, indices, axis)


@operator("GatherElements", since=11)
def gather_elements(call: Call, x: Tensor, indices: Tensor) -> Tensor:
    """The indices may be shorter than x along the other axes: the rest of x is not read."""
    axis = check_axis(call.get("axis", int, 0), x.ndim, "gather")
    _check_range(indices, x.shape[axis])
    if indices.ndim == x.ndim:
        index = [
            slice(None) if a == axis else slice(0, min(dim, x.shape[a]))
            for a, dim in enumerate(indices.shape)
        ]
        x = x[tuple(index)]
    return f.take_along_axis(x, indices, axis)


@operator("OneHot", since=9)
def one_hot(call: Call, indices: Tensor, depth: Tensor, values: Tensor) -> Tensor:
    """values = (off, on); an index that is out of range is off everywhere."""
    axis = call.get("axis", int, -1)
    if values.shape != (2,):
        raise OnnxFormatError(f"values must be (off, on), their shape is {values.shape}")
    count = call.known_integer(depth, "depth")
    if count < 1:
        raise OnnxFormatError(f"a depth of {count}")
    places = indices if indices.dtype.is_integer else indices.astype(dt.int32)
    if places.dtype.kind == "i":
        places = f.where(places < 0, places + count, places)
    place = check_axis(axis, indices.ndim + 1, "one_hot")
    shape = [1] * (indices.ndim + 1)
    shape[place] = count
    line = f.reshape(f.arange(count).astype(places.dtype), shape)
    return f.where(f.equal(f.expand_dims(places, place), line), values[1:2], values[0:1])


@operator("Trilu", since=14)
def trilu(call: Call, x: Tensor, k: Tensor | None = None) -> Tensor:
    """The upper or lower triangle of the last two axes, from the k-th diagonal on."""
    diagonal = 0 if k is None else call.known_integer(k, "k")
    return f.triu(x, diagonal) if call.flag("upper", True) else f.tril(x, diagonal)
