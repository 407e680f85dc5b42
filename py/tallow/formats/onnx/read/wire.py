"""Finds the large raw data of an ONNX file without parsing the rest, from protobuf's wire format
(https://protobuf.dev/programming-guides/encoding/).

protobuf's own parser copies each tensor's bytes out of the file. Once their offsets are known, the
rest is parsed without them, and they are used in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import NamedTuple

# Wire types: how a field's content is encoded.
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5

# Tags, made of a field's number and its wire type: ModelProto.graph, GraphProto.initializer; the
# fields of TensorProto that hold or locate its data; the fields of StringStringEntryProto.
_GRAPH, _INITIALIZER = 7 << 3 | _BYTES, 5 << 3 | _BYTES
_RAW, _EXTERNAL, _LOCATION = 9 << 3 | _BYTES, 13 << 3 | _BYTES, 14 << 3 | _VARINT
_KEY, _VALUE = 1 << 3 | _BYTES, 2 << 3 | _BYTES

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


class _UnusualError(Exception):
    """A file that is damaged or oddly encoded; protobuf's parser decides which."""


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
    except _UnusualError:
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
        raw = _raw(data, field, min_bytes)
        if raw is None:
            made.append(data[field.start : field.end])
            continue
        instead = stand_in(number, raw.content, raw.end - raw.content)
        rest: Parts = [data[field.content : raw.start], data[raw.end : field.end], instead]
        made += [_head(_INITIALIZER, rest), *rest]
    return made


def _raw(data: memoryview, tensor: _Field, min_bytes: int) -> _Field | None:
    """The raw data of a tensor, if it has raw data of at least `min_bytes`."""
    if tensor.end - tensor.content < min_bytes:
        return None
    fields = list(islice(_fields(data, tensor.content, tensor.end), _MAX_FIELDS + 1))
    found = [field for field in fields if field.tag == _RAW]
    is_external = any(field.tag >> 3 in (_EXTERNAL >> 3, _LOCATION >> 3) for field in fields)
    if len(fields) > _MAX_FIELDS or len(found) != 1 or is_external:
        return None
    return found[0] if found[0].end - found[0].content >= min_bytes else None


def _fields(data: memoryview, at: int, end: int) -> Iterator[_Field]:
    """The fields of a message, in order."""
    while at < end:
        start = at
        tag, at = _varint(data, at, end, 5)
        if not tag >> 3 or (tag < 128 and at > start + 1):
            raise _UnusualError
        content, kind = at, tag & 7
        if kind == _VARINT:
            _, at = _varint(data, at, end, 10)
        elif kind == _EIGHT:
            at += 8
        elif kind == _FOUR:
            at += 4
        elif kind == _BYTES:
            length, content = _varint(data, at, end, 5)
            at = content + length
        else:
            raise _UnusualError
        if at > end:
            raise _UnusualError
        yield _Field(tag, start, content, at)


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
    raise _UnusualError


def _head(tag: int, parts: Parts) -> bytes:
    """The tag and length that precede the content of a field."""
    made, length = bytearray((tag,)), sum(map(len, parts))
    while length > 127:
        made.append(length & 127 | 128)
        length >>= 7
    made.append(length)
    return bytes(made)


def _field(tag: int, content: bytes) -> bytes:
    return _head(tag, [content]) + content
