"""Derivatives of elementwise ops. Operands have the result's shape: nothing broadcasts here.

Where a function has a corner, a rule gives what PyTorch gives: 0 for abs at 0; for maximum and
minimum of equal operands, half to each, but all to what is bounded by a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .. import functions as f
from ..core.dtype import DType
from ..graph import make
from ..ops import division, gather, logic, movement
from ..ops import elementwise as e
from ..ops.kinds import Elementwise
from ..tensor import Tensor
from .past import with_gradient
from .rules import NO_DERIVATIVE, RULES, Gradients, flat, rule


def _unary(op: Elementwise, slope: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Registers a function of one operand by its derivative, a function of operand and result."""
    RULES[op] = lambda gradient, y, x: [gradient * slope(x, y)]


def _tanh_slope(x: Tensor, y: Tensor) -> Tensor:
    """1 - tanh(x)², by the exponential, as the difference loses its digits where y is near 1. The
    derivatives of the slope are those of 1 - y²: |x| has a corner."""
    slope = (abs(y) + 1.0) * (2.0 / (f.exp(abs(x) * 2.0) + 1.0))
    return with_gradient(slope, [x], lambda gradient, slope, y: [gradient * y * slope * -2.0], [y])


def _bent(slope: Tensor, x: Tensor, bend: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """A slope with its own slope, which is infinite, not NaN, where this one is."""
    return with_gradient(slope, [x], lambda gradient, s, x: [gradient * bend(x, s)], [x])


def _arc_slope(x: Tensor) -> Tensor:
    slope = f.reciprocal(f.sqrt((1.0 - x) * (x + 1.0)))
    return _bent(slope, x, lambda x, s: x * s * s * s)


def _slopes() -> dict[Elementwise, Callable[[Tensor, Tensor], Tensor]]:
    """The derivative of each function of one operand, from operand and result."""
    return {
        e.exp: lambda x, y: y,
        e.exp2: lambda x, y: y * math.log(2),
        e.expm1: lambda x, y: f.exp(x),
        e.log: lambda x, y: f.reciprocal(x),
        e.log1p: lambda x, y: f.reciprocal(x + 1.0),
        e.sqrt: lambda x, y: 0.5 / y,
        e.reciprocal: lambda x, y: -(y * y),
        e.sin: lambda x, y: f.cos(x),
        e.cos: lambda x, y: -f.sin(x),
        e.tan: lambda x, y: y * y + 1.0,
        e.sinh: lambda x, y: f.cosh(x),
        e.cosh: lambda x, y: f.sinh(x),
        e.tanh: _tanh_slope,
        e.asin: lambda x, y: _arc_slope(x),
        e.acos: lambda x, y: -_arc_slope(x),
        e.atan: lambda x, y: f.reciprocal(x * x + 1.0),
        e.asinh: lambda x, y: f.reciprocal(f.sqrt(x * x + 1.0)),
        e.acosh: lambda x, y: _bent(
            f.reciprocal(f.sqrt(x - 1.0) * f.sqrt(x + 1.0)), x, lambda x, s: -(x * s) * s * s
        ),
        e.atanh: lambda x, y: _bent(
            f.reciprocal((1.0 - x) * (x + 1.0)), x, lambda x, s: 2.0 * x * s * s
        ),
        e.erf: lambda x, y: f.exp(-(x * x)) * (2 / math.sqrt(math.pi)),
        e.abs_: lambda x, y: f.sign(x),
    }


for _function, _slope in _slopes().items():
    _unary(_function, _slope)


@rule(e.negative)
def _negative(gradient: Tensor, y: Tensor, x: Tensor) -> Gradients:
    return [-gradient]


@rule(e.add)
def _add(gradient: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Gradients:
    return [gradient, gradient]


@rule(e.subtract)
def _subtract(gradient: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Gradients:
    return [gradient, -gradient]


@rule(e.multiply)
def _multiply(gradient: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Gradients:
    return [gradient * b, gradient * a]


@rule(e.divide)
def _divide(gradient: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Gradients:
    return [gradient / b, -(gradient * y / b)]


def _is_number(x: Tensor) -> bool:
    """Whether a tensor is one constant number, in whatever shape. What a derivative is taken by is
    none: it is a reshape to the same shape (`past.same`)."""
    node = x.node
    while node.op in (movement.expand, movement.reshape) and node.shape != node.inputs[0].shape:
        (node,) = node.inputs
    return node.is_constant and node.size == 1


def _extremum(gradient: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Gradients:
    first, second = f.equal(y, a), f.equal(y, b)
    share = 0.5 + 0.5 * _is_number(b) - 0.5 * _is_number(a)
    tied = f.equal(a, b)
    return [
        f.where(tied, gradient * share, f.where(first, gradient, 0.0)),
        f.where(tied, gradient * (1.0 - share), f.where(second, gradient, 0.0)),
    ]


RULES[e.maximum] = RULES[e.minimum] = _extremum


@rule(e.pow_)
def _pow(gradient: Tensor, y: Tensor, x: Tensor, exponent: Tensor) -> Gradients:
    none = f.equal(exponent, 0.0)
    # x ** -1 would be infinite where x is 0 and nothing depends on it.
    slope = f.where(none, 0.0, exponent * f.pow(x, f.where(none, 1.0, exponent - 1.0)))
    grows = f.logical_or(f.not_equal(x, 0.0), exponent < 0)
    logarithm = f.where(grows, y * f.log(f.where(grows, x, 1.0)), 0.0)
    return [gradient * slope, gradient * logarithm]


@rule(division.fmod)
def _fmod(gradient: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Gradients:
    return [gradient, -(gradient * f.trunc(a / b))]


@rule(e.where)
def _where(gradient: Tensor, y: Tensor, condition: Tensor, a: Tensor, b: Tensor) -> Gradients:
    return [None, f.where(condition, gradient, 0.0), f.where(condition, 0.0, gradient)]


@rule(e.cast)
def _cast(gradient: Tensor, y: Tensor, x: Tensor, dtype: DType) -> Gradients:
    return [gradient.astype(x.dtype)]


@rule(e.to_half)
def _to_half(gradient: Tensor, y: Tensor, x: Tensor) -> Gradients:
    """A cast to float16 has a gradient of float16."""
    return [Tensor(make(e.to_half, gradient.node))]


flat(e.sign, e.floor, e.ceil, e.trunc, e.round_)

for _op, _what in (
    (e.bitcast, "it reads bits, not numbers"),
    *((op, "its results are indices") for op in (gather.position, gather.checked)),
    *((op, "its results are integers") for op in (
        division.trunc_divide, division.floor_divide, division.remainder, logic.bitwise_and,
        logic.bitwise_or, logic.bitwise_xor, logic.bitwise_invert, logic.bitwise_left_shift,
        logic.bitwise_right_shift, logic.philox,
    )),
    *((op, "its results are truth values") for op in (
        logic.equal, logic.not_equal, logic.less, logic.less_equal, logic.greater,
        logic.greater_equal, logic.logical_and, logic.logical_or, logic.logical_xor,
        logic.logical_not, logic.isnan, logic.isinf,
    )),
):  # fmt: skip
    NO_DERIVATIVE[_op] = _what
