"""Elementwise ops: a record each. To add one, add its record here; nothing else is needed."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import bounds
from .. import dtype as dt
from ..bounds import corners
from ..errors import DTypeError
from ..op import Attrs, Elementwise, Select, Spec
from . import wgsl

# ---- arithmetic -------------------------------------------------------------------------------

add = Elementwise(
    "add",
    lambda np, x, y: np.add(x, y),
    "({0} + {1})",
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
    "({0} - {1})",
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
    "({0} * {1})",
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
    "({0} / {1})",
    2,
    accepts="f",
    onnx="Div",
    cheap=True,
    ufunc=True,
)
maximum = Elementwise(
    "maximum",
    lambda np, x, y: np.maximum(x, y),
    "max({0}, {1})",
    2,
    loses_nan=True,
    onnx="Max",
    bounds=corners(max),
    ufunc=True,
)
minimum = Elementwise(
    "minimum",
    lambda np, x, y: np.minimum(x, y),
    "min({0}, {1})",
    2,
    loses_nan=True,
    onnx="Min",
    bounds=corners(min),
    ufunc=True,
)
negative = Elementwise(
    "negative",
    lambda np, x: np.negative(x),
    "(-{0})",
    accepts="fi",
    onnx="Neg",
    bounds=corners(operator.neg),
    overflows=True,
    ufunc=True,
)
abs_ = Elementwise(
    "abs",
    lambda np, x: np.abs(x),
    "abs({0})",
    onnx="Abs",
    bounds=bounds.absolute,
    overflows=True,
    ufunc=True,
)
sign = Elementwise(
    "sign",
    lambda np, x: np.sign(x),
    "sign({0})",
    accepts="fi",
    loses_nan=True,
    onnx="Sign",
    bounds=bounds.within(-1, 1),
    discontinuous=True,
)

pow_ = Elementwise(
    "pow",
    lambda np, x, y: np.power(x, y),
    "pow_{S}({0}, {1})",
    2,
    wgsl.POW,
    accepts="f",
    onnx="Pow",
)

# ---- functions of floating numbers ------------------------------------------------------------


def _f(
    name: str,
    wgsl: str = "",
    helper: str = "",
    onnx: str | None = None,
    between: Any = None,
    loses_nan: bool = False,
    discontinuous: bool = False,
) -> Elementwise:
    """A function that NumPy and WGSL both have, NumPy under the op's own name, ONNX mostly too."""
    return Elementwise(
        name,
        lambda np, x: getattr(np, name)(x),
        wgsl or name + "({0})",
        helper=helper,
        accepts="f",
        onnx=name.capitalize() if onnx is None else onnx,
        bounds=between,
        loses_nan=loses_nan,
        discontinuous=discontinuous,
        ufunc=True,
    )


def _arc(name: str, wgsl: str = "", helper: str = "", loses_nan: bool = False) -> Elementwise:
    """An inverse function, which NumPy calls arc-something."""
    long = name.replace("a", "arc", 1)
    return Elementwise(
        name,
        lambda np, x: getattr(np, long)(x),
        wgsl or name + "({0})",
        helper=helper,
        accepts="f",
        onnx=name.capitalize(),
        loses_nan=loses_nan,
    )


sqrt = _f("sqrt")
exp = _f("exp", loses_nan=True)
log = _f("log", "log_{S}({0})", wgsl.LOG)
expm1 = _f("expm1", "expm1_{S}({0})", wgsl.EXPM1, onnx="", loses_nan=True)
"""exp(x) - 1, precise for small x too."""

log1p = _f("log1p", "log1p_{S}({0})", wgsl.LOG + wgsl.LOG1P, onnx="")
"""log(1 + x), precise for small x too."""

sin = _f("sin")
cos = _f("cos")
tan = _f("tan")
sinh = _f("sinh", loses_nan=True)
cosh = _f("cosh", loses_nan=True)

acos = _arc("acos", "acos_{S}({0})", wgsl.ARC.replace("NAME", "acos"))
asin = _arc("asin", "asin_{S}({0})", wgsl.ARC.replace("NAME", "asin"))
atan = _arc("atan", loses_nan=True)

