"""Messages between a borrower and the machine that lends: a header of JSON in one frame of text,
then its parts, bytes, in frames of at most `FRAME` each.

`sizes` in a header has the bytes of each part. Errors travel by name; both ends have the same
version, and so the same exceptions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ... import errors
from ...errors import DeviceError, PlanError, TallowError

FRAME = 1 << 20
"""Bytes in a frame, so that neither end holds more than that beside the parts."""

MOST_HEADER = 1 << 20
"""Characters of a header: numbers and shapes, no contents."""

_PLAIN = (str, int, float, bool, type(None))


class Message(NamedTuple):
    """A header, and bytes beside it."""

    header: dict[str, Any]
    parts: list[memoryview]


def frames(header: Mapping[str, Any], parts: Sequence[Any] = ()) -> Iterator[str | memoryview]:
    """The frames of a message. parts: contiguous buffers."""
    views = [memoryview(part).cast("B") for part in parts if memoryview(part).nbytes]
    sizes = [memoryview(part).nbytes for part in parts]
    yield json.dumps({**header, "sizes": sizes}, separators=(",", ":"))
    for view in views:
        for start in range(0, len(view), FRAME):
            yield view[start : start + FRAME]


class Assembler:
    """Makes messages of frames.

    most: bytes of a message's parts, beyond which it is refused before they arrive.
    """

    def __init__(self, most: int = 1 << 62) -> None:
        self.most = most
        self._header: dict[str, Any] | None = None
        self._parts: list[bytearray] = []
        self._sizes: list[int] = []

    def add(self, frame: str | bytes | memoryview) -> Message | None:
        """Takes a frame; the message that it completes, if it does. Raises PlanError for what is
        no message of this protocol."""
        if isinstance(frame, str):
            self._begin(frame)
        else:
            self._fill(memoryview(frame))
        header = self._header
        if header is None or len(self._parts) < len(self._sizes):
            return None
        if any(len(part) < size for part, size in zip(self._parts, self._sizes, strict=True)):
            return None
        parts = [memoryview(part) for part in self._parts]
        self._header, self._parts, self._sizes = None, [], []
        return Message(header, parts)

    def _begin(self, frame: str) -> None:
        if self._header is not None:
            raise PlanError("a message begins before the one before it has all its parts")
        if len(frame) > MOST_HEADER:
            raise PlanError(f"a header of {len(frame):,} characters; {MOST_HEADER:,} are allowed")
        try:
            header = json.loads(frame)
            sizes = header.pop("sizes")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise PlanError(f"not a message of this protocol: {frame[:80]!r}") from error
        if not isinstance(sizes, list) or not all(type(n) is int and n >= 0 for n in sizes):
            raise PlanError(f"sizes of parts are whole numbers, not {sizes!r:.80}")
        if sum(sizes) > self.most:
            raise PlanError(f"a message of {sum(sizes):,} bytes; {self.most:,} are allowed")
        self._header, self._sizes, self._parts = header, sizes, []
        self._next()

    def _next(self) -> None:
        """Opens the next part that has bytes."""
        while len(self._parts) < len(self._sizes):
            self._parts.append(bytearray())
            if self._sizes[len(self._parts) - 1]:
                return

    def _fill(self, frame: memoryview) -> None:
        if not self._parts:
            raise PlanError(f"{len(frame)} bytes that no header has announced")
        part, size = self._parts[-1], self._sizes[len(self._parts) - 1]
        if len(part) + len(frame) > size:
            raise PlanError(f"a part has more than the {size:,} bytes that were announced")
        part += frame
        if len(part) == size:
            self._next()


def error_as_json(error: BaseException) -> dict[str, Any]:
    """An error for the other end: its name, its words, and its plain attributes. What is not
    Tallow's is a DeviceError there."""
    name = type(error).__name__ if isinstance(error, TallowError) else "DeviceError"
    words = str(error) if isinstance(error, TallowError) else f"{type(error).__name__}: {error}"
    facts = {key: value for key, value in vars(error).items() if isinstance(value, _PLAIN)}
    return {"type": name, "message": words, "facts": facts}


def error_of_json(found: Mapping[str, Any]) -> TallowError:
    """The error that `error_as_json` described."""
    kind = getattr(errors, str(found["type"]), None)
    if not (isinstance(kind, type) and issubclass(kind, TallowError)):
        kind = DeviceError
    error = kind.__new__(kind)
    Exception.__init__(error, str(found["message"]))
    vars(error).update(found.get("facts", {}))
    return error
