"""The large raw data of an ONNX file, found without parsing the rest: protobuf's wire format, read
just far enough (https://protobuf.dev/programming-guides/encoding/).

protobuf's own parser copies each tensor's bytes out of the file. With the places of these bytes at
hand, the rest is parsed alone, and the bytes are used where they lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import NamedTuple

# How a field's content is written.
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5

# Tags, of a field's number and that: ModelProto.graph, GraphProto.initializer; of TensorProto,
# what says where its data lie; of StringStringEntryProto.
_GRAPH, _INITIALIZER = 7 << 3 | _BYTES, 5 << 3 | _BYTES
_RAW, _EXTERNAL, _LOCATION = 9 << 3 | _BYTES, 13 << 3 | _BYTES, 14 << 3 | _VARINT
_KEY, _VALUE = 1 << 3 | _BYTES, 2 << 3 | _BYTES

_MOST = 64  # fields of a tensor; more are numbers that lie there one by one

Parts = list[bytes | memoryview]

StandIn = Callable[[int, int, int], bytes]
"""Of the raw data of the nth initializer, at an offset, so many bytes: the fields of a tensor that
take its place."""


class _Field(NamedTuple):
    """A field of a message: its tag, where it starts, where its content does, where both end."""

    tag: int
    start: int
    content: int
    end: int


class _UnusualError(Exception):
    """A file that is damaged, or written in a way that no exporter has; protobuf tells which."""


def parted(data: memoryview, least: int, stand_in: StandIn) -> bytes | None:
    """An ONNX model without the raw data of the main graph's initializers that have `least` bytes
    or more. None for bytes that only protobuf's parser can judge.

    All else is as it was, byte for byte, but for lengths.
    """
    made: Parts = []
    graphs = 0
    try:
        for field in _fields(data, 0, len(data)):
            if field.tag != _GRAPH:
                made.append(data[field.start : field.end])
                continue
            graphs += 1
            if graphs > 1:  # which protobuf merges
                return None
            graph = _graph(data, field, least, stand_in)
            made += [_head(_GRAPH, graph), *graph]
    except _UnusualError:
        return None
    return b"".join(made)


def external(location: str, offset: int, length: int) -> bytes:
    """The fields of a tensor that say: so many bytes, in a file beside the model."""
    entries = (("location", location), ("offset", str(offset)), ("length", str(length)))
    fields = b"".join(
        _field(_EXTERNAL, _field(_KEY, key.encode()) + _field(_VALUE, value.encode()))
        for key, value in entries
    )
    return fields + bytes((_LOCATION, 1))


def _graph(data: memoryview, graph: _Field, least: int, stand_in: StandIn) -> Parts:
    made: Parts = []
    places = count()
    for field in _fields(data, graph.content, graph.end):
        if field.tag != _INITIALIZER:
            made.append(data[field.start : field.end])
            continue
        place = next(places)
        raw = _raw(data, field, least)
        if raw is None:
            made.append(data[field.start : field.end])
            continue
        instead = stand_in(place, raw.content, raw.end - raw.content)
        rest: Parts = [data[field.content : raw.start], data[raw.end : field.end], instead]
        made += [_head(_INITIALIZER, rest), *rest]
    return made


def _raw(data: memoryview, tensor: _Field, least: int) -> _Field | None:
    """The raw data of a tensor, if those are its data, and so many."""
    if tensor.end - tensor.content < least:
        return None
    fields = list(islice(_fields(data, tensor.content, tensor.end), _MOST + 1))
    found = [field for field in fields if field.tag == _RAW]
    away = any(field.tag >> 3 in (_EXTERNAL >> 3, _LOCATION >> 3) for field in fields)
    if len(fields) > _MOST or len(found) != 1 or away:
        return None
    return found[0] if found[0].end - found[0].content >= least else None


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


def _varint(data: memoryview, at: int, end: int, most: int) -> tuple[int, int]:
    """A number of at most so many bytes, and where it ends."""
    value = 0
    for place in range(most):
        if at >= end:
            break
        byte = data[at]
        at += 1
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, at
    raise _UnusualError


def _head(tag: int, parts: Parts) -> bytes:
    """What stands before the content of a field that has a length."""
    made, length = bytearray((tag,)), sum(map(len, parts))
    while length > 127:
        made.append(length & 127 | 128)
        length >>= 7
    made.append(length)
    return bytes(made)


def _field(tag: int, content: bytes) -> bytes:
    return _head(tag, [content]) + content
