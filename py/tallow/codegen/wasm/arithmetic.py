"""The arithmetic of ops (scalar.py) as WebAssembly: one element, or four in a vector.

Elements of fewer than 32 bits are computed as i32 and wrapped to their range after each operation
that may leave it. A bool is 0 or 1; in a vector, no bit or all bits of its lane.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ...dtype import DType
from ...scalar import Scalar, operand
from ..approximations import FUNCTIONS
from .assembler import Function


class UnsupportedError(Exception):
    """Something that this code generator does not print; caught within codegen/wasm."""


def kind_of(dtype: DType, width: int = 1) -> str:
    """The type of a value: one element, or four."""
    if width == 4:
        if dtype.size != 4 and dtype.kind != "b":
            raise UnsupportedError(f"vectors of {dtype.name}")
        return "v128"
    if dtype.kind == "f":
        return "f64" if dtype.size == 8 else "f32"
    return "i64" if dtype.size == 8 else "i32"


def constant(function: Function, value: Any, dtype: DType, width: int = 1) -> None:
    """Pushes a number."""
    if dtype.kind == "b":
        function.emit("i32.const", (-1 if width == 4 else 1) if value else 0)
    elif dtype.kind == "f":
        function.emit(f"{kind_of(dtype)}.const", _single(value) if dtype.size < 8 else value)
    else:
        size = 8 * dtype.size
        wrapped = int(value) & (1 << size) - 1
        negative = wrapped >> size - 1 and (dtype.kind == "i" or dtype.size >= 4)
        function.emit(f"{kind_of(dtype)}.const", wrapped - (1 << size) if negative else wrapped)
    if width == 4:
        function.emit("f32x4.splat" if dtype.kind == "f" else "i32x4.splat")


def _single(value: float) -> float:
    limit = 3.4028235677973366e38  # from here on it is rounded to infinity
    return math.copysign(math.inf, value) if abs(value) >= limit else float(value)


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

_LANES = {**_INTEGER, "minimum": "min_?", "maximum": "max_?"}

_MAY_LEAVE = frozenset(
    ("add", "subtract", "multiply", "negate", "absolute", "invert", "shift_left", "quotient")
)
"""What may give an integer beyond the range of its operands' type."""


