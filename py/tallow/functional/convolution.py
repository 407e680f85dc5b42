"""Convolutions of images (n, c, h, w)."""

from __future__ import annotations

from .. import functions as f
from ..errors import ShapeError
from ..graph import make
from ..ops import window
from ..tensor import Tensor
from .windows import Padding, Pair, channels_first, channels_last, check_window, pads_of, pair


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of x (n, c, h, w) with weight (o, c / groups, kh, kw).

    padding: a number, (vertical, horizontal), or ((top, bottom), (left, right)). Returns
    (n, o, oh, ow). Raises ShapeError naming both shapes.
    """
    if x.ndim != 4 or weight.ndim != 4:
        raise ShapeError(
            f"conv2d: expected input (n, c, h, w) and weight (o, c / groups, kh, kw), "
            f"got {x.shape} and {weight.shape}"
        )
    if groups < 1 or x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise ShapeError(
            f"conv2d: input has {x.shape[1]} channels, weight expects {weight.shape[1] * groups}"
            f" in {groups} groups (input {x.shape}, weight {weight.shape})"
        )
    pads = pads_of(padding, "conv2d")
    strides, dilations = pair(stride, "conv2d stride"), pair(dilation, "conv2d dilation")
    check_window("conv2d", x.shape, weight.shape[2:], strides, pads, dilations)
    node = make(
        window.conv2d,
        channels_last(x).node,
        f.permute_dims(weight, (2, 3, 1, 0)).node,
        stride=strides,
        padding=pads,
        dilation=dilations,
        groups=groups,
    )
    result = channels_first(Tensor(node))
    return result if bias is None else result + f.reshape(bias, (-1, 1, 1))