asinh = _arc("asinh", "asinh_{S}({0})", wgsl.LOG + wgsl.LOG1P + wgsl.ASINH, loses_nan=True)
acosh = _arc("acosh", "acosh_{S}({0})", wgsl.LOG + wgsl.LOG1P + wgsl.ACOSH)
atanh = _arc("atanh", "atanh_{S}({0})", wgsl.ATANH)
floor = _f("floor", between=bounds.rounded, discontinuous=True)
ceil = _f("ceil", between=bounds.rounded, discontinuous=True)
trunc = _f("trunc", onnx="", between=bounds.rounded, discontinuous=True)
round_ = Elementwise(
    "round",
    lambda np, x: np.round(x),
    "round({0})",
    accepts="f",
    onnx="Round",
    bounds=bounds.rounded,
    discontinuous=True,
)
"""To the nearest integer, halves to even."""

tanh = _f("tanh", "tanh_{S}({0})", wgsl.TANH, loses_nan=True)
reciprocal = Elementwise(
    "reciprocal",
    lambda np, x: np.true_divide(1, x),
    "({T}(1.0) / {0})",
    accepts="f",
    onnx="Reciprocal",
)

# erf as x P(x^2) / Q(x^2), the float32 rational that XLA and Eigen use; beyond 4 it is 1.
_P = (
    -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
    -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02,
)  # fmt: skip
_Q = (
    -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
    -1.42647390514189e-02,
)  # fmt: skip


def _horner(coefficients: tuple[float, ...], of: str) -> str:
    text = f"{{T}}({coefficients[0]!r})"
    for coefficient in coefficients[1:]:
        text = f"fma({text}, {of}, {{T}}({coefficient!r}))"
    return text


_ERF = f"""
fn erf_{{S}}(value: {{T}}) -> {{T}} {{
    let x = clamp(value, {{T}}(-4.0), {{T}}(4.0));
    let square = x * x;
    let p = {_horner(_P, "square")};
    let q = {_horner(_Q, "square")};
    return clamp(x * p / q, {{T}}(-1.0), {{T}}(1.0));
}}
"""


def _erf(np: Any, value: Any) -> Any:
    if value.dtype == np.float64:
        import math

        return np.vectorize(math.erf, otypes=[np.float64])(value)
    x = np.clip(value.astype(np.float32), -4, 4)
    square = x * x
    p = np.polyval(np.array(_P, np.float32), square)
    q = np.polyval(np.array(_Q, np.float32), square)
    return np.clip(x * p / q, -1, 1).astype(value.dtype)


erf = Elementwise("erf", _erf, "erf_{S}({0})", 1, _ERF, accepts="f", loses_nan=True, onnx="Erf")

# ---- comparison and logic ---------------------------------------------------------------------


def _compare(name: str, wgsl: str, accepts: str = "fiub", onnx: str = "") -> Elementwise:
    return Elementwise(
        name,
        lambda np, x, y: getattr(np, name)(x, y),
        wgsl,
        2,
        accepts=accepts,
        result=dt.bool_,
        onnx=onnx,
    )


equal = _compare("equal", "({0} == {1})", onnx="Equal")
not_equal = _compare("not_equal", "(!({0} == {1}))")  # != of NaN is false in some compilers
less = _compare("less", "({0} < {1})", "fiu", onnx="Less")
less_equal = _compare("less_equal", "({0} <= {1})", "fiu", onnx="LessOrEqual")
greater = _compare("greater", "({0} > {1})", "fiu", onnx="Greater")
greater_equal = _compare("greater_equal", "({0} >= {1})", "fiu", onnx="GreaterOrEqual")

logical_and = Elementwise(
    "logical_and", lambda np, x, y: np.logical_and(x, y), "({0} & {1})", 2, accepts="b", onnx="And"
)
logical_or = Elementwise(
    "logical_or", lambda np, x, y: np.logical_or(x, y), "({0} | {1})", 2, accepts="b", onnx="Or"
)
logical_xor = Elementwise(
    "logical_xor", lambda np, x, y: np.logical_xor(x, y), "({0} != {1})", 2, accepts="b", onnx="Xor"
)
logical_not = Elementwise(
    "logical_not", lambda np, x: np.logical_not(x), "(!{0})", accepts="b", onnx="Not"
)

