"""Finds the large raw data, and the lists of numbers and strings, of an ONNX file without parsing
the rest, from protobuf's wire format (https://protobuf.dev/programming-guides/encoding/).

protobuf's own parser copies each tensor's bytes out of the file, and takes steps in Python for each
number or string of a list. Once their offsets are known, the rest is parsed without them; the bytes
are used in place, and NumPy decodes the numbers.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ....ops.numpy_kernels import numpy_module
from .numbers import BYTES, EIGHT, FOUR, LISTS, VARINT, Form, UnusualError, packed, run

if TYPE_CHECKING:
    from ....arrays import NumPy
    from .numbers import Numbers


# Tags, made of a field's number and its wire type: ModelProto.graph, GraphProto.initializer; the
# fields of TensorProto that hold or locate its data; the fields of StringStringEntryProto.
_GRAPH, _INITIALIZER = 7 << 3 | BYTES, 5 << 3 | BYTES
_RAW, _EXTERNAL, _LOCATION = 9 << 3 | BYTES, 13 << 3 | BYTES, 14 << 3 | VARINT
_STRINGS = 9 << 3 | BYTES  # of AttributeProto
_KEY, _VALUE = 1 << 3 | BYTES, 2 << 3 | BYTES

_MAX_FIELDS = 64  # of a tensor; a tensor with more has its numbers as single fields

Parts = list[bytes | memoryview]

StandIn = Callable[[int, int, int], bytes]
"""Maps the index of an initializer, and the offset and length of its raw data, to the tensor fields
that replace it."""


class _Field(NamedTuple):
    """A field of a message: its tag, its start, the start of its content, and the end of both."""

    tag: int
    start: int
    content: int
    end: int


Taken = dict[Any, Any]
"""What was taken out of a message. By a field's number: its raw data, a view; its numbers, an
array; its strings, a list. By a field's number and the index of a message in that field: what was
taken out of that message."""

NOTHING: Mapping[Any, Any] = {}

# The messages in messages, by the field's number; those of which there may be but one, which
# protobuf would merge with the next.
_INSIDE = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph"},
    "tensor": {},
}
_SINGLE = {("model", 7), ("attribute", 5), ("attribute", 6)}

_MIN_BYTES = 1 << 10  # of a message in which something is worth to be taken out

_LARGE = 1 << 16  # bytes of a list, for which it pays to load NumPy

_MAX_DEPTH = 100  # of messages in messages, where protobuf stops too


# Why: docs/decisions/onnx.md, "Lists of numbers and strings are taken out of a file before
# protobuf parses it"
def take_out(data: memoryview, min_raw: int, copied: bool) -> tuple[bytes | None, Taken]:
    """An ONNX model without its lists of numbers and strings, but for short ones, and without raw
    data of at least `min_raw` bytes; and what was taken out. None for bytes that only protobuf's
    parser can read, or of which nothing is taken.

    copied: whether nothing that is taken is a view of the bytes.
    """
    taken: Taken = {}
    try:
        made = _Taker(data, min_raw, copied).message("model", 0, len(data), taken, 0)
    except UnusualError:
        return None, {}
    return (b"".join(made) if taken else None), taken


class _Taker:
    """Takes numbers out of the messages of a file."""

    def __init__(self, data: memoryview, min_raw: int, copied: bool) -> None:
        self._data = data
        self._min_raw = min_raw
        self._copied = copied

    def message(self, kind: str, at: int, end: int, taken: Taken, depth: int) -> Parts:
        """A message without what is added to `taken`."""
        data, inside, lists = self._data, _INSIDE[kind], LISTS.get(kind, {})
        if depth > _MAX_DEPTH:
            raise UnusualError
        raw = _raw(data, at, end, self._min_raw) if kind == "tensor" else None
        made: Parts = []
        np = _array_library(end - at) if lists else None
        found: dict[int, list[Any]] = {}
        seen: Counter[int] = Counter()
        kept = at  # the start of what has not been added to `made`
        while at < end:
            field = _next(data, at, end)
            at, number, wire = field.end, field.tag >> 3, field.tag & 7
            new: Parts = []
            if raw is not None and field.start == raw.start:
                view = data[raw.content : raw.end]
                taken[number] = memoryview(bytes(view)) if self._copied else view
            elif number in lists and wire in (BYTES, lists[number].wire):
                numbers, at = self._numbers(np, field, lists[number], end)
                found.setdefault(number, []).append(numbers)
            elif kind == "attribute" and field.tag == _STRINGS:
                at = self._texts(field.start, end, taken.setdefault(number, []))
            elif number in inside and wire == BYTES:
                index = seen[number]
                seen[number] += 1
                if index and (kind, number) in _SINGLE:
                    raise UnusualError
                if field.end - field.content < _MIN_BYTES:
                    continue
                below: Taken = {}
                new = self.message(inside[number], field.content, field.end, below, depth + 1)
                if not below:
                    continue
                taken[number, index] = below
                new = [_head(field.tag, new), *new]
            else:
                continue
            made += [data[kept : field.start], *new]
            kept = at
        for number, parts in found.items():
            for more in parts[1:] if np is None else ():
                parts[0] += more
            taken[number] = np.concatenate(parts) if np and len(parts) > 1 else parts[0]
        return [*made, data[kept:end]]

    def _numbers(
        self, np: NumPy | None, field: _Field, form: Form, end: int
    ) -> tuple[Numbers, int]:
        """The numbers of a list that begins with a field, and where the last of them ends."""
        if field.tag & 7 == BYTES:
            numbers = packed(np, self._data[field.content : field.end], form)
            if self._copied and not isinstance(numbers, array):
                numbers = numbers.copy()
            return numbers, field.end
        return run(np, self._data, field.start, end, field.tag, form)

    def _texts(self, at: int, end: int, texts: list[bytes]) -> int:
        """Adds the strings that begin at `at`, and tells where the last one ends."""
        data, field = self._data, None
        while at < end and data[at] == _STRINGS:
            field = _next(data, at, end) if at + 1 == end or data[at + 1] > 127 else None
            start, stop = (field.content, field.end) if field else (at + 2, at + 2 + data[at + 1])
            if stop > end:
                raise UnusualError
            texts.append(bytes(data[start:stop]))
            at = stop
        return at


def _array_library(size: int) -> NumPy | None:
    """NumPy, if it is loaded, or if a message is so large that it pays to load it."""
    if sys.modules.get("numpy") or size >= _LARGE:
        with suppress(ImportError):
            return numpy_module()
    return None


def replace_raw_data(data: memoryview, min_bytes: int, stand_in: StandIn) -> bytes | None:
    """An ONNX model without the raw data of those initializers of the main graph that have at
    least `min_bytes`. None for bytes that only protobuf's parser can read.

    Apart from lengths, everything else stays the same byte for byte.
    """
    made: Parts = []
    graphs = 0
    try:
        for field in _fields(data, 0, len(data)):
            if field.tag != _GRAPH:
                made.append(data[field.start : field.end])
                continue
            graphs += 1
            if graphs > 1:  # protobuf merges them
                return None
            graph = _graph(data, field, min_bytes, stand_in)
            made += [_head(_GRAPH, graph), *graph]
    except UnusualError:
        return None
    return b"".join(made)


def external(location: str, offset: int, length: int) -> bytes:
    """The tensor fields that refer to a range of bytes in a file next to the model."""
    entries = (("location", location), ("offset", str(offset)), ("length", str(length)))
    fields = b"".join(
        _field(_EXTERNAL, _field(_KEY, key.encode()) + _field(_VALUE, value.encode()))
        for key, value in entries
    )
    return fields + bytes((_LOCATION, 1))


def _graph(data: memoryview, graph: _Field, min_bytes: int, stand_in: StandIn) -> Parts:
    made: Parts = []
    numbers = count()
    for field in _fields(data, graph.content, graph.end):
        if field.tag != _INITIALIZER:
            made.append(data[field.start : field.end])
            continue
        number = next(numbers)
        raw = _raw(data, field.content, field.end, min_bytes)
        if raw is None:
            made.append(data[field.start : field.end])
            continue
        instead = stand_in(number, raw.content, raw.end - raw.content)
        rest: Parts = [data[field.content : raw.start], data[raw.end : field.end], instead]
        made += [_head(_INITIALIZER, rest), *rest]
    return made


def _raw(data: memoryview, at: int, end: int, min_bytes: int) -> _Field | None:
    """The raw data of a tensor, if it has raw data of at least `min_bytes`."""
    if end - at < min_bytes:
        return None
    fields = list(islice(_fields(data, at, end), _MAX_FIELDS + 1))
    found = [field for field in fields if field.tag == _RAW]
    is_external = any(field.tag >> 3 in (_EXTERNAL >> 3, _LOCATION >> 3) for field in fields)
    if len(fields) > _MAX_FIELDS or len(found) != 1 or is_external:
        return None
    return found[0] if found[0].end - found[0].content >= min_bytes else None


def _fields(data: memoryview, at: int, end: int) -> Iterator[_Field]:
    """The fields of a message, in order."""
    while at < end:
        field = _next(data, at, end)
        yield field
        at = field.end


def _next(data: memoryview, at: int, end: int) -> _Field:
    """The field that begins at `at`."""
    start = at
    tag, at = _varint(data, at, end, 5)
    if not tag >> 3 or (tag < 128 and at > start + 1):
        raise UnusualError
    content, kind = at, tag & 7
    if kind == VARINT:
        _, at = _varint(data, at, end, 10)
    elif kind == EIGHT:
        at += 8
    elif kind == FOUR:
        at += 4
    elif kind == BYTES:
        length, content = _varint(data, at, end, 5)
        at = content + length
    else:
        raise UnusualError
    if at > end:
        raise UnusualError
    return _Field(tag, start, content, at)


def _varint(data: memoryview, at: int, end: int, max_bytes: int) -> tuple[int, int]:
    """A number of at most `max_bytes`, and where it ends."""
    value = 0
    for index in range(max_bytes):
        if at >= end:
            break
        byte = data[at]
        at += 1
        value |= (byte & 127) << 7 * index
        if byte < 128:
            return value, at
    raise UnusualError


def _head(tag: int, parts: Parts) -> bytes:
    """The tag and length that precede the content of a field."""
    made = bytearray()
    for number in (tag, sum(map(len, parts))):
        while number > 127:
            made.append(number & 127 | 128)
            number >>= 7
        made.append(number)
    return bytes(made)


def _field(tag: int, content: bytes) -> bytes:
    return _head(tag, [content]) + content
