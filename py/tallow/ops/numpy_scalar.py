"""Expressions of scalars (scalar.py), computed by NumPy for whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..scalar import Scalar

if TYPE_CHECKING:
    from ..arrays import Array, NumPy, UFunc

_NAMED = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "true_divide",
    "negate": "negative", "absolute": "abs", "minimum": "minimum", "maximum": "maximum",
    "sign": "sign", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "round": "rint", "equal": "equal", "less": "less", "less_equal": "less_equal",
    "greater": "greater", "greater_equal": "greater_equal", "is_nan": "isnan", "is_inf": "isinf",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "invert": "bitwise_not",
    "shift_left": "left_shift", "shift_right": "right_shift", "select": "where", "exp": "exp",
    "log": "log", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos",
    "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "atanh": "arctanh",
    "pow": "power",
}  # fmt: skip
"""NumPy's function for a primitive, where there is one."""


def evaluate(np: NumPy, expression: Scalar, operands: Sequence[Array]) -> Array:
    """The value of an expression for arrays, which broadcast."""
    with np.errstate(all="ignore"):
        return _value(np, expression, {}, operands)


def _value(np: NumPy, part: Scalar, known: dict[Scalar, Array], operands: Sequence[Array]) -> Array:
    if part.primitive == "operand":
        number: int = part.value
        return operands[number]
    if part.primitive == "number":
        return np.asarray(part.value, part.dtype.name)
    if part in known:
        return known[part]
    parts = [_value(np, each, known, operands) for each in part.parts]
    if part.primitive == "loop":
        made, index = part.value
        found: Array
        while True:
            turn = {**known, **dict(zip(made.states, parts, strict=True))}
            if not np.any(_value(np, made.again, turn, operands)):
                break
            parts = [_value(np, each, turn, operands) for each in made.after]
        found = parts[index]
    else:
        found = np.asarray(_primitive(np, part, *parts)).astype(part.dtype.name, copy=False)
    known[part] = found
    return found


def _primitive(np: NumPy, part: Scalar, *values: Array) -> Array:
    name = part.primitive
    if name in _NAMED:
        named: UFunc = getattr(np, _NAMED[name])
        return named(*values)
    if name == "cast":
        return values[0]
    if name == "bitcast":
        return np.asarray(values[0]).view(part.dtype.name)
    if name == "clamp":
        return np.minimum(np.maximum(values[0], values[1]), values[2])
    if name == "fma":
        return values[0] * values[1] + values[2]
    if name == "multiply_high":
        return np.multiply(*values, dtype="uint64") >> np.uint64(32)
    if name in ("quotient", "remainder"):  # towards zero; fmod is the remainder of that
        left = np.fmod(*values)
        return left if name == "remainder" else (values[0] - left) // values[1]
    assert name == "count_leading_zeros", name
    bits, rest = 8 * part.dtype.size, values[0]
    each = ((rest >> shift > 0).astype(part.dtype.name) for shift in range(bits))
    used = sum(each, np.zeros((), part.dtype.name))
    return bits - used if part.dtype.kind == "u" else np.where(rest < 0, 0, bits - used)
