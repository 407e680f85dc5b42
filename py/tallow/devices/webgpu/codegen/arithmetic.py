"""The arithmetic of ops (scalar.py) as WGSL.

What a record says is printed once for each type and width, as a Template: text with {0}, {1} ...
where the operands go. A short expression stands as it is; a longer one becomes a function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ....codegen.approximations import FUNCTIONS
from ....core.dtype import DType, device_type
from ....ops.kinds import Elementwise, Reduce
from ....scalar import Loop, Scalar, operand
from .functions import APPROXIMATED, HELPERS, LESS_PRECISE
from .literal import is_nan, magnitude, number, splat, suffix_of, type_of

_INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "quotient": "/", "remainder": "%",
    "equal": "==", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "and": "&", "or": "|", "xor": "^", "shift_left": "<<", "shift_right": ">>",
}  # fmt: skip

_CALLED = {
    "minimum": "min",
    "maximum": "max",
    "absolute": "abs",
    "count_leading_zeros": "countLeadingZeros",
}
"""WGSL's names of the primitives that it calls otherwise."""

_LOSES_NAN = frozenset(
    ("minimum", "maximum", "clamp", "sign", "exp", "atan", "sinh", "cosh", "tanh")
)
"""The primitives for which a WGSL compiler may answer NaN with a number."""

_ACROSS = {
    "add": "subgroupAdd",
    "multiply": "subgroupMul",
    "maximum": "subgroupMax",
    "minimum": "subgroupMin",
    "greater": "subgroupMax",
    "less": "subgroupMin",
}
"""What folds the elements of a subgroup as the primitive folds two, or as a test chooses."""

_LONGEST = 2  # primitives of an expression that needs no function


@dataclass(frozen=True)
class Template:
    """WGSL of a number of operands: text for `str.format`, and the functions that it calls.

    loses_nan: whether the NaN of an operand may be lost.
    """

    text: str
    functions: dict[str, str] = field(default_factory=dict)
    loses_nan: bool = False


@cache
def elementwise(
    op: Elementwise,
    operands: tuple[DType, ...],
    result: DType,
    width: int,
    builtins: bool = False,
) -> Template:
    """The WGSL of an op for operands of such types, `width` elements side by side. builtins: by
    WGSL's own functions where these are only less precise than ours."""
    names = parameters(op.scalar)
    values = [
        operand(index, device_type(dtype), name)
        for index, (dtype, name) in enumerate(zip(operands, names, strict=False))
    ]
    attrs = {"dtype": device_type(result)} if "dtype" in names else {}
    return template(op.name, op.scalar(*values, **attrs), values, width, builtins)


@cache
def combination(op: Reduce, dtype: DType, width: int) -> Template:
    """The WGSL that folds an element, {1}, into what was folded before, {0}."""
    values = [operand(index, device_type(dtype), "ab"[index]) for index in range(2)]
    return template(f"{op.name}_fold", op.combine(*values), values, width)


def across(op: Reduce, dtype: DType) -> str:
    """The subgroup operation that folds as a reduction does."""
    values = [operand(index, device_type(dtype)) for index in range(2)]
    return _ACROSS[op.combine(*values).primitive]


def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's parameters; x, y, ... where it does not tell: of the functions of
    `operator`, and of users' expressions (custom.py), whose names WGSL may reserve."""
    code = getattr(function, "__code__", None)
    return code.co_varnames[: code.co_argcount] if code else ("x", "y", "z", "w", "a", "b", "c")


def template(
    name: str, expression: Scalar, operands: list[Scalar], width: int, builtins: bool = False
) -> Template:
    """An expression printed; `name` is that of a function, if it needs one. builtins: see
    `elementwise`."""
    uses = _uses(expression)
    loses_nan = any(each.primitive in _LOSES_NAN and each.dtype.is_floating for each in uses)
    printer = _Printer(uses, width, builtins)
    primitives = [each for each in uses if each.primitive not in ("operand", "number")]
    if len(primitives) <= _LONGEST:
        for value in operands:
            printer.names[value] = f"{{{value.value}}}"
        return Template(printer.text(expression), printer.functions, loses_nan)
    suffix = suffix_of(operands[0].dtype, width)
    called = f"{name}_{suffix}"
    for value in operands:
        printer.names[value] = value.name
    result = _bare(printer.text(expression))
    typed = ", ".join(f"{each.name}: {type_of(each.dtype, width)}" for each in operands)
    head = f"fn {called}({typed}) -> {type_of(expression.dtype, width)} {{"
    body = "\n".join(f"    {line}" for line in [*printer.lines, f"return {result};"])
    arguments = ", ".join(f"{{{value.value}}}" for value in operands)
    functions = {**printer.functions, f"fn {called}": f"{head}\n{body}\n}}"}
    return Template(f"{called}({arguments})", functions, loses_nan)


def _uses(expression: Scalar) -> Counter[Scalar]:
    """How often each part of an expression is used, in the order in which they are needed."""
    uses: Counter[Scalar] = Counter()

    def visit(part: Scalar) -> None:
        if part not in uses:
            for each in part.parts:
                visit(each)
            if part.primitive == "loop":
                made: Loop = part.value[0]
                for each in (made.again, *made.after):
                    visit(each)
        uses[part] += 1

    visit(expression)
    return uses