isnan = Elementwise(
    "isnan",
    lambda np, x: np.isnan(x),
    "((bitcast<{U}>({0}) & {U}(0x7fffffffu)) > {U}(0x7f800000u))",
    accepts="f",
    result=dt.bool_,
    onnx="IsNaN",
)
isinf = Elementwise(
    "isinf",
    lambda np, x: np.isinf(x),
    "((bitcast<{U}>({0}) & {U}(0x7fffffffu)) == {U}(0x7f800000u))",
    accepts="f",
    result=dt.bool_,
    onnx="IsInf",
)

# ---- bits -------------------------------------------------------------------------------------

bitwise_and = Elementwise(
    "bitwise_and",
    lambda np, x, y: np.bitwise_and(x, y),
    "({0} & {1})",
    2,
    accepts="iu",
    onnx="BitwiseAnd",
    bounds=bounds.bitwise,
    cheap=True,
)
bitwise_or = Elementwise(
    "bitwise_or",
    lambda np, x, y: np.bitwise_or(x, y),
    "({0} | {1})",
    2,
    accepts="iu",
    onnx="BitwiseOr",
    bounds=bounds.bitwise,
    cheap=True,
)
bitwise_xor = Elementwise(
    "bitwise_xor",
    lambda np, x, y: np.bitwise_xor(x, y),
    "({0} ^ {1})",
    2,
    accepts="iu",
    onnx="BitwiseXor",
    bounds=bounds.bitwise,
    cheap=True,
)
bitwise_invert = Elementwise(
    "bitwise_invert",
    lambda np, x: np.invert(x),
    "(~{0})",
    accepts="iu",
    onnx="BitwiseNot",
    bounds=corners(lambda x: -1 - x),
    overflows=True,
)

bitwise_left_shift = Elementwise(
    "bitwise_left_shift",
    lambda np, x, y: np.left_shift(x, y),
    "shift_left_{S}({0}, {U}({1}))",
    2,
    wgsl.SHIFT.replace("NAME", "shift_left").replace("OP", "<<"),
    accepts="iu",
    bounds=corners(bounds.left_shift),
    overflows=True,
    cheap=True,
)
bitwise_right_shift = Elementwise(
    "bitwise_right_shift",
    lambda np, x, y: np.right_shift(x, y),
    "shift_right_{S}({0}, {U}({1}))",
    2,
    wgsl.SHIFT.replace("NAME", "shift_right").replace("OP", ">>"),
    accepts="iu",
    bounds=bounds.towards_zero,
    cheap=True,
)
"""Shifts by the width of the type or more, and by negative numbers, move every bit out."""

# ---- choice and casts -------------------------------------------------------------------------

where = Select(
    "where",
    lambda np, c, x, y: np.where(c, x, y),
    "select({2}, {1}, {0})",
    3,
    accepts="fiub",
    onnx="Where",
    bounds=lambda operands, attrs, condition, *choices: bounds.hull(operands, attrs, *choices),
)


def _cast(np: Any, x: Any, dtype: dt.DType) -> Any:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(x).astype(dtype.name, copy=False)


cast = Elementwise(
    "cast",
    _cast,
    "{R}({0})",
    accepts="fiub",
    bounds=bounds.converted,
    overflows=True,
    cheap=True,
)
"""To the element type `dtype`; towards zero from floating to integer."""


def _to_half(np: Any, x: Any) -> Any:
    with np.errstate(over="ignore"):
        return x.astype(np.float16).astype(x.dtype)


to_half = Elementwise("to_half", _to_half, "to_half_{S}({0})", helper=wgsl.TO_HALF, accepts="f")
"""Rounded to float16, in the type of the operand: a cast where float16 is computed in float32."""


@dataclass(frozen=True, eq=False)
class _BitCast(Elementwise):
    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        ((shape, dtype),) = operands
        wanted: dt.DType = attrs["dtype"]
        if dtype.size != wanted.size:
            raise DTypeError(f"{self.name}: {dtype.name} and {wanted.name} differ in size")
        return shape, wanted


def _bitcast(np: Any, x: Any, dtype: dt.DType) -> Any:
    # A view of an array without axes, or of a strided one, needs its elements side by side.
    return np.ascontiguousarray(x).view(dtype.name).reshape(np.shape(x))


bitcast = _BitCast(
    "bitcast",
    _bitcast,
    "bitcast<{R}>({0})",
    accepts="fiub",
    bounds=bounds.same_bits,
    overflows=True,
    cheap=True,
)
"""The bits of each element read as the element type `dtype`, which has the same size."""
