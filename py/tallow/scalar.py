"""The arithmetic of one element, stated once for every target.

An op's record says what it computes as a function of scalars: `lambda x, y: x + y`. Called with an
`operand` for each it gives an expression, a frozen graph of typed primitives, and each target
prints that in its own language. A number takes the type of the scalar beside it.

What a primitive means is the same everywhere. Floating ones follow IEEE 754: a NaN operand gives
NaN, `pow` has the special values of C. Integers wrap around. What is undefined is said below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Union

from .core import dtype as dt
from .core.dtype import DType
from .errors import DTypeError


@dataclass(frozen=True, eq=False)
class Scalar:
    """One value of an expression.

    primitive: what computes it from `parts`; "operand" or "number" if `value` says it, the index of
    the operand or the number; "state" or "loop" of a Loop. name: what a printer may call it, if it
    needs a name.
    """

    primitive: str
    dtype: DType
    parts: tuple[Scalar, ...] = ()
    value: Any = None
    name: str = ""

    def named(self, name: str) -> Scalar:
        """The same under a name, which makes generated code readable."""
        return replace(self, name=name)

    def __add__(self, other: Number) -> Scalar:
        return _alike("add", self, other)

    def __radd__(self, other: Number) -> Scalar:
        return _alike("add", other, self)

    def __sub__(self, other: Number) -> Scalar:
        return _alike("subtract", self, other)

    def __rsub__(self, other: Number) -> Scalar:
        return _alike("subtract", other, self)

    def __mul__(self, other: Number) -> Scalar:
        return _alike("multiply", self, other)

    def __rmul__(self, other: Number) -> Scalar:
        return _alike("multiply", other, self)

    def __truediv__(self, other: Number) -> Scalar:
        return _alike("divide", self, other)

    def __rtruediv__(self, other: Number) -> Scalar:
        return _alike("divide", other, self)

    def __neg__(self) -> Scalar:
        return _of("negate", self)

    def __lt__(self, other: Number) -> Scalar:
        return _test("less", self, other)

    def __le__(self, other: Number) -> Scalar:
        return _test("less_equal", self, other)

    def __gt__(self, other: Number) -> Scalar:
        return _test("greater", self, other)

    def __ge__(self, other: Number) -> Scalar:
        return _test("greater_equal", self, other)

    def __and__(self, other: Number) -> Scalar:
        return _alike("and", self, other)

    def __or__(self, other: Number) -> Scalar:
        return _alike("or", self, other)

    def __xor__(self, other: Number) -> Scalar:
        return _alike("xor", self, other)

    def __invert__(self) -> Scalar:
        return _of("invert", self)

    def __lshift__(self, by: Number) -> Scalar:
        return _shift("shift_left", self, by)

    def __rshift__(self, by: Number) -> Scalar:
        return _shift("shift_right", self, by)


Number = Union[Scalar, int, float]  # noqa: UP007 - a runtime alias that names a class defined above


@dataclass(frozen=True, eq=False)
class Loop:
    """Values that are computed again while a condition holds.

    states: the values at the start of a turn. again: whether there is another turn. after: the
    values at its end. Several elements may take turns together until none needs another: a turn
    beyond an element's last must leave its values as they are.
    """

    initial: tuple[Scalar, ...]
    states: tuple[Scalar, ...]
    again: Scalar
    after: tuple[Scalar, ...]


# ---- making expressions -----------------------------------------------------------------------


def operand(index: int, dtype: DType, name: str = "") -> Scalar:
    """The element of an operand."""
    return Scalar("operand", dtype, value=index, name=name)


def number(value: float, dtype: DType) -> Scalar:
    """A constant; floating ones may be infinite or NaN."""
    return Scalar("number", dtype, value=value)


def unsigned(dtype: DType) -> DType:
    """The unsigned integers of the same size."""
    return {1: dt.uint8, 2: dt.uint16, 4: dt.uint32, 8: dt.uint64}[dtype.size]


def _of(primitive: str, *parts: Scalar, dtype: DType | None = None) -> Scalar:
    return Scalar(primitive, dtype or parts[0].dtype, parts)


def _typed(*values: Number) -> tuple[Scalar, ...]:
    """Values of one type, which numbers take from the scalars."""
    types = {value.dtype: value for value in values if isinstance(value, Scalar)}
    if len(types) != 1:
        names = ", ".join(sorted(dtype.name for dtype in types)) or "numbers alone"
        raise DTypeError(f"arithmetic takes scalars of one type, not {names}; cast them")
    (dtype,) = types
    return tuple(v if isinstance(v, Scalar) else number(v, dtype) for v in values)


def _alike(primitive: str, *values: Number) -> Scalar:
    return _of(primitive, *_typed(*values))


def _test(primitive: str, *values: Number) -> Scalar:
    return _of(primitive, *_typed(*values), dtype=dt.bool_)


def _shift(primitive: str, x: Scalar, by: Number) -> Scalar:
    amount = by if isinstance(by, Scalar) else number(by, unsigned(x.dtype))
    return _of(primitive, x, amount)


# ---- primitives -------------------------------------------------------------------------------


def minimum(x: Number, y: Number) -> Scalar:
    """The smaller number."""
    return _alike("minimum", x, y)


def maximum(x: Number, y: Number) -> Scalar:
    """The larger number."""
    return _alike("maximum", x, y)


def clamp(x: Scalar, low: Number, high: Number) -> Scalar:
    """The number next to x that is not outside of low .. high."""
    return _alike("clamp", x, low, high)


def absolute(x: Scalar) -> Scalar:
    """The absolute value."""
    return _of("absolute", x)


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1."""
    return _of("sign", x)


