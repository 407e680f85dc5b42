"""Normalizations by mean and variance, by norms, or by neighbouring channels."""

from __future__ import annotations

from ..... import functional as nn
from ..... import functions as f
from .....core import dtype as dt
from .....core.dtype import DType
from .....core.shape import check_axis, size_of
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....functional.normalization import response_normalized, standardized
from .....tensor import Tensor
from ...call import Call
from ...registry import operator


@operator("BatchNormalization")
def batch_normalization(
    call: Call, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor
) -> list[Tensor]:
    """Normalizes with the given statistics, or (training_mode) with those of x, which then also
    update the running ones: outputs 2 and 3."""
    momentum, epsilon = call.get("momentum", float, 0.9), call.get("epsilon", float, 1e-5)
    training = call.flag("training_mode")
    if call.opset < 14 and any(call.wants(position) for position in range(1, 5)):
        raise OnnxUnsupportedError("it is in training mode")
    if call.opset < 9 and not call.flag("spatial", True):
        return [_per_element(x, scale, bias, mean, var, epsilon)]
    channels = x.shape[1:2] if x.ndim > 1 else (1,)
    if not x.ndim or any(v.shape != channels for v in (scale, bias, mean, var)):
        raise OnnxFormatError(
            f"scale {scale.shape}, bias {bias.shape}, mean {mean.shape} and var {var.shape} must "
            f"have one element per channel of the input {x.shape}"
        )
    split = x if x.ndim > 1 else f.expand_dims(x, 1)
    if not training:
        made = nn.batch_norm(split, mean, var, scale, bias, eps=epsilon)
        return [f.reshape(made.astype(x.dtype), x.shape)]
    axes = (0, *range(2, split.ndim))
    wide = split.astype(dt.float32) if x.dtype.size < 4 else split
    own_mean, own_var = f.mean(wide, axes), f.var(wide, axes)
    made = nn.batch_norm(wide, own_mean, own_var, scale, bias, eps=epsilon)
    moved = [
        (old * momentum + new * (1 - momentum)).astype(old.dtype)
        for old, new in ((mean, own_mean), (var, own_var))
    ]
    return [f.reshape(made.astype(x.dtype), x.shape), *moved]


def _per_element(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor, epsilon: float
) -> Tensor:
    """spatial=0, up to opset 8: all four parameters have the shape of an image."""
    if any(v.shape != x.shape[1:] for v in (scale, bias, mean, var)):
        raise OnnxFormatError(f"spatial=0 needs a number per element of {x.shape[1:]}")
    return (x - mean) * f.reciprocal(f.sqrt(var + epsilon)) * scale + bias


def _wide(x: Tensor, stash_type: int) -> tuple[Tensor, DType]:
    """x in the type for computing statistics, and its own type."""
    return (x.astype(dt.float32) if stash_type == 1 else x), x.dtype


def _trailing(call: Call, x: Tensor) -> tuple[int, ...]:
    return tuple(range(check_axis(call.get("axis", int, -1), x.ndim, "axis"), x.ndim))


@operator("LayerNormalization", since=17)
def _layer_normalization(
    call: Call, x: Tensor, scale: Tensor, bias: Tensor | None = None
) -> list[Tensor]:
    wide, dtype = _wide(x, call.get("stash_type", int, 1))
    axes, epsilon = _trailing(call, x), call.get("epsilon", float, 1e-5)
    normal, mean, inverse = standardized(wide, axes, epsilon)
    result = normal.astype(dtype) * scale
    return [result if bias is None else result + bias, mean, inverse]


@operator("RMSNormalization", since=23)
def _rms_normalization(call: Call, x: Tensor, scale: Tensor) -> Tensor:
    wide, dtype = _wide(x, call.get("stash_type", int, 1))
    shape = x.shape[_trailing(call, x)[0] :]
    normal = nn.rms_norm(wide, shape, eps=call.get("epsilon", float, 1e-5))
    return normal.astype(dtype) * scale


@operator("InstanceNormalization")
def _instance_normalization(call: Call, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    if size_of(x.shape[2:]) == 1:  # which PyTorch refuses
        return (x - x) + f.reshape(bias, (-1, *(1,) * (x.ndim - 2)))
    return nn.instance_norm(x, weight=scale, bias=bias, eps=call.get("epsilon", float, 1e-5))


@operator("GroupNormalization", since=18)
def group_normalization(call: Call, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Scale and bias are per channel since opset 21, and per group before."""
    groups, epsilon = call.get("num_groups", int), call.get("epsilon", float, 1e-5)
    wide, dtype = _wide(x, call.get("stash_type", int, 1))
    normal = nn.group_norm(wide, groups, eps=epsilon).astype(dtype)
    parts = groups if call.opset < 21 else x.shape[1]
    if scale.shape != (parts,) or bias.shape != (parts,):
        raise OnnxFormatError(f"scale {scale.shape} and bias {bias.shape} must be {(parts,)}")
    split = f.reshape(normal, (x.shape[0], parts, size_of(x.shape[1:]) // max(parts, 1)))
    result = split * f.reshape(scale, (-1, 1)) + f.reshape(bias, (-1, 1))
    return f.reshape(result, x.shape)


@operator("MeanVarianceNormalization", since=9)
def _mean_variance_normalization(call: Call, x: Tensor) -> Tensor:
    axes = call.ints("axes", (0, 2, 3))
    centred = x - f.mean(x, axes, True)
    return centred / (f.sqrt(f.mean(centred * centred, axes, True)) + 1e-9)


@operator("LpNormalization")
def _lp_normalization(call: Call, x: Tensor) -> Tensor:
    axis, p = call.get("axis", int, -1), call.get("p", int, 2)
    if p not in (1, 2):
        raise OnnxFormatError(f"p must be 1 or 2, not {p}")
    norm = f.sum(f.abs(x), axis, True) if p == 1 else f.sqrt(f.sum(x * x, axis, True))
    return f.where(f.equal(norm, 0), f.zeros((), x.dtype), x / norm)


@operator("LRN")
def _lrn(call: Call, x: Tensor) -> Tensor:
    size = call.get("size", int)
    if x.ndim < 2 or size < 1:
        raise OnnxFormatError(
            f"a window of {size} channels does not fit an input of shape {x.shape}"
        )
    # Of an even number of channels, one more lies behind, unlike in PyTorch.
    return response_normalized(
        x,
        (size - 1) // 2,
        size // 2,
        call.get("alpha", float, 1e-4) / size,
        call.get("beta", float, 0.75),
        call.get("bias", float, 1.0),
    )
