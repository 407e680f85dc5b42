"""Normalisations: mean and variance, norms, neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from ... import dtype as dt
from ... import functional as nn
from ... import functions as f
from ...dtype import DType
from ...errors import OnnxFormatError, OnnxUnsupportedError
from ...shape import check_axis
from ...tensor import Tensor
from ..call import Call
from ..registry import operator


@operator("BatchNormalization")
def batch_normalization(
    call: Call, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor
) -> Tensor | list[Tensor]:
    """With the statistics of training. In training mode, from opset 14 on, with the batch's own;
    then their running averages come too."""
    momentum = call.get("momentum", float, 0.9)
    training = call.flag("training_mode")
    if not training and any(call.wants(position) for position in range(1, 5)):
        raise OnnxUnsupportedError("it is in training mode, as before operator set 14")
    if not call.flag("spatial", True):
        raise OnnxUnsupportedError("spatial=0: statistics for every element")
    if x.ndim < 2 or any(v.shape != x.shape[1:2] for v in (scale, bias, mean, var)):
        raise OnnxFormatError(
            f"scale {scale.shape}, bias {bias.shape}, mean {mean.shape} and var {var.shape} must "
            f"have one element per channel of the input {x.shape}"
        )
    epsilon = call.get("epsilon", float, 1e-5)
    if not training:
        return nn.batch_norm(x, mean, var, scale, bias, epsilon).astype(x.dtype)
    axes = (0, *range(2, x.ndim))
    centred = x - f.mean(x, axes, True)
    own_mean, own_var = f.mean(x, axes), f.mean(centred * centred, axes)
    result = nn.batch_norm(x, own_mean, own_var, scale, bias, epsilon).astype(x.dtype)
    return [
        result,
        (mean * momentum + own_mean * (1 - momentum)).astype(mean.dtype),
        (var * momentum + own_var * (1 - momentum)).astype(var.dtype),
    ]


def _wide(x: Tensor, stash_type: int) -> tuple[Tensor, DType]:
    """x in the type in which the statistics are taken, and its own type."""
    return (x.astype(dt.float32) if stash_type == 1 else x), x.dtype


def _normalized(x: Tensor, axes: Sequence[int], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / standard deviation over the axes; the mean; 1 / standard deviation."""
    mean = f.mean(x, axes, True)
    centred = x - mean
    inverse = f.reciprocal(f.sqrt(f.mean(centred * centred, axes, True) + epsilon))
    return centred * inverse, mean, inverse


def _trailing(call: Call, x: Tensor) -> tuple[int, ...]:
    return tuple(range(check_axis(call.get("axis", int, -1), x.ndim, "axis"), x.ndim))


@operator("LayerNormalization", since=17)
def layer_normalization(
    call: Call, x: Tensor, scale: Tensor, bias: Tensor | None = None
) -> list[Tensor]:
    wide, dtype = _wide(x, call.get("stash_type", int, 1))
    axes, epsilon = _trailing(call, x), call.get("epsilon", float, 1e-5)
    normal, mean, inverse = _normalized(wide, axes, epsilon)
    result = normal.astype(dtype) * scale
    return [result if bias is None else result + bias, mean, inverse]


@operator("RMSNormalization", since=23)
def rms_normalization(call: Call, x: Tensor, scale: Tensor) -> Tensor:
    wide, dtype = _wide(x, call.get("stash_type", int, 1))
    axes, epsilon = _trailing(call, x), call.get("epsilon", float, 1e-5)
    square = f.mean(wide * wide, axes, True)
    return (wide * f.reciprocal(f.sqrt(square + epsilon))).astype(dtype) * scale


def _per_channel(x: Tensor, value: Tensor) -> Tensor:
    if value.shape != x.shape[1:2]:
        raise OnnxFormatError(f"{value.shape} must have one element per channel of {x.shape}")
    return f.reshape(value, (-1, *(1,) * (x.ndim - 2)))


@operator("InstanceNormalization")
def instance_normalization(call: Call, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    axes = tuple(range(2, x.ndim))
    normal, _, _ = _normalized(x, axes, call.get("epsilon", float, 1e-5))
    return normal * _per_channel(x, scale) + _per_channel(x, bias)


@operator("GroupNormalization", since=18)
def group_normalization(call: Call, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Scale and bias are per group before opset 21, per channel from then on."""
    groups = call.get("num_groups", int)
    wide, dtype = _wide(x, call.get("stash_type", int, 1))
    if x.ndim < 3 or groups < 1 or x.shape[1] % groups:
        raise OnnxFormatError(f"{groups} groups of the channels of {x.shape}")
    apart = f.reshape(wide, (x.shape[0], groups, -1))
    normal, _, _ = _normalized(apart, (2,), call.get("epsilon", float, 1e-5))
    if call.opset < 21:
        result = normal.astype(dtype) * _per_channel(apart, scale) + _per_channel(apart, bias)
        return f.reshape(result, x.shape)
    result = f.reshape(normal.astype(dtype), x.shape)
    return result * _per_channel(x, scale) + _per_channel(x, bias)


@operator("MeanVarianceNormalization", since=9)
def mean_variance_normalization(call: Call, x: Tensor) -> Tensor:
    axes = call.ints("axes", (0, 2, 3))
    centred = x - f.mean(x, axes, True)
    return centred / (f.sqrt(f.mean(centred * centred, axes, True)) + 1e-9)


@operator("LpNormalization")
def lp_normalization(call: Call, x: Tensor) -> Tensor:
    axis, p = call.get("axis", int, -1), call.get("p", int, 2)
    if p not in (1, 2):
        raise OnnxFormatError(f"p is 1 or 2, not {p}")
    norm = f.sum(f.abs(x), axis, True) if p == 1 else f.sqrt(f.sum(x * x, axis, True))
    return f.where(f.equal(norm, 0), f.zeros((), x.dtype), x / norm)


@operator("LRN")
def lrn(call: Call, x: Tensor) -> Tensor:
    size = call.get("size", int)
    if x.ndim < 2 or not 1 <= size <= 2 * max(x.shape[1], 1):
        raise OnnxFormatError(f"a window of {size} channels over an input of shape {x.shape}")
    return nn.local_response_norm(
        x,
        size,
        call.get("alpha", float, 1e-4),
        call.get("beta", float, 0.75),
        call.get("bias", float, 1.0),
    )
