"""Values outside of graphs: inputs, values between stages, and results of host operators.

A value is a HostArray, a StringArray, a list of values (a sequence), a dict of numbers (a
map) or None (an empty optional).
Host operators see NumPy arrays (of dtype object for strings), lists, dicts and None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...compile.limits import host_memory
from ...core.dtype import DType, word_type
from ...core.hostarray import (
    HostArray,
    StringArray,
    from_array,
    from_buffer,
    from_python,
    from_words,
)
from ...errors import DeviceMemoryError, FeedError, TallowError
from ...tensor import Tensor
from .records import ValueInfo

if TYPE_CHECKING:
    from ...arrays import Array

_ALWAYS_FREE = 1 << 20
"""Bytes that every host is assumed to have."""

Value = HostArray | StringArray | list[Any] | dict[Any, Any] | None


def to_numpy(value: Value) -> Any:
    """The value in the form that host operators and users see."""
    if isinstance(value, (HostArray, StringArray)):
        return value.numpy()
    if isinstance(value, dict):
        return {key: to_numpy(item)[()] for key, item in value.items()}
    return [to_numpy(item) for item in value] if isinstance(value, list) else None


def from_numpy(value: object) -> Value:
    """The value of a host operator's result or a user's input."""
    if value is None or isinstance(value, (HostArray, StringArray)):
        return value
    if isinstance(value, (list, tuple)):
        return [from_numpy(item) for item in value]
    if isinstance(value, dict):
        return {key: from_numpy(item) for key, item in value.items()}
    if isinstance(value, str):
        return StringArray((value,), ())
    if hasattr(value, "__array__"):
        array: Array = value.__array__()
        if array.dtype.kind in "OUS":
            return StringArray(tuple(map(_text, array.ravel().tolist())), array.shape)
        return from_buffer(array)
    return from_buffer(value)


def _text(item: object) -> str:
    return item.decode("utf-8") if isinstance(item, bytes) else str(item)


def size_in_bytes(value: Value) -> int:
    """The bytes that cross when the value is passed on."""
    if isinstance(value, HostArray):
        return value.data.nbytes
    if isinstance(value, StringArray):
        return sum(len(text.encode()) for text in value.values)
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(size_in_bytes, value)) if isinstance(value, list) else 0


def check_memory(needed: int, what: str) -> None:
    """Raises DeviceMemoryError if the host does not have that much memory."""
    if needed > _ALWAYS_FREE and needed > (available := host_memory()):
        raise DeviceMemoryError(f"{what}: {needed:,} bytes, but only {available:,} are available")


def check_texts(count: int) -> None:
    """Raises DeviceMemoryError for strings that do not fit: each takes at least 64 bytes."""
    check_memory(64 * count, f"a tensor of {count:,} strings")


def check_array(shape: Iterable[int], itemsize: int) -> None:
    """Raises DeviceMemoryError for an array that would not fit in memory."""
    dims = tuple(map(int, shape))
    needed = itemsize * math.prod(max(dim, 1) for dim in dims)
    check_memory(needed, f"an array of shape {dims}")


def checked_feed(info: ValueInfo, value: object) -> Value | Tensor:
    """The value for an input, a tensor as it is; FeedError naming the input if the value does not
    fit."""
    if info.kind == "optional" and info.element and value is not None:
        return checked_feed(info.element, value)
    if isinstance(value, Tensor) and info.dtype is not None:
        if value.dtype != info.dtype or not _fits(info, value.shape):
            raise _unfit(info, f"{value.dtype.name} {value.shape}")
        return value
    try:
        if info.dtype is None:
            return _for_host(info, value)
        data = _tensor(value, info.dtype)
        if info.dtype.coded and data.dtype == word_type(info.dtype):  # codes; see HostArray
            data = from_words(data.data, data.shape, info.dtype)
    except (TallowError, TypeError, ValueError) as error:
        raise _unfit(info, f"{type(value).__name__}: {error}") from error
    if data.dtype != info.dtype or not _fits(info, data.shape):
        raise _unfit(info, f"{data.dtype.name} {data.shape}")
    return data


def _unfit(info: ValueInfo, given: str) -> FeedError:
    expected = info.type
    if info.kind == "tensor":
        expected += f" {info.shape if info.shape is not None else 'of any shape'}"
    return FeedError(f"the input {info.name!r} expects {expected}, got {given}")


def _fits(info: ValueInfo, shape: tuple[int, ...]) -> bool:
    return info.shape is None or (
        len(shape) == len(info.shape)
        and all(
            isinstance(dim, str) or dim == length
            for dim, length in zip(info.shape, shape, strict=True)
        )
    )


def _for_host(info: ValueInfo, value: object) -> Value:
    if info.kind == "sequence" and not isinstance(value, (list, tuple)):
        raise TypeError("a sequence must be a list")
    if info.kind == "tensor" and isinstance(value, (list, tuple, str)):
        import numpy as np

        value = np.array(value, dtype=object)
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "O" and not all(
        isinstance(item, (str, bytes)) for item in getattr(value, "flat", ())
    ):
        raise TypeError("not all of its elements are strings")
    made = from_numpy(value)
    _check(info, made, "it")
    if isinstance(made, StringArray) and info.kind == "tensor" and not _fits(info, made.shape):
        raise ValueError(f"its shape is {made.shape}")
    return made


def _check(info: ValueInfo, value: Value, what: str) -> None:
    """Raises TypeError if the value, or a member of it, has the wrong kind or type."""
    if info.kind == "optional":
        if info.element and value is not None:
            _check(info.element, value, what)
    elif info.kind == "sequence":
        if not isinstance(value, list):
            raise TypeError(f"{what} is not a sequence")
        for i, item in enumerate(value):
            if info.element:
                _check(info.element, item, f"its member {i}")
    elif value is None or isinstance(value, (list, dict)):
        kind = "a map" if isinstance(value, dict) else "a sequence"
        raise TypeError(f"{what} is {'None' if value is None else kind}")
    else:
        found = "string" if isinstance(value, StringArray) else value.dtype.name
        if found != info.type:
            raise TypeError(f"the type of {what} is {found}, not {info.type}")


def _tensor(value: object, dtype: DType) -> HostArray:
    if isinstance(value, (bool, int, float, list, tuple)):
        return from_python(value, dtype)
    return from_array(value)
