"""Functions of neural networks, composed of ops: none has a record of its own.

Names and layouts follow torch.nn.functional; images are NCHW, weights OIHW. Attention, losses and
normalisations have files of their own, attention.py, losses.py and normalization.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import functions as f
from .attention import scaled_dot_product_attention
from .errors import ShapeError
from .graph import constant, make
from .hostarray import from_values
from .losses import nll_loss
from .normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    normalize,
    rms_norm,
)
from .op import Window
from .ops import window
from .shape import ceil_border, places_inside, window_size
from .tensor import Tensor, asarray

__all__ = [
    "avg_pool2d", "batch_norm", "conv2d", "cross_entropy", "elu", "embedding", "gelu",
    "global_avg_pool", "group_norm", "hardsigmoid", "hardswish", "instance_norm", "layer_norm",
    "leaky_relu", "linear", "local_response_norm", "log_softmax", "max_pool2d", "nll_loss",
    "normalize", "relu", "relu6", "rms_norm", "scaled_dot_product_attention", "sigmoid", "silu",
    "softmax", "softplus",
]  # fmt: skip

Pair = int | Sequence[int]
Padding = int | Sequence[int] | Sequence[tuple[int, int]]


# ---- activations ------------------------------------------------------------------------------


def relu(x: Tensor) -> Tensor:
    """max(x, 0)."""
    return f.maximum(x, 0)


def relu6(x: Tensor) -> Tensor:
    """x held between 0 and 6."""
    return f.clip(x, 0, 6)


def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x where it is positive, negative_slope * x elsewhere."""
    return f.where(x >= 0, x, x * negative_slope)


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return f.reciprocal(f.exp(-x) + 1.0)


def silu(x: Tensor) -> Tensor:
    """x * sigmoid(x)."""
    return x * sigmoid(x)


def hardsigmoid(x: Tensor, alpha: float = 1 / 6, beta: float = 0.5) -> Tensor:
    """alpha * x + beta, held between 0 and 1."""
    return f.clip(x * alpha + beta, 0, 1)


def hardswish(x: Tensor) -> Tensor:
    """x * hardsigmoid(x) (Howard et al. 2019, "Searching for MobileNetV3")."""
    return x * hardsigmoid(x)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution function (Hendrycks and Gimpel 2016).

    approximate: "none" for erf, "tanh" for the paper's approximation.
    """
    if approximate == "tanh":
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        return x * ((f.tanh(inner) + 1.0) * 0.5)
    return x * ((f.erf(x * (1 / math.sqrt(2))) + 1.0) * 0.5)


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)), without overflow."""
    return f.maximum(x, 0) + f.log1p(f.exp(-abs(x)))


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""
    return f.where(x > 0, x, (f.exp(f.minimum(x, 0)) - 1.0) * alpha)


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis, shifted by the maximum so that nothing overflows."""
    shifted = f.exp(x - f.max(x, axis=axis, keepdims=True))
    return shifted / f.sum(shifted, axis=axis, keepdims=True)


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """log(softmax(x)), computed without the division."""
    shifted = x - f.max(x, axis=axis, keepdims=True)
    return shifted - f.log(f.sum(f.exp(shifted), axis=axis, keepdims=True))


# ---- losses -----------------------------------------------------------------------------------


def cross_entropy(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int | None = -100,
    reduction: str = "mean",
) -> Tensor:
    """`nll_loss` of the logarithm of the softmax of scores x (n, classes, ...)."""
    return nll_loss(log_softmax(x, 1), target, weight, ignore_index, reduction)


# ---- layers -----------------------------------------------------------------------------------


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias; weight (out, in)."""
    result = x @ weight.mT
    return result if bias is None else result + bias


def _pair(value: Pair, what: str) -> tuple[int, int]:
    pair = (value, value) if isinstance(value, int) else tuple(value)
    if len(pair) != 2 or any(v < 1 for v in pair):
        raise ShapeError(f"{what}: expected a positive number or two, got {value}")
    return pair[0], pair[1]


def _pads(value: Padding, what: str) -> tuple[tuple[int, int], tuple[int, int]]:
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


def _channels_last(x: Tensor) -> Tensor:
    return f.permute_dims(x, (0, 2, 3, 1))


def _channels_first(x: Tensor) -> Tensor:
    return f.permute_dims(x, (0, 3, 1, 2))


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
    pads = _pads(padding, "conv2d")
    strides, dilations = _pair(stride, "conv2d stride"), _pair(dilation, "conv2d dilation")
    _check_window("conv2d", x.shape, weight.shape[2:], strides, pads, dilations)
    node = make(
        window.conv2d,
        _channels_last(x).node,
        f.permute_dims(weight, (2, 3, 1, 0)).node,
        stride=strides,
        padding=pads,
        dilation=dilations,
        groups=groups,
    )
    result = _channels_first(Tensor(node))
    return result if bias is None else result + f.reshape(bias, (-1, 1, 1))


