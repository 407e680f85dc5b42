"""The arithmetic of ops (scalar.py) as WebAssembly: one element, or four in a vector.

Elements of fewer than 32 bits are computed as i32 and wrapped to their range after each operation
that may leave it. A bool is 0 or 1; in a vector, no bit or all bits of its lane.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

from ....codegen.approximations import FUNCTIONS
from ....core.dtype import DType, float16, float32, int32
from ....ops.formulas import to_half
from ....scalar import Scalar, operand
from ....scalar import cast as converted
from .assembler import Function
from .casts import bitcast, cast
from .values import UnsupportedError, constant, kind_of, shape_of, wrap

_FLOAT = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "negate": "neg",
    "absolute": "abs", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "round": "nearest", "minimum": "min", "maximum": "max", "equal": "eq", "less": "lt",
    "less_equal": "le", "greater": "gt", "greater_equal": "ge",
}  # fmt: skip

_INTEGER = {
    "add": "add", "subtract": "sub", "multiply": "mul", "and": "and", "or": "or", "xor": "xor",
    "shift_left": "shl", "shift_right": "shr_?", "equal": "eq", "less": "lt_?",
    "less_equal": "le_?", "greater": "gt_?", "greater_equal": "ge_?",
}  # fmt: skip
"""?: s or u, by the type of the operands."""

_TO_INTEGER = float32, int32

_LANES = {**_INTEGER, "minimum": "min_?", "maximum": "max_?"}

_MAY_LEAVE = frozenset(
    ("add", "subtract", "multiply", "negate", "absolute", "invert", "shift_left", "quotient")
)
"""What may give an integer beyond the range of its operands' type."""


