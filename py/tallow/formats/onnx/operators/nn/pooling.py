"""Pooling and unpooling over any number of spatial axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..... import functions as f
from .....core import dtype as dt
from .....core.shape import size_of
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....functional.pooling import pooled, shares
from .....functions.indexing import position
from .....ops import window as ops
from .....ops.kinds import Window as Pool
from .....tensor import Tensor
from ...call import Call
from ...registry import host_operator, operator
from ...values import check_array
from .spatial import Window, given_pads, per_axis, read_window, spatial_axes, working

if TYPE_CHECKING:
    from .....arrays import Array, NumPy

_MAX_LENGTH = 1 << 22
"""The longest axis that is pooled, because the host computes the share of padding per element."""

_MAX_COMPARISONS = 1 << 24
"""Comparisons of indices that MaxUnpool makes on a device; beyond that, the host scatters."""


def _pool_window(call: Call, x: Tensor) -> tuple[Window, Window]:
    """The window as given, and with the padding that ceil_mode adds."""
    if x.dtype.kind == "b":
        raise OnnxFormatError("bool elements cannot be pooled")
    window = read_window(call, x, call.ints("kernel_shape"))
    for axis, (size, pads) in enumerate(zip(x.shape[2:], window.pads, strict=True)):
        if size + sum(pads) > _MAX_LENGTH:
            raise OnnxUnsupportedError(
                f"pooling {x.shape} with pads {window.pads} is not supported"
            )
        if max(pads) >= window.extent(axis):
            raise OnnxFormatError(
                f"padding {pads} is at least as wide as the window of {window.kernel[axis]}"
            )
    if any(count < 1 for count in window.counts(x.shape[2:])):
        raise OnnxFormatError(
            f"a window of {window.kernel} with dilations {window.dilation} does not fit into "
            f"{x.shape} with pads {window.pads}"
        )
    grown = window.with_last_begun(x.shape[2:]) if call.flag("ceil_mode") else window
    return window, grown


def _over_all(op: Pool, x: Tensor, window: Window) -> Tensor:
    return pooled(op, x, window.kernel, window.stride, window.pads, window.dilation)


@operator("MaxPool")
def _max_pool(call: Call, x: Tensor) -> list[Tensor]:
    by_column = call.get("storage_order", int, 0) == 1
    _, window = _pool_window(call, x)
    largest = _over_all(ops.max_pool2d, x, window)
    return [largest, _indices(x, window, by_column)] if call.wants(1) else [largest]


def _indices(x: Tensor, window: Window, by_column: bool) -> Tensor:
    """The int64 index in all of x of the first largest element of each window.

    by_column: count elements of a picture column by column (storage_order 1).
    """
    axes, taps = window.axes, math.prod(window.kernel)
    counts = window.counts(x.shape[2:])
    lowest: float = -math.inf
    if x.dtype.is_integer:
        x, lowest = (
            x.astype(dt.int32),
            -(1 << 30),
        )  # below every element, so that padding is never the largest
    windows = f.pad(x, [(0, 0), (0, 0), *window.pads], lowest)
    for axis, count in enumerate(counts):
        at = f.reshape(f.arange(count) * window.stride[axis], (-1, 1))
        inside = f.arange(window.kernel[axis]) * window.dilation[axis]
        windows = f.take(windows, at + inside, 2 + 2 * axis)
    order = [*range(2, 2 + 2 * axes, 2), *range(3, 3 + 2 * axes, 2)]
    windows = f.permute_dims(windows, (0, 1, *order))
    tap = f.argmax(f.reshape(windows, (*x.shape[:2], *counts, taps)), -1)
    index: Tensor | int = 0
    remaining, step = taps, 1
    steps = {}
    for axis in range(axes) if by_column else reversed(range(axes)):
        steps[axis] = step
        step *= x.shape[2 + axis]
    for axis in range(axes):
        remaining //= window.kernel[axis]
        inside = f.remainder(f.floor_divide(tap, remaining), window.kernel[axis])
        line = [1] * axes
        line[axis] = counts[axis]
        start = f.arange(counts[axis]) * window.stride[axis] - window.pads[axis][0]
        at = inside * window.dilation[axis] + f.reshape(start, line)
        index = index + at * steps[axis]
    planes = f.arange(x.shape[0] * x.shape[1]) * size_of(x.shape[2:])
    planes = f.reshape(planes, (*x.shape[:2], *[1] * axes))
    return f.add(index, planes).astype(dt.int64)


@operator("AveragePool")
def average_pool(call: Call, x: Tensor) -> Tensor:
    """With count_include_pad, `pads` count as zeros, but not the padding added by ceil_mode."""
    given, window = _pool_window(call, x)
    with_pads = call.flag("count_include_pad")
    total = _over_all(ops.sum_pool2d, working(x), window)
    starts = [
        range(-low, -low + count * step, step)
        for (low, _), count, step in zip(window.pads, total.shape[2:], window.stride, strict=True)
    ]
    counted = given.pads if with_pads else ((0, 0),) * window.axes
    share = shares(working(x), window.kernel, window.dilation, starts, counted)
    return (total * share).astype(x.dtype)


def _power(x: Tensor, p: int) -> Tensor:
    return abs(x) if p == 1 else x * x if p == 2 else f.pow(abs(x), p)


def _root(x: Tensor, p: int) -> Tensor:
    return x if p == 1 else f.sqrt(x) if p == 2 else f.pow(x, 1.0 / p)


def _order(call: Call) -> int:
    p = call.get("p", int, 2)
    if p < 1:
        raise OnnxFormatError(f"p must be positive, not {p}")
    return p


@operator("LpPool")
def _lp_pool(call: Call, x: Tensor) -> Tensor:
    p = _order(call)
    _, window = _pool_window(call, x)
    return _root(_over_all(ops.sum_pool2d, _power(working(x), p), window), p).astype(x.dtype)


def _spatial(x: Tensor) -> tuple[int, ...]:
    return tuple(range(2, 2 + spatial_axes(x)))


@operator("GlobalAveragePool")
def _global_average_pool(call: Call, x: Tensor) -> Tensor:
    return f.mean(working(x), _spatial(x), True).astype(x.dtype)


@operator("GlobalMaxPool")
def _global_max_pool(call: Call, x: Tensor) -> Tensor:
    return f.max(x, _spatial(x), True)


@operator("GlobalLpPool")
def _global_lp_pool(call: Call, x: Tensor) -> Tensor:
    p = _order(call)
    return _root(f.sum(_power(working(x), p), _spatial(x), True), p).astype(x.dtype)


def _unpooled_shape(call: Call, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape before pooling, to which the indices refer."""
    axes = len(shape) - 2
    kernel = call.ints("kernel_shape")
    strides, pads = per_axis(call, "strides", axes), given_pads(call, axes)
    if axes < 1 or len(kernel) != axes or not all(k > 0 for k in kernel):
        raise OnnxFormatError(f"a kernel of {kernel} does not fit an input of shape {shape}")
    rows = zip(shape[2:], kernel, strides, pads, strict=True)
    sizes = tuple((n - 1) * s - sum(pad) + k for n, k, s, pad in rows)
    if min(sizes) < 1:
        raise OnnxFormatError(f"{shape} with pads {pads} would be unpooled to {sizes}")
    return (*shape[:2], *sizes)


