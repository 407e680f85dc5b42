"""Windows over two spatial axes: what convolution and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import functions as f
from ..errors import ShapeError
from ..shape import ceil_border, window_size
from ..tensor import Tensor

Pair = int | Sequence[int]
Padding = int | Sequence[int] | Sequence[tuple[int, int]]


def pair(value: Pair, what: str) -> tuple[int, int]:
    both = (value, value) if isinstance(value, int) else tuple(value)
    if len(both) != 2 or any(v < 1 for v in both):
        raise ShapeError(f"{what}: expected a positive number or two, got {value}")
    return both[0], both[1]


def pads_of(value: Padding, what: str) -> tuple[tuple[int, int], tuple[int, int]]:
    if isinstance(value, int):
        pads = ((value, value), (value, value))
    else:
        first, second = value
        pads = tuple(  # type: ignore[assignment]
            (side, side) if isinstance(side, int) else (int(side[0]), int(side[1]))
            for side in (first, second)
        )
    if any(side < 0 for pair in pads for side in pair):
        raise ShapeError(f"{what}: padding must not be negative, got {value}")
    return pads


def channels_last(x: Tensor) -> Tensor:
    return f.permute_dims(x, (0, 2, 3, 1))


def channels_first(x: Tensor) -> Tensor:
    return f.permute_dims(x, (0, 3, 1, 2))


def check_window(
    name: str,
    shape: Sequence[int],
    kernel: Sequence[int],
    stride: tuple[int, int],
    pads: tuple[tuple[int, int], tuple[int, int]],
    dilation: tuple[int, int],
) -> None:
    for axis in range(2):
        if window_size(shape[2 + axis] + sum(pads[axis]), kernel[axis], 1, dilation[axis]) <= 0:
            raise ShapeError(
                f"{name}: a {tuple(kernel)} window with dilation {dilation} does not fit into "
                f"{tuple(shape)} with padding {pads} (stride {stride})"
            )


def ceil_pads(
    x: Tensor, kernel: tuple[int, int], stride: tuple[int, int], pads: Any, dilation: Any
) -> Any:
    """Padding extended at the end so that a last window that starts inside fits (ceil_mode)."""
    return tuple(
        (low, ceil_border(x.shape[2 + axis], low, high, kernel[axis], stride[axis], dilation[axis]))
        for axis, (low, high) in enumerate(pads)
    )
