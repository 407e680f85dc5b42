"""Elementwise operators: arithmetic, comparisons, logic and bits, with broadcasting."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..draft import Draft
from ..values import INTEGERS
from .registry import draws

_UNARY = (
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Cosh Erf Exp Floor IsNaN Log Neg Not "
    "Reciprocal Round Sigmoid Sign Sinh Softplus Softsign Sqrt Tanh"
)


@draws("elementwise", _UNARY)
def unary(draft: Draft) -> Case:
    draft.opset()
    return draft.result(draft.given(draft.array(draft.dtype(), draft.shape())))


@draws("elementwise", "Sin Cos Tan")
def periodic(draft: Draft) -> Case:
    """Near 0, because devices differ in how they reduce large arguments."""
    draft.opset()
    x = draft.array(draft.floating(), draft.shape(), -9, 9)
    return draft.result(draft.given(x), scaled=True)


@draws("elementwise", "IsInf")
def is_infinite(draft: Draft) -> Case:
    draft.opset()
    chosen = {key: draft.pick((None, 0, 1)) for key in ("detect_negative", "detect_positive")}
    return draft.result(draft.given(draft.array(draft.dtype(), draft.shape())), **chosen)


def _two(draft: Draft, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    shape = draft.shape()
    shapes = [shape, draft.broadcast(shape)]
    if draft.flag():
        shapes.reverse()
    if draft.seldom():
        shapes[0] = draft.broadcast(shapes[0])
    first, second = (draft.array(dtype, one) for one in shapes)
    return first, second


@draws(
    "elementwise",
    "Add Sub Mul And Or Xor Equal Greater GreaterOrEqual Less LessOrEqual BitwiseAnd BitwiseOr "
    "BitwiseXor",
)
def binary(draft: Draft) -> Case:
    draft.opset()
    return draft.result(*map(draft.given, _two(draft, draft.dtype())))


def _divisible(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Without undefined integer divisions: by 0, and of the smallest number by -1."""
    if x.dtype.kind not in "iu":
        return x, y
    y = np.where(y == 0, y.dtype.type(3), y)
    if x.dtype.kind == "i":
        least = np.iinfo(x.dtype).min
        x = np.where(x == least, x.dtype.type(least + 1), x)
    return x, y


@draws("elementwise", "Div")
def quotient(draft: Draft) -> Case:
    draft.opset()
    return draft.result(*map(draft.given, _divisible(*_two(draft, draft.dtype()))))


@draws("elementwise", "Mod")
def remainder(draft: Draft) -> Case:
    draft.opset(10)
    dtype = draft.dtype()
    x, y = _divisible(*_two(draft, dtype))
    fmod = None if dtype in INTEGERS and not draft.flag() else 1
    return draft.result(draft.given(x), draft.given(y), fmod=fmod, scaled=True)


@draws("elementwise", "Pow")
def power(draft: Draft) -> Case:
    """Integers to integer powers that do not overflow."""
    opset = draft.opset()
    dtype = draft.dtype()
    other = draft.dtype(1) if opset >= 12 else dtype
    shape = draft.shape()
    whole = dtype in INTEGERS
    x = draft.array(dtype, shape, *((0, 5) if other not in INTEGERS or whole else (None, None)))
    y = draft.array(other, draft.broadcast(shape), 0 if whole else -3, 3)
    return draft.result(draft.given(x), draft.given(y), slack=4)


@draws("elementwise", "BitShift")
def shift(draft: Draft) -> Case:
    draft.opset()
    dtype = draft.dtype()
    x, _ = _two(draft, dtype)
    bits = 8 * x.dtype.itemsize
    by = draft.array(dtype, draft.broadcast(x.shape), 0, 5) % bits
    by = np.where(draft.flag(), bits - 1 - by, by).astype(x.dtype)
    direction = draft.pick(("LEFT", "RIGHT"))
    return draft.result(draft.given(x), draft.given(by), direction=direction)


@draws("elementwise", "Max Min Sum Mean")
def variadic(draft: Draft) -> Case:
    draft.opset(8)
    dtype = draft.dtype()
    shape = draft.shape()
    shapes = [draft.broadcast(shape) for _ in range(draft.integer(1, 4))]
    edges = None if draft.op in ("Max", "Min") else False
    arrays = [draft.array(dtype, one, edges=edges) for one in shapes]
    if draft.op in ("Max", "Min"):
        arrays = [np.nan_to_num(x, nan=0) if x.dtype.kind == "f" else x for x in arrays]
    return draft.result(*map(draft.given, arrays), scaled=draft.op in ("Sum", "Mean"))


@draws("elementwise", "Clip")
def clip(draft: Draft) -> Case:
    opset = draft.opset()
    dtype = draft.dtype()
    x = draft.array(dtype, draft.shape())
    bounds = [draft.array(dtype, (), edges=False) if draft.flag() else None for _ in range(2)]
    if bounds[0] is not None and bounds[1] is not None:
        bounds.sort()
    if opset < 11:
        low, high = (None if b is None else float(b) for b in bounds)
        return draft.result(draft.given(x), min=low, max=high)
    names = ["" if bound is None else draft.given(bound) for bound in bounds]
    return draft.result(draft.given(x), *names)


@draws("elementwise", "Where")
def where(draft: Draft) -> Case:
    draft.opset(9)
    dtype = draft.dtype(1)
    shape = draft.shape()
    condition = draft.array("bool", draft.broadcast(shape))
    x, y = (draft.array(dtype, draft.broadcast(shape)) for _ in range(2))
    return draft.result(draft.given(condition), draft.given(x), draft.given(y), slack=0)


@draws("elementwise", "PRelu")
def prelu(draft: Draft) -> Case:
    """The slope broadcasts to x, but not vice versa."""
    draft.opset()
    dtype = draft.dtype()
    shape = draft.shape(1)
    x, slope = draft.array(dtype, shape), draft.array(dtype, draft.broadcast(shape))
    return draft.result(draft.given(x), draft.given(slope))
