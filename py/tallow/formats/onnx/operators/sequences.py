"""Sequences and optionals: lists of values, and values that may be absent, on the host."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ....errors import OnnxFormatError
from ..call import Call
from ..registry import host_operator, text_operator
from ..values import check_memory, from_numpy, size_in_bytes

if TYPE_CHECKING:
    from ....arrays import Array, NumPy

MAX_PARTS = 1 << 18
"""The most parts that one tensor is split into, because each is a separate array."""


def _position(np: NumPy, position: Array, length: int, last: int) -> int:
    """A position counted from the front, after checking it."""
    index = int(np.asarray(position).item())
    if not -length <= index <= last:
        raise OnnxFormatError(f"the position {index} is out of range in a sequence of {length}")
    return index + length if index < 0 else index


@host_operator("SequenceConstruct", since=11)
def _sequence_construct(call: Call, np: NumPy, *values: Array) -> list[Array]:
    return list(values)


@host_operator("SequenceEmpty", since=11)
def _sequence_empty(call: Call, np: NumPy) -> list[Array]:
    call.ignore("dtype")
    return []


@host_operator("SequenceLength", since=11)
def _sequence_length(call: Call, np: NumPy, sequence: list[Array]) -> Array:
    return np.array(len(sequence), np.int64)


@host_operator("SequenceAt", since=11)
def _sequence_at(call: Call, np: NumPy, sequence: list[Array], position: Array) -> Array:
    return sequence[_position(np, position, len(sequence), len(sequence) - 1)]


@host_operator("SequenceInsert", since=11)
def _sequence_insert(
    call: Call, np: NumPy, sequence: list[Array], value: Array, position: Array | None = None
) -> list[Array]:
    length = len(sequence)
    index = length if position is None else _position(np, position, length, length)
    return [*sequence[:index], value, *sequence[index:]]


@host_operator("SequenceErase", since=11)
def _sequence_erase(
    call: Call, np: NumPy, sequence: list[Array], position: Array | None = None
) -> list[Array]:
    last = len(sequence) - 1
    index = last if position is None else _position(np, position, len(sequence), last)
    return [*sequence[:index], *sequence[index + 1 :]]


@host_operator("SplitToSequence", since=11)
def split_to_sequence(call: Call, np: NumPy, x: Array, split: Array | None = None) -> list[Array]:
    """Parts of the given lengths; or of one length, except for a shorter last part; or of length 1,
    without the axis unless `keepdims`."""
    axis = call.get("axis", int, 0)
    keepdims = call.flag("keepdims", True)
    length = x.shape[axis]
    parts = length if split is None else -(-length // int(split)) if split.ndim == 0 else len(split)
    if parts > MAX_PARTS:
        raise OnnxFormatError(
            f"a sequence of {parts:,} parts is too long; the maximum is {MAX_PARTS:,}"
        )
    if split is None:
        pieces = np.split(x, length, axis) if length else []
        return list(pieces) if keepdims else [np.squeeze(piece, axis) for piece in pieces]
    if split.ndim == 0:
        borders: Iterable[int | Array] = range(int(split), length, int(split))
    else:
        if split.sum() != length or (split < 0).any():
            raise OnnxFormatError(
                f"the lengths {split.tolist()} do not add up to an axis of {length}"
            )
        borders = np.cumsum(split)[:-1]
    return list(np.split(x, list(borders), axis))


@host_operator("ConcatFromSequence", since=11)
def _concat_from_sequence(call: Call, np: NumPy, sequence: list[Array]) -> Array:
    axis = call.get("axis", int)
    check_memory(sum(map(size_in_bytes, map(from_numpy, sequence))), "its joined parts")
    join = np.stack if call.flag("new_axis") else np.concatenate
    return join(sequence, axis)


@host_operator("Optional", since=15)
def _optional(call: Call, np: NumPy, value: Array | None = None) -> Array | None:
    call.ignore("type")
    return value


@host_operator("OptionalHasElement", since=15)
def _optional_has_element(call: Call, np: NumPy, value: Array | None = None) -> Array:
    return np.array(value is not None, bool)


@host_operator("OptionalGetElement", since=15)
def _optional_get_element(call: Call, np: NumPy, value: Array) -> Array:
    return value


@text_operator("Identity")
def identity(call: Call, np: NumPy, value: Array) -> Array:
    """For values that are not tensors."""
    return value
