"""Activations, elementwise and along an axis.

x is the input. inplace: the input itself stands for the result from then on, as in PyTorch
(methods/fills.py).
"""

from __future__ import annotations

import math

from .. import functions as f
from ..autodiff import with_gradient
from ..casting import in_float32, matched
from ..core.dtype import DType
from ..core.shape import check_axis
from ..errors import ShapeError
from ..tensor import Tensor

TypeLike = DType | str | None


def done(x: Tensor, result: Tensor, inplace: bool) -> Tensor:
    """The result; if inplace, x itself, which then holds it."""
    return x.become(result) if inplace and result is not x else result


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0), element by element. The derivative at 0 is 0.

    input: numbers x, of any shape.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape and type of input.
    Source: PyTorch, `torch.nn.functional.relu`.
    """
    x = input
    y = f.maximum(x, 0)
    return done(
        x, with_gradient(y, [x], lambda gradient, y: [f.where(y > 0, gradient, 0.0)]), inplace
    )


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x clamped to 0 and 6. The derivative at the ends is 0.

    input: numbers x, of any shape.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.relu6`.
    """
    x = input
    return done(x, hardtanh(x, 0.0, 6.0), inplace)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x clamped to min_val and max_val. The derivative at the ends is 0.

    input: numbers x, of any shape.
    min_val, max_val: the bounds.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.hardtanh`.
    """
    x = input
    y = f.minimum(f.maximum(x, min_val), max_val)

    def pull(gradient: Tensor, y: Tensor) -> list[Tensor]:
        return [f.where(f.logical_and(y > min_val, y < max_val), gradient, 0.0)]

    return done(x, with_gradient(y, [x], pull), inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, negative_slope * x elsewhere.

    input: numbers x, of any shape.
    negative_slope: the factor of the numbers that are not positive.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.leaky_relu`.
    """
    x = input
    return done(x, f.where(x > 0, x, x * negative_slope), inplace)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), element by element.

    input: numbers x, of any shape; integers count as floating numbers.
    Returns: floating numbers from 0 to 1, in the shape of input.
    Source: PyTorch, `torch.nn.functional.sigmoid`.
    """
    x = input
    y = f.reciprocal(f.exp(-x) + 1.0)

    def pull(gradient: Tensor, y: Tensor, x: Tensor) -> list[Tensor]:
        # 1 - y would be 0 far out; exp(-x) may overflow, which only the value survives.
        return [gradient * y * sigmoid(-x)]

    return with_gradient(y, [x], pull, [x])


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x), element by element.

    input: numbers x, of any shape.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.silu`.
    """
    x = input
    return done(x, x * sigmoid(x), inplace)


def hardsigmoid(
    input: Tensor, alpha: float = 1 / 6, beta: float = 0.5, inplace: bool = False
) -> Tensor:
    """alpha * x + beta, clamped to 0 and 1. The derivative at the ends is 0.

    input: numbers x, of any shape.
    alpha, beta: the slope, and the value at 0. PyTorch has 1 / 6 and 0.5, the defaults.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: floating numbers from 0 to 1, in the shape of input.
    Source: PyTorch, `torch.nn.functional.hardsigmoid`; ONNX, HardSigmoid, for alpha and beta.
    """
    x = input
    return done(x, hardtanh(x * alpha + beta, 0, 1), inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x), element by element.

    input: numbers x, of any shape.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: Howard et al. 2019, "Searching for MobileNetV3".
    """
    x = input
    return done(x, x * hardsigmoid(x), inplace)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal cumulative distribution function of x.

    input: numbers x, of any shape.
    approximate: "none" for erf, "tanh" for the paper's approximation.
    Returns: the result, in the shape of input.
    Source: Hendrycks and Gimpel 2016; PyTorch, `torch.nn.functional.gelu`.
    """
    x = input
    if approximate == "tanh":
        inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
        return (x * 0.5) * (f.tanh(inner) + 1.0)
    return (x * 0.5) * (f.erf(x * (1 / math.sqrt(2))) + 1.0)


@in_float32
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta, without overflow.

    input: numbers x, of any shape.
    beta: how sharp the bend at 0 is.
    threshold: where beta * x is above it, the result is x itself. From 16 on it changes nothing,
      since the difference is less than the last digit of float32.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.softplus`.
    """
    x = input
    scaled = x if beta == 1 else x * beta
    y = f.maximum(scaled, 0) + f.log1p(f.exp(-abs(scaled)))
    y = y if beta == 1 else y * (1 / beta)

    def pull(gradient: Tensor, y: Tensor, scaled: Tensor) -> list[Tensor]:
        return [gradient * sigmoid(scaled)]

    y = with_gradient(y, [x], pull, [scaled])
    # Beyond 16, the difference is less than the last digit of float32.
    return y if threshold >= 16 else f.where(scaled > threshold, x, y)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, alpha * (exp(x) - 1) elsewhere.

    input: numbers x, of any shape.
    alpha: minus the limit for small x.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.elu`.
    """
    x = input
    return done(x, f.where(x > 0, x, f.expm1(f.minimum(x, 0)) * alpha), inplace)


