"""WebAssembly modules in their binary form, assembled without any tool.

A function is a list of instructions, tuples of a name and its immediates, which `Module.encode`
turns into bytes. Names, types and encodings are those of the WebAssembly Core Specification 3.0,
chapter 5; the tables hold what Tallow generates, and what lies between.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

TYPES = {"i32": 0x7F, "i64": 0x7E, "f32": 0x7D, "f64": 0x7C, "v128": 0x7B}

I32_CONST, I64_CONST = 0x41, 0x42

_NO_RESULT = 0x40  # the type of a block without a result
_FUNCTION_TYPE = 0x60
SIMD_PREFIX = 0xFD
SATURATING_PREFIX = 0xFC


def _numbered(first: int, *names: str) -> dict[str, int]:
    """Names whose codes follow one another."""
    return {name: first + offset for offset, name in enumerate(names)}


def _compared(first: int, kind: str, signs: str = "") -> dict[str, int]:
    """Comparisons of a type, which come in the same order for each type."""
    tests = ["eq", "ne"]
    for test in ("lt", "gt", "le", "ge"):
        tests += [f"{test}_{sign}" for sign in signs] or [test]
    return _numbered(first, *(f"{kind}.{test}" for test in tests))


def _integers(first: int, kind: str) -> dict[str, int]:
    names = (
        "clz", "ctz", "popcnt", "add", "sub", "mul", "div_s", "div_u", "rem_s", "rem_u", "and",
        "or", "xor", "shl", "shr_s", "shr_u", "rotl", "rotr",
    )  # fmt: skip
    return _numbered(first, *(f"{kind}.{name}" for name in names))


def _floats(first: int, kind: str) -> dict[str, int]:
    names = (
        "abs", "neg", "ceil", "floor", "trunc", "nearest", "sqrt", "add", "sub", "mul", "div",
        "min", "max", "copysign",
    )  # fmt: skip
    return _numbered(first, *(f"{kind}.{name}" for name in names))


PLAIN = {
    "else": 0x05, "end": 0x0B, "return": 0x0F, "drop": 0x1A, "select": 0x1B,
    "i32.eqz": 0x45, "i64.eqz": 0x50,
    **_compared(0x46, "i32", "su"), **_compared(0x51, "i64", "su"),
    **_compared(0x5B, "f32"), **_compared(0x61, "f64"),
    **_integers(0x67, "i32"), **_integers(0x79, "i64"),
    **_floats(0x8B, "f32"), **_floats(0x99, "f64"),
    "i32.wrap_i64": 0xA7, "i64.extend_i32_s": 0xAC, "i64.extend_i32_u": 0xAD,
    **_numbered(0xB2, *(f"f32.convert_{kind}" for kind in ("i32_s", "i32_u", "i64_s", "i64_u"))),
    "f32.demote_f64": 0xB6,
    **_numbered(0xB7, *(f"f64.convert_{kind}" for kind in ("i32_s", "i32_u", "i64_s", "i64_u"))),
    "f64.promote_f32": 0xBB,
    **_numbered(0xBC, "i32.reinterpret_f32", "i64.reinterpret_f64"),
    **_numbered(0xBE, "f32.reinterpret_i32", "f64.reinterpret_i64"),
    **_numbered(0xC0, "i32.extend8_s", "i32.extend16_s"),
}  # fmt: skip

BLOCKS = {"block": 0x02, "loop": 0x03, "if": 0x04}

INDEXED = {
    "br": 0x0C, "br_if": 0x0D, "call": 0x10, "local.get": 0x20, "local.set": 0x21,
    "local.tee": 0x22,
}  # fmt: skip

ACCESS = {
    **_numbered(0x28, "i32.load", "i64.load", "f32.load", "f64.load", "i32.load8_s"),
    **_numbered(0x2D, "i32.load8_u", "i32.load16_s", "i32.load16_u"),
    **_numbered(0x36, "i32.store", "i64.store", "f32.store", "f64.store", "i32.store8"),
    "i32.store16": 0x3B,
}
"""Loads and stores; the immediate is an offset in bytes. Nothing is said of alignment."""

SATURATED = _numbered(
    0,
    *(f"i32.trunc_sat_{kind}" for kind in ("f32_s", "f32_u", "f64_s", "f64_u")),
    *(f"i64.trunc_sat_{kind}" for kind in ("f32_s", "f32_u", "f64_s", "f64_u")),
)

_HALVES = ("low", "high")

LANES = {
    "i16x8.splat": 0x10, "i32x4.splat": 0x11, "f32x4.splat": 0x13,
    **_compared(0x37, "i32x4", "su"), **_compared(0x41, "f32x4"),
    **_numbered(0x4D, "v128.not", "v128.and", "v128.andnot", "v128.or", "v128.xor"),
    **_numbered(0x52, "v128.bitselect", "v128.any_true"),
    **_numbered(0x65, "i8x16.narrow_i16x8_s", "i8x16.narrow_i16x8_u"),
    **_numbered(0x67, "f32x4.ceil", "f32x4.floor", "f32x4.trunc", "f32x4.nearest"),
    **_numbered(0x85, "i16x8.narrow_i32x4_s", "i16x8.narrow_i32x4_u"),
    **_numbered(0x87, *(f"i16x8.extend_{half}_i8x16_{sign}" for sign in "su" for half in _HALVES)),
    **_numbered(0x8B, "i16x8.shl", "i16x8.shr_s", "i16x8.shr_u", "i16x8.add"),
    "i16x8.sub": 0x91,
    **_numbered(0xA0, "i32x4.abs", "i32x4.neg"),
    **_numbered(0xA7, *(f"i32x4.extend_{half}_i16x8_{sign}" for sign in "su" for half in _HALVES)),
    **_numbered(0xAB, "i32x4.shl", "i32x4.shr_s", "i32x4.shr_u", "i32x4.add"),
    "i32x4.sub": 0xB1,
    **_numbered(0xB5, "i32x4.mul", "i32x4.min_s", "i32x4.min_u", "i32x4.max_s", "i32x4.max_u"),
    "i32x4.dot_i16x8_s": 0xBA, "i64x2.extmul_low_i32x4_u": 0xDE, "i64x2.extmul_high_i32x4_u": 0xDF,
    **_numbered(0xE0, "f32x4.abs", "f32x4.neg"),
    **_numbered(0xE3, "f32x4.sqrt", "f32x4.add", "f32x4.sub", "f32x4.mul", "f32x4.div"),
    **_numbered(0xE8, "f32x4.min", "f32x4.max", "f32x4.pmin", "f32x4.pmax"),
    **_numbered(0xF8, "i32x4.trunc_sat_f32x4_s", "i32x4.trunc_sat_f32x4_u"),
    **_numbered(0xFA, "f32x4.convert_i32x4_s", "f32x4.convert_i32x4_u"),
    "i32x4.relaxed_trunc_f32x4_s": 0x101, "f32x4.relaxed_madd": 0x105,
}  # fmt: skip
"""Instructions on vectors without immediates."""

LANE_ACCESS = {
    **_numbered(0x00, "v128.load", "v128.load8x8_s", "v128.load8x8_u", "v128.load16x4_s"),
    **_numbered(0x04, "v128.load16x4_u", "v128.load32x2_s", "v128.load32x2_u"),
    "v128.load32_splat": 0x09, "v128.load64_splat": 0x0A, "v128.store": 0x0B,
    **_numbered(0x5C, "v128.load32_zero", "v128.load64_zero"),
}  # fmt: skip

LANE = {
    "i32x4.extract_lane": 0x1B, "i32x4.replace_lane": 0x1C, "i64x2.extract_lane": 0x1D,
    "f32x4.extract_lane": 0x1F,
}  # fmt: skip
"""The immediate is the number of a lane."""

SIXTEEN = {"v128.const": 0x0C, "i8x16.shuffle": 0x0D}
"""The immediates are sixteen: the bytes of a vector, or numbers of bytes of two."""

FLOATS = {"f32.const": (0x43, "<f"), "f64.const": (0x44, "<d")}


def unsigned(value: int) -> bytes:
    """An unsigned LEB128."""
    assert value >= 0
    encoded = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        encoded.append(low | (0x80 if value else 0))
        if not value:
            return bytes(encoded)


def signed(value: int) -> bytes:
    """A signed LEB128."""
    encoded = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        done = value == (-1 if low & 0x40 else 0)
        encoded.append(low | (0 if done else 0x80))
        if done:
            return bytes(encoded)


@cache
def _instruction(name: str, *immediates: Any) -> bytes:
    if name in PLAIN:
        return bytes([PLAIN[name]])
    if name in INDEXED:
        return bytes([INDEXED[name]]) + unsigned(*immediates)
    if name in ACCESS:
        return bytes([ACCESS[name], 0]) + unsigned(*immediates)
    if name in BLOCKS:
        kind = TYPES[immediates[0]] if immediates else _NO_RESULT
        return bytes([BLOCKS[name], kind])
    if name == "i32.const":
        return bytes([I32_CONST]) + signed(*immediates)
    if name == "i64.const":
        return bytes([I64_CONST]) + signed(*immediates)
    if name in SATURATED:
        return bytes([SATURATING_PREFIX]) + unsigned(SATURATED[name])
    if name in LANES:
        return bytes([SIMD_PREFIX]) + unsigned(LANES[name])
    if name in LANE or name in SIXTEEN:
        return bytes([SIMD_PREFIX]) + unsigned((LANE | SIXTEEN)[name]) + bytes(immediates)
    return bytes([SIMD_PREFIX]) + unsigned(LANE_ACCESS[name]) + b"\0" + unsigned(*immediates)


def _float(name: str, value: float) -> bytes:
    """Not cached, since 0.0 and -0.0 would be one to a cache."""
    code, form = FLOATS[name]
    return bytes([code]) + struct.pack(form, value)


@dataclass
class Function:
    """A function while it is written.

    params, results, locals: types; locals are numbered after the params. exported: a name. code:
    the instructions, encoded.
    """

    params: Sequence[str]
    results: Sequence[str] = ()
    exported: str = ""
    locals: list[str] = field(default_factory=list)
    code: list[bytes] = field(default_factory=list)
    _used: list[tuple[str, int]] = field(default_factory=list)
    _free: dict[str, list[int]] = field(default_factory=dict)

    def local(self, kind: str) -> int:
        """A local variable that nothing else uses."""
        free = self._free.get(kind)
        if free:
            number = free.pop()
        else:
            self.locals.append(kind)
            number = len(self.params) + len(self.locals) - 1
        self._used.append((kind, number))
        return number

    @contextmanager
    def scope(self) -> Iterator[None]:
        """The locals that are made within are free afterwards."""
        before = len(self._used)
        yield
        for kind, number in self._used[before:]:
            self._free.setdefault(kind, []).append(number)
        del self._used[before:]

    def emit(self, name: str, *immediates: Any) -> None:
        """Adds an instruction."""
        encode = _float if name in FLOATS else _instruction
        self.code.append(encode(name, *immediates))

    def apply(
        self,
        name: str,
        *operands: int,
        number: float | None = None,
        offset: int | None = None,
        into: int | None = None,
    ) -> None:
        """Adds an instruction and, before it, what pushes its operands: these locals and then a
        number, if there is one; those before them are on the stack. offset: of a load or a store.
        into: the local that gets the result."""
        for local in operands:
            self.emit("local.get", local)
        if number is not None:
            self.emit(f"{name[:3]}.const", number)
        self.emit(name, *(() if offset is None else (offset,)))
        if into is not None:
            self.emit("local.set", into)

    @cached_property
    def body(self) -> bytes:
        """The locals and the instructions; the function must be whole."""
        groups: list[list[Any]] = []
        for kind in self.locals:
            if groups and groups[-1][1] == kind:
                groups[-1][0] += 1
            else:
                groups.append([1, kind])
        declared = [unsigned(count) + bytes([TYPES[kind]]) for count, kind in groups]
        return _sized(_vector(declared) + b"".join(self.code) + b"\x0b")


def _vector(items: Iterable[bytes]) -> bytes:
    listed = list(items)
    return unsigned(len(listed)) + b"".join(listed)


def _sized(content: bytes) -> bytes:
    return unsigned(len(content)) + content


def _section(number: int, items: Iterable[bytes]) -> bytes:
    return bytes([number]) + _sized(_vector(items))


def _text(name: str) -> bytes:
    return _sized(name.encode())


_MEMORY = _text("tallow") + _text("memory") + b"\x02"
"""The import of the memory, up to its limits."""

_BOUNDED, _SHARED = b"\x01", b"\x03"  # limits with a maximum; of a memory that threads share


def with_shared_memory(module: bytes) -> bytes:
    """The same module for a memory that threads share. Nothing else in it tells the two apart;
    web/wasm/engine.js does the same."""
    at = module.index(_MEMORY) + len(_MEMORY)
    return module[:at] + _SHARED + module[at + 1 :]


def encode(functions: Sequence[Function]) -> bytes:
    """The module of the functions. It imports its memory as "tallow" "memory"."""
    signatures = [
        bytes([_FUNCTION_TYPE])
        + _vector(bytes([TYPES[kind]]) for kind in function.params)
        + _vector(bytes([TYPES[kind]]) for kind in function.results)
        for function in functions
    ]
    kinds = list(dict.fromkeys(signatures))
    memory = _MEMORY + _BOUNDED + unsigned(0) + unsigned(1 << 16)  # pages: of any size
    exports = [
        _text(function.exported) + b"\x00" + unsigned(number)
        for number, function in enumerate(functions)
        if function.exported
    ]
    return b"".join(
        [
            b"\0asm\x01\0\0\0",
            _section(1, kinds),
            _section(2, [memory]),
            _section(3, [unsigned(kinds.index(each)) for each in signatures]),
            _section(7, exports),
            _section(10, [function.body for function in functions]),
        ]
    )
