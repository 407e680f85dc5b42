"""Elementwise ops: a record each. To add one, add its record here; nothing else is needed.

Those that compare, and those of truth values and bits, are in logic.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .. import scalar
from ..core import bounds
from ..core import dtype as dt
from ..core.bounds import Bounds, corners
from ..errors import DTypeError
from ..scalar import Scalar
from . import formulas
from .kinds import Attrs, Elementwise, Select, Spec

if TYPE_CHECKING:
    from ..arrays import Array, NumPy

# ---- arithmetic -------------------------------------------------------------------------------

add = Elementwise(
    "add",
    lambda np, x, y: np.add(x, y),
    operator.add,
    2,
    onnx="Add",
    bounds=corners(operator.add),
    overflows=True,
    cheap=True,
    ufunc=True,
)
subtract = Elementwise(
    "subtract",
    lambda np, x, y: np.subtract(x, y),
    operator.sub,
    2,
    onnx="Sub",
    bounds=corners(operator.sub),
    overflows=True,
    cheap=True,
    ufunc=True,
)
multiply = Elementwise(
    "multiply",
    lambda np, x, y: np.multiply(x, y),
    operator.mul,
    2,
    onnx="Mul",
    bounds=corners(operator.mul),
    overflows=True,
    cheap=True,
    ufunc=True,
)
divide = Elementwise(
    "divide",
    lambda np, x, y: np.true_divide(x, y),
    operator.truediv,
    2,
    accepts="f",
    onnx="Div",
    cheap=True,
    ufunc=True,
)
maximum = Elementwise(
    "maximum",
    lambda np, x, y: np.maximum(x, y),
    scalar.maximum,
    2,
    onnx="Max",
    bounds=corners(max),
    ufunc=True,
)
minimum = Elementwise(
    "minimum",
    lambda np, x, y: np.minimum(x, y),
    scalar.minimum,
    2,
    onnx="Min",
    bounds=corners(min),
    ufunc=True,
)
negative = Elementwise(
    "negative",
    lambda np, x: np.negative(x),
    operator.neg,
    accepts="fi",
    onnx="Neg",
    bounds=corners(operator.neg),
    overflows=True,
    ufunc=True,
)
abs_ = Elementwise(
    "abs",
    lambda np, x: np.abs(x),
    scalar.absolute,
    onnx="Abs",
    bounds=bounds.absolute,
    overflows=True,
    ufunc=True,
)
sign = Elementwise(
    "sign",
    lambda np, x: np.sign(x),
    scalar.sign,
    accepts="fi",
    onnx="Sign",
    bounds=bounds.within(-1, 1),
    discontinuous=True,
)

pow_ = Elementwise(
    "pow",
    lambda np, x, y: np.power(x, y),
    scalar.pow_,
    2,
    accepts="f",
    onnx="Pow",
    autocast="float32",
)

# ---- functions of floating numbers ------------------------------------------------------------


def _f(
    name: str,
    arithmetic: Callable[[Scalar], Scalar],
    onnx: str | None = None,
    between: Bounds | None = None,
    discontinuous: bool = False,
    autocast: Literal["float32"] | None = None,
) -> Elementwise:
    """A function that NumPy has under the op's own name, and ONNX mostly too."""
    return Elementwise(
        name,
        lambda np, x: getattr(np, name)(x),
        arithmetic,
        accepts="f",
        onnx=name.capitalize() if onnx is None else onnx,
        bounds=between,
        discontinuous=discontinuous,
        ufunc=True,
        autocast=autocast,
    )


def _arc(
    name: str,
    arithmetic: Callable[[Scalar], Scalar],
    autocast: Literal["float32"] | None = None,
) -> Elementwise:
    """An inverse function, which NumPy calls arc-something."""
    long = name.replace("a", "arc", 1)
    return Elementwise(
        name,
        lambda np, x: getattr(np, long)(x),
        arithmetic,
        accepts="f",
        onnx=name.capitalize(),
        autocast=autocast,
    )


sqrt = _f("sqrt", scalar.sqrt)
exp = _f("exp", scalar.exp, autocast="float32")
exp2 = Elementwise(
    "exp2",
    # Of float32 NumPy's own has not even the powers of whole numbers exactly.
    lambda np, x: np.exp2(x.astype(np.float64)).astype(x.dtype),
    formulas.exp2,
    accepts="f",
)
log = _f("log", scalar.log, autocast="float32")
expm1 = _f("expm1", formulas.expm1, onnx="", autocast="float32")
"""exp(x) - 1, precise for small x too."""

