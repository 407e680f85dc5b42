"""What ops compute on plain Python lists, by what their records say and nothing else.

Arithmetic comes from the expressions of scalar.py, movement from the index rules, reductions from
their combine steps. A matrix product is a sum of products.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from tallow.core.dtype import DType, float64
from tallow.core.shape import Shape, size_of, strides_of
from tallow.graph import Node
from tallow.ops.arrange import argsort, scatter
from tallow.ops.contract import matmul, matmul_to
from tallow.ops.elementwise import multiply
from tallow.ops.kinds import Attrs, Elementwise, Movement, Op, Reduce, Source
from tallow.ops.numpy_positions import clamped
from tallow.ops.reduce import sum_
from tallow.ops.source import iota
from tallow.scalar import Scalar, operand

Values = list[Any]

LARGEST = 2500
"""Lists are slow."""


def is_for_lists(node: Node) -> bool:
    """Whether this device computes a node, and soon enough for a test."""
    kinds = isinstance(node.op, (Elementwise, Movement, Reduce, Source))
    computed = kinds or node.op in (matmul, matmul_to, argsort, scatter)
    return computed and node.size <= LARGEST and node.dtype != float64


def _divide(x: float, y: float) -> float:
    if y:
        return x / y
    return math.copysign(math.inf, x) * math.copysign(1, y) if x and x == x else math.nan


def _truncated(x: int, y: int) -> int:
    return 0 if not y else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _chosen(choose: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: math.nan if any(v != v for v in values) else choose(*values)


def _whole(round_: Callable[[float], int]) -> Callable[[float], float]:
    return lambda x: math.copysign(round_(x), x) if math.isfinite(x) else x


def _function(name: str) -> Callable[..., float]:
    """What `math` calls so, with IEEE 754's answer where it raises an error."""

    def compute(x: float, *y: float) -> float:
        odd = math.copysign(1, x) if name == "sinh" or (y and y[0] % 2 == 1) else 1
        try:
            return float(getattr(math, name)(x, *y))
        except OverflowError:
            return math.inf * odd
        except ValueError:
            poles = {("log", 0.0): -math.inf, ("atanh", 1.0): math.inf, ("atanh", -1.0): -math.inf}
            return poles.get((name, x), math.inf * odd if name == "pow" and not x else math.nan)

    return compute


PRIMITIVES: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": _divide,
    "negate": operator.neg, "absolute": abs, "fma": lambda x, y, z: x * y + z,
    "minimum": _chosen(min), "maximum": _chosen(max), "sign": _chosen(lambda x: (x > 0) - (x < 0)),
    "clamp": _chosen(lambda x, low, high: min(max(x, low), high)),
    "multiply_high": lambda x, y: x * y >> 32,
    "quotient": _truncated, "remainder": lambda x, y: x - y * _truncated(x, y),
    "floor": _whole(math.floor), "ceil": _whole(math.ceil), "trunc": _whole(math.trunc),
    "round": _whole(round), "is_nan": math.isnan, "is_inf": math.isinf,
    "equal": operator.eq, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "shift_left": operator.lshift, "shift_right": operator.rshift,
    "cast": lambda x: x, "select": lambda condition, x, y: x if condition else y,
}  # fmt: skip


def stored(value: Any, dtype: DType) -> Any:
    """The value as the type holds it: rounded, or wrapped around."""
    if dtype.kind == "b":
        return bool(value)
    if dtype.kind == "f":
        try:
            return struct.unpack(dtype.code, struct.pack(dtype.code, float(value)))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) else 0
    bits = 8 * dtype.size
    wrapped = int(value) & (1 << bits) - 1
    return wrapped - (1 << bits) if dtype.kind == "i" and wrapped >> bits - 1 else wrapped


def _primitive(part: Scalar, *values: Any) -> Any:
    source, name = part.parts[0].dtype, part.primitive
    if name == "bitcast":
        return struct.unpack(part.dtype.code, struct.pack(source.code, *values))[0]
    if name == "invert":
        return not values[0] if source.kind == "b" else stored(~values[0], source)
    if name == "count_leading_zeros":
        return 8 * source.size - values[0].bit_length()
    return stored((PRIMITIVES.get(name) or _function(name))(*values), part.dtype)


def evaluate(expression: Scalar, *operands: Values) -> Values:
    """An expression for all elements of operands of equal length."""
    return _values(expression, {}, operands)


