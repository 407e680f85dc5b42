"""Added tokens: names that are found in a text before anything else is done with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ..errors import TextError
from .aligned import Aligned, Step
from .charsets import WHITE, word_set, written
from .spec import Spec
from .vocabulary import Model


@dataclass(frozen=True)
class AddedToken:
    """A token beside the vocabulary's. special: `decode` leaves it out. single_word: only where no
    word goes on at its sides. lstrip, rstrip: with the white space before, after. normalized: it is
    looked for in the normalised text."""

    content: str
    special: bool = False
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


@dataclass(frozen=True)
class Section:
    """A piece of a text: `id` for an added token, None for what is to be cut into words."""

    text: Aligned
    id: int | None = None


class Added:
    """All added tokens of a tokenizer. names: what each is shown as; one that is looked for in
    the normalised text is shown normalised, as `tokenizers` does."""

    def __init__(self, tokens: dict[int, AddedToken], normalizer: Step | None) -> None:
        self.tokens = tokens
        self.ids = {token.content: number for number, token in tokens.items()}
        self.special = {token.content for token in tokens.values() if token.special}
        self._normalizer = normalizer
        self.names = {
            number: normalizer(Aligned(token.content)).text
            if normalizer and token.normalized
            else token.content
            for number, token in tokens.items()
        }
        plain = {self.names[n]: n for n, token in tokens.items() if not token.normalized}
        changed = {self.names[n]: n for n, token in tokens.items() if token.normalized}
        self._plain, self._changed = _Finder(plain, tokens), _Finder(changed, tokens)

    def sections(self, text: str) -> Iterator[Section]:
        """Added tokens, and the normalised texts between them. None is empty."""
        for section in self._plain.cut(Aligned(text)):
            if section.id is not None:
                yield section
                continue
            normal = self._normalizer(section.text) if self._normalizer else section.text
            yield from self._changed.cut(normal)


class _Finder:
    """Finds tokens by their contents: the first one, and of those the longest."""

    def __init__(self, contents: dict[str, int], tokens: dict[int, AddedToken]) -> None:
        self._contents, self._tokens = contents, tokens
        names = sorted(filter(None, contents), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, names))) if names else None

    def cut(self, text: Aligned) -> Iterator[Section]:
        """Tokens and what is between them."""
        whole, done = text.text, 0
        for match in self._pattern.finditer(whole) if self._pattern else ():
            start, end = match.span()
            number = self._contents[match[0]]
            token = self._tokens[number]
            if token.single_word and _in_word(whole, start, end):
                continue
            if token.lstrip:
                start = max(len(whole[:start].rstrip(WHITE)), done)
            if token.rstrip:
                end = len(whole) - len(whole[end:].lstrip(WHITE))
            if start > done:
                yield Section(text.part(done, start))
            if end > done:
                yield Section(text.part(max(start, done), end), number)
                done = end
        if done < len(whole):
            yield Section(text.part(done, len(whole)))


@cache
def _word() -> re.Pattern[str]:
    return re.compile(written(word_set()))


def _in_word(text: str, start: int, end: int) -> bool:
    """Whether a word goes on before or after."""
    word = _word()
    return bool((start and word.match(text, start - 1)) or word.match(text, end))


def added_of(specs: list[Spec], model: Model) -> dict[int, AddedToken]:
    """The added tokens of a description, by their numbers. Raises: TextError."""
    out: dict[int, AddedToken] = {}
    for spec in specs:
        content = spec.text("content")
        number = model.vocab.get(content, spec.number("id"))
        special = spec.flag("special", False)
        token = AddedToken(
            content,
            special=special,
            single_word=spec.flag("single_word", False),
            lstrip=spec.flag("lstrip", False),
            rstrip=spec.flag("rstrip", False),
            normalized=spec.flag("normalized", not special),
        )
        taken = out.get(number)
        if (taken and taken.content != content) or model.names.get(number, content) != content:
            raise TextError(
                f"the added token {content!r:.60} has the number {number}, which is that of "
                f"{(taken.content if taken else model.names[number])!r:.60}"
            )
        if content:
            out[number] = token
    return out
