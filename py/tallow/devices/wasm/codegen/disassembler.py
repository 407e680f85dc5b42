"""Modules of the assembler as text, for people."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from . import assembler

_END_OF_BLOCK = ("end", "else")


def _by_code(*tables: dict[str, int]) -> dict[int, str]:
    return {code: name for table in tables for name, code in table.items()}


_PLAIN = _by_code(assembler.PLAIN)
_INDEXED = _by_code(assembler.INDEXED)
_ACCESS = _by_code(assembler.ACCESS)
_BLOCKS = _by_code(assembler.BLOCKS)
_SATURATED = _by_code(assembler.SATURATED)
_LANES = _by_code(assembler.LANES)
_LANE = _by_code(assembler.LANE)
_SIXTEEN = _by_code(assembler.SIXTEEN)
_LANE_ACCESS = _by_code(assembler.LANE_ACCESS)
_FLOATS = {code: (name, form) for name, (code, form) in assembler.FLOATS.items()}
_TYPES = _by_code(assembler.TYPES)


class _Reader:
    """The bytes of a module, from the first one on."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.at = 0

    @property
    def more(self) -> bool:
        return self.at < len(self._content)

    def byte(self) -> int:
        self.at += 1
        return self._content[self.at - 1]

    def take(self, count: int) -> bytes:
        self.at += count
        return self._content[self.at - count : self.at]

    def unsigned(self) -> int:
        """An unsigned LEB128."""
        return self._number()[0]

    def signed(self) -> int:
        """A signed LEB128."""
        value, bits = self._number()
        return value - (1 << bits) if value >> (bits - 1) else value

    def _number(self) -> tuple[int, int]:
        """The bits of a LEB128, and how many they are."""
        value, bits = 0, 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << bits
            bits += 7
            if byte < 0x80:
                return value, bits


def disassemble(module: bytes) -> dict[str, str]:
    """The exported functions of a module that `assembler.encode` made, by name: their params and
    locals, then an instruction per line, indented by blocks, in the notation of the WebAssembly
    Core Specification 3.0, chapter 6."""
    reader = _Reader(module)
    reader.take(8)  # the magic number and the version
    sections = {}
    while reader.more:
        number = reader.byte()
        sections[number] = _Reader(reader.take(reader.unsigned()))
    types = list(_types(sections[1]))
    kinds = [types[kind] for kind in _numbers(sections[3])]
    names = dict(_exports(sections[7]))
    code = sections[10]
    texts = {}
    for number in range(code.unsigned()):
        body = _Reader(code.take(code.unsigned()))
        if number in names:
            texts[names[number]] = "\n".join(_lines(body, *kinds[number]))
    return texts


def _types(reader: _Reader) -> Iterator[tuple[list[str], list[str]]]:
    """The params and results of each type of function."""
    for _ in range(reader.unsigned()):
        reader.byte()  # a function's
        yield (
            [_TYPES[reader.byte()] for _ in range(reader.unsigned())],
            [_TYPES[reader.byte()] for _ in range(reader.unsigned())],
        )


def _numbers(reader: _Reader) -> Iterator[int]:
    for _ in range(reader.unsigned()):
        yield reader.unsigned()


def _exports(reader: _Reader) -> Iterator[tuple[int, str]]:
    for _ in range(reader.unsigned()):
        name = reader.take(reader.unsigned()).decode()
        reader.byte()  # a function
        yield reader.unsigned(), name


def _lines(body: _Reader, params: list[str], results: list[str]) -> Iterator[str]:
    if params:
        yield f"(param {' '.join(params)})"
    if results:
        yield f"(result {' '.join(results)})"
    for _ in range(body.unsigned()):
        count, kind = body.unsigned(), _TYPES[body.byte()]
        yield f"(local {' '.join([kind] * count)})"
    depth = 0
    while True:
        name, *immediates = _instruction(body)
        if not body.more:
            return  # the function's own end
        depth -= name in _END_OF_BLOCK
        yield "  " * depth + " ".join([name, *immediates])
        depth += name in assembler.BLOCKS or name == "else"


def _instruction(body: _Reader) -> list[str]:
    """A name and its immediates."""
    code = body.byte()
    if code in _PLAIN:
        return [_PLAIN[code]]
    if code in _INDEXED:
        return [_INDEXED[code], str(body.unsigned())]
    if code in _ACCESS:
        return [_ACCESS[code], *_offset(body)]
    if code in _BLOCKS:
        kind = _TYPES.get(body.byte())
        return [_BLOCKS[code], *([f"(result {kind})"] if kind else [])]
    if code in _FLOATS:
        name, form = _FLOATS[code]
        (value,) = struct.unpack(form, body.take(struct.calcsize(form)))
        return [name, repr(value)]
    if code == assembler.I32_CONST:
        return ["i32.const", str(body.signed())]
    if code == assembler.I64_CONST:
        return ["i64.const", str(body.signed())]
    second = body.unsigned()
    if code == assembler.SATURATING_PREFIX:
        return [_SATURATED[second]]
    if second in _LANES:
        return [_LANES[second]]
    if second in _LANE:
        return [_LANE[second], str(body.byte())]
    if second in _SIXTEEN:
        return [_SIXTEEN[second], *map(str, body.take(16))]
    return [_LANE_ACCESS[second], *_offset(body)]


def _offset(body: _Reader) -> list[str]:
    body.unsigned()  # the alignment, of which nothing is said
    offset = body.unsigned()
    return [f"offset={offset}"] if offset else []