class Arithmetic:
    """Prints expressions into a function.

    width: 1, or 4 elements in a vector. relaxed: whether the engine has relaxed SIMD. held: whether
    what is cast to int32 lies within it, or may give anything.
    """

    def __init__(
        self, function: Function, width: int = 1, relaxed: bool = False, held: bool = False
    ) -> None:
        self.function = function
        self.width = width
        self.relaxed = relaxed
        self._held = held
        self._emit, self._apply = function.emit, function.apply
        self._uses: Counter[Scalar] = Counter()
        self._locals: dict[Scalar, int] = {}

    def push(self, expression: Scalar, operands: Sequence[Callable[[], None]]) -> None:
        """Pushes the value of an expression; `operands` push those of its operands."""
        self._uses, self._locals = Counter(), {}
        self._count(expression)
        self._operands = operands
        self._push(expression)

    def _count(self, part: Scalar) -> None:
        self._uses[part] += 1
        if self._uses[part] > 1:
            return
        for each in part.parts:
            self._count(each)
        if part.primitive == "loop":
            made, _ = part.value
            for each in (made.again, *made.after):
                self._count(each)

    def _local(self, part: Scalar) -> int:
        return self.function.local(kind_of(part.dtype, self.width))

    def _push(self, part: Scalar) -> None:
        if part.primitive == "operand":
            self._operands[part.value]()
            return
        if part.primitive == "number":
            constant(self.function, part.value, part.dtype, self.width)
            return
        if part in self._locals:
            self._emit("local.get", self._locals[part])
            return
        if part.primitive == "loop":
            self._loop(part)
            self._emit("local.get", self._locals[part])
            return
        self._compute(part)
        if self._uses[part] > 1:
            self._locals[part] = self._local(part)
            self._emit("local.tee", self._locals[part])

    def _loop(self, part: Scalar) -> None:
        made, _ = part.value
        if self.width != 1:
            raise UnsupportedError("loops of vectors")
        if not all(state in self._locals for state in made.states):
            for state, initial in zip(made.states, made.initial, strict=True):
                self._push(initial)
                self._locals[state] = self._local(state)
                self._emit("local.set", self._locals[state])
            before = dict(self._locals)
            self._emit("block")
            self._emit("loop")
            self._push(made.again)
            self._emit("i32.eqz")
            self._emit("br_if", 1)
            for each in made.after:
                self._push(each)
            for state in reversed(made.states):
                self._emit("local.set", self._locals[state])
            self._emit("br", 0)
            self._emit("end")
            self._emit("end")
            self._locals = before  # what a turn computed is old
        self._locals[part] = self._locals[made.states[part.value[1]]]

    # ---- primitives ----------------------------------------------------------------------------

    def _compute(self, part: Scalar) -> None:
        name, first = part.primitive, part.parts[0]
        special = getattr(self, f"_{name}", None)
        if special:
            special(part)
        elif name in FUNCTIONS:
            self._approximate(part)
        elif first.dtype.kind == "f":
            self._each(part)
            self._emit(f"{self._shape(first.dtype)}.{_FLOAT[name]}")
        else:
            self._integer(part)
        if name in _MAY_LEAVE:
            wrap(self.function, part.dtype, self.width)

    def _shape(self, dtype: DType) -> str:
        """What the names of instructions on values of a type begin with."""
        return shape_of(dtype, self.width)

    def _each(self, part: Scalar) -> None:
        for each in part.parts:
            self._push(each)

    def _integer(self, part: Scalar) -> None:
        name, dtype = part.primitive, part.parts[0].dtype
        sign = "s" if dtype.kind == "i" else "u"
        bitwise = name in ("and", "or", "xor")
        if self.width == 4:
            self._lanes(part, sign, bitwise)
            return
        if name in ("minimum", "maximum"):
            x, y = (self._kept(each) for each in part.parts)
            for pushed in (x, y, x, y):
                self._emit("local.get", pushed)
            test = "lt" if name == "minimum" else "gt"
            self._emit(f"{kind_of(dtype)}.{test}_{sign}")
            self._emit("select")
            return
        self._each(part)
        self._emit(f"{kind_of(dtype)}.{_INTEGER[name].replace('?', sign)}")

    def _lanes(self, part: Scalar, sign: str, bitwise: bool) -> None:
        name = part.primitive
        if name in ("shift_left", "shift_right"):
            x, by = part.parts
            if by.primitive != "number":
                raise UnsupportedError("lanes that are shifted differently")
            self._push(x)
            self._emit("i32.const", by.value)
        else:
            self._each(part)
        if name not in _LANES:
            raise UnsupportedError(f"{name} of vectors")
        unordered = part.parts[0].dtype.kind == "b"
        if unordered and not bitwise and name != "equal":
            raise UnsupportedError(f"{name} of vectors of bools")
        shape = "v128" if bitwise else "i32x4"
        self._emit(f"{shape}.{_LANES[name].replace('?', sign)}")

    def _kept(self, part: Scalar) -> int:
        """A local with the value of a part."""
        if part in self._locals:
            return self._locals[part]
        local = self._local(part)
        self._push(part)
        self._emit("local.set", local)
        self._locals[part] = local
        return local

    def _zero(self, dtype: DType) -> None:
        constant(self.function, 0, dtype, self.width)

    def _negate(self, part: Scalar) -> None:
        (x,) = part.parts
        if part.dtype.kind == "f" or self.width == 4:
            self._push(x)
            self._emit(f"{self._shape(part.dtype)}.neg")
            return
        self._zero(part.dtype)
        self._push(x)
        self._emit(f"{kind_of(part.dtype)}.sub")

    def _absolute(self, part: Scalar) -> None:
        (x,) = part.parts
        if part.dtype.kind == "u":
            self._push(x)
        elif part.dtype.kind == "f" or self.width == 4:
            self._push(x)
            self._emit(f"{self._shape(part.dtype)}.abs")
        else:
            kind, local = kind_of(part.dtype), self._kept(x)
            self._zero(part.dtype)
            self._apply(f"{kind}.sub", local)
            self._emit("local.get", local)
            self._emit("local.get", local)
            self._zero(part.dtype)
            self._emit(f"{kind}.lt_s")
            self._emit("select")

    def _sign(self, part: Scalar) -> None:
        """(x > 0) - (x < 0), but NaN stays."""
        (x,), dtype = part.parts, part.dtype
        if self.width == 4:
            self._sign_of_lanes(x)
            return
        kind, local, sign = kind_of(dtype), self._kept(x), "" if dtype.kind == "f" else "_s"
        if dtype.kind == "u":
            raise UnsupportedError("sign of unsigned integers")
        if dtype.kind == "f":
            self._emit("local.get", local)
        for test in ("gt", "lt"):
            self._emit("local.get", local)
            self._zero(dtype)
            self._emit(f"{kind}.{test}{sign}")
        self._emit("i32.sub")
        if dtype.kind == "f":
            self._emit(f"{kind}.convert_i32_s")
            self._apply(f"{kind}.ne", local, local)
            self._emit("select")
        elif kind == "i64":
            self._emit("i64.extend_i32_s")

    def _sign_of_lanes(self, x: Scalar) -> None:
        if x.dtype.kind == "u":
            raise UnsupportedError("sign of unsigned integers")
        shape, local = self._shape(x.dtype), self._kept(x)
        sign = "" if x.dtype.kind == "f" else "_s"
        if sign:  # what is true is -1
            tests = (f"lt{sign}", f"gt{sign}")
        else:
            tests = ("gt", "lt")
            self._emit("local.get", local)
        for test in tests:
            self._emit("local.get", local)
            self._zero(x.dtype)
            self._emit(f"{shape}.{test}")
            if not sign:
                constant(self.function, 1, x.dtype, 4)
                self._emit("v128.and")
        self._emit(f"{shape}.sub")
        if not sign:
            self._apply(f"{shape}.ne", local, local)
            self._emit("v128.bitselect")

    def _clamp(self, part: Scalar) -> None:
        x, low, high = part.parts
        shape = self._shape(part.dtype)
        if part.dtype.kind != "f":
            raise UnsupportedError("clamp of integers")
        # pmax is one instruction on x86, max eight; if a bound is 0 or NaN, they differ.
        plain = all(each.primitive == "number" and abs(each.value) > 0 for each in (low, high))
        kind = "p" if plain and shape == "f32x4" else ""
        self._push(x)
        self._push(low)
        self._emit(f"{shape}.{kind}max")
        self._push(high)
        self._emit(f"{shape}.{kind}min")

    def _fma(self, part: Scalar) -> None:
        x, y, z = part.parts
        shape = self._shape(part.dtype)
        self._push(x)
        self._push(y)
        if self.relaxed and shape == "f32x4":
            self._push(z)
            self._emit("f32x4.relaxed_madd")
            return
        self._emit(f"{shape}.mul")
        self._push(z)
        self._emit(f"{shape}.add")

    def _multiply_high(self, part: Scalar) -> None:
        if self.width == 1:
            for each in part.parts:
                self._push(each)
                self._emit("i64.extend_i32_u")
            self._emit("i64.mul")
            self._apply("i64.shr_u", number=32)
            self._emit("i32.wrap_i64")
            return
        factors = [self._kept(each) for each in part.parts]
        for half in ("low", "high"):
            self._apply(f"i64x2.extmul_{half}_i32x4_u", *factors)
        self._emit("i8x16.shuffle", *(8 * word + byte for word in range(4) for byte in range(4, 8)))

    def _quotient(self, part: Scalar) -> None:
        """Division faults at 0, and where the result overflows: by -1 it is a negation."""
        x, y = self._divided(part)
        kind, signed = kind_of(part.dtype), part.dtype.kind == "i"
        if signed:
            self._zero(part.dtype)
            self._apply(f"{kind}.sub", x)
        self._emit("local.get", x)
        self._divisor(y, kind, -1 if signed else 0)
        self._emit(f"{kind}.div_{'s' if signed else 'u'}")
        if signed:
            self._apply(f"{kind}.eq", y, number=-1)
            self._emit("select")

    def _remainder(self, part: Scalar) -> None:
        x, y = self._divided(part)
        kind = kind_of(part.dtype)
        self._emit("local.get", x)
        self._divisor(y, kind, 0)
        self._emit(f"{kind}.rem_{'s' if part.dtype.kind == 'i' else 'u'}")

    def _divided(self, part: Scalar) -> list[int]:
        if self.width == 4:
            raise UnsupportedError("divisions of vectors of integers")
        return [self._kept(each) for each in part.parts]

    def _divisor(self, y: int, kind: str, other: int) -> None:
        """The divisor, but 1 for 0 and for `other`."""
        self._emit(f"{kind}.const", 1)
        self._emit("local.get", y)
        for number, test in enumerate(dict.fromkeys((0, other))):
            self._apply(f"{kind}.eq", y, number=test)
            if number:
                self._emit("i32.or")
        self._emit("select")

    def _invert(self, part: Scalar) -> None:
        self._push(part.parts[0])
        if self.width == 4:
            self._emit("v128.not")
        elif part.dtype.kind == "b":
            self._emit("i32.eqz")
        else:
            self._apply(f"{kind_of(part.dtype)}.xor", number=-1)

    def _is_nan(self, part: Scalar) -> None:
        local = self._kept(part.parts[0])
        self._apply(f"{self._shape(part.parts[0].dtype)}.ne", local, local)

    def _is_inf(self, part: Scalar) -> None:
        (x,) = part.parts
        shape = self._shape(x.dtype)
        self._push(x)
        self._emit(f"{shape}.abs")
        constant(self.function, math.inf, x.dtype, self.width)
        self._emit(f"{shape}.eq")

    def _count_leading_zeros(self, part: Scalar) -> None:
        kind = kind_of(part.dtype, self.width)
        if part.dtype.size < 4 or kind == "v128":
            raise UnsupportedError(f"leading zeros of {part.dtype.name}")
        self._push(part.parts[0])
        self._emit(f"{kind}.clz")

    def _select(self, part: Scalar) -> None:
        condition, if_true, if_false = part.parts
        self._push(if_true)
        self._push(if_false)
        self._push(condition)
        self._emit("v128.bitselect" if self.width == 4 else "select")

    def _bitcast(self, part: Scalar) -> None:
        self._push(part.parts[0])
        bitcast(self.function, part.parts[0].dtype, part.dtype, self.width)

    def _cast(self, part: Scalar) -> None:
        (x,) = part.parts
        if part.dtype == float16 and x.dtype != float16 and x.dtype.size <= 4:
            self._inline(part, lambda x: to_half(converted(x, float32)))  # in which it is computed
            return
        self._push(x)
        if self._held and self.relaxed and self.width == 4 and (x.dtype, part.dtype) == _TO_INTEGER:
            self._emit("i32x4.relaxed_trunc_f32x4_s")  # one instruction on x86, not six
            return
        cast(self.function, x.dtype, part.dtype, self.width)

    def _approximate(self, part: Scalar) -> None:
        if part.dtype.size != 4:
            raise UnsupportedError(f"{part.primitive} of {part.dtype.name}")
        self._inline(part, FUNCTIONS[part.primitive], held=True)

    def _inline(self, part: Scalar, function: Callable[..., Scalar], held: bool = False) -> None:
        """Inlines the expression of a function of the parts."""
        kept = [self._kept(each) for each in part.parts]
        operands = [operand(index, each.dtype) for index, each in enumerate(part.parts)]
        inner = Arithmetic(self.function, self.width, self.relaxed, held)
        pushes = [lambda local=local: self._emit("local.get", local) for local in kept]
        inner.push(function(*operands), pushes)
