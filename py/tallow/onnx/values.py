"""Values outside of graphs: what is fed, what passes between stages, what host operators compute.

A value is a HostArray, a StringArray, a list of values (a sequence) or None (an empty optional).
For host operators they are NumPy arrays, texts of the dtype object, lists and None.
"""

from __future__ import annotations

from typing import Any

from ..dtype import DType, word_type
from ..errors import FeedError, TallowError
from ..hostarray import HostArray, StringArray, from_buffer, from_python, from_words
from .records import ValueInfo

Value = HostArray | StringArray | list[Any] | None


def to_numpy(value: Value) -> Any:
    """A value as host operators and users see it."""
    if isinstance(value, (HostArray, StringArray)):
        return value.numpy()
    return [to_numpy(item) for item in value] if isinstance(value, list) else None


def from_numpy(value: Any) -> Value:
    """The value of what a host operator gives, or a user feeds."""
    if value is None or isinstance(value, (HostArray, StringArray)):
        return value
    if isinstance(value, (list, tuple)):
        return [from_numpy(item) for item in value]
    if isinstance(value, str):
        return StringArray((value,), ())
    if hasattr(value, "__array__"):
        value = value.__array__()
        if value.dtype.kind in "OUS":
            return StringArray(tuple(map(_text, value.ravel().tolist())), value.shape)
    return from_buffer(value)


def _text(item: Any) -> str:
    return item.decode("utf-8") if isinstance(item, bytes) else str(item)


def size_in_bytes(value: Value) -> int:
    """The bytes that a value takes when it is handed over."""
    if isinstance(value, HostArray):
        return value.data.nbytes
    if isinstance(value, StringArray):
        return sum(len(text.encode()) for text in value.values)
    return sum(map(size_in_bytes, value)) if isinstance(value, list) else 0


def fed(info: ValueInfo, value: Any) -> Value:
    """The value of a feed; FeedError, by the input's name, if it is not what the input expects."""
    if info.kind == "optional" and info.element and value is not None:
        return fed(info.element, value)
    try:
        if info.dtype is None:
            return _for_host(info, value)
        data = _tensor(value, info.dtype)
        if info.dtype.coded and data.dtype == word_type(info.dtype):  # codes; see HostArray
            data = from_words(data.data, data.shape, info.dtype)
    except (TallowError, TypeError, ValueError) as error:
        raise FeedError(f"the input {info} got {type(value).__name__}: {error}") from error
    fits = info.shape is None or (
        len(data.shape) == len(info.shape)
        and all(
            isinstance(dim, str) or dim == length
            for dim, length in zip(info.shape, data.shape, strict=True)
        )
    )
    if data.dtype != info.dtype or not fits:
        expected = f"{info.dtype.name} {info.shape if info.shape is not None else 'of any shape'}"
        raise FeedError(
            f"the input {info.name!r} expects {expected}, got {data.dtype.name} {data.shape}"
        )
    return data


def _for_host(info: ValueInfo, value: Any) -> Value:
    if info.kind == "sequence":
        if not isinstance(value, (list, tuple)):
            raise TypeError("a sequence is fed as a list")
        return [_member(info, i, item) for i, item in enumerate(value)]
    if info.kind == "tensor" and isinstance(value, (list, tuple, str)):
        import numpy as np

        value = np.array(value, dtype=object)
    return from_numpy(value)


def _member(info: ValueInfo, index: int, item: Any) -> Value:
    value = from_numpy(item)
    expected = info.element.dtype if info.element else None
    if isinstance(value, HostArray) and expected and value.dtype != expected:
        raise TypeError(f"its member {index} is of {value.dtype.name}, not {expected.name}")
    return value


def _tensor(value: Any, dtype: DType) -> HostArray:
    if isinstance(value, HostArray):
        return value
    if isinstance(value, (bool, int, float, list, tuple)):
        return from_python(value, dtype)
    return from_buffer(value.__array__() if hasattr(value, "__array__") else value)