class Arithmetic:
    """Prints expressions into a function.

    width: 1, or 4 elements in a vector. relaxed: whether the engine has relaxed SIMD.
    """

    def __init__(self, function: Function, width: int = 1, relaxed: bool = False) -> None:
        self.function = function
        self.width = width
        self.relaxed = relaxed
        self._emit = function.emit
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
            self.wrap(part.dtype)

    def _shape(self, dtype: DType) -> str:
        """What the names of instructions on values of a type begin with."""
        kind = kind_of(dtype, self.width)
        if kind != "v128":
            return kind
        return "f32x4" if dtype.kind == "f" else "i32x4"

    def _each(self, part: Scalar) -> None:
        for each in part.parts:
            self._push(each)

    def wrap(self, dtype: DType) -> None:
        """Brings the integer on the stack into the range of a type of fewer bits."""
        if not dtype.is_integer or dtype.size >= 4:
            return
        if dtype.kind == "i":
            self._emit(f"i32.extend{8 * dtype.size}_s")
        else:
            self._emit("i32.const", (1 << 8 * dtype.size) - 1)
            self._emit("i32.and")

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
            self._emit("local.get", local)
            self._emit(f"{kind}.sub")
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
            for _ in range(2):
                self._emit("local.get", local)
            self._emit(f"{kind}.ne")
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
            for _ in range(2):
                self._emit("local.get", local)
            self._emit(f"{shape}.ne")
            self._emit("v128.bitselect")

    def _clamp(self, part: Scalar) -> None:
        x, low, high = part.parts
        shape = self._shape(part.dtype)
        if part.dtype.kind != "f":
            raise UnsupportedError("clamp of integers")
        self._push(x)
        self._push(low)
        self._emit(f"{shape}.max")
        self._push(high)
        self._emit(f"{shape}.min")

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

    def _quotient(self, part: Scalar) -> None:
        """Division faults at 0, and where the result has no place: by -1 it is a negation."""
        x, y = self._divided(part)
        kind, signed = kind_of(part.dtype), part.dtype.kind == "i"
        if signed:
            self._zero(part.dtype)
            self._emit("local.get", x)
            self._emit(f"{kind}.sub")
        self._emit("local.get", x)
        self._divisor(y, kind, -1 if signed else 0)
        self._emit(f"{kind}.div_{'s' if signed else 'u'}")
        if signed:
            self._emit("local.get", y)
            self._emit(f"{kind}.const", -1)
            self._emit(f"{kind}.eq")
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
            self._emit("local.get", y)
            self._emit(f"{kind}.const", test)
            self._emit(f"{kind}.eq")
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
            self._emit(f"{kind_of(part.dtype)}.const", -1)
            self._emit(f"{kind_of(part.dtype)}.xor")

    def _is_nan(self, part: Scalar) -> None:
        local = self._kept(part.parts[0])
        for _ in range(2):
            self._emit("local.get", local)
        self._emit(f"{self._shape(part.parts[0].dtype)}.ne")

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
        (x,) = part.parts
        self._push(x)
        if part.dtype.size < 4 and part.dtype != x.dtype:
            if "f" in (part.dtype.kind, x.dtype.kind):
                raise UnsupportedError(f"bits of {x.dtype.name} as {part.dtype.name}")
            self.wrap(part.dtype)
            return
        target, source = kind_of(part.dtype, self.width), kind_of(x.dtype, self.width)
        if target != source:
            self._emit(f"{target}.reinterpret_{source}")

    def _cast(self, part: Scalar) -> None:
        (x,), target = part.parts, part.dtype
        source = x.dtype
        self._push(x)
        if source == target:
            return
        if self.width == 4:
            self._cast_lanes(source, target)
        elif target.kind == "b":
            self._zero(source)
            self._emit(f"{kind_of(source)}.ne")
        else:
            self._cast_one(source, target)

    def _cast_one(self, source: DType, target: DType) -> None:
        old, new = kind_of(source), kind_of(target)
        if target.name == "float16":
            raise UnsupportedError("float16")
        sign = "s" if source.kind == "i" else "u"
        if source.kind == "f" and target.kind == "f":
            if old != new:
                self._emit("f64.promote_f32" if new == "f64" else "f32.demote_f64")
        elif source.kind == "f":
            # To fewer bits than 64 by way of all of them, as C does: what is beyond wraps around.
            if target.kind == "u" and target.size == 8:
                self._to_unsigned_64(old)
            else:
                self._emit(f"i64.trunc_sat_{old}_s")
            if new == "i32":
                self._emit("i32.wrap_i64")
        elif target.kind == "f":
            self._emit(f"{new}.convert_{old}_{sign}")
        elif old != new:
            self._emit(f"i64.extend_i32_{sign}" if new == "i64" else "i32.wrap_i64")
        if source.kind == "f" or target.size < source.size or source.kind != target.kind:
            self.wrap(target)

    def _to_unsigned_64(self, kind: str) -> None:
        """A float on the stack as uint64; a negative one wraps around."""
        local = self.function.local(kind)
        self._emit("local.tee", local)
        self._emit(f"i64.trunc_sat_{kind}_s")
        self._emit("local.get", local)
        self._emit(f"i64.trunc_sat_{kind}_u")
        self._emit("local.get", local)
        self._emit(f"{kind}.const", 0.0)
        self._emit(f"{kind}.lt")
        self._emit("select")

    def _cast_lanes(self, source: DType, target: DType) -> None:
        if source.kind == "b":  # all bits, or none
            constant(self.function, 1, target, 4)
            self._emit("v128.and")
        elif target.kind == "b":
            self._zero(source)
            self._emit(f"{self._shape(source)}.ne")
        elif source.kind == "f" and target.kind != "f":
            # They would saturate, unlike one element, which wraps around.
            raise UnsupportedError("vectors from floating to integer")
        elif source.kind != "f" and target.kind == "f":
            self._emit(f"f32x4.convert_i32x4_{'s' if source.kind == 'i' else 'u'}")

    def _approximate(self, part: Scalar) -> None:
        """A function by its expression, in a place of its own."""
        if part.dtype.size != 4:
            raise UnsupportedError(f"{part.primitive} of {part.dtype.name}")
        kept = [self._kept(each) for each in part.parts]
        operands = [operand(index, each.dtype) for index, each in enumerate(part.parts)]
        inner = Arithmetic(self.function, self.width, self.relaxed)
        pushes = [lambda local=local: self._emit("local.get", local) for local in kept]
        inner.push(FUNCTIONS[part.primitive](*operands), pushes)
