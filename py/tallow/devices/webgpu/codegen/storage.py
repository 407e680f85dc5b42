"""The WGSL that reads elements from a buffer, and writes them: see layout.py."""

from __future__ import annotations

from ....codegen.index import Coord, is_multiple
from ....codegen.layout import is_packed
from ....core.dtype import DType
from .index_text import text_of
from .literal import SCALARS, type_of


def array_type(dtype: DType, width: int) -> str:
    """The element type of the binding."""
    if is_packed(dtype):
        return "u32"
    scalar = "u32" if dtype.kind == "b" else SCALARS[dtype.name]
    return {"f32": "vec4f", "i32": "vec4i", "u32": "vec4u"}[scalar] if width == 4 else scalar


def load(name: str, dtype: DType, index: Coord, width: int, declared: int) -> str:
    """Reads the `width` elements from a flat index on; `declared` is the width of the binding."""
    if is_packed(dtype):
        return _load_packed(name, dtype, index, width)
    if width == 4 and is_multiple(index, 4):
        text = f"{name}[{text_of(index // 4)}]"
        return f"({text} != vec4u())" if dtype.kind == "b" else text
    if width == 4:
        lanes = ", ".join(load(name, dtype, index + lane, 1, declared) for lane in range(4))
        return f"{type_of(dtype, 4)}({lanes})"
    if declared == 4:
        component = ".x" if is_multiple(index, 4) else f"[{text_of(index % 4)}]"
        text = f"{name}[{text_of(index // 4)}]{component}"
    else:
        text = f"{name}[{text_of(index)}]"
    return f"({text} != 0u)" if dtype.kind == "b" else text


def _load_packed(name: str, dtype: DType, index: Coord, width: int) -> str:
    if width == 4:
        if dtype.name == "float16" and is_multiple(index, 2):
            words = [f"unpack2x16float({name}[{text_of((index + s) // 2)}])" for s in (0, 2)]
            return f"vec4f({', '.join(words)})"
        if dtype.name == "bfloat16" and is_multiple(index, 2):
            return f"bitcast<vec4f>({_to_top(name, dtype, index)} & vec4u(0xffff0000))"
        if is_multiple(index, 4):
            return _load_four(name, dtype, index)
        lanes = ", ".join(_load_packed(name, dtype, index + lane, 1) for lane in range(4))
        vector = {"f": "vec4f", "i": "vec4i", "u": "vec4u"}[dtype.kind]
        return f"{vector}({lanes})"
    if dtype.name == "float16":
        return f"unpack2x16float({name}[{text_of(index // 2)}])[{text_of(index % 2)}]"
    per_word, bits = 32 // dtype.bits, dtype.bits
    word = f"{name}[{text_of(index // per_word)}]"
    if dtype.name == "bfloat16":
        return f"bitcast<f32>(({word} >> ({text_of((index % 2) * 16)})) << 16u)"
    if dtype.kind == "i":
        word = f"bitcast<i32>({word})"
    return f"extractBits({word}, {text_of((index % per_word) * bits)}, {bits}u)"


def _load_four(name: str, dtype: DType, index: Coord) -> str:
    """Integers that lie in one word or in two: to the top of a word first, then back, with the
    sign if there is one."""
    four = _to_top(name, dtype, index)
    if dtype.kind == "i":
        four = f"bitcast<vec4i>({four})"
    return f"({four} >> vec4u({32 - dtype.bits}))"


def _to_top(name: str, dtype: DType, index: Coord) -> str:
    """Four elements in the upper bits of a vec4u, with others below them.

    By multiplication: a compiler that shifts four lanes at once makes shifts of it, and one that
    shifts them one by one (SwiftShader) does better as it stands.
    """
    per_word = 32 // dtype.bits
    words = [f"{name}[{text_of((index + first) // per_word)}]" for first in range(0, 4, per_word)]
    within = (index % per_word) * dtype.bits
    if within != 0:
        words = [f"({words[0]} >> ({text_of(within)}))"]
    four = f"vec4u({words[0]})" if len(words) == 1 else f"vec2u({', '.join(words)}).xxyy"
    factors = [1 << 32 - dtype.bits * (lane % per_word + 1) for lane in range(4)]
    return f"({four} * vec4u({', '.join(map(str, factors))}))"


def store(name: str, dtype: DType, index: str, width: int, value: str) -> str:
    """Writes a value; `index` counts in groups of `width` elements."""
    if dtype.kind == "b":
        value = f"vec4u({value})" if width == 4 else f"u32({value})"
    return f"{name}[{index}] = {value};"
