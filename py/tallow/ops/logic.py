"""Elementwise ops that compare, that combine truth values, and that combine, move or draw bits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import scalar
from ..core import bounds
from ..core import dtype as dt
from ..core.bounds import corners
from ..scalar import Scalar
from . import formulas
from .kinds import Elementwise

# ---- comparison and logic ---------------------------------------------------------------------


def _compare(
    name: str, arithmetic: Callable[..., Scalar], accepts: str = "fiub", onnx: str = ""
) -> Elementwise:
    return Elementwise(
        name,
        lambda np, x, y: getattr(np, name)(x, y),
        arithmetic,
        2,
        accepts=accepts,
        result=dt.bool_,
        onnx=onnx,
    )


equal = _compare("equal", scalar.equal, onnx="Equal")
not_equal = _compare("not_equal", lambda x, y: ~scalar.equal(x, y))
less = _compare("less", operator.lt, "fiu", onnx="Less")
less_equal = _compare("less_equal", operator.le, "fiu", onnx="LessOrEqual")
greater = _compare("greater", operator.gt, "fiu", onnx="Greater")
greater_equal = _compare("greater_equal", operator.ge, "fiu", onnx="GreaterOrEqual")

logical_and = Elementwise(
    "logical_and", lambda np, x, y: np.logical_and(x, y), operator.and_, 2, accepts="b", onnx="And"
)
logical_or = Elementwise(
    "logical_or", lambda np, x, y: np.logical_or(x, y), operator.or_, 2, accepts="b", onnx="Or"
)
logical_xor = Elementwise(
    "logical_xor", lambda np, x, y: np.logical_xor(x, y), operator.xor, 2, accepts="b", onnx="Xor"
)
logical_not = Elementwise(
    "logical_not", lambda np, x: np.logical_not(x), operator.invert, accepts="b", onnx="Not"
)

isnan = Elementwise(
    "isnan",
    lambda np, x: np.isnan(x),
    scalar.is_nan,
    accepts="f",
    result=dt.bool_,
    onnx="IsNaN",
)
isinf = Elementwise(
    "isinf",
    lambda np, x: np.isinf(x),
    scalar.is_inf,
    accepts="f",
    result=dt.bool_,
    onnx="IsInf",
)

# ---- bits -------------------------------------------------------------------------------------

bitwise_and = Elementwise(
    "bitwise_and",
    lambda np, x, y: np.bitwise_and(x, y),
    operator.and_,
    2,
    accepts="iu",
    onnx="BitwiseAnd",
    bounds=bounds.bitwise,
    cheap=True,
)
bitwise_or = Elementwise(
    "bitwise_or",
    lambda np, x, y: np.bitwise_or(x, y),
    operator.or_,
    2,
    accepts="iu",
    onnx="BitwiseOr",
    bounds=bounds.bitwise,
    cheap=True,
)
bitwise_xor = Elementwise(
    "bitwise_xor",
    lambda np, x, y: np.bitwise_xor(x, y),
    operator.xor,
    2,
    accepts="iu",
    onnx="BitwiseXor",
    bounds=bounds.bitwise,
    cheap=True,
)
bitwise_invert = Elementwise(
    "bitwise_invert",
    lambda np, x: np.invert(x),
    operator.invert,
    accepts="iu",
    onnx="BitwiseNot",
    bounds=corners(lambda x: -1 - x),
    overflows=True,
)

bitwise_left_shift = Elementwise(
    "bitwise_left_shift",
    lambda np, x, y: np.left_shift(x, y),
    formulas.shift_left,
    2,
    accepts="iu",
    bounds=corners(bounds.left_shift),
    overflows=True,
    cheap=True,
)
bitwise_right_shift = Elementwise(
    "bitwise_right_shift",
    lambda np, x, y: np.right_shift(x, y),
    formulas.shift_right,
    2,
    accepts="iu",
    bounds=bounds.towards_zero,
    cheap=True,
)
"""Shifts by the width of the type or more, and by negative numbers, move every bit out."""


def _philox(np: NumPy, index: Array, low: Array, high: Array, draw: Array) -> Array:
    def once(x: Array) -> Array:
        """Without the repetitions of what was broadcast."""
        return x[tuple(slice(1) if step == 0 else slice(None) for step in x.strides)]

    def upper(x: Array, factor: int) -> Array:
        return (np.multiply(x, factor, dtype="uint64") >> np.uint64(32)).astype("uint32")

    counter = (index >> 2, once(draw), *np.zeros((2, 1), "uint32"))
    return np.choose(
        (index & 3).astype(np.intp), formulas.philox_rounds(counter, (once(low), once(high)), upper)
    )


philox = Elementwise("philox", _philox, formulas.philox, 4, accepts="u")
"""The word `index`, all of uint32, of the random words that follow from two words of a seed and
from the number of a draw."""

if TYPE_CHECKING:
    from ..arrays import Array, NumPy
