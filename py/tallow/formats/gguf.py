"""GGUF: metadata and tensors of the ggml family, some of them quantised by blocks
(github.com/ggml-org/ggml, docs/gguf.md; versions 2 and 3, little-endian).

    "GGUF", version, number of tensors, number of metadata
    metadata     a text, the number of a type, a value: integers, floats, texts, lists of such
    tensors      a text, the lengths of the axes (the last one first), a type, an offset
    data         from the next multiple of general.alignment on; offsets count from there
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core import dtype as dt
from ..core.codes import packed_bytes
from ..core.drivers import Steps
from ..core.shape import Shape, size_of
from ..errors import FormatError
from ..files.ranges import Ranges
from .arrays import checked_shape
from .blocks import BLOCKS
from .headers import CutShortError, TensorInfo, check_apart, header

MAGIC = b"GGUF"

PLAIN = {
    0: ("F32", dt.float32), 1: ("F16", dt.float16), 24: ("I8", dt.int8), 25: ("I16", dt.int16),
    26: ("I32", dt.int32), 27: ("I64", dt.int64), 28: ("F64", dt.float64),
    30: ("BF16", dt.bfloat16),
}  # fmt: skip
"""Types of elements that stand alone, by their numbers."""

_OTHERS = {
    9: "Q8_1", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 21: "IQ3_S",
    22: "IQ2_S", 23: "IQ4_XS", 29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4",
}  # fmt: skip
"""Types of the format that are not read."""

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 10: "Q", 11: "q", 12: "d"}
_BOOL, _TEXT, _LIST = 7, 8, 9
"""Types of metadata, by their numbers; of numbers the letter in `struct` and `array`."""

_DEEPEST = 4
"""Lists within lists; files have one level."""

_AXES = 4
_ALIGNMENT, _LARGEST_ALIGNMENT = 32, 1 << 24
_LONGEST_NAME = 1 << 16


_PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf", re.S)


def parts_of(name: str) -> list[str]:
    """The names of all parts of a split file, by that of one, such as m-00002-of-00003.gguf, as
    llama.cpp's gguf-split gives them; of a file that is whole, its own."""
    found = _PART.fullmatch(name)
    count = int(found[3]) if found else 0
    if found is None or not 1 <= int(found[2]) <= count:
        return [name]
    return [f"{found[1]}-{part:05}-of-{count:05}.gguf" for part in range(1, count + 1)]


@dataclass(frozen=True)
class Header:
    """metadata: numbers, truth values, texts, lists of texts, and arrays (`array.array`) of
    numbers. tensors: by name, in the order of the file."""

    version: int
    metadata: Mapping[str, Any]
    tensors: Mapping[str, TensorInfo]


def read_header(source: Ranges) -> Steps[Header]:
    """The header of a file. Raises FormatError for anything but a sound one."""
    return (yield from header(source, lambda data, size: _parsed(data, size, source.name)))


def _parsed(data: bytes, size: int, source: str) -> Header:
    reader = _Reader(data, size, source)
    if reader.take(4, "the beginning") != MAGIC:
        raise FormatError(f"{source}: is no GGUF file")
    version = reader.integer("I", "the version")
    if version not in (2, 3):
        swapped = int.from_bytes(version.to_bytes(4, "little"), "big")
        if swapped in (1, 2, 3):
            raise FormatError(f"{source}: is GGUF in big-endian order, which is not read")
        raise FormatError(f"{source}: is of version {version} of GGUF; 2 and 3 are read")
    tensors = reader.integer("Q", "the number of tensors")
    entries = reader.integer("Q", "the number of metadata")
    reader.expect(tensors, 8 + 4 + 4 + 8, "the number of tensors")
    reader.expect(entries, 8 + 4 + 1, "the number of metadata")
    metadata: dict[str, Any] = {}
    for _ in range(entries):
        key = reader.name("a name of the metadata")
        value = reader.value(reader.integer("I", f"{key!r:.80}"), key)
        if key in metadata:
            raise FormatError(f"{source}: the metadata have {key!r:.80} twice")
        metadata[key] = value
    found: dict[str, TensorInfo] = {}
    for _ in range(tensors):
        name = reader.name("the name of a tensor")
        if name in found:
            raise FormatError(f"{source}: two tensors are called {name!r:.80}")
        found[name] = _tensor(reader, name, source)
    start = _aligned(reader.at, _alignment(metadata, source))
    found = _placed(found, start, _alignment(metadata, source), size, source)
    check_apart(found.values(), source)
    return Header(version, metadata, found)


def _alignment(metadata: Mapping[str, Any], source: str) -> int:
    found = metadata.get("general.alignment", _ALIGNMENT)
    if type(found) is not int or not 0 < found <= _LARGEST_ALIGNMENT or found & found - 1:
        raise FormatError(f"{source}: general.alignment is {found!r:.40}, not a power of two")
    return found