def _axis(x: Tensor, axis: int | None, dim: int | None) -> int:
    """The axis of a softmax: the one that is given, or the one that PyTorch takes if none is."""
    given = axis if dim is None else dim
    if given is not None:
        return given
    return 0 if x.ndim in (0, 1, 3) else 1


@in_float32
def softmax(
    input: Tensor, axis: int | None = None, dtype: TypeLike = None, *, dim: int | None = None
) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis, shifted by the maximum so that nothing overflows.

    input: numbers x, of any shape.
    axis: the axis to sum over; None is that of PyTorch, 0 for tensors of 0, 1 or 3 axes, else 1.
    dtype: the type that input is converted to first; None leaves it.
    dim: PyTorch's name of axis.
    Returns: numbers from 0 to 1 that add up to 1 along the axis, in the shape of input.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.nn.functional.softmax`.
    """
    x = input if dtype is None else input.astype(dtype)
    if not x.size:
        return x
    axis = _axis(x, axis, dim)
    shifted = f.exp(x - f.max(x, axis=axis, keepdims=True))
    y = shifted / f.sum(shifted, axis=axis, keepdims=True)
    return with_gradient(y, [x], lambda gradient, y: [softmax_gradient(gradient, y, axis)])


def softmax_gradient(gradient: Tensor, y: Tensor, axis: int) -> Tensor:
    """The gradient of what a softmax was taken of, by that of its result y."""
    scaled = gradient * y
    return scaled - y * f.sum(scaled, axis=axis, keepdims=True)


@in_float32
def softmin(
    input: Tensor, axis: int | None = None, dtype: TypeLike = None, *, dim: int | None = None
) -> Tensor:
    """The softmax of -x.

    input: numbers x, of any shape.
    axis: the axis to sum over; None is that of `softmax`.
    dtype: the type that input is converted to first; None leaves it.
    dim: PyTorch's name of axis.
    Returns: numbers from 0 to 1 that add up to 1 along the axis, in the shape of input.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.nn.functional.softmin`.
    """
    x = input
    return softmax(-x, axis, dim=dim, dtype=dtype)


@in_float32
def log_softmax(
    input: Tensor, axis: int | None = None, dtype: TypeLike = None, *, dim: int | None = None
) -> Tensor:
    """log(softmax(x)), computed without the division.

    input: numbers x, of any shape.
    axis: the axis to sum over; None is that of `softmax`.
    dtype: the type that input is converted to first; None leaves it.
    dim: PyTorch's name of axis.
    Returns: logarithms of probabilities, in the shape of input.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch, `torch.nn.functional.log_softmax`.
    """
    x = input if dtype is None else input.astype(dtype)
    if not x.size:
        return x
    axis = _axis(x, axis, dim)
    shifted = x - f.max(x, axis=axis, keepdims=True)
    y = shifted - f.log(f.sum(f.exp(shifted), axis=axis, keepdims=True))

    def pull(gradient: Tensor, y: Tensor) -> list[Tensor]:
        return [gradient - f.exp(y) * f.sum(gradient, axis=axis, keepdims=True)]

    return with_gradient(y, [x], pull)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)), without overflow.

    input: numbers x, of any shape.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.logsigmoid`.
    """
    x = input
    return -softplus(-x)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x)), element by element.

    input: numbers x, of any shape.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: Misra 2019.
    """
    x = input
    return done(x, x * f.tanh(softplus(x)), inplace)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with alpha 1.673 and a factor of 1.051, which keep mean and variance.

    input: numbers x, of any shape.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: Klambauer et al. 2017.
    """
    x = input
    return done(x, elu(x, 1.6732632423543772) * 1.0507009873554805, inplace)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).

    input: numbers x, of any shape.
    alpha: minus the limit for small x.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: Barron 2017.
    """
    x = input
    return done(x, f.where(x > 0, x, f.expm1(f.minimum(x, 0) * (1 / alpha)) * alpha), inplace)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where it is positive, weight * x elsewhere.

    input: numbers x; channels, if the weight has one number each, are axis 1.
    weight: one number for all, or one per channel, (c,).
    Returns: the result, in the shape of input.
    Raises: ShapeError for a weight of another length.
    Source: He et al. 2015.
    """
    x = input
    weight = matched(weight, x)
    if weight.size > 1:
        weight = f.reshape(weight, (-1, *(1,) * (x.ndim - 2)))
    return f.where(x > 0, x, x * weight)


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """x where it is positive, a random multiple of it elsewhere.

    input: numbers x, of any shape.
    lower, upper: the bounds between which the factors are drawn.
    training: draws a factor for each element; otherwise every factor is the mean of the bounds.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: Xu et al. 2015.
    """
    x = input
    if not training:
        return leaky_relu(x, (lower + upper) / 2, inplace)
    slope = f.rand(x.shape) * (upper - lower) + lower
    return done(x, f.where(x >= 0, x, x * slope.astype(x.dtype)), inplace)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|), element by element.

    input: numbers x, of any shape.
    Returns: numbers between -1 and 1, in the shape of input.
    Source: PyTorch, `torch.nn.functional.softsign`.
    """
    x = input
    return x / (abs(x) + 1.0)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by lambd; 0 within lambd of 0.

    input: numbers x, of any shape.
    lambd: how far numbers move.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.softshrink`.
    """
    x = input
    near = x * 0.0  # NaN stays NaN
    return f.where(x > lambd, x - lambd, f.where(x < -lambd, x + lambd, near))


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x, but 0 within lambd of 0.

    input: numbers x, of any shape.
    lambd: numbers up to this size become 0.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.hardshrink`.
    """
    x = input
    return f.where(abs(x) <= lambd, 0.0, x)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x), element by element.

    input: numbers x, of any shape.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.tanhshrink`.
    """
    x = input
    return x - f.tanh(x)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above the threshold, the value elsewhere.

    input: numbers x, of any shape.
    threshold: what x must be greater than to stay.
    value: what replaces the other numbers.
    inplace: puts the result into input itself, as in PyTorch.
    Returns: the result, in the shape of input.
    Source: PyTorch, `torch.nn.functional.threshold`.
    """
    x = input
    return done(x, f.where(x <= threshold, float(value), x), inplace)


