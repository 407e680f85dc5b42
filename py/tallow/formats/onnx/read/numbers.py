"""Decodes lists of numbers in protobuf's wire format with NumPy: packed ones, and runs of single
fields, as ONNX writes those of attributes. protobuf's Python makes an object of each number.

Where NumPy is missing, as in a page that has not loaded it, a regular expression finds the numbers,
and each different one is decoded once.
"""

from __future__ import annotations

import re
from array import array
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from ....arrays import Array, NumPy

Numbers: TypeAlias = "Array | array[float]"

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
"""Wire types: how a field's content is encoded."""


class UnusualError(Exception):
    """A file that is damaged or oddly encoded; protobuf's parser decides which."""


class Form(NamedTuple):
    """How numbers are stored: the wire type of each, and NumPy's type."""

    wire: int
    dtype: str

    @property
    def size(self) -> int:
        """The bytes of a number."""
        return int(self.dtype[2:])

    @property
    def code(self) -> str:
        """Python's code of the type, for `array`."""
        return {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "<u8": "Q"}[self.dtype]


LISTS = {
    "tensor": {
        4: Form(FOUR, "<f4"),
        5: Form(VARINT, "<i4"),
        7: Form(VARINT, "<i8"),
        10: Form(EIGHT, "<f8"),
        11: Form(VARINT, "<u8"),
    },
    "attribute": {7: Form(FOUR, "<f4"), 8: Form(VARINT, "<i8")},
}
"""The lists of numbers in a TensorProto and an AttributeProto, by the field's number."""

_WINDOW = 1 << 8
"""Bytes in which a run of fields is looked for first."""

_LONGEST = 11
"""The bytes of the longest field: with fewer left, a run may go on behind them."""


def packed(np: NumPy | None, data: memoryview, form: Form) -> Numbers:
    """The numbers of a packed field, an array of NumPy's, or of Python's if `np` is None."""
    if form.wire != VARINT:
        if len(data) % form.size:
            raise UnusualError
        return array(form.code, bytes(data)) if np is None else np.frombuffer(data, form.dtype)
    if np is None:
        found = _VARINT.findall(data)
        if sum(map(len, found)) != len(data):
            raise UnusualError
        return _decoded(found, form)
    raw = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(raw < 128)
    if raw.size and (not ends.size or ends[-1] != raw.size - 1):
        raise UnusualError
    return _varints(np, raw, np.concatenate(([0], ends[:-1] + 1))[: ends.size], ends, form)


def run(
    np: NumPy | None, data: memoryview, at: int, end: int, tag: int, form: Form
) -> tuple[Numbers, int]:
    """The numbers of the single fields of one tag that begin at `at`, and where the last one ends.

    `tag` takes one byte. The first field is known to be whole.
    """
    size = _WINDOW
    numbers: Numbers
    while np is None:
        numbers, stop = _plain_run(data[at : min(end, at + size)], at, bytes((tag,)), form)
        if at + size >= end or stop < at + size - _LONGEST:
            return numbers, stop
        size *= 8
    while True:
        raw = np.frombuffer(data[at : min(end, at + size)], np.uint8)
        found = _varint_fields(np, raw, tag) if form.wire == VARINT else None
        if found is None:
            step = 1 + form.size
            fields = raw[: raw.size // step * step].reshape(-1, step)
            others = np.flatnonzero(fields[:, 0] != tag)
        else:
            starts, ends, others = found
        if others.size or at + size >= end:
            break
        size *= 8
    if found is None:
        fields = fields[: others[0]] if others.size else fields
        numbers = np.ascontiguousarray(fields[:, 1:]).reshape(-1).view(form.dtype)
        return numbers, at + fields.size
    if others.size:
        starts, ends = starts[: others[0]], ends[: others[0]]
    if not ends.size:
        raise UnusualError
    return _varints(np, raw, starts, ends, form), at + int(ends[-1]) + 1


def _varint_fields(np: NumPy, raw: Array, tag: int) -> tuple[Array, Array, Array]:
    """Where the numbers of fields begin and end, and which of the fields have another tag. A tag is
    a varint too, so every second end of one is that of a number."""
    last = np.flatnonzero(raw < 128)
    heads, ends = last[0 : last.size // 2 * 2 : 2], last[1::2]
    before = np.concatenate(([-1], ends[:-1]))[: ends.size]
    others = np.flatnonzero((heads != before + 1) | (raw[heads] != tag))
    return heads + 1, ends, others


def _varints(np: NumPy, raw: Array, starts: Array, ends: Array, form: Form) -> Array:
    """The numbers in `raw` between these bytes: seven bits a byte, the lowest first. As in
    protobuf, only as many bits count as the type has."""
    lengths = ends - starts + 1
    most = int(lengths.max()) if lengths.size else 0
    if most > 10 or (raw[ends[lengths == 10]] > 1).any():
        raise UnusualError
    value = np.zeros(ends.size, np.uint64)
    which: slice | Array = slice(None)
    for number in range(most):
        if number:
            which = np.flatnonzero(lengths > number)
        bits = (raw[starts[which] + number] & 127).astype(np.uint64)
        value[which] |= bits << np.uint64(7 * number)
    if form.dtype == "<i4":
        return value.astype(np.uint32).view(np.int32)
    return value.view(form.dtype)


_VARINT = re.compile(rb"[\x80-\xff]*[\x00-\x7f]")


def _plain_run(data: memoryview, at: int, tag: bytes, form: Form) -> tuple[array[float], int]:
    """`run` without NumPy, of the rest of a message."""
    if form.wire == VARINT:
        found = _VARINT.findall(data)
        count = len(list(takewhile(tag.__eq__, found[:-1:2])))
        found = found[: 2 * count]
        return _decoded(found[1::2], form), at + sum(map(len, found))
    step = 1 + form.size
    raw = bytes(data[: len(data) // step * step])
    count = len(list(takewhile(tag[0].__eq__, raw[::step])))
    raw, numbers = raw[: count * step], bytearray(count * form.size)
    for number in range(form.size):
        numbers[number :: form.size] = raw[number + 1 :: step]
    return array(form.code, bytes(numbers)), at + len(raw)


def _decoded(found: list[bytes], form: Form) -> array[float]:
    return array(form.code, map(_Decoded(form).__getitem__, found))


class _Decoded(dict[bytes, int]):
    """Numbers by the bytes of their varints."""

    def __init__(self, form: Form) -> None:
        super().__init__()
        self._bits, self._signed = 8 * form.size, form.dtype[1] == "i"

    def __missing__(self, key: bytes) -> int:
        if len(key) > 10 or (len(key) == 10 and key[9] > 1):
            raise UnusualError
        value = 0
        for index, byte in enumerate(key):
            value |= (byte & 127) << 7 * index
        value &= (1 << self._bits) - 1
        if self._signed and value >> self._bits - 1:
            value -= 1 << self._bits
        self[key] = value
        return value
