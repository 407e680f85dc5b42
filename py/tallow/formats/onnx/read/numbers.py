"""Decodes lists of numbers in protobuf's wire format with NumPy: packed ones, and runs of single
fields, as ONNX writes those of attributes. protobuf's Python makes an object of each number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
"""Wire types: how a field's content is encoded."""


class UnusualError(Exception):
    """A file that is damaged or oddly encoded; protobuf's parser decides which."""


class Form(NamedTuple):
    """How numbers are stored: the wire type of each, and NumPy's type."""

    wire: int
    dtype: str


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


def packed(np: Any, data: memoryview, form: Form) -> Any:
    """The numbers of a packed field."""
    if form.wire != VARINT:
        if len(data) % int(form.dtype[2:]):
            raise UnusualError
        return np.frombuffer(data, form.dtype)
    raw = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(raw < 128)
    if raw.size and (not ends.size or ends[-1] != raw.size - 1):
        raise UnusualError
    return _varints(np, raw, np.concatenate(([0], ends[:-1] + 1))[: ends.size], ends, form)


def run(np: Any, data: memoryview, at: int, end: int, tag: int, form: Form) -> tuple[Any, int]:
    """The numbers of the single fields of one tag that begin at `at`, and where the last one ends.

    `tag` takes one byte. The first field is known to be whole.
    """
    size = _WINDOW
    while True:
        raw = np.frombuffer(data[at : min(end, at + size)], np.uint8)
        found = _varint_fields(np, raw, tag) if form.wire == VARINT else None
        if found is None:
            step = 1 + int(form.dtype[2:])
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


def _varint_fields(np: Any, raw: Any, tag: int) -> tuple[Any, Any, Any]:
    """Where the numbers of fields begin and end, and which of the fields have another tag. A tag is
    a varint too, so every second end of one is that of a number."""
    last = np.flatnonzero(raw < 128)
    heads, ends = last[0 : last.size // 2 * 2 : 2], last[1::2]
    before = np.concatenate(([-1], ends[:-1]))[: ends.size]
    others = np.flatnonzero((heads != before + 1) | (raw[heads] != tag))
    return heads + 1, ends, others


def _varints(np: Any, raw: Any, starts: Any, ends: Any, form: Form) -> Any:
    """The numbers in `raw` between these bytes: seven bits a byte, the lowest first. As in
    protobuf, only as many bits count as the type has."""
    lengths = ends - starts + 1
    most = int(lengths.max()) if lengths.size else 0
    if most > 10 or (raw[ends[lengths == 10]] > 1).any():
        raise UnusualError
    value = np.zeros(ends.size, np.uint64)
    which = slice(None)
    for number in range(most):
        if number:
            which = np.flatnonzero(lengths > number)
        bits = (raw[starts[which] + number] & 127).astype(np.uint64)
        value[which] |= bits << np.uint64(7 * number)
    if form.dtype == "<i4":
        return value.astype(np.uint32).view(np.int32)
    return value.view(form.dtype)
