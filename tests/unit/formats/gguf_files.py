"""Makes GGUF files, sound ones and others, of Python's values."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NUMBERS = {
    "B": 0, "b": 1, "H": 2, "h": 3, "I": 4, "i": 5, "f": 6, "Q": 10, "q": 11, "d": 12,
}  # fmt: skip
KINDS = {
    "F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8, "Q2_K": 10,
    "Q3_K": 11, "Q4_K": 12, "Q5_K": 13, "Q6_K": 14, "IQ2_XXS": 16, "IQ4_NL": 20, "I8": 24,
    "I16": 25, "I32": 26, "I64": 27, "F64": 28, "BF16": 30,
}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """A number of a type of `struct`, or (with a list) numbers of it."""

    code: str
    value: Any


@dataclass(frozen=True)
class Raw:
    """A tensor: what the file says of it, and its bytes; offset: None for behind the one before."""

    kind: str | int
    shape: Sequence[int]
    data: bytes
    offset: int | None = None


def text(value: str | bytes) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(content)) + content


def typed(value: Any) -> tuple[int, bytes]:
    """The number of a value's type, and its bytes."""
    if isinstance(value, Value) and isinstance(value.value, list):
        code = value.code
        content = struct.pack(f"<{len(value.value)}{code}", *value.value)
        return 9, struct.pack("<IQ", NUMBERS[code], len(value.value)) + content
    if isinstance(value, Value):
        return NUMBERS[value.code], struct.pack(f"<{value.code}", value.value)
    if isinstance(value, bool):
        return 7, bytes([value])
    if isinstance(value, (str, bytes)):
        return 8, text(value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    parts = [typed(each) for each in value]
    return 9, struct.pack("<IQ", parts[0][0], len(parts)) + b"".join(p for _, p in parts)


def gguf(
    metadata: Mapping[str, Any] | Sequence[tuple[str, Any]],
    tensors: Mapping[str, Raw] | Sequence[tuple[str, Raw]],
    *,
    version: int = 3,
    alignment: int = 32,
    counts: tuple[int, int] | None = None,
) -> bytes:
    """A file. counts: what it says that there are of tensors and of metadata, if that is not so."""
    entries = list(metadata.items() if isinstance(metadata, Mapping) else metadata)
    named = list(tensors.items() if isinstance(tensors, Mapping) else tensors)
    said = counts or (len(named), len(entries))
    head = b"GGUF" + struct.pack("<IQQ", version, *said)
    for key, value in entries:
        number, content = typed(value)
        head += text(key) + struct.pack("<I", number) + content
    body = b""
    for name, raw in named:
        at = len(body) if raw.offset is None else raw.offset
        kind = KINDS[raw.kind] if isinstance(raw.kind, str) else raw.kind
        lengths = list(raw.shape)[::-1]
        head += text(name) + struct.pack(f"<I{len(lengths)}Q", len(lengths), *lengths)
        head += struct.pack("<IQ", kind, at)
        body += raw.data + bytes(-len(raw.data) % alignment)
    return head + bytes(-len(head) % alignment) + body