class _Printer:
    """Prints parts of an expression; what has a name, or is used twice, becomes a statement."""

    def __init__(self, uses: Counter[Scalar], width: int, builtins: bool) -> None:
        self.uses = uses
        self.width = width
        self.builtins = builtins
        self.lines: list[str] = []
        self.functions: dict[str, str] = {}
        self.names: dict[Scalar, str] = {}
        self.loops: dict[Loop, list[str]] = {}

    def text(self, part: Scalar) -> str:
        """The part as an expression; the statements that it needs are written first."""
        if part in self.names:
            return self.names[part]
        if part.primitive == "number":
            return self._number(part)
        if part.primitive == "loop":
            made, index = part.value
            return str(self._variables(made)[index])
        text = self._primitive(part)
        if part.name or self.uses[part] > 1:
            name = part.name or self._fresh()
            self.lines.append(f"let {name} = {_bare(text)};")
            self.names[part] = text = name
        return text

    def _fresh(self) -> str:
        return f"v{sum(name.startswith('v') for name in self.names.values()) + 1}"

    def _number(self, part: Scalar) -> str:
        bits = part.dtype.kind == "u" and part.value > 0xFFFF
        text = f"{part.value:#x}u" if bits else number(part.value, part.dtype)
        return splat(_bare(text), part.dtype, 4) if self.width == 4 else text

    def _primitive(self, part: Scalar) -> str:
        parts = [self.text(each) for each in part.parts]
        arguments = ", ".join(map(_bare, parts))
        name, kind = part.primitive, type_of(part.dtype, self.width)
        ours = not (self.builtins and name in LESS_PRECISE)
        if ours and name in HELPERS:
            return f"{self._helper(part)}({arguments})"
        if ours and name in APPROXIMATED:
            values = [operand(0, each.dtype, "x") for each in part.parts]
            made = template(name, FUNCTIONS[name](*values), values, self.width, self.builtins)
            self.functions.update(made.functions)
            return made.text.format(arguments)
        if name == "remainder" and part.dtype.kind == "i":  # % of negative numbers is undefined
            return f"({parts[0]} - {parts[1]} * ({parts[0]} / {parts[1]}))"  # on some drivers
        if name == "xor" and part.dtype.kind == "b":
            return f"({parts[0]} != {parts[1]})"
        if name in _INFIX:
            return f"({f' {_INFIX[name]} '.join(parts)})"
        if name == "negate":
            return f"(-{parts[0]})"
        if name == "invert":
            return f"({'!' if part.dtype.kind == 'b' else '~'}{parts[0]})"
        if name == "select":
            return f"select({', '.join(map(_bare, reversed(parts)))})"
        if name == "cast":
            return f"{kind}({arguments})"
        if name == "bitcast":
            return f"bitcast<{kind}>({arguments})"
        if name == "is_nan":
            return is_nan(parts[0], self.width)
        if name == "is_inf":
            words = "vec4u" if self.width == 4 else "u32"
            return f"({magnitude(parts[0], self.width)} == {words}(0x7f800000u))"
        return f"{_CALLED.get(name, name)}({arguments})"

    def _helper(self, part: Scalar) -> str:
        """The name of the function that computes a primitive."""
        suffix = suffix_of(part.dtype, self.width)
        text = HELPERS[part.primitive].strip()
        words = "vec4u" if self.width == 4 else "u32"
        meanings = {"{T}": type_of(part.dtype, self.width), "{U}": words, "{S}": suffix}
        for mark, meaning in meanings.items():
            text = text.replace(mark, meaning)
        name = f"{part.primitive}_{suffix}"
        self.functions[f"fn {name}"] = text
        return name

    def _variables(self, made: Loop) -> list[str]:
        """The variables that hold a loop's values, after its statements are written."""
        if made not in self.loops:
            first = sum(map(len, self.loops.values()))
            names = [
                state.name or f"state{number}" for number, state in enumerate(made.states, first)
            ]
            for name, state, initial in zip(names, made.states, made.initial, strict=True):
                self.lines.append(f"var {name} = {_bare(self.text(initial))};")
                self.names[state] = name
            outside, self.lines = self.lines, []
            again = self.text(made.again)
            assert not self.lines, "a loop's condition is one expression"
            after = [_bare(self.text(each)) for each in made.after]
            inside, self.lines = self.lines, outside
            self.lines.append(f"while (any({_bare(again)})) {{")
            # The first value changes when those after it have been computed.
            values = [after[0], *(f"next_{name}" for name in names[1:])]
            inside += [
                f"let {value} = {text};" for value, text in zip(values[1:], after[1:], strict=True)
            ]
            changes = [f"{name} = {value};" for name, value in zip(names, values, strict=True)]
            self.lines += ["    " + line for line in [*inside, *changes]] + ["}"]
            self.loops[made] = names
        return self.loops[made]


def _bare(text: str) -> str:
    """The text without parentheses around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if at == len(text) - 1 else text
    return text
