"""Activations, elementwise and along an axis."""

from __future__ import annotations

import math

from .. import functions as f
from ..autodiff.history import with_gradient
from ..tensor import Tensor


def relu(x: Tensor) -> Tensor:
    """max(x, 0)."""
    return f.maximum(x, 0)


def relu6(x: Tensor) -> Tensor:
    """x clamped to 0 and 6."""
    return f.clip(x, 0, 6)


def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x where it is positive, negative_slope * x elsewhere."""
    return f.where(x >= 0, x, x * negative_slope)


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    y = f.reciprocal(f.exp(-x) + 1.0)
    # exp(-x) may overflow, which only the value survives.
    return with_gradient(y, [x], lambda gradient: [gradient * y * (1.0 - y)])


def silu(x: Tensor) -> Tensor:
    """x * sigmoid(x)."""
    return x * sigmoid(x)


def hardsigmoid(x: Tensor, alpha: float = 1 / 6, beta: float = 0.5) -> Tensor:
    """alpha * x + beta, clamped to 0 and 1."""
    return f.clip(x * alpha + beta, 0, 1)


def hardswish(x: Tensor) -> Tensor:
    """x * hardsigmoid(x) (Howard et al. 2019, "Searching for MobileNetV3")."""
    return x * hardsigmoid(x)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal cumulative distribution function (Hendrycks and Gimpel 2016).

    approximate: "none" for erf, "tanh" for the paper's approximation.
    """
    if approximate == "tanh":
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        return x * ((f.tanh(inner) + 1.0) * 0.5)
    return x * ((f.erf(x * (1 / math.sqrt(2))) + 1.0) * 0.5)


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)), without overflow."""
    y = f.maximum(x, 0) + f.log1p(f.exp(-abs(x)))
    return with_gradient(y, [x], lambda gradient: [gradient * sigmoid(x)])


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""
    return f.where(x > 0, x, f.expm1(f.minimum(x, 0)) * alpha)


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis, shifted by the maximum so that nothing overflows."""
    if not x.size:
        return x
    shifted = f.exp(x - f.max(x, axis=axis, keepdims=True))
    return shifted / f.sum(shifted, axis=axis, keepdims=True)


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """log(softmax(x)), computed without the division."""
    if not x.size:
        return x
    shifted = x - f.max(x, axis=axis, keepdims=True)
    return shifted - f.log(f.sum(f.exp(shifted), axis=axis, keepdims=True))
