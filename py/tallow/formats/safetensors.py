"""safetensors: a JSON header, then the elements of all tensors
(github.com/huggingface/safetensors, "Format").

    8 bytes      the length of the header, little-endian
    header       {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...};
                 "__metadata__" may hold texts
    data         row-major elements, little-endian, without gaps or overlaps
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..core import dtype as dt
from ..core.codes import packed_bytes
from ..core.drivers import Steps
from ..core.hostarray import HostArray
from ..core.shape import size_of
from ..errors import FormatError, OptionError
from ..files.ranges import Ranges
from .arrays import checked_shape, number
from .headers import CutShortError, TensorInfo, header

MAX_HEADER = 100_000_000
"""Bytes of a header; the format's own limit."""

_ALIGNED = 8

TYPES = {
    "BOOL": dt.bool_, "I8": dt.int8, "U8": dt.uint8, "I16": dt.int16, "U16": dt.uint16,
    "I32": dt.int32, "U32": dt.uint32, "I64": dt.int64, "U64": dt.uint64, "F16": dt.float16,
    "BF16": dt.bfloat16, "F32": dt.float32, "F64": dt.float64, "F8_E4M3": dt.float8_e4m3fn,
    "F8_E5M2": dt.float8_e5m2, "F8_E8M0": dt.float8_e8m0fnu, "F4": dt.float4_e2m1fn,
}  # fmt: skip
"""The format's names of element types."""

_NAMES = {dtype: name for name, dtype in TYPES.items()}


def dump(arrays: Mapping[str, HostArray], metadata: Mapping[str, str]) -> Iterator[bytes]:
    """A file, piece by piece. Raises OptionError for what the format cannot express."""
    entries: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    if not all(isinstance(text, str) for pair in metadata.items() for text in pair):
        raise OptionError("safetensors: metadata holds texts by name, and nothing else")
    end = 0
    # Wide elements first, so that all are aligned, as in the format's own library.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.size, name))
    for name in order:
        array = arrays[name]
        if name == "__metadata__":
            raise OptionError("safetensors: a tensor cannot be called '__metadata__'")
        if array.dtype not in _NAMES:
            raise OptionError(f"safetensors: {name!r} is {array.dtype.name}, which it cannot hold")
        entries[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        end += array.nbytes
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-len(text) % _ALIGNED)
    yield struct.pack("<Q", len(text))
    yield text
    for name in order:
        yield bytes(arrays[name].data)


def read_header(source: Ranges) -> Steps[tuple[dict[str, TensorInfo], dict[str, str]]]:
    """The tensors of a file, by name, and the texts of its header. Raises FormatError for anything
    but a sound file."""
    return (yield from header(source, lambda data, size: _parsed(data, size, source.name)))


def _parsed(data: bytes, size: int, source: str) -> tuple[dict[str, TensorInfo], dict[str, str]]:
    entries, body = _entries(data, size, source)
    texts = entries.pop("__metadata__", {})
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise FormatError(f"{source}: __metadata__ holds something that is not a text")
    found: dict[str, TensorInfo] = {}
    for name, entry in entries.items():
        what = f"{source}: {name!r:.80}"
        if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= set(entry):
            raise FormatError(f"{what}: has no dtype, shape and data_offsets")
        kind = entry["dtype"]
        if not isinstance(kind, str) or kind not in TYPES:
            raise FormatError(f"{what}: the type {kind!r:.40} is unknown")
        dtype, shape = TYPES[kind], checked_shape(entry["shape"], what)
        offsets = entry["data_offsets"]
        if not isinstance(offsets, list) or len(offsets) != 2:
            raise FormatError(f"{what}: data_offsets are not two numbers")
        start, end = (number(offset, what) for offset in offsets)
        if not start <= end <= size - body:
            raise FormatError(f"{what}: bytes {start} to {end} of {size - body}")
        if end - start != packed_bytes(dtype, size_of(shape)):
            raise FormatError(f"{what}: {end - start} bytes do not hold {dtype.name} {shape}")
        found[name] = TensorInfo(name, shape, kind, dtype, body + start, end - start)
    _check_ranges(found.values(), body, size, source)
    return found, texts


def _entries(data: bytes, size: int, source: str) -> tuple[dict[str, Any], int]:
    """The JSON of a header, and where the elements begin."""
    if size < 8:
        raise FormatError(f"{source}: {size} bytes are no safetensors file")
    (length,) = struct.unpack_from("<Q", data)
    if length > min(MAX_HEADER, size - 8):
        raise FormatError(f"{source}: a header of {length} bytes in a file of {size}")
    if len(data) < 8 + length:
        raise CutShortError(8 + length)
    try:
        entries = json.loads(
            data[8 : 8 + length].decode("utf-8"), object_pairs_hook=_without_duplicates
        )
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source}: the header is not JSON: {str(error)[:200]}") from error
    if not isinstance(entries, dict):
        raise FormatError(f"{source}: the header is not a JSON object")
    return entries, 8 + length


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands there twice")
    return found


def _check_ranges(tensors: Iterable[TensorInfo], end: int, size: int, source: str) -> None:
    """Tensors lie side by side: with gaps or overlaps, a file could mean two things."""
    first = end
    for each in sorted(tensors, key=lambda tensor: (tensor.start, tensor.nbytes, tensor.name)):
        if each.start != end:
            what = "overlaps another tensor" if each.start < end else "leaves a gap behind byte"
            at = "" if each.start < end else f" {end - first}"
            raise FormatError(f"{source}: {each.name!r:.80} {what}{at}")
        end = each.start + each.nbytes
    if end != size:
        raise FormatError(f"{source}: {size - end} bytes behind the last tensor")
