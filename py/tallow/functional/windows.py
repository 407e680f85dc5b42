"""Windows over spatial axes: what convolution and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import functions as f
from ..core.shape import ceil_border, window_size
from ..errors import OptionError, ShapeError
from ..tensor import Tensor

Size = int | Sequence[int]
"""One number for all spatial axes, or one for each."""
Padding = int | Sequence[int] | Sequence[tuple[int, int]]
Pads = tuple[tuple[int, int], ...]
"""(before, after) of each spatial axis."""

NAMES = {1: "l", 2: "h, w", 3: "d, h, w"}
"""The spatial axes in messages."""


def numbers(value: Size, axes: int, what: str, least: int = 1) -> tuple[int, ...]:
    """One number for each axis. Raises ShapeError for another count or a number below `least`."""
    given = (value,) * axes if isinstance(value, int) else tuple(value)
    if len(given) == 1:
        given *= axes
    if len(given) != axes or any(v < least for v in given):
        kind = "positive" if least else "non-negative"
        raise ShapeError(f"{what}: expected one {kind} number or {axes}, got {value}")
    return given


def pads_of(value: Padding, axes: int, what: str) -> Pads:
    """(before, after) of each axis; a number counts on both sides. Raises ShapeError for another
    count, or what is negative."""
    given: tuple[Any, ...] = (value,) * axes if isinstance(value, int) else tuple(value)
    if len(given) == 1:
        given *= axes
    if len(given) != axes:
        raise ShapeError(f"{what}: expected padding for {axes} axes, got {value}")
    pads = tuple(
        (side, side) if isinstance(side, int) else (int(side[0]), int(side[1])) for side in given
    )
    if any(side < 0 for pair in pads for side in pair):
        raise ShapeError(f"{what}: padding must not be negative, got {value}")
    return pads


def named_pads(
    padding: Padding | str,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    what: str,
) -> Pads:
    """As `pads_of`, and "valid" (none) or "same": as much as keeps the size, of which an odd
    element goes behind. Raises OptionError for other names, and for "same" with a stride."""
    if not isinstance(padding, str):
        return pads_of(padding, len(kernel), what)
    if padding == "valid":
        return ((0, 0),) * len(kernel)
    if padding != "same":
        raise OptionError(f"{what}: the padding {padding!r} is neither 'valid' nor 'same'")
    if any(step != 1 for step in stride):
        raise OptionError(f"{what}: padding='same' needs a stride of 1, got {tuple(stride)}")
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return tuple((total // 2, total - total // 2) for total in totals)


def batched(x: Tensor, axes: int, what: str) -> tuple[Tensor, bool]:
    """x (n, c, *spatial), and whether n was missing. Raises ShapeError for other ranks."""
    if x.ndim == axes + 1:
        return f.expand_dims(x, 0), True
    if x.ndim != axes + 2:
        raise ShapeError(
            f"{what}: expected an input (n, c, {NAMES[axes]}) or (c, {NAMES[axes]}), got {x.shape}"
        )
    return x, False


def unbatched(x: Tensor, single: bool) -> Tensor:
    """Without the first axis if the input had none."""
    return f.squeeze(x, 0) if single else x


def channels_last(x: Tensor) -> Tensor:
    """(n, c, *spatial) to (n, *spatial, c)."""
    return f.permute_dims(x, (0, *range(2, x.ndim), 1))


def channels_first(x: Tensor) -> Tensor:
    """(n, *spatial, c) to (n, c, *spatial)."""
    return f.permute_dims(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def check_window(
    name: str,
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    pads: Pads,
    dilation: Sequence[int],
) -> None:
    """ShapeError if not one window fits into an image of this shape, channels first."""
    for axis, (low, high) in enumerate(pads):
        if window_size(shape[2 + axis] + low + high, kernel[axis], 1, dilation[axis]) <= 0:
            raise ShapeError(
                f"{name}: a {tuple(kernel)} window with dilation {tuple(dilation)} does not fit "
                f"into {tuple(shape)} with padding {pads} (stride {tuple(stride)})"
            )


def ceil_pads(
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    pads: Pads,
    dilation: Sequence[int],
) -> Pads:
    """Padding extended at the end so that a last window that starts inside fits (ceil_mode)."""
    return tuple(
        (low, ceil_border(shape[2 + axis], low, high, kernel[axis], stride[axis], dilation[axis]))
        for axis, (low, high) in enumerate(pads)
    )
