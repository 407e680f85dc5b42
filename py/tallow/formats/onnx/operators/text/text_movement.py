"""Operators that move and compare elements, for strings, on the host. Numbers use the composed
operators instead."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .....core.hostarray import StringArray
from ...call import Call
from ...registry import text_operator
from ...values import check_texts

if TYPE_CHECKING:
    from .....arrays import Array, NumPy


def _check(dims: Iterable[int]) -> None:
    """Raises DeviceMemoryError for more strings than fit in memory."""
    check_texts(math.prod(max(int(dim), 1) for dim in dims))


@text_operator("Constant")
def _constant(call: Call, np: NumPy) -> Array:
    if "value_strings" in call.node.attributes:
        return np.array(call.get("value_strings", tuple), dtype=object)
    if "value_string" in call.node.attributes:
        return np.array(call.get("value_string", str), dtype=object)
    texts: Array = call.get("value", StringArray).numpy()
    return texts


@text_operator("Where", since=9)
def _where(call: Call, np: NumPy, condition: Array, x: Array, y: Array) -> Array:
    _check(np.broadcast_shapes(condition.shape, x.shape, y.shape))
    return np.where(condition, x, y)


@text_operator("Concat")
def _concat(call: Call, np: NumPy, *values: Array) -> Array:
    check_texts(sum(value.size for value in values))
    return np.concatenate(values, call.get("axis", int))


@text_operator("Gather")
def _gather(call: Call, np: NumPy, x: Array, indices: Array) -> Array:
    axis = call.get("axis", int, 0)
    if x.ndim:
        _check((*np.delete(x.shape, axis), *indices.shape))
    return np.take(x, indices, axis)


@text_operator("Reshape")
def _reshape(call: Call, np: NumPy, x: Array, shape: Array) -> Array:
    dims = [int(dim) for dim in shape]
    if not call.flag("allowzero"):
        dims = [x.shape[i] if dim == 0 else dim for i, dim in enumerate(dims)]
    return np.reshape(x, dims)


@text_operator("Transpose")
def _transpose(call: Call, np: NumPy, x: Array) -> Array:
    return np.transpose(x, call.ints("perm", None))


@text_operator("Squeeze")
def _squeeze(call: Call, np: NumPy, x: Array, axes: Array | None = None) -> Array:
    given = call.ints("axes", None) if axes is None else tuple(map(int, axes))
    return np.squeeze(x, given)


@text_operator("Unsqueeze")
def _unsqueeze(call: Call, np: NumPy, x: Array, axes: Array | None = None) -> Array:
    given = call.ints("axes") if axes is None else tuple(map(int, axes))
    return np.expand_dims(x, given)


@text_operator("Flatten")
def _flatten(call: Call, np: NumPy, x: Array) -> Array:
    axis = call.get("axis", int, 1)
    rows = int(np.prod(x.shape[:axis], dtype=np.int64))
    return x.reshape(rows, -1) if rows else x.reshape(rows, int(np.prod(x.shape[axis:])))


@text_operator("Expand", since=8)
def _expand(call: Call, np: NumPy, x: Array, shape: Array) -> Array:
    dims = np.broadcast_shapes(x.shape, tuple(map(int, shape)))
    _check(dims)
    return np.broadcast_to(x, dims)


@text_operator("Tile")
def _tile(call: Call, np: NumPy, x: Array, repeats: Array) -> Array:
    times = tuple(map(int, repeats))
    _check((x.size, *times))
    return np.tile(x, times)


@text_operator("Shape")
def _shape(call: Call, np: NumPy, x: Array) -> Array:
    part = x.shape[call.get("start", int, 0) : call.get("end", int, None)]
    return np.array(part, np.int64)


@text_operator("Size")
def _size(call: Call, np: NumPy, x: Array) -> Array:
    return np.array(x.size, np.int64)


@text_operator("Slice", since=10)
def _slice(
    call: Call,
    np: NumPy,
    x: Array,
    starts: Array,
    ends: Array,
    axes: Array | None = None,
    steps: Array | None = None,
) -> Array:
    chosen = range(len(starts)) if axes is None else map(int, axes)
    strides = [1] * len(starts) if steps is None else list(map(int, steps))
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(chosen, starts, ends, strides, strict=True):
        length = x.shape[axis]
        stop = None if step < 0 and int(end) < -length else int(end)
        index[axis] = slice(int(start), stop, step)
    return x[tuple(index)]


@text_operator("Split")
def _split(call: Call, np: NumPy, x: Array, lengths: Array | None = None) -> tuple[Array, ...]:
    axis = call.get("axis", int, 0)
    given = call.ints("split", None) if lengths is None else tuple(map(int, lengths))
    parts = call.get("num_outputs", int, len(call.node.outputs))
    if given is None:
        size = -(-x.shape[axis] // parts)
        borders = [min(size * i, x.shape[axis]) for i in range(1, parts)]
    else:
        borders = list(np.cumsum(given)[:-1])
    return tuple(np.split(x, borders, axis))


@text_operator("Pad", since=11)
def _pad(
    call: Call,
    np: NumPy,
    x: Array,
    pads: Array,
    value: Array | None = None,
    axes: Array | None = None,
) -> Array:
    mode = call.choice("mode", "constant", "reflect", "edge", "wrap")
    chosen = range(x.ndim) if axes is None else [int(axis) % x.ndim for axis in axes]
    widths = [(0, 0)] * x.ndim
    half = len(pads) // 2
    for i, axis in enumerate(chosen):
        widths[axis] = (int(pads[i]), int(pads[half + i]))
    index = tuple(slice(max(0, -low), dim - max(0, -high) or None)
                  for (low, high), dim in zip(widths, x.shape, strict=True))  # fmt: skip
    grown = [(max(0, low), max(0, high)) for low, high in widths]
    _check(dim + low + high for dim, (low, high) in zip(x.shape, grown, strict=True))
    if mode != "constant":
        return np.pad(x[index], grown, mode)
    empty = "" if x.dtype == object else 0
    return np.pad(x[index], grown, constant_values=empty if value is None else value.item())
