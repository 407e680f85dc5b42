"""When somebody speaks, by the probabilities of a voice detector.

The rules are those of `get_speech_timestamps` in the package silero-vad 6.2.3, here chunk by chunk,
so that a sound that is still being recorded has them too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import OptionError

CHUNK = 512
"""Samples that one probability is of."""
_RATE = 16000
_PAUSE = 0.098
"""Seconds of silence at which a turn that is too long may be cut."""


class Span(NamedTuple):
    """Speech from `start` to `end`, in seconds."""

    start: float
    end: float


@dataclass(frozen=True)
class Hearing:
    """When a sound counts as speech.

    threshold: the probability from which on it is speech; it ends 0.15 below. min_speech: seconds
    that a shorter turn is dropped. min_silence: seconds of silence that end a turn. padding:
    seconds that are added on either side. longest: seconds after which a turn is cut, in its
    longest pause.
    Raises: OptionError for a value out of range.
    """

    threshold: float = 0.5
    min_speech: float = 0.25
    min_silence: float = 0.1
    padding: float = 0.03
    longest: float = math.inf

    def __post_init__(self) -> None:
        for name in ("threshold", "min_speech", "min_silence", "padding", "longest"):
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not value >= 0:  # NaN, too
                raise OptionError(f"{name} is a number from 0 on, not {value!r}")
        if not 0 < self.threshold < 1:
            raise OptionError(f"threshold is between 0 and 1, not {self.threshold!r}")
        if self.longest < 2 * self.padding + 1:
            raise OptionError(f"longest is a second or more, beside the padding: {self.longest!r}")


class Turns:
    """Turns of speech, from probabilities that come one by one."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing
        self._low = max(hearing.threshold - 0.15, 0.01)
        self._pad = _RATE * hearing.padding
        self._longest = _RATE * hearing.longest - CHUNK - 2 * self._pad
        self._at = 0
        self._start: int | None = None
        self._quiet: int | None = None
        """Where the silence began that may end the turn."""
        self._pauses: list[tuple[int, int]] = []
        """Of the turn, begin and end."""
        self._closed: list[tuple[int, int]] = []
        """Turns whose padding is not known yet."""
        self._before = self._pad
        """The first one's padding."""

    @property
    def began(self) -> int | None:
        """The first sample of what is being said, or was said and is not given out yet."""
        first = self._closed[0][0] if self._closed else self._start
        return None if first is None else max(0, int(first - self._before))

    def add(self, probability: float) -> None:
        """The next chunk's."""
        at, self._at = self._at, self._at + CHUNK
        hearing = self._hearing
        speaks = probability >= hearing.threshold
        if speaks and self._quiet is not None:
            if at - self._quiet > _RATE * _PAUSE:
                self._pauses.append((self._quiet, at))
            self._quiet = None
        if self._start is None:
            self._start = at if speaks else None
            return
        if at - self._start > self._longest:
            self._quiet = None
            if not self._pauses:
                self._close(at)
                return
            end, begin = max(self._pauses, key=lambda pause: pause[1] - pause[0])
            self._close(end)
            self._start = begin
        if probability < self._low:
            self._quiet = at if self._quiet is None else self._quiet
            if at - self._quiet >= _RATE * hearing.min_silence:
                if self._quiet - self._start > _RATE * hearing.min_speech:
                    self._close(self._quiet)
                self._forget()

    def ended(self, length: int) -> None:
        """The sound has ended after so many samples."""
        if self._start is not None and length - self._start > _RATE * self._hearing.min_speech:
            self._close(length)
        self._forget()
        self._at = length

    def take(self, is_last: bool = False) -> list[tuple[int, int]]:
        """The turns that have ended since, with their padding, in samples. is_last: whether the
        sound has ended."""
        found = []
        while self._closed:
            start, end = self._closed[0]
            following = self._closed[1:]
            # The next turn's begin, at the earliest.
            later = (
                following[0][0] if following else self._at if self._start is None else self._start
            )
            is_close = later - end < 2 * self._pad
            if is_close and not following and not is_last:
                break
            begin = max(0, int(start - self._before))
            after = self._before = (later - end) // 2 if is_close and following else self._pad
            stop = end + int(after)
            found.append((begin, min(self._at, stop) if is_last else stop))
            del self._closed[0]
        return found

    def _close(self, end: int) -> None:
        assert self._start is not None
        self._closed.append((self._start, end))
        self._forget()

    def _forget(self) -> None:
        self._start = self._quiet = None
        self._pauses = []
