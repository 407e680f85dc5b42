"""How Whisper writes times between words: which tokens may follow, and where a text is cut.

Radford et al. 2022, section 2.3 and figure 1; the rules are those of their program's
`ApplyTimestampRules`, the cuts those of its `transcribe`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import OptionError

SECONDS = 0.02
"""From one timestamp to the next."""

_SHORT = 1.0
"""Seconds of a sound's end in which there may be no speech, though a piece began."""

_LONGEST_LOOP, _LOOPS, _LOOP_TOKENS = 24, 5, 12
"""Tokens that are repeated so often, and so many in all, are a loop."""


class Allowed(NamedTuple):
    """What may come next: tokens from `low` on that are no timestamps, and the timestamps from
    `first` to `last`; and whether the text may end."""

    low: int
    first: int
    last: int
    may_end: bool = True


class Cut(NamedTuple):
    """Tokens without timestamps, and when they are said, in seconds of their window."""

    start: float
    end: float
    tokens: list[int]


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a network that are no text.

    languages: those by their names, such as "en"; empty where the network knows English alone.
    tasks: such as "transcribe". silent: "no speech". times: the first timestamp, 0 s.
    initial: how many timestamps later than that a text may begin. suppressed: what is never said.
    """

    size: int
    start: int
    end: int
    languages: Mapping[str, int]
    tasks: Mapping[str, int]
    silent: int
    times: int
    initial: int
    suppressed: tuple[int, ...]

    @classmethod
    def of(cls, generation: Mapping[str, Any], size: int) -> Vocabulary:
        """Of a generation_config.json of Hugging Face's. Raises OptionError for one that lacks
        something."""
        try:
            none = int(generation["no_timestamps_token_id"])
            end = int(generation["eos_token_id"])
            many = bool(generation.get("is_multilingual", "lang_to_id" in generation))
            names = generation["lang_to_id"] if many else {}
            found = cls(
                size,
                int(generation["decoder_start_token_id"]),
                end,
                {name.strip("<|>"): int(token) for name, token in names.items()},
                dict(generation["task_to_id"]) if many else {},
                none - 1,
                none + 1,
                int(generation.get("max_initial_timestamp_index") or 50),
                (*(generation.get("suppress_tokens") or ()), *range(end + 1, none + 1)),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise OptionError(f"a generation config of Whisper lacks {error}") from error
        if not found.times < size:
            raise OptionError(f"timestamps from {found.times} on in a vocabulary of {size} tokens")
        return found

    def allowed(self, tokens: Sequence[int], until: float = 0.0) -> Allowed:
        """What may follow the tokens of a window. Timestamps come in pairs, between two pieces of
        text, and never go back; a text begins with one.

        until: the seconds at which the sound ends within this window. A piece that begins earlier
        is then heard now: there is no later window that hears more of it.
        """
        last = self.size - 1
        if not tokens:
            return Allowed(self.times, self.times, min(self.times + self.initial, last))
        times = [token for token in tokens if token >= self.times]
        if tokens[-1] < self.times:
            return Allowed(0, times[-1] + 1 if times else self.times, last)
        if len(tokens) < 2:
            return Allowed(0, self.size, last)
        if tokens[-2] >= self.times:
            return Allowed(0, self.size, last, until - self._seconds(tokens[-1]) <= _SHORT)
        return Allowed(self.end, tokens[-1], last)

    def without_loop(self, tokens: Sequence[int]) -> list[int] | None:
        """The tokens but for the repetitions at their end, where a network that is unsure says the
        same thing over and over; None where they do not."""
        for period in range(1, _LONGEST_LOOP + 1):
            repeats = max(_LOOPS, _LOOP_TOKENS // period)
            count = period * repeats
            tail = tokens[-count:]
            if len(tail) == count and tail[:-period] == tail[period:]:
                return [*tokens[: period - count]]
        return None

    def cuts(
        self, tokens: Sequence[int], seconds: float, is_last: bool = False
    ) -> tuple[list[Cut], float]:
        """The pieces of a window's text, and the seconds after which the next window begins.

        A text that ends within a piece is heard again from that piece's start on. In a sound's last
        window it ends there.
        seconds: of the window.
        """
        is_time = [token >= self.times for token in tokens]
        ends = [at for at in range(1, len(tokens)) if is_time[at - 1] and is_time[at]]
        closed = is_time[-2:] == [False, True]
        if not ends:
            times = [token for token in tokens if token > self.times]
            end = min(self._seconds(times[-1]), seconds) if times else seconds
            start = self._seconds(tokens[0]) if is_time[:1] == [True] else 0.0
            return [self._cut(tokens, start, max(start, end))], seconds
        if closed:
            ends.append(len(tokens))
        cuts, begin = [], 0
        for at in ends:
            piece = tokens[begin:at]
            cuts.append(self._cut(piece, self._seconds(piece[0]), self._seconds(piece[-1])))
            begin = at
        after = seconds if closed else self._seconds(tokens[begin - 1])
        rest = self._cut(tokens[begin:], self._seconds(tokens[begin - 1]), seconds)
        if is_last and rest.tokens:
            cuts.append(rest)
            after = seconds
        return cuts, min(after, seconds) or seconds

    def _seconds(self, token: int) -> float:
        return (token - self.times) * SECONDS

    def _cut(self, tokens: Sequence[int], start: float, end: float) -> Cut:
        return Cut(start, end, [token for token in tokens if token < self.end])