def sqrt(x: Scalar) -> Scalar:
    """The square root."""
    return _of("sqrt", x)


def floor(x: Scalar) -> Scalar:
    """Rounded down."""
    return _of("floor", x)


def ceil(x: Scalar) -> Scalar:
    """Rounded up."""
    return _of("ceil", x)


def trunc(x: Scalar) -> Scalar:
    """Rounded towards zero."""
    return _of("trunc", x)


def round_(x: Scalar) -> Scalar:
    """The nearest whole number, halves to even."""
    return _of("round", x)


def fma(x: Number, y: Number, z: Number) -> Scalar:
    """x y + z; whether the product is rounded is up to the target."""
    return _alike("fma", x, y, z)


def quotient(x: Number, y: Number) -> Scalar:
    """Of integers, rounded towards zero. Any value, but no fault, where y is 0."""
    return _alike("quotient", x, y)


def remainder(x: Number, y: Number) -> Scalar:
    """Of integers, x - y * quotient(x, y). Any value, but no fault, where y is 0."""
    return _alike("remainder", x, y)


def multiply_high(x: Number, y: Number) -> Scalar:
    """Of uint32, the upper word of the product's 64 bits."""
    return _alike("multiply_high", x, y)


def equal(x: Number, y: Number) -> Scalar:
    """Whether two numbers are equal."""
    return _test("equal", x, y)


def is_nan(x: Scalar) -> Scalar:
    """Whether it is NaN."""
    return _test("is_nan", x)


def is_inf(x: Scalar) -> Scalar:
    """Whether a number is infinite, of either sign."""
    return _test("is_inf", x)


def count_leading_zeros(x: Scalar) -> Scalar:
    """Of an integer's bits, from the highest on."""
    return _of("count_leading_zeros", x)


def select(condition: Scalar, if_true: Number, if_false: Number) -> Scalar:
    """One of two values; both are computed."""
    parts = _typed(if_true, if_false)
    return _of("select", condition, *parts, dtype=parts[0].dtype)


def cast(x: Scalar, dtype: DType) -> Scalar:
    """The value in another type, towards zero from floating to integer. Which integer stands for
    NaN or for what is out of range is up to the target."""
    return _of("cast", x, dtype=dtype)


def bitcast(x: Scalar, dtype: DType) -> Scalar:
    """The bits read as another type of the same size."""
    return _of("bitcast", x, dtype=dtype)


def bits(x: Scalar) -> Scalar:
    """The bits as an unsigned integer."""
    return bitcast(x, unsigned(x.dtype))


def loop(
    initial: Sequence[Scalar],
    again: Callable[..., Scalar],
    turn: Callable[..., Sequence[Scalar]],
) -> tuple[Scalar, ...]:
    """The last values of a Loop: `again` and `turn` are called with its states."""
    # The name is the state's; an operand keeps its own.
    named = [each.primitive != "operand" for each in initial]
    states = tuple(
        Scalar("state", each.dtype, name=each.name if taken else "")
        for each, taken in zip(initial, named, strict=True)
    )
    unnamed = tuple(
        each.named("") if taken else each for each, taken in zip(initial, named, strict=True)
    )
    made = Loop(unnamed, states, again(*states), tuple(turn(*states)))
    return tuple(
        Scalar("loop", state.dtype, made.initial, (made, index))
        for index, state in enumerate(states)
    )


def _function(name: str) -> Callable[[Scalar], Scalar]:
    def function(x: Scalar) -> Scalar:
        return _of(name, x)

    function.__name__ = name
    return function


exp = _function("exp")
log = _function("log")
sin = _function("sin")
cos = _function("cos")
tan = _function("tan")
asin = _function("asin")
acos = _function("acos")
atan = _function("atan")
sinh = _function("sinh")
cosh = _function("cosh")
tanh = _function("tanh")
atanh = _function("atanh")


def pow_(x: Number, y: Number) -> Scalar:
    """x to the power of y."""
    return _alike("pow", x, y)


# ---- common compositions ----------------------------------------------------------------------


def polynomial(coefficients: Sequence[float], x: Scalar) -> Scalar:
    """The value at x, by Horner's rule; the coefficient of the highest power comes first."""
    first, *others = coefficients
    total = number(first, x.dtype)
    for coefficient in others:
        total = fma(total, x, coefficient)
    return total


NAN, INFINITY = math.nan, math.inf