def _check_unpooled(inner: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if len(wanted) != len(inner) or any(a < b for a, b in zip(wanted, inner, strict=True)):
        raise OnnxFormatError(f"output_shape {wanted} is smaller than the unpooled {inner}")


@operator("MaxUnpool", since=9)
def max_unpool(
    call: Call, x: Tensor, indices: Tensor, output_shape: Tensor | None = None
) -> Tensor:
    """Compares each element of the result with every index; for small inputs."""
    inner = _unpooled_shape(call, x.shape)
    wanted = inner if output_shape is None else call.known_integers(output_shape, "output_shape")
    _check_unpooled(inner, wanted)
    size = size_of(inner)
    if indices.shape != x.shape:
        raise OnnxFormatError(f"indices {indices.shape} do not fit an input of {x.shape}")
    if size * x.size > _MAX_COMPARISONS:
        raise OnnxUnsupportedError(
            f"unpooling {x.size:,} elements to {size:,} takes too many comparisons"
        )
    positions = position(f.where(indices < 0, size, indices), size)  # negative indices are invalid
    here = f.equal(f.reshape(positions, (1, -1)), f.reshape(f.arange(size), (-1, 1)))
    found = f.where(here, f.reshape(x, (1, -1)), -math.inf)
    result = f.where(f.any(here, 1), f.max(found, 1), 0.0).astype(x.dtype)
    borders = [(0, b - a) for a, b in zip(inner, wanted, strict=True)]
    return f.pad(f.reshape(result, inner), borders)


@host_operator("MaxUnpool", since=9)
def _max_unpool_on_host(
    call: Call, np: NumPy, x: Array, indices: Array, output_shape: Array | None = None
) -> Array:
    inner = _unpooled_shape(call, x.shape)
    wanted = inner if output_shape is None else tuple(map(int, output_shape))
    _check_unpooled(inner, wanted)
    check_array((2, *wanted), x.itemsize)
    flat = np.zeros(size_of(inner), x.dtype)
    if indices.shape != x.shape or (
        indices.size and not -flat.size <= indices.min() <= indices.max() < flat.size
    ):
        raise OnnxFormatError(
            f"indices {indices.shape} do not fit the {flat.size:,} elements of {inner}"
        )
    flat[indices.reshape(-1)] = x.reshape(-1)
    return np.pad(flat.reshape(inner), [(0, b - a) for a, b in zip(inner, wanted, strict=True)])
