"""Arrays in the Open Inference Protocol: as JSON's lists, and as bytes, row by row, little-endian.

Source: https://github.com/kserve/open-inference-protocol (Tensor Data), and Triton's "Binary Tensor
Data Extension".
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

from ..errors import FeedError

NAMES = {
    "bool": "BOOL",
    "int8": "INT8",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT64",
    "uint8": "UINT8",
    "uint16": "UINT16",
    "uint32": "UINT32",
    "uint64": "UINT64",
    "float16": "FP16",
    "float32": "FP32",
    "float64": "FP64",
    "string": "BYTES",
    "object": "BYTES",
}
"""The protocol's name of each type, by the names of ONNX and NumPy."""

NUMPY = {name: own for own, name in NAMES.items()}
"""NumPy's name of each type of the protocol; BYTES are objects."""

_MOST_AXES = 64
_MOST_VALUES = 1 << 59
"""What NumPy can address."""

_KINDS = {"b": "b", "i": "iu", "u": "iu", "f": "iuf"}
"""The kinds of numbers in JSON that a kind of array takes."""


def _checked(name: str, datatype: str, shape: Sequence[Any]) -> tuple[str, tuple[int, ...]]:
    """NumPy's name of the type, and the shape. Raises FeedError."""
    if datatype not in NUMPY:
        raise FeedError(f"the input {name!r} has the datatype {datatype!r}, which is none")
    if not all(isinstance(x, int) and not isinstance(x, bool) and x >= 0 for x in shape):
        raise FeedError(f"the input {name!r} has the shape {list(shape)}, which is none")
    if len(shape) > _MOST_AXES or math.prod(max(x, 1) for x in shape) > _MOST_VALUES:
        raise FeedError(f"the input {name!r} has a shape that is too large for any array")
    return NUMPY[datatype], tuple(shape)


def from_list(name: str, datatype: str, shape: Sequence[Any], data: Any) -> Any:
    """The array of a list, which may be nested. Raises FeedError for one that does not fit."""
    import numpy as np

    kind, sizes = _checked(name, datatype, shape)
    if kind == "object":
        try:
            values = _flat(data)
        except RecursionError as error:
            raise FeedError(f"the data of the input {name!r} are nested too deeply") from error
        if not all(isinstance(each, (str, bytes)) for each in values):
            raise FeedError(f"the data of the input {name!r} are not all texts")
        found = np.empty(len(values), object)
        found[:] = [x.encode() if isinstance(x, str) else x for x in values]
    else:
        try:
            given = np.asarray(data)
        except (ValueError, OverflowError) as error:
            raise FeedError(f"the data of the input {name!r} are no array: {error}") from error
        target = np.dtype(kind)
        if given.size and given.dtype.kind not in _KINDS[target.kind]:
            raise FeedError(f"the data of the input {name!r} are not all of {datatype}")
        with np.errstate(all="ignore"):
            found = given.astype(target).reshape(-1)
        if target.kind in "iu" and not (found == given.reshape(-1)).all():
            raise FeedError(f"the data of the input {name!r} go beyond {datatype}")
        if target.kind == "f" and not np.isfinite(found).all() and np.isfinite(given).all():
            raise FeedError(f"the data of the input {name!r} go beyond {datatype}")
    if found.size != math.prod(sizes):
        raise FeedError(f"the input {name!r} has {found.size} values; {list(sizes)} needs "
                        f"{math.prod(sizes)}")  # fmt: skip
    return found.reshape(sizes)


def _flat(data: Any) -> list[Any]:
    return [x for each in data for x in _flat(each)] if isinstance(data, list) else [data]


def from_bytes(name: str, datatype: str, shape: Sequence[Any], data: bytes | memoryview) -> Any:
    """The array of bytes, a view of them. Raises FeedError for too few or too many."""
    import numpy as np

    kind, sizes = _checked(name, datatype, shape)
    count = math.prod(sizes)
    if kind == "object":
        texts = _texts(name, data)
        if len(texts) != count:
            raise FeedError(f"the input {name!r} has {len(texts)} texts; {list(sizes)} needs "
                            f"{count}")  # fmt: skip
        found = np.empty(count, object)
        found[:] = texts
        return found.reshape(sizes)
    needed = count * np.dtype(kind).itemsize
    if len(data) != needed:
        raise FeedError(f"the input {name!r} has {len(data):,} bytes; {datatype} {list(sizes)} "
                        f"needs {needed:,}")  # fmt: skip
    if kind == "bool" and np.frombuffer(data, "uint8").max(initial=0) > 1:
        raise FeedError(f"the input {name!r} has bytes that are neither 0 nor 1, for BOOL")
    return np.frombuffer(data, kind).reshape(sizes)


def _texts(name: str, data: bytes | memoryview) -> list[bytes]:
    """Texts, each behind its length in four bytes."""
    found, at = [], 0
    while at < len(data):
        end = at + 4
        if end <= len(data):
            (length,) = struct.unpack_from("<I", data, at)
            end += length
        if end > len(data):
            raise FeedError(f"the texts of the input {name!r} are cut short")
        found.append(bytes(data[at + 4 : end]))
        at = end
    return found


def to_bytes(array: Any) -> bytes:
    """An array as bytes."""
    if array.dtype != object:
        return array.tobytes()  # type: ignore[no-any-return]
    texts = [x if isinstance(x, bytes) else str(x).encode() for x in array.ravel()]
    return b"".join(struct.pack("<I", len(x)) + x for x in texts)


def to_list(name: str, array: Any) -> list[Any]:
    """An array as a flat list for JSON. Raises FeedError for numbers that JSON lacks, and for bytes
    that are no text."""
    import numpy as np

    if array.dtype == object:
        try:
            return [x.decode() if isinstance(x, bytes) else str(x) for x in array.ravel()]
        except UnicodeDecodeError as error:
            raise FeedError(
                f"the output {name!r} has bytes that are no text; ask for binary data"
            ) from error
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise FeedError(
            f"the output {name!r} has NaN or infinite values; JSON lacks them: ask for binary data"
        )
    return array.ravel().tolist()  # type: ignore[no-any-return]
