"""Texts that know where each of their characters came from."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence

from ..errors import TextError

Edit = tuple[int, int, str, Sequence[int]]
"""Start, end, what stands there instead, and for each new character the position of the old one
that it stands for."""

# One character may become 18 (U+FDFA in NFKD). A rule that makes more of a text than this, over
# all, does so without end.
_GROWTH = 64
_SMALL = 4096


def check_growth(before: int, after: int) -> None:
    """Raises: TextError where rules make a text many times longer."""
    if after > _GROWTH * before + _SMALL:
        raise TextError(
            f"the tokenizer's rules make {after} characters of {before}: a normalizer or "
            "pre-tokenizer that replaces text by more text, again and again"
        )


class Aligned:
    """A text, and for each of its characters the position in the text that was given.

    Offsets of a piece are those of its first and of its last character.
    """

    __slots__ = ("origin", "text")

    def __init__(self, text: str, origin: Sequence[int] | None = None) -> None:
        self.text = text
        self.origin: Sequence[int] = range(len(text)) if origin is None else origin

    def part(self, start: int, end: int) -> Aligned:
        """A piece."""
        if start == 0 and end == len(self.text):
            return self
        return Aligned(self.text[start:end], self.origin[start:end])

    def mapped(self, text: str) -> Aligned:
        """Another text of the same length, character for character."""
        return self if text is self.text else Aligned(text, self.origin)

    def picked(self, text: str, sources: Sequence[int]) -> Aligned:
        """Another text, each character of which stands for the one at a position of this."""
        check_growth(len(self.text), len(text))
        origin = self.origin
        return Aligned(text, array("i", [origin[at] for at in sources]))

    def edited(self, edits: Iterable[Edit]) -> Aligned:
        """With other text at some places, which are in order. Raises: TextError for a text
        that becomes many times longer."""
        before, origin = self.text, self.origin
        texts: list[str] = []
        sources = array("i")
        done = size = 0
        for start, end, text, old in edits:
            size += start - done + len(text)
            if size > _SMALL:
                check_growth(len(before), size)
            texts += before[done:start], text
            sources.extend(origin[done:start])
            sources.extend([origin[at] for at in old])
            done = end
        if not texts:
            return self
        texts.append(before[done:])
        sources.extend(origin[done:])
        return Aligned("".join(texts), sources)

    def with_prefix(self, prefix: str) -> Aligned:
        """With something in front, which stands for the first character. An empty text stays."""
        if not self.text or not prefix:
            return self
        origin = self.origin
        sources = array("i", [origin[0]]) * len(prefix)
        sources.extend(origin)
        return Aligned(prefix + self.text, sources)

    def offsets(self, start: int, end: int) -> tuple[int, int]:
        """Where a piece stands in the text that was given."""
        if start >= end:
            at = self.origin[start] if start < len(self.origin) else 0
            return at, at
        return self.origin[start], self.origin[end - 1] + 1


Step = Callable[[Aligned], Aligned]
"""A step of a normalizer."""