def _aligned(at: int, alignment: int) -> int:
    return -(-at // alignment) * alignment


def _tensor(reader: _Reader, name: str, source: str) -> TensorInfo:
    """An entry of the table; its `start` is still the offset within the data."""
    shown = f"{name!r:.80}"
    what = f"{source}: {shown}"
    axes = reader.integer("I", shown)
    if axes > _AXES:
        raise FormatError(f"{what}: {axes} axes; {_AXES} at most")
    lengths = [reader.integer("Q", shown) for _ in range(axes)]
    number, offset = reader.integer("I", shown), reader.integer("Q", shown)
    shape = checked_shape(lengths[::-1], what)
    if number in PLAIN:
        kind, dtype = PLAIN[number]
        return TensorInfo(name, shape, kind, dtype, offset, packed_bytes(dtype, size_of(shape)))
    if number not in BLOCKS:
        known = _OTHERS.get(number)
        readable = ", ".join(
            [kind for kind, _ in PLAIN.values()] + [b.name for b in BLOCKS.values()]
        )
        given = f"blocks of {known}" if known else f"a type of the unknown number {number}"
        raise FormatError(f"{what}: {given}, which are not read; {readable} are")
    return TensorInfo(
        name, shape, BLOCKS[number].name, dt.float32, offset, _block_bytes(number, shape, what)
    )


def _block_bytes(number: int, shape: Shape, what: str) -> int:
    block = BLOCKS[number]
    if not shape or shape[-1] % block.length:
        raise FormatError(
            f"{what}: rows of shape {shape} are not whole blocks of {block.length} ({block.name})"
        )
    return size_of(shape) // block.length * block.nbytes


def _placed(
    found: Mapping[str, TensorInfo], start: int, alignment: int, size: int, source: str
) -> dict[str, TensorInfo]:
    """The tensors at their places in the file, which they are checked to be within."""
    placed = {}
    for name, each in found.items():
        if each.start % alignment:
            raise FormatError(
                f"{source}: {name!r:.80} lies at {each.start}, no multiple of {alignment}"
            )
        at = start + each.start
        if at + each.nbytes > size:
            raise FormatError(
                f"{source}: {name!r:.80} needs the bytes {at:,} to {at + each.nbytes:,}, "
                f"and the file has {size:,}: it is cut short, or damaged"
            )
        placed[name] = TensorInfo(name, each.shape, each.kind, each.dtype, at, each.nbytes)
    return placed


class _Reader:
    """Takes values from the beginning of a file, one after the other."""

    def __init__(self, data: bytes, size: int, source: str) -> None:
        self._data, self._size, self._source = data, size, source
        self.at = 0

    def expect(self, count: int, least: int, what: str) -> None:
        """FormatError if as many values of so many bytes at least do not fit the file."""
        if count * least > self._size - self.at:
            raise FormatError(
                f"{self._source}: {what}: {count} of them need more bytes than the file has"
            )

    def take(self, length: int, what: str) -> bytes:
        """The next bytes. CutShortError if they are still to be read, FormatError if the file has
        none."""
        self.expect(length, 1, what)
        end = self.at + length
        if end > len(self._data):
            raise CutShortError(end)
        found = self._data[self.at : end]
        self.at = end
        return found

    def integer(self, code: str, what: str) -> int:
        """A number of a type of `struct`."""
        found: int = struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}"), what))[0]
        return found

    def text(self, what: str) -> str:
        """A text: its length, and UTF-8."""
        content = self.take(self.integer("Q", what), what)
        try:
            return str(content, "utf-8")
        except UnicodeDecodeError as error:
            raise self._no_utf8(what) from error

    def name(self, what: str) -> str:
        """A text that names something."""
        found = self.text(what)
        if not found or len(found) > _LONGEST_NAME:
            raise FormatError(f"{self._source}: {what} has {len(found):,} letters")
        return found

    def value(self, kind: int, key: str, depth: int = 0) -> Any:
        """A value of the metadata."""
        what = f"{key!r:.80}"
        if kind in _NUMBERS:
            return self.integer(_NUMBERS[kind], what)
        if kind == _BOOL:
            return self._truth(self.take(1, what), what)[0]
        if kind == _TEXT:
            return self.text(what)
        if kind != _LIST:
            raise FormatError(f"{self._source}: {what}: the type {kind} of metadata is unknown")
        if depth == _DEEPEST:
            raise FormatError(f"{self._source}: {what}: lists lie {_DEEPEST} deep in each other")
        inner, count = self.integer("I", what), self.integer("Q", what)
        if inner in _NUMBERS:
            code = _NUMBERS[inner]
            self.expect(count, struct.calcsize(f"<{code}"), what)
            return array(code, self.take(count * struct.calcsize(f"<{code}"), what))
        if inner == _BOOL:
            return self._truth(self.take(count, what), what)
        self.expect(count, 12 if inner == _LIST else 8, what)
        if inner == _TEXT:
            return self._texts(count, what)
        return [self.value(inner, key, depth + 1) for _ in range(count)]

    def _texts(self, count: int, what: str) -> list[str]:
        """As many texts. A vocabulary has many, so they take no call each."""
        found: list[str] = []
        data, at, size = self._data, self.at, len(self._data)
        length_at = struct.Struct("<Q").unpack_from
        try:
            for _ in range(count):
                start = at + 8
                end = start + length_at(data, at)[0] if start <= size else start
                if end > size:
                    self.expect(end - self.at, 1, what)
                    raise CutShortError(end)
                found.append(data[start:end].decode())
                at = end
        except UnicodeDecodeError as error:
            raise self._no_utf8(what) from error
        self.at = at
        return found

    def _no_utf8(self, what: str) -> FormatError:
        return FormatError(f"{self._source}: {what}: a text is not UTF-8")

    def _truth(self, content: bytes, what: str) -> list[bool]:
        if content and max(content) > 1:
            raise FormatError(f"{self._source}: {what}: a truth value is neither 0 nor 1")
        return [each == 1 for each in content]
