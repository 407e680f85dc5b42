"""What a text becomes: tokens with their numbers, names and places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

from ..errors import OptionError

Offsets = tuple[int, int]
Side = Literal["left", "right"]
Strategy = Literal["longest_first", "only_first", "only_second"]


def side(value: str) -> Side:
    """A side by its name. Raises: OptionError."""
    if value not in ("left", "right"):
        raise OptionError(f"direction={value!r} is neither 'left' nor 'right'")
    return value  # type: ignore[return-value]


@dataclass
class Detail:
    """What is asked for less often than numbers: names, places, and which word each token is of."""

    names: list[str]
    offsets: list[Offsets]
    words: list[int | None]

    def part(self, start: int, end: int) -> Detail:
        """Some tokens."""
        return Detail(self.names[start:end], self.offsets[start:end], self.words[start:end])


@dataclass
class Part:
    """Tokens of one kind. look: computes their details, when they are first asked for. sequence:
    0 or 1 for tokens of the first or second text, None for others."""

    ids: list[int]
    look: Callable[[], Detail]
    type_id: int = 0
    special: bool = False
    padding: bool = False
    sequence: int | None = None
    _seen: Detail | None = field(default=None, repr=False)

    def detail(self) -> Detail:
        """Names, places, words."""
        if self._seen is None:
            self._seen = self.look()
        return self._seen

    def cut(self, start: int, end: int) -> Part:
        """Some tokens."""
        return replace(
            self, ids=self.ids[start:end], look=lambda: self.detail().part(start, end), _seen=None
        )

    def changed(self, change: Callable[[Detail], Detail]) -> Part:
        """With other details."""
        return replace(self, look=lambda: change(self.detail()), _seen=None)


def extra(names: list[str], ids: list[int], type_id: int, *, padding: bool = False) -> Part:
    """Tokens that stand for nothing in the text."""
    detail = Detail(names, [(0, 0)] * len(ids), [None] * len(ids))
    return Part(ids, lambda: detail, type_id, special=True, padding=padding)


class Encoding:
    """A text's tokens. All lists have one entry per token.

    Offsets are positions of characters in the text that was given: the first, and the one after the
    last. Names and offsets are computed when they are first asked for.
    """

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts
        self.ids: list[int] = list(chain.from_iterable(part.ids for part in parts))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Encoding(num_tokens={len(self)})"

    def _each(self, value: Callable[[Part], int]) -> list[int]:
        return [each for part in self.parts for each in [value(part)] * len(part.ids)]

    @property
    def tokens(self) -> list[str]:
        """Names of the tokens."""
        return [name for part in self.parts for name in part.detail().names]

    @property
    def offsets(self) -> list[Offsets]:
        """Where the tokens stand."""
        return [place for part in self.parts for place in part.detail().offsets]

    @property
    def word_ids(self) -> list[int | None]:
        """Which word of its text each token is of; None for special tokens."""
        return [word for part in self.parts for word in part.detail().words]

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 for tokens of the first text, 1 for those of the second, None for special ones."""
        return [part.sequence for part in self.parts for _ in part.ids]

    @property
    def type_ids(self) -> list[int]:
        """Which of two texts the network is to take a token for."""
        return self._each(lambda part: part.type_id)

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for others."""
        return self._each(lambda part: int(not part.padding))

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens that a template or padding adds."""
        return self._each(lambda part: int(part.special))

    def truncate(self, length: int, direction: Side = "right") -> Encoding:
        """The first tokens, or, with direction "left", the last ones."""
        drop = max(len(self) - length, 0) if direction == "left" else 0
        kept, at = [], 0
        for part in self.parts:
            start = max(drop - at, 0)
            end = min(len(part.ids), drop + length - at)
            if end > start:
                kept.append(part if (start, end) == (0, len(part.ids)) else part.cut(start, end))
            at += len(part.ids)
        return Encoding(kept)


@dataclass(frozen=True)
class Truncation:
    """How long encodings may be. strategy: which of two texts is cut."""

    max_length: int
    strategy: Strategy = "longest_first"
    direction: Side = "right"

    def cut(self, parts: list[Encoding], added: int) -> list[Encoding]:
        """One or two encodings, for a template that adds so many tokens. Raises: OptionError
        where that can't be."""
        room = self.max_length - added
        excess = sum(map(len, parts)) - room
        if excess <= 0:
            return parts
        if room < 0:
            raise OptionError(
                f"max_length={self.max_length} has no room for the {added} special tokens"
            )
        lengths = [len(part) for part in parts]
        if self.strategy == "longest_first":
            lengths = [room] if len(parts) == 1 else _longest_first(lengths, room)
        else:
            at = 0 if self.strategy == "only_first" else 1
            if at >= len(parts) or lengths[at] <= excess:
                raise OptionError(
                    f"truncation with strategy={self.strategy!r} can't take {excess} tokens from "
                    f"texts of {lengths}"
                )
            lengths[at] -= excess
        return [
            part.truncate(length, self.direction)
            for part, length in zip(parts, lengths, strict=True)
        ]


def _longest_first(lengths: list[int], room: int) -> list[int]:
    """The longer of two is cut; both, if half of the room is less than the shorter."""
    low, high = sorted(lengths)
    high = low if low > room else max(low, room - low)
    if low + high > room:
        low, high = room // 2, room // 2 + room % 2
    return [high, low] if lengths[0] > lengths[1] else [low, high]


@dataclass(frozen=True)
class Padding:
    """How encodings are made equally long. length: None for that of the longest."""

    direction: Side = "right"
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    length: int | None = None
    pad_to_multiple_of: int | None = None

    def pad(self, batch: list[Encoding]) -> list[Encoding]:
        """Encodings of one length, unless one is longer than `length`."""
        length = self.length if self.length is not None else max(map(len, batch), default=0)
        if self.pad_to_multiple_of:
            length += -length % self.pad_to_multiple_of
        return [self._one(each, length) for each in batch]

    def _one(self, encoding: Encoding, length: int) -> Encoding:
        count = length - len(encoding)
        if count <= 0:
            return encoding
        fill = extra(
            [self.pad_token] * count, [self.pad_id] * count, self.pad_type_id, padding=True
        )
        left = self.direction == "left"
        return Encoding([fill, *encoding.parts] if left else [*encoding.parts, fill])