log1p = _f("log1p", formulas.log1p, onnx="", autocast="float32")
"""log(1 + x), precise for small x too."""

sin = _f("sin", scalar.sin)
cos = _f("cos", scalar.cos)
tan = _f("tan", scalar.tan, autocast="float32")
sinh = _f("sinh", scalar.sinh, autocast="float32")
cosh = _f("cosh", scalar.cosh, autocast="float32")
tanh = _f("tanh", scalar.tanh)

acos = _arc("acos", scalar.acos, autocast="float32")
asin = _arc("asin", scalar.asin, autocast="float32")
atan = _arc("atan", scalar.atan)
asinh = _arc("asinh", formulas.asinh)
acosh = _arc("acosh", formulas.acosh)
atanh = _arc("atanh", scalar.atanh)

floor = _f("floor", scalar.floor, between=bounds.rounded, discontinuous=True)
ceil = _f("ceil", scalar.ceil, between=bounds.rounded, discontinuous=True)
trunc = _f("trunc", scalar.trunc, onnx="", between=bounds.rounded, discontinuous=True)
round_ = Elementwise(
    "round",
    lambda np, x: np.round(x),
    scalar.round_,
    accepts="f",
    onnx="Round",
    bounds=bounds.rounded,
    discontinuous=True,
)
"""To the nearest integer, halves to even."""

reciprocal = Elementwise(
    "reciprocal",
    lambda np, x: np.true_divide(1, x),
    lambda x: 1 / x,
    accepts="f",
    onnx="Reciprocal",
    autocast="float32",
)


def _erf(np: NumPy, value: Array) -> Array:
    if value.dtype == np.float64:
        import math

        return np.vectorize(math.erf, otypes=[np.float64])(value)
    x = np.clip(value.astype(np.float32), -4, 4)
    square = x * x
    p = np.polyval(np.array(formulas.ERF_P, np.float32), square)
    q = np.polyval(np.array(formulas.ERF_Q, np.float32), square)
    return np.clip(x * p / q, -1, 1).astype(value.dtype)


erf = Elementwise("erf", _erf, formulas.erf, accepts="f", onnx="Erf")

# ---- choice and casts -------------------------------------------------------------------------

where = Select(
    "where",
    lambda np, c, x, y: np.where(c, x, y),
    scalar.select,
    3,
    accepts="fiub",
    onnx="Where",
    bounds=lambda operands, attrs, condition, *choices: bounds.hull(operands, attrs, *choices),
)


def _cast(np: NumPy, x: Array, dtype: dt.DType) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(x).astype(dtype.name, copy=False)


cast = Elementwise(
    "cast",
    _cast,
    scalar.cast,
    accepts="fiub",
    bounds=bounds.converted,
    overflows=True,
    cheap=True,
)
"""To the element type `dtype`; towards zero from floating to integer."""


def _to_half(np: NumPy, x: Array) -> Array:
    with np.errstate(over="ignore"):
        return x.astype(np.float16).astype(x.dtype)


to_half = Elementwise("to_half", _to_half, formulas.to_half, accepts="f")
"""Rounded to float16, in the type of the operand: a cast where float16 is computed in float32."""


@dataclass(frozen=True, eq=False)
class _BitCast(Elementwise):
    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        ((shape, dtype),) = operands
        wanted: dt.DType = attrs["dtype"]
        if dtype.size != wanted.size:
            raise DTypeError(f"{self.name}: {dtype.name} and {wanted.name} differ in size")
        return shape, wanted


def _bitcast(np: NumPy, x: Array, dtype: dt.DType) -> Array:
    # A view of an array without axes, or of a strided one, needs its elements side by side.
    return np.ascontiguousarray(x).view(dtype.name).reshape(np.shape(x))


bitcast = _BitCast(
    "bitcast",
    _bitcast,
    scalar.bitcast,
    accepts="fiub",
    bounds=bounds.same_bits,
    overflows=True,
    cheap=True,
)
"""The bits of each element read as the element type `dtype`, which has the same size."""
