"""Windows over any number of spatial axes: their attributes, with ONNX's padding rules.

This file registers no operators; convolution, transposed convolution and pooling use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .....core import dtype as dt
from .....core.shape import ceil_border, window_size
from .....errors import OnnxFormatError
from .....tensor import Tensor
from ...call import Call

COUNTABLE = 1 << 31
"""Beyond the integers of shaders, and far larger than any real window."""

Pads = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A window, with one entry per spatial axis; pads: (before, after)."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pads: Pads

    @property
    def axes(self) -> int:
        """The number of spatial axes."""
        return len(self.kernel)

    def extent(self, axis: int) -> int:
        """How many elements the window spans along an axis."""
        return (self.kernel[axis] - 1) * self.dilation[axis] + 1

    def counts(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The number of windows along each axis."""
        rows = zip(sizes, self.pads, self.kernel, self.stride, self.dilation, strict=True)
        return tuple(window_size(size + sum(pads), k, s, d) for size, pads, k, s, d in rows)

    def with_last_begun(self, sizes: Sequence[int]) -> Window:
        """With padding extended so that a last window that starts inside fits (ceil_mode)."""
        rows = zip(sizes, self.pads, self.kernel, self.stride, self.dilation, strict=True)
        grown = ((pads[0], ceil_border(size, *pads, k, s, d)) for size, pads, k, s, d in rows)
        return replace(self, pads=tuple(grown))

    def part(self, first: int, last: int) -> Window:
        """The window over the axes from first up to but excluding last."""
        at = slice(first, last)
        return Window(self.kernel[at], self.stride[at], self.dilation[at], self.pads[at])


def read_window(call: Call, x: Tensor, kernel: Sequence[int]) -> Window:
    """The attributes that convolution and pooling share, checked."""
    axes = spatial_axes(x)
    if len(kernel) != axes or not all(1 <= k < COUNTABLE for k in kernel):
        raise OnnxFormatError(
            f"a kernel of {tuple(kernel)} does not fit an input of shape {x.shape}"
        )
    strides, dilations = per_axis(call, "strides", axes), per_axis(call, "dilations", axes)
    window = Window(tuple(kernel), strides, dilations, ((0, 0),) * axes)
    return replace(window, pads=_pads(call, x.shape[2:], window))


def spatial_axes(x: Tensor) -> int:
    """How many axes follow batch and channels; at least one."""
    if x.ndim < 3:
        raise OnnxFormatError(f"an input of shape {x.shape} has no spatial axes")
    return x.ndim - 2


def working(x: Tensor) -> Tensor:
    """x in the type for summing its elements: float64 if that is its type, otherwise float32.

    A GPU sums float16 this way in any case; NumPy's float16 sums would lose digits or overflow.
    """
    return x if x.dtype == dt.float64 else x.astype(dt.float32)


def per_axis(
    call: Call, name: str, axes: int, default: int = 1, minimum: int = 1
) -> tuple[int, ...]:
    """An attribute with one number per spatial axis."""
    values = call.ints(name, (default,) * axes)
    if len(values) != axes or not all(minimum <= value < COUNTABLE for value in values):
        raise OnnxFormatError(f"{name} {values} do not fit {axes} spatial axes")
    return values


def read_auto_pad(call: Call) -> str:
    """The attribute auto_pad; NOTSET: `pads` applies."""
    return call.choice("auto_pad", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


def given_pads(call: Call, axes: int) -> Pads:
    """The attribute `pads` as (before, after) per axis."""
    pads = call.ints("pads", ()) or (0,) * (2 * axes)
    if len(pads) != 2 * axes or not all(0 <= pad < COUNTABLE for pad in pads):
        raise OnnxFormatError(f"pads {pads} do not fit {axes} spatial axes")
    return tuple((pads[axis], pads[axis + axes]) for axis in range(axes))


def split_padding(total: int, auto: str) -> tuple[int, int]:
    """Padding split into before and after; an odd element goes after only for SAME_UPPER."""
    small, large = total // 2, total - total // 2
    return (small, large) if auto == "SAME_UPPER" else (large, small)


def _pads(call: Call, sizes: Sequence[int], window: Window) -> Pads:
    auto = read_auto_pad(call)
    given = given_pads(call, len(sizes))
    if auto == "NOTSET":
        return given
    if auto == "VALID":
        return ((0, 0),) * len(sizes)
    totals = (
        max((-(-size // stride) - 1) * stride + window.extent(axis) - size, 0)
        for axis, (size, stride) in enumerate(zip(sizes, window.stride, strict=True))
    )
    return tuple(split_padding(total, auto) for total in totals)
