"""Elementwise functions, the standard's chapter: a line for each elementwise record of ops/, with
broadcasting and promotion, and what is composed of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from .. import casting
from ..core import dtype as dt
from ..core.context import autocast
from ..core.dtype import DType, as_dtype, promote
from ..core.hostarray import from_values
from ..core.shape import Shape, broadcast_shapes
from ..errors import OptionError
from ..graph import Node, constant, make
from ..ops import division, logic, movement
from ..ops import elementwise as op
from ..ops.elementwise import bitcast as bitcast_op
from ..ops.elementwise import cast
from ..ops.elementwise import where as select
from ..ops.kinds import Elementwise
from ..tensor import Scalar, Tensor, asarray
from .factors import factor_first


def expand_node(node: Node, shape: Shape) -> Node:
    """The node broadcast to a shape of the same or a higher rank."""
    own = node.shape
    if own == shape:
        return node
    if len(own) < len(shape):
        own = (1,) * (len(shape) - len(own)) + own
        node = make(movement.reshape, node, shape=own)
    return node if own == shape else make(movement.expand, node, shape=shape)


def common_type(values: Sequence[DType | Scalar]) -> DType:
    """The promoted type; a Python number can change its kind but not its width."""
    types = [value for value in values if isinstance(value, DType)]
    return _common(types, [value for value in values if not isinstance(value, DType)])


def _common(types: list[DType], numbers: Sequence[Scalar]) -> DType:
    """The promoted type of elements of these types and of Python numbers."""
    if not types:
        return promote_all([asarray(value).dtype for value in numbers])
    common = promote_all(types)
    for value in numbers:
        if common.kind == "f":
            break
        if isinstance(value, float):
            common = dt.default_floating()
        elif isinstance(value, int) and not isinstance(value, bool) and common == dt.bool_:
            common = dt.default_integer()
    return common


def promote_all(dtypes: list[DType]) -> DType:
    """The type that holds all of them."""
    common = dtypes[0]
    for other in dtypes:
        if other is not common:
            common = promote(common, other)
    return common


def floating(x: Tensor) -> Tensor:
    """x, whose integers become float32."""
    return x if x.dtype.is_floating else x.astype(dt.float32)


def dtype_cast(value: Scalar, dtype: DType) -> Scalar:
    """A Python number converted to the Python type that matches the element type."""
    return bool(value) if dtype == dt.bool_ else float(value) if dtype.is_floating else int(value)


def broadcast(name: str, values: Sequence[Any]) -> list[Node]:
    """Nodes of one shape and one type; arrays and numbers become constants."""
    given = [_node_or_number(value) for value in values]
    if len(given) == 2:
        return _pair(name, *given)
    nodes = [value for value in given if isinstance(value, Node)]
    numbers = [value for value in given if not isinstance(value, Node)]
    dtype = _common([node.dtype for node in nodes], numbers)
    shape = broadcast_shapes(*[node.shape for node in nodes], what=name)
    return [_fitted(value, dtype, shape) for value in given]


def _node_or_number(value: Any) -> Node | Scalar:
    if isinstance(value, Tensor):
        return value.node
    return value if isinstance(value, (int, float)) else asarray(value).node


def _fitted(value: Node | Scalar, dtype: DType, shape: Shape) -> Node:
    """A node or a number in a type and a shape."""
    if not isinstance(value, Node):
        return _number(dtype_cast(value, dtype), "" if value else repr(value), dtype, shape)
    if value.dtype is not dtype:
        value = make(cast, value, dtype=dtype)
    return value if value.shape == shape else expand_node(value, shape)


def _pair(name: str, a: Node | Scalar, b: Node | Scalar) -> list[Node]:
    """As `broadcast`, of two: most have one type already, and often one shape."""
    if isinstance(a, Node):
        dtype, shape = a.dtype, a.shape
        if isinstance(b, Node):
            if b.dtype is not dtype:
                dtype = promote(dtype, b.dtype)
            if b.shape != shape:
                shape = broadcast_shapes(shape, b.shape, what=name)
        elif dtype.kind != "f":
            dtype = _common([dtype], [b])
    elif isinstance(b, Node):
        dtype, shape = b.dtype if b.dtype.kind == "f" else _common([b.dtype], [a]), b.shape
    else:
        dtype, shape = _common([], [a, b]), ()
    return [_fitted(a, dtype, shape), _fitted(b, dtype, shape)]


@lru_cache(maxsize=2048, typed=True)
def _number(value: Scalar, zero: str, dtype: DType, shape: Shape) -> Node:
    """The node of a Python number in a shape: code that runs in a loop asks for the same ones
    again. zero: tells 0.0 from -0.0, which are equal."""
    return expand_node(constant(from_values([value], (1,) * len(shape), dtype)), shape)


Operand: TypeAlias = Tensor | Scalar
Unary = Callable[[Operand], Tensor]
Binary = Callable[[Operand, Operand], Tensor]


def unary(op: Elementwise, of_truth: Unary | None = None) -> Unary:
    """The function of a tensor or a number that applies an op. Where the op takes floating numbers
    alone, or booleans, others are converted. of_truth: what it is of booleans."""
    alone = op.accepts if op.accepts in ("f", "b") else ""

    def function(x: Operand) -> Tensor:
        if autocast.get():
            (x,) = casting.operands(op, [x])
        node = x.node if isinstance(x, Tensor) else asarray(x).node
        kind = node.dtype.kind
        if kind == "b" and of_truth is not None:
            return of_truth(x)
        if alone and kind != alone:
            node = make(cast, node, dtype=_kind(alone))
        return Tensor(make(op, node))

    return _described(function, op, of_truth is not None)


def _kind(kind: str) -> DType:
    """The element type that operands get for an op that takes one kind of them alone."""
    return dt.bool_ if kind == "b" else dt.default_floating()


def binary(op: Elementwise, of_truth: Binary | None = None) -> Binary:
    """The function of two tensors or numbers that applies an op, with broadcasting, promotion, and
    the conversions of `unary`. of_truth: what it is of booleans, as in NumPy and PyTorch."""
    alone = op.accepts if op.accepts in ("f", "b") else ""

    def function(x1: Operand, x2: Operand) -> Tensor:
        values = casting.operands(op, [x1, x2]) if autocast.get() else (x1, x2)
        nodes = broadcast(op.name, values)
        kind = nodes[0].dtype.kind
        if of_truth is not None and kind == "b":
            return of_truth(x1, x2)
        if alone and kind != alone:
            nodes = [make(cast, node, dtype=_kind(alone)) for node in nodes]
        return Tensor(make(op, *nodes))

    return _described(function, op, of_truth is not None)


def of_operands(op: Elementwise) -> Callable[..., Tensor]:
    """The function of any number of operands that applies an op, as `unary` and `binary`."""
    if op.arity <= 2:
        return unary(op) if op.arity == 1 else binary(op)

    def function(*operands: Operand) -> Tensor:
        if len(operands) != op.arity:
            raise TypeError(f"{op.name}: takes {op.arity} operands, got {len(operands)}")
        values = casting.operands(op, [*operands]) if autocast.get() else operands
        nodes = broadcast(op.name, values)
        if op.accepts == "f" and nodes[0].dtype.kind != "f":
            nodes = [make(cast, node, dtype=dt.default_floating()) for node in nodes]
        return Tensor(make(op, *nodes))

    return _described(function, op)


F = TypeVar("F", bound=Callable[..., Tensor])


_VALUES = {
    "f": ("numbers", "; integers and booleans become floating"),
    "b": ("booleans", "; of numbers only 0 is false"),
    "iu": ("integers", ""),
    "fiub": ("numbers or booleans", ""),
}
"""What docstrings say of operands, by the kinds that an op accepts, and of their conversion."""


def _described(function: F, op: Elementwise, truth: bool = False) -> F:
    """The function with its name and docstring. truth: whether it takes booleans besides."""
    function.__name__ = function.__qualname__ = op.name
    values, converted = _VALUES.get(op.accepts, ("numbers", ""))
    given = {1: "x", 2: "x1, x2"}.get(op.arity, "operands")
    shapes = ", of any shape" if op.arity == 1 else ", which broadcast"
    raises = ["ShapeError for shapes that do not broadcast"] if op.arity > 1 else []
    if op.accepts not in ("f", "b", "fiub"):
        raises.append("DTypeError for other element types")
    lines = [
        f"Computes {op.name} elementwise.\n",
        f"{given}: {values}{' or booleans' if truth else ''}{shapes}{converted}.",
        f"Returns: the results, of the {'shape of x' if op.arity == 1 else 'broadcast shape'}.",
    ]
    function.__doc__ = "\n".join([*lines, f"Raises: {'; '.join(raises)}."] if raises else lines)
    return function


# ---- logic -----------------------------------------------------------------------------------

equal = binary(logic.equal)
not_equal = binary(logic.not_equal)
less = binary(logic.less)
less_equal = binary(logic.less_equal)
greater = binary(logic.greater)
greater_equal = binary(logic.greater_equal)
logical_and = binary(logic.logical_and)
logical_or = binary(logic.logical_or)
logical_xor = binary(logic.logical_xor)
bitwise_and = binary(logic.bitwise_and, of_truth=logical_and)
bitwise_or = binary(logic.bitwise_or, of_truth=logical_or)
bitwise_xor = binary(logic.bitwise_xor, of_truth=logical_xor)
bitwise_left_shift = binary(logic.bitwise_left_shift)
bitwise_right_shift = binary(logic.bitwise_right_shift)
logical_not = unary(logic.logical_not)
isnan = unary(logic.isnan)
isinf = unary(logic.isinf)
bitwise_invert = unary(logic.bitwise_invert, of_truth=logical_not)

# ---- arithmetic ------------------------------------------------------------------------------

plus = binary(op.add, of_truth=logical_or)
multiply = binary(op.multiply, of_truth=logical_and)
subtract = binary(op.subtract)
divide = binary(op.divide)
maximum = binary(op.maximum)
minimum = binary(op.minimum)
trunc_divide = binary(division.trunc_divide)
fmod = binary(division.fmod)
_floor_divide, _remainder = binary(division.floor_divide), binary(division.remainder)
_pow = binary(op.pow_)

# ---- of one element --------------------------------------------------------------------------

abs = unary(op.abs_)
_negative, _sign, _round = unary(op.negative), unary(op.sign), unary(op.round_)
sqrt = unary(op.sqrt)
exp = unary(op.exp)
exp2 = unary(op.exp2)
log = unary(op.log)
expm1 = unary(op.expm1)
log1p = unary(op.log1p)
sin = unary(op.sin)
cos = unary(op.cos)
tan = unary(op.tan)
sinh = unary(op.sinh)
cosh = unary(op.cosh)
tanh = unary(op.tanh)
acos = unary(op.acos)
asin = unary(op.asin)
atan = unary(op.atan)
asinh = unary(op.asinh)
acosh = unary(op.acosh)
atanh = unary(op.atanh)
floor = unary(op.floor)
ceil = unary(op.ceil)
trunc = unary(op.trunc)
reciprocal = unary(op.reciprocal)
erf = unary(op.erf)


def where(condition: Operand, x1: Operand, x2: Operand) -> Tensor:
    """Chooses the element of x1 where the condition is true, else that of x2; all three broadcast.

    condition: booleans.
    x1, x2: numbers or tensors to choose from, of any type.
    Returns: the chosen elements, of the broadcast shape, in the promoted type of x1 and x2.
    Raises: ShapeError for shapes that do not broadcast; DTypeError for a condition that is not
      bool.
    Source: Python array API standard 2024.12, `where`.
    """
    values = [condition, x1, x2]
    condition, *choices = casting.operands(select, values) if autocast.get() else values
    a, b = broadcast("where", choices)
    mask = asarray(condition).node
    shape = broadcast_shapes(mask.shape, a.shape, what="where")
    return Tensor(make(select, *[expand_node(node, shape) for node in (mask, a, b)]))


@factor_first("alpha", 2)
def add(x1: Operand, x2: Operand, *, alpha: Scalar = 1) -> Tensor:
    """Adds x1 and alpha * x2, with broadcasting and promotion; of booleans, tells whether one is
    true.

    x1, x2: numbers or tensors, which broadcast.
    alpha: a number by which x2 is multiplied first, as in PyTorch.
    Returns: the sums, of the broadcast shape and the promoted type.
    Raises: ShapeError for shapes that do not broadcast.
    Source: Python array API standard 2024.12, `add`.
    """
    return plus(x1, x2 if alpha == 1 else multiply(x2, alpha))


def negative(x: Tensor | Scalar) -> Tensor:
    """Changes the signs of elements, -x. Unsigned integers wrap around, so that x and the result
    add up to 0.

    x: numbers, of any shape.
    Returns: the numbers with the other sign, of the shape and the type of x.
    Raises: DTypeError for booleans.
    Source: Python array API standard 2024.12, `negative`.
    """
    x = asarray(x)
    return subtract(0, x) if x.dtype.kind == "u" else _negative(x)


def sign(x: Tensor | Scalar) -> Tensor:
    """Gives -1, 0 or 1 by the sign of x.

    x: numbers, of any shape.
    Returns: the signs, of the shape and the type of x.
    Raises: DTypeError for booleans.
    Source: Python array API standard 2024.12, `sign`.
    """
    x = asarray(x)
    return minimum(x, 1) if x.dtype.kind == "u" else _sign(x)


def floor_divide(x: Tensor | Scalar, y: Tensor | Scalar) -> Tensor:
    """Divides and rounds down, integers as well as floating numbers.

    x: the dividends, a number or a tensor.
    y: the divisors, which broadcast with x.
    Returns: the whole quotients, of the broadcast shape and the promoted type; for integers, 0
      where y is 0.
    Raises: ShapeError for shapes that do not broadcast; DTypeError for booleans.
    Source: Python array API standard 2024.12, `floor_divide`.
    """
    a, b = (Tensor(node) for node in broadcast("floor_divide", [x, y]))
    if not a.dtype.is_floating:
        return _floor_divide(a, b)
    # x / y may round up to a whole number; x without its remainder is a multiple of y.
    rest = fmod(a, b)
    whole = _round((a - rest) / b) - _opposed(rest, b).astype(a.dtype)
    return where(equal(b, 0), a / b, whole)


def remainder(x: Tensor | Scalar, y: Tensor | Scalar) -> Tensor:
    """Gives the remainder of x / y, with the sign of y (Python's %).

    x: the dividends, a number or a tensor.
    y: the divisors, which broadcast with x.
    Returns: the remainders, of the broadcast shape and the promoted type; for integers, 0 where y
      is 0.
    Raises: ShapeError for shapes that do not broadcast; DTypeError for booleans.
    Source: Python array API standard 2024.12, `remainder`.
    """
    a, b = (Tensor(node) for node in broadcast("remainder", [x, y]))
    if not a.dtype.is_floating:
        return _remainder(a, b)
    rest = fmod(a, b)
    signed = rest
    if not rest.requires_grad:  # a zero has the sign of y, too; a slope it has not
        signed = where(equal(rest, 0), abs(rest) * sign(b), rest)
    return where(_opposed(rest, b), rest + b, signed)


def _opposed(rest: Tensor, y: Tensor) -> Tensor:
    """Where a nonzero remainder and its divisor have different signs."""
    signs_differ = not_equal(rest < 0, y < 0)
    return logical_and(signs_differ, not_equal(rest, 0))


def pow(x: Tensor | Scalar, y: Tensor | Scalar) -> Tensor:
    """Raises x to the power y. Powers from 1 to 4 of a floating tensor become products.

    Integers to the power of integers are integers: 0 for a negative exponent, except of 1 and -1.

    x: the bases, a number or a tensor.
    y: the exponents, which broadcast with x.
    Returns: the powers, of the broadcast shape and the promoted type; float32 for booleans.
    Raises: OptionError for an exponent that is a negative whole number while x holds integers, as
      in PyTorch; ShapeError for shapes that do not broadcast.
    Source: Python array API standard 2024.12, `pow`.
    """
    whole_numbers = [_is_whole(value) for value in (x, y)]
    if all(whole_numbers) and (isinstance(x, Tensor) or isinstance(y, Tensor)):
        if not isinstance(y, Tensor):
            return _known_power(asarray(x), int(y))
        a, b = (Tensor(node) for node in broadcast("pow", [x, y]))
        return whole_power(a, b)
    if autocast.get():
        x, y = casting.operands(op.pow_, [x, y])
    whole = not isinstance(y, Tensor) and y in (1, 2, 3, 4)
    if isinstance(x, Tensor) and x.dtype.is_floating and whole:
        if y == 1:
            return x
        half = x * x
        return half if y == 2 else half * x if y == 3 else half * half
    return _pow(x, y)


def _is_whole(value: Any) -> bool:
    """Whether these are integers: a tensor of booleans is none."""
    if isinstance(value, (Tensor, float)):
        return isinstance(value, Tensor) and value.dtype.is_integer
    return isinstance(value, int) or asarray(value).dtype.is_integer


def _known_power(x: Tensor, exponent: int) -> Tensor:
    """Integers to the power of a number, by its bits."""
    if exponent < 0:
        raise OptionError(f"pow: integers of {x.dtype.name} to the power {exponent}; cast them")
    result, power = None, x
    while exponent:
        if exponent & 1:
            result = power if result is None else result * power
        exponent >>= 1
        power = power * power if exponent else power
    return where(x == x, 1, x) if result is None else result


def whole_power(x: Tensor, y: Tensor) -> Tensor:
    """Integers to the power of integers, in the type of x, by the bits of the exponent. Six bits
    are enough: beyond that, every base other than 0, 1 and -1 overflows, and for -1 only the parity
    matters. A negative exponent gives a fraction, truncated to 0."""
    known = _known_exponents(y)
    if 0 < len(known) <= 4:
        found = _known_power(x, known[0])
        for exponent in known[1:]:
            found = where(equal(y, exponent), _known_power(x, exponent), found)
        return found
    small = where(logical_and(y >= 0, y <= 63), y, (y & 1) + 62).astype(dt.int32)
    result, power = where(x == x, 1, x), x
    bits = min(max(known).bit_length(), 6) if known else 6
    for bit in range(bits):
        odd = equal((small >> bit) & 1, 1)
        result = where(odd, result * power, result)
        power = power * power if bit + 1 < bits else power
    unit = equal(x, 1) if x.dtype.kind == "u" else equal(abs(x), 1)
    even = logical_and(y > 63, equal(x & 1, 0))  # so many factors 2 are a multiple of 2 ** 64
    return where(logical_and(y >= 0, ~even) | unit, result, 0)


def _known_exponents(y: Tensor) -> list[int]:
    """The different exponents, if they are constants and none is negative. So the range of 64-bit
    powers stays known, too."""
    if not y.node.is_constant or y.size > 1024:
        return []
    values = sorted(set(map(int, y.node.attrs["data"].flat())))
    return values if values and values[0] >= 0 else []


def round(x: Tensor, *, decimals: int = 0) -> Tensor:
    """Rounds to the nearest whole number, or to a number of decimal places, halves to even.

    x: numbers, of any shape; integers and booleans become floating numbers.
    decimals: how many decimal places remain, as in PyTorch.
    Returns: the rounded numbers, floating, of the shape of x.
    Source: Python array API standard 2024.12, `round`.
    """
    return _round(x) if decimals == 0 else _round(x * 10.0**decimals) / 10.0**decimals


def bitcast(x: Tensor, dtype: DType | str) -> Tensor:
    """Reads the bits of x as another type of the same size.

    x: a tensor, of any shape.
    dtype: the type as which they are read.
    Returns: the elements in that type, of the shape of x.
    Raises: DTypeError if the sizes differ.
    """
    wanted = as_dtype(dtype)
    return x if x.dtype == wanted else Tensor(make(bitcast_op, x.node, dtype=wanted))


def positive(x: Tensor) -> Tensor:
    """Gives x itself.

    x: a tensor, of any shape.
    Returns: x.
    Source: Python array API standard 2024.12, `positive`.
    """
    return x


def square(x: Tensor) -> Tensor:
    """Multiplies x by itself.

    x: numbers or booleans, of any shape.
    Returns: the squares, of the shape and the type of x.
    Source: Python array API standard 2024.12, `square`.
    """
    return x * x


def clip(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Clamps x to min and max.

    The slope at a bound that is a number is 0, as in PyTorch 2.14; an element that equals its
    element of a tensor gets the gradient.

    x: numbers, of any shape.
    min, max: the bounds, numbers or tensors that broadcast with x; None bounds nothing.
    Returns: the clamped elements, of the broadcast shape and the promoted type.
    Raises: ShapeError for shapes that do not broadcast.
    Source: Python array API standard 2024.12, `clip`.
    """
    if min is not None:
        x = _bounded(x, min, maximum, operator.le, operator.lt)
    if max is not None:
        x = _bounded(x, max, minimum, operator.ge, operator.gt)
    return x


_Test = Callable[[Any, Any], Any]


def _bounded(x: Tensor, bound: Any, extremum: Binary, at: _Test, beyond: _Test) -> Tensor:
    """x held by one bound. A maximum would share a gradient between equal elements, so where there
    may be one, the bound is chosen instead; a NaN in x is neither beyond nor at it."""
    tensor = isinstance(bound, Tensor)
    if not (x.requires_grad or (tensor and bound.requires_grad)):
        return extremum(x, bound)
    number = not getattr(bound, "shape", ()) and (not tensor or bound.node.is_constant)
    return where((at if number else beyond)(x, bound), bound, x)


def clamp_min(x: Tensor, min: Operand) -> Tensor:
    """Raises elements below a bound to it.

    x: numbers, of any shape.
    min: the bound, a number or a tensor that broadcasts with x.
    Returns: the elements, of the broadcast shape and the promoted type, none of them below min.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.clamp_min`.
    """
    return clip(x, min, None)


def clamp_max(x: Tensor, max: Operand) -> Tensor:
    """Lowers elements above a bound to it.

    x: numbers, of any shape.
    max: the bound, a number or a tensor that broadcasts with x.
    Returns: the elements, of the broadcast shape and the promoted type, none of them above max.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.clamp_max`.
    """
    return clip(x, None, max)