def glu(input: Tensor, axis: int = -1, *, dim: int | None = None) -> Tensor:
    """The first half along an axis times the sigmoid of the second.

    input: numbers of any shape, with an even length along the axis.
    axis: the axis that is halved.
    dim: PyTorch's name of axis.
    Returns: the shape of input, with half its length along the axis.
    Raises: AxisError for an axis that input doesn't have, ShapeError for an odd length.
    Source: Dauphin et al. 2017.
    """
    x = input
    first, second = _halves(x, axis if dim is None else dim, "glu")
    return first * sigmoid(second)


def swiglu(input: Tensor, axis: int = -1, *, dim: int | None = None) -> Tensor:
    """The silu of the first half along an axis times the second.

    input: numbers of any shape, with an even length along the axis.
    axis: the axis that is halved.
    dim: PyTorch's name of axis.
    Returns: the shape of input, with half its length along the axis.
    Raises: AxisError for an axis that input doesn't have, ShapeError for an odd length.
    Source: Shazeer 2020.
    """
    x = input
    first, second = _halves(x, axis if dim is None else dim, "swiglu")
    return silu(first) * second


def _halves(x: Tensor, axis: int, what: str) -> tuple[Tensor, Tensor]:
    axis = check_axis(axis, x.ndim, what)
    if x.shape[axis] % 2:
        raise ShapeError(f"{what}: axis {axis} of {x.shape} has no two halves")
    half = x.shape[axis] // 2
    first, second = f.split(x, [half, half], axis)
    return first, second
