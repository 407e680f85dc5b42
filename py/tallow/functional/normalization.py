"""Normalisations: to mean 0 and variance 1, or to length 1, over some axes.

The names follow torch.nn.functional. If sums over float16 would lose too much precision, the caller
converts first.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import functions as f
from ..errors import ShapeError
from ..shape import size_of
from ..tensor import Tensor


def standardized(x: Tensor, axes: Sequence[int], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / sqrt(variance + eps) over the axes; the mean; 1 / sqrt(variance + eps)."""
    mean = f.mean(x, axes, True)
    centred = x - mean
    inverse = f.reciprocal(f.sqrt(f.mean(centred * centred, axes, True) + eps))
    return centred * inverse, mean, inverse


def _trailing(name: str, x: Tensor, normalized_shape: Sequence[int]) -> tuple[int, ...]:
    """The last axes, after checking that they have that shape."""
    shape = tuple(normalized_shape)
    if x.shape[x.ndim - len(shape) :] != shape:
        raise ShapeError(f"{name}: {x.shape} does not end in {shape}")
    return tuple(range(x.ndim - len(shape), x.ndim))


def layer_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over the last axes, then weight and bias (Ba et al. 2016)."""
    result, _, _ = standardized(x, _trailing("layer_norm", x, normalized_shape), eps)
    if weight is not None:
        result = result * weight
    return result if bias is None else result + bias


def rms_norm(
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """x / sqrt(mean of squares + eps) over the last axes, then weight (Zhang, Sennrich 2019)."""
    axes = _trailing("rms_norm", x, normalized_shape)
    square = f.mean(x * x, axes, True)
    result = x * f.reciprocal(f.sqrt(square + eps))
    return result if weight is None else result * weight


def batch_norm(
    x: Tensor, mean: Tensor, var: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5
) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias per channel, axis 1 (inference)."""
    shape = [-1] + [1] * (x.ndim - 2)
    scale = weight * f.reciprocal(f.sqrt(var + eps))
    shift = bias - mean * scale
    return x * f.reshape(scale, shape) + f.reshape(shift, shape)


def _per_channel(x: Tensor, value: Tensor) -> Tensor:
    """One number per channel, axis 1, in a shape that broadcasts to x."""
    if value.shape != x.shape[1:2]:
        raise ShapeError(f"{value.shape} must have one element per channel of {x.shape}")
    return f.reshape(value, (-1, *(1,) * (x.ndim - 2)))


def instance_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Mean 0 and variance 1 over each channel of each image (n, c, ...), then weight and bias
    per channel (Ulyanov et al. 2016)."""
    if x.ndim < 3:
        raise ShapeError(f"instance_norm: expected an input (n, c, ...), got {x.shape}")
    result, _, _ = standardized(x, range(2, x.ndim), eps)
    if weight is not None:
        result = result * _per_channel(x, weight)
    return result if bias is None else result + _per_channel(x, bias)


def group_norm(
    x: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over groups of the channels of x (n, c, ...), then weight and bias
    per channel (Wu and He 2018)."""
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ShapeError(
            f"group_norm: the channels of {x.shape} do not divide into {num_groups} groups"
        )
    length = size_of(x.shape[1:]) // num_groups
    grouped, _, _ = standardized(f.reshape(x, (x.shape[0], num_groups, length)), (2,), eps)
    result = f.reshape(grouped, x.shape)
    if weight is not None:
        result = result * _per_channel(x, weight)
    return result if bias is None else result + _per_channel(x, bias)


def normalize(x: Tensor, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
    """x divided by its p-norm along an axis, or by eps where that is less."""
    if p == 1:
        norm = f.sum(f.abs(x), axis, True)
    elif p == 2:
        norm = f.sqrt(f.sum(x * x, axis, True))
    else:
        norm = f.pow(f.sum(f.pow(f.abs(x), p), axis, True), 1 / p)
    return x / f.maximum(norm, eps)


def local_response_norm(
    x: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """x / (k + alpha / size * sum of squares over `size` channels) ** beta, axis 1.

    Krizhevsky et al. 2012; the window reaches (size - 1) // 2 channels down, the rest up.
    """
    channels = x.shape[1]
    furthest = max(channels - 1, 0)
    below, above = (size - 1) // 2, size // 2
    below, above = min(below, furthest), min(above, furthest)
    squares = f.pad(x * x, [(0, 0), (below, above)] + [(0, 0)] * (x.ndim - 2))
    total = squares[:, 0:channels]
    for shift in range(1, below + above + 1):
        total = total + squares[:, shift : shift + channels]
    return x / f.pow(total * (alpha / size) + k, beta)
