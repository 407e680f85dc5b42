"""Slice and Pad."""

from __future__ import annotations

from ..... import functions as f
from .....compile.passes.fold import host_value
from .....core.hostarray import from_values
from .....core.shape import check_axis
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import operator

_MAX_INDICES = 1 << 20
"""The longest axis with a border that is not constant, because all its indices are listed."""


@operator("Slice")
def slice_(
    call: Call,
    x: Tensor,
    starts: Tensor | None = None,
    ends: Tensor | None = None,
    axes: Tensor | None = None,
    steps: Tensor | None = None,
) -> Tensor:
    """Since opset 10 the parameters are inputs, and steps are possible."""
    first = call.integers("starts", starts)
    last = call.integers("ends", ends)
    if first is None or last is None:
        raise OnnxFormatError("it has no starts or no ends")
    numbers = call.integers("axes", axes) or tuple(range(len(first)))
    strides = (call.known_integers(steps, "steps") if steps is not None else None) or (1,) * len(
        first
    )
    if not len(first) == len(last) == len(numbers) == len(strides):
        raise OnnxFormatError(
            f"starts, ends, axes and steps differ in length: {first}, {last}, {numbers}, {strides}"
        )
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(first, last, numbers, strides, strict=True):
        if step == 0:
            raise OnnxFormatError("a step is 0")
        number = check_axis(axis, x.ndim, "slice")
        index[number] = _clamped(start, end, step, x.shape[number])
    return x[tuple(index)]


def _clamped(start: int, end: int, step: int, length: int) -> slice:
    """ONNX's rule: negative ends count from the back, then both are clamped to the axis."""
    start = start + length if start < 0 else start
    end = end + length if end < 0 else end
    if step > 0:
        return slice(min(max(start, 0), length), min(max(end, 0), length), step)
    stop = min(max(end, -1), length)
    return slice(min(max(start, 0), length - 1), None if stop < 0 else stop, step)


@operator("Pad", since=2)
def pad(
    call: Call,
    x: Tensor,
    pads: Tensor | None = None,
    value: Tensor | None = None,
    axes: Tensor | None = None,
) -> Tensor:
    """Since opset 11 the parameters are inputs. Negative widths crop."""
    mode = call.choice("mode", "constant", "reflect", "edge", "wrap")
    widths = call.integers("pads", pads)
    fill = call.get("value", float, 0.0) if call.opset < 11 else 0.0
    if value is not None and value.size != 1:
        raise OnnxFormatError(
            f"the padding value must be one number, but its shape is {value.shape}"
        )
    known = None if value is None else host_value(value.node)
    fill = fill if known is None else known.item()
    chosen = call.known_integers(axes, "axes") if axes is not None else tuple(range(x.ndim))
    if widths is None or len(widths) != 2 * len(chosen):
        raise OnnxFormatError(f"pads {widths} do not fit {len(chosen)} axes of {x.shape}")
    border = [(0, 0)] * x.ndim
    for i, axis in enumerate(chosen):
        border[check_axis(axis, x.ndim, "pad")] = widths[i], widths[i + len(chosen)]
    for (low, high), length in zip(border, x.shape, strict=True):
        if low + length + high < 0:
            raise OnnxFormatError(f"pads {widths} crop more than {x.shape} has")
    if mode == "constant":
        padded = f.pad(x, border, fill)
        if value is None or known is not None:
            return padded
        inside = f.pad(f.ones(x.shape, "bool"), border, False)
        return f.where(inside, padded, f.reshape(value, ()).astype(x.dtype))
    for axis, (low, high) in enumerate(border):
        if low or high:
            indices = _padded_indices(mode, x.shape[axis], low, high)
            x = f.take(x, asarray(from_values(indices, (len(indices),), _INDEX)), axis)
    return x


_INDEX = asarray([0]).dtype  # int32


def _padded_indices(mode: str, length: int, low: int, high: int) -> list[int]:
    """The source index of each element of a padded axis."""
    if length == 0 or low + length + high > _MAX_INDICES:
        raise OnnxUnsupportedError(
            f"a border of {low} and {high} around {length} elements is not supported"
        )
    indices = range(-low, length + high)
    if mode == "edge":
        return [min(max(index, 0), length - 1) for index in indices]
    if mode == "wrap":
        return [index % length for index in indices]
    period = max(2 * (length - 1), 1)
    return [length - 1 - abs(length - 1 - index % period) for index in indices]