def _check_window(
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


def _ceil_pads(
    x: Tensor, kernel: tuple[int, int], stride: tuple[int, int], pads: Any, dilation: Any
) -> Any:
    """Padding grown at the end so that a last window that only begins inside fits (ceil_mode)."""
    return tuple(
        (low, ceil_border(x.shape[2 + axis], low, high, kernel[axis], stride[axis], dilation[axis]))
        for axis, (low, high) in enumerate(pads)
    )


def max_pool2d(
    x: Tensor,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Padding = 0,
    dilation: Pair = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of x (n, c, h, w); padding never wins."""
    kernel, dilations = _pair(kernel_size, "max_pool2d"), _pair(dilation, "max_pool2d dilation")
    strides = kernel if stride is None else _pair(stride, "max_pool2d stride")
    pads = _pads(padding, "max_pool2d")
    _check_pool("max_pool2d", x, kernel, strides, pads, dilations)
    if ceil_mode:
        pads = _ceil_pads(x, kernel, strides, pads, dilations)
    return _pool(window.max_pool2d, x, kernel, strides, pads, dilations)


def _check_pool(name: str, x: Tensor, kernel: Any, stride: Any, pads: Any, dilation: Any) -> None:
    if x.ndim != 4:
        raise ShapeError(f"{name}: expected an input (n, c, h, w), got {x.shape}")
    _check_window(name, x.shape, kernel, stride, pads, dilation)


def _pool(op: Window, x: Tensor, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Tensor:
    """A pool of the channels-last primitives, for x (n, c, h, w)."""
    attrs = {"kernel": kernel, "stride": stride, "padding": pads, "dilation": dilation}
    return _channels_first(Tensor(make(op, _channels_last(x).node, **attrs)))


def sum_pool2d(
    x: Tensor,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Padding = 0,
    dilation: Pair = 1,
) -> Tensor:
    """The sum of each window of x (n, c, h, w), padding counted as 0."""
    kernel, dilations = _pair(kernel_size, "sum_pool2d"), _pair(dilation, "sum_pool2d dilation")
    strides = kernel if stride is None else _pair(stride, "sum_pool2d stride")
    pads = _pads(padding, "sum_pool2d")
    _check_pool("sum_pool2d", x, kernel, strides, pads, dilations)
    return _pool(window.sum_pool2d, x, kernel, strides, pads, dilations)


def avg_pool2d(
    x: Tensor,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    dilation: Pair = 1,
) -> Tensor:
    """The mean of each window of x (n, c, h, w).

    count_include_pad: padding counts as zeros (but never what ceil_mode adds beyond it).
    """
    kernel, dilations = _pair(kernel_size, "avg_pool2d"), _pair(dilation, "avg_pool2d dilation")
    strides = kernel if stride is None else _pair(stride, "avg_pool2d stride")
    pads = given = _pads(padding, "avg_pool2d")
    _check_pool("avg_pool2d", x, kernel, strides, pads, dilations)
    if ceil_mode:
        pads = _ceil_pads(x, kernel, strides, pads, dilations)
    result = sum_pool2d(x, kernel, strides, pads, dilations)
    counts = []
    for axis in range(2):
        low, high = given[axis] if count_include_pad else (0, 0)
        first, last = -low, x.shape[2 + axis] + high
        starts = range(-pads[axis][0], -pads[axis][0] + result.shape[2 + axis] * strides[axis],
                       strides[axis])  # fmt: skip
        k, d = kernel[axis], dilations[axis]
        counts.append([places_inside(start, k, d, first, last) for start in starts])
    # A window that lies in the padding alone has no mean.
    rows, columns = ([1.0 / n if n else math.nan for n in side] for side in counts)
    if len(set(counts[0])) == 1 and len(set(counts[1])) == 1:
        return result * (rows[0] * columns[0])
    inverse = [
        Tensor(constant(from_values(side, shape, x.dtype)))
        for side, shape in ((rows, (len(rows), 1)), (columns, (1, len(columns))))
    ]
    return result * (inverse[0] * inverse[1])


def global_avg_pool(x: Tensor) -> Tensor:
    """The mean over all axes after the first two, which stay with length 1."""
    return f.mean(x, axis=tuple(range(2, x.ndim)), keepdims=True)


def embedding(indices: Tensor, weight: Tensor) -> Tensor:
    """Rows of weight (count, features) at integer indices."""
    return f.take(weight, asarray(indices), axis=0)
