"""Activation functions. Where Tallow's functional has one, an operator only reads attributes."""

from __future__ import annotations

import math

from ..... import functional as nn
from ..... import functions as f
from .....core import dtype as dt
from .....core.shape import check_axis
from .....tensor import Tensor
from ...call import Call
from ...registry import operator, plain

for _name, _since, _function in (
    ("HardSwish", 14, nn.hardswish),
    ("Relu", 1, nn.relu),
    ("Sigmoid", 1, nn.sigmoid),
    ("Softplus", 1, nn.softplus),
):
    plain(_name, _function, 1, _since)


@operator("LeakyRelu")
def leaky_relu(call: Call, x: Tensor) -> Tensor:
    """x, or alpha x below 0."""
    return nn.leaky_relu(x, call.get("alpha", float, 0.01))


@operator("HardSigmoid")
def hard_sigmoid(call: Call, x: Tensor) -> Tensor:
    """alpha x + beta, clipped to 0 and 1."""
    return nn.hardsigmoid(x, call.get("alpha", float, 0.2), call.get("beta", float, 0.5))


@operator("Elu")
def elu(call: Call, x: Tensor) -> Tensor:
    """x, or alpha (exp(x) - 1) below 0."""
    return nn.elu(x, call.get("alpha", float, 1.0))


@operator("Celu", since=12)
def celu(call: Call, x: Tensor) -> Tensor:
    """x, or alpha (exp(x / alpha) - 1) below 0."""
    alpha = call.get("alpha", float, 1.0)
    return f.maximum(x, 0) + f.minimum(f.expm1(x * (1.0 / alpha)) * alpha, 0)


@operator("Selu")
def selu(call: Call, x: Tensor) -> Tensor:
    """gamma elu(x)."""
    alpha = call.get("alpha", float, 1.67326319217681884765625)
    return nn.elu(x, alpha) * call.get("gamma", float, 1.05070102214813232421875)


@operator("ThresholdedRelu", since=10)
def thresholded_relu(call: Call, x: Tensor) -> Tensor:
    """x above alpha, else 0."""
    return f.where(x > call.get("alpha", float, 1.0), x, f.zeros((), x.dtype))


@operator("Shrink", since=9)
def shrink(call: Call, x: Tensor) -> Tensor:
    """Integers are computed as float64 and truncated to integers, which wrap around."""
    bias, edge = call.get("bias", float, 0.0), call.get("lambd", float, 0.5)
    wide = x.astype(dt.float64) if x.dtype.is_integer else x
    inner = f.where(wide > edge, wide - bias, f.zeros((), wide.dtype))
    moved = f.where(wide < -edge, wide + bias, inner)
    if x.dtype.kind == "u":  # numbers below 0 are undefined as unsigned integers
        return f.where(moved < 0, moved.astype(dt.int64).astype(x.dtype), moved.astype(x.dtype))
    if x.dtype.is_integer:
        moved = moved.astype(dt.int64)
    return moved.astype(x.dtype)


@operator("Softsign")
def softsign(call: Call, x: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return x / (f.abs(x) + 1.0)


@operator("Mish", since=18)
def mish(call: Call, x: Tensor) -> Tensor:
    """x tanh(softplus(x))."""
    return x * f.tanh(nn.softplus(x))


@operator("Swish", since=24)
def swish(call: Call, x: Tensor) -> Tensor:
    """x sigmoid(alpha x)."""
    return x * nn.sigmoid(x * call.get("alpha", float, 1.0))


@operator("Gelu", since=20)
def gelu(call: Call, x: Tensor) -> Tensor:
    """x times the normal distribution at x."""
    return nn.gelu(x, call.choice("approximate", "none", "tanh"))


def _as_rows(call: Call, x: Tensor) -> tuple[Tensor, int]:
    """x and the axis to work along.

    Before opset 13 all axes from `axis` on count as one: x is flattened to two axes.
    """
    axis = call.get("axis", int, -1 if call.opset >= 13 else 1)
    axis = check_axis(axis, x.ndim, call.node.op_type)
    if call.opset >= 13 or axis == x.ndim - 1:
        return x, axis
    rows = math.prod(x.shape[:axis])
    return f.reshape(x, (rows, math.prod(x.shape[axis:]))), -1


@operator("Softmax")
def softmax(call: Call, x: Tensor) -> Tensor:
    """exp(x), divided by its sum."""
    rows, axis = _as_rows(call, x)
    return f.reshape(nn.softmax(rows, axis), x.shape)


@operator("LogSoftmax")
def log_softmax(call: Call, x: Tensor) -> Tensor:
    """The logarithm of softmax."""
    rows, axis = _as_rows(call, x)
    return f.reshape(nn.log_softmax(rows, axis), x.shape)


@operator("Hardmax")
def hardmax(call: Call, x: Tensor) -> Tensor:
    """1 at the first largest element along the axis, 0 elsewhere."""
    rows, axis = _as_rows(call, x)
    if not x.size:
        return x
    indices = f.arange(rows.shape[axis])
    shape = [1] * rows.ndim
    shape[axis] = -1
    hit = f.equal(f.argmax(rows, axis=axis, keepdims=True), f.reshape(indices, shape))
    return f.reshape(hit.astype(x.dtype), x.shape)
