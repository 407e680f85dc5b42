"""Slice and Pad: parts of a tensor, and borders around it."""

from __future__ import annotations

from ..... import functions as f
from .....compile.passes.fold import host_value
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....hostarray import from_values
from .....shape import check_axis
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import operator

_LONGEST_BORDER = 1 << 20
"""Elements along an axis, beyond which a border that is not constant is refused: its places are
listed one by one."""


@operator("Slice")
def slice_(
    call: Call,
    x: Tensor,
    starts: Tensor | None = None,
    ends: Tensor | None = None,
    axes: Tensor | None = None,
    steps: Tensor | None = None,
) -> Tensor:
    """Attributes before opset 10, inputs (and steps) from then on."""
    first = call.integers("starts", starts)
    last = call.integers("ends", ends)
    if first is None or last is None:
        raise OnnxFormatError("it has no starts or no ends")
    places = call.integers("axes", axes) or tuple(range(len(first)))
    strides = (call.known_integers(steps, "steps") if steps is not None else None) or (1,) * len(
        first
    )
    if not len(first) == len(last) == len(places) == len(strides):
        raise OnnxFormatError(
            f"starts, ends, axes and steps differ in length: {first}, {last}, {places}, {strides}"
        )
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(first, last, places, strides, strict=True):
        if step == 0:
            raise OnnxFormatError("a step is 0")
        place = check_axis(axis, x.ndim, "slice")
        index[place] = _clamped(start, end, step, x.shape[place])
    return x[tuple(index)]


def _clamped(start: int, end: int, step: int, length: int) -> slice:
    """ONNX's rule: negative ends count from the back, then both are held inside the axis."""
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
    """Attributes before opset 11, inputs from then on. Negative widths cut off."""
    mode = call.choice("mode", "constant", "reflect", "edge", "wrap")
    widths = call.integers("pads", pads)
    fill = call.get("value", float, 0.0) if call.opset < 11 else 0.0
    if value is not None and value.size != 1:
        raise OnnxFormatError(f"the padding value must be one number, its shape is {value.shape}")
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
            raise OnnxFormatError(f"pads {widths} cut off more of {x.shape} than there is")
    if mode == "constant":
        padded = f.pad(x, border, fill)
        if value is None or known is not None:
            return padded
        inside = f.pad(f.ones(x.shape, "bool"), border, False)
        return f.where(inside, padded, f.reshape(value, ()).astype(x.dtype))
    for axis, (low, high) in enumerate(border):
        if low or high:
            places = _border_places(mode, x.shape[axis], low, high)
            x = f.take(x, asarray(from_values(places, (len(places),), _INDEX)), axis)
    return x


_INDEX = asarray([0]).dtype  # int32


def _border_places(mode: str, length: int, low: int, high: int) -> list[int]:
    """Where along an axis each element of the padded axis comes from."""
    if length == 0 or low + length + high > _LONGEST_BORDER:
        raise OnnxUnsupportedError(f"a border of {low} and {high} around {length} elements")
    places = range(-low, length + high)
    if mode == "edge":
        return [min(max(place, 0), length - 1) for place in places]
    if mode == "wrap":
        return [place % length for place in places]
    period = max(2 * (length - 1), 1)
    return [length - 1 - abs(length - 1 - place % period) for place in places]