def _values(part: Scalar, known: dict[Scalar, Values], operands: Sequence[Values]) -> Values:
    if part.primitive == "operand":
        return list(operands[part.value])
    if part.primitive == "number":
        return [stored(part.value, part.dtype)] * len(operands[0])
    if part in known:
        return known[part]
    parts = [_values(each, known, operands) for each in part.parts]
    if part.primitive == "loop":
        made, index = part.value
        while True:
            turn = {**known, **dict(zip(made.states, parts, strict=True))}
            if not any(_values(made.again, turn, operands)):
                break
            parts = [_values(each, turn, operands) for each in made.after]
        known[part] = parts[index]
    else:
        known[part] = [_primitive(part, *values) for values in zip(*parts, strict=True)]
    return known[part]


class Array:
    """Elements in row-major order."""

    def __init__(self, values: Values, shape: Shape, dtype: DType) -> None:
        self.values, self.shape, self.dtype = values, shape, dtype

    def __getitem__(self, coords: Sequence[int]) -> Any:
        pairs = zip(coords, strides_of(self.shape), strict=True)
        return self.values[sum(coord * stride for coord, stride in pairs)]


def _everywhere(shape: Sequence[int]) -> Any:
    return product(*map(range, shape))


def _reduce(op: Reduce, array: Array, axes: Sequence[int]) -> Values:
    """Folds the first elements of all rows, then the second ones, and so on."""
    kept = [1 if axis in axes else dim for axis, dim in enumerate(array.shape)]
    inner = [dim if axis in axes else 1 for axis, dim in enumerate(array.shape)]
    columns = [
        [array[list(map(sum, zip(outer, offset, strict=True)))] for outer in _everywhere(kept)]
        for offset in _everywhere(inner)
    ]
    combined = op.combine(operand(0, array.dtype), operand(1, array.dtype))
    start = columns.pop(0) if op.start in ("lowest", "highest") else None
    folded = start or [stored(op.start, array.dtype)] * size_of(kept)
    winners = [0] * len(folded)
    for position, column in enumerate(columns, 1):
        new = evaluate(combined, folded, column)
        if op.indexed:
            for row, item in enumerate(column):
                if folded[row] == folded[row] and (new[row] or item != item):
                    folded[row], winners[row] = item, position
        else:
            folded = new
    return winners if op.indexed else folded


def _move(op: Movement, arrays: Sequence[Array], attrs: Attrs, shape: Shape) -> Values:
    assert op.pick is not None

    def read(number: int, coords: Sequence[int], size: int, region: int | None = None) -> int:
        index: int = arrays[number][coords]
        return min(
            max(index + size if index < 0 else index, 0), size - (1 if region is None else region)
        )

    values = []
    for coords in _everywhere(shape):
        picks = op.pick([array.shape for array in arrays], attrs, coords, read)
        inside = (p for p in picks if all(low <= at < high for at, low, high in p.when))
        pick = next(inside, None)
        fill = stored(attrs.get("value", 0), arrays[0].dtype)
        values.append(arrays[pick.operand][pick.coords] if pick else fill)
    return values


def _matmul(a: Array, b: Array, *length: Array) -> Values:
    """A sum of products, as its records say those; of the first so many, if there is a length."""
    (batch, rows, inner), columns = a.shape, b.shape[2]
    for each in length:
        inner = clamped(each.values[0], inner, 0)
    shape = (batch, rows, columns)
    total = [stored(0, a.dtype)] * size_of(shape)
    x, y, z = (operand(index, a.dtype) for index in range(3))
    step = sum_.combine(z, multiply.scalar(x, y))
    for k in range(inner):
        left = [a[n, row, k] for n, row, _ in _everywhere(shape)]
        right = [b[n, k, column] for n, _, column in _everywhere(shape)]
        total = evaluate(step, left, right, total)
    return total


def compute(op: Op, arrays: Sequence[Array], attrs: Attrs) -> Array:
    """The result of an op."""
    shape, dtype = op.infer([(array.shape, array.dtype) for array in arrays], attrs)
    values: Values = []
    if isinstance(op, Elementwise):
        scalars = [operand(index, array.dtype) for index, array in enumerate(arrays)]
        values = evaluate(op.scalar(*scalars, **attrs), *(array.values for array in arrays))
    elif isinstance(op, Reduce):
        values = _reduce(op, arrays[0], attrs["axes"])
    elif isinstance(op, Movement):
        values = _move(op, arrays, attrs, shape)
    elif op is iota:
        values = [coords[attrs["axis"]] for coords in _everywhere(shape)]
    elif op in (matmul, matmul_to):
        values = _matmul(*arrays)
    assert len(values) == size_of(shape), op.name
    return Array(values, shape, dtype)
