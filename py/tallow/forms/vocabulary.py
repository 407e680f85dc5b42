"""Which tokens may follow, by their characters: the sorted vocabulary is walked beside a form.

The result is a number with a bit for each token.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..errors import OptionError
from ..text.charsets import Ranges, inverse, union, written
from .grammar import Grammar, State


def choices(answers: Sequence[str]) -> Grammar:
    """One of some answers. Raises: OptionError for none, and for an empty one."""
    if (
        isinstance(answers, str)
        or not answers
        or not all(isinstance(each, str) and each for each in answers)
    ):
        raise OptionError("choices are one answer or more, none of them empty")
    grammar = Grammar()
    rule, start = grammar.rule()
    for answer in answers:
        grammar.finish(rule, grammar.text(start, answer))
    return grammar.seal("choices")


_BYTES: Ranges = ((0xDC80, 0xDCFF),)
"""Bytes that are no whole character, as "surrogateescape" gives them."""


class _Run:
    """The tokens of one set of characters alone, and where others leave it."""

    def __init__(self, texts: Sequence[str], tokens: Sequence[int], chars: Ranges) -> None:
        whole = inverse(union([inverse(chars), _BYTES]))
        match = re.compile(f"{written(whole)}*").match
        lengths: dict[int, list[int]] = {0: []}
        self.leaves: dict[tuple[int, str], list[int]] = {}  # after how many, what follows them
        for text, token in zip(texts, tokens, strict=True):
            found = match(text)
            at = found.end() if found else 0
            if at == len(text):
                lengths.setdefault(at, []).append(token)
            else:
                self.leaves.setdefault((at, text[at:]), []).append(token)
        self.longest = max(lengths)
        self.upto: list[int] = []  # the tokens of at most so many characters
        mask = 0
        for length in range(self.longest + 1):
            mask |= _mask(lengths.get(length, ()))
            self.upto.append(mask)


class Vocabulary:
    """The texts of tokens.

    count: how many tokens the model has. texts: the token and the text of each that may be
    written; bytes that are no whole character as "surrogateescape" gives them.
    """

    def __init__(self, count: int, texts: Iterable[tuple[int, str]]) -> None:
        self._bytes = (count + 31) // 32 * 4
        self._of = {token: text for token, text in texts if text}
        row = sorted((text, token) for token, text in self._of.items())
        self._texts = [text for text, _ in row]
        self._tokens = [token for _, token in row]
        self._runs: dict[Ranges, _Run] = {}

    def behind(self, grammar: Grammar, state: State, token: int) -> State:
        """The state behind a token. Raises: OptionError for one that may not follow."""
        found = _behind(grammar, state, self._of[token]) if token in self._of else None
        if found is None:
            raise OptionError(f"the token {token} may not follow in this form")
        return found

    def allowed(self, grammar: Grammar, state: State) -> int:
        """The tokens that may follow in a state: a number with a bit for each. Those that end a
        text are not among them."""
        found = self._run(grammar, state)
        return self._walk(grammar, state) if found is None else found

    def words(self, mask: int) -> list[int]:
        """The bits in words of 32."""
        return list(memoryview(mask.to_bytes(self._bytes, "little")).cast("I"))

    def _walk(self, grammar: Grammar, state: State) -> int:
        texts, tokens = self._texts, list[int]()
        rest = [(state, 0, len(texts), 0)]
        while rest:
            here, low, high, depth = rest.pop()
            while low < high and len(texts[low]) == depth:
                tokens.append(self._tokens[low])
                low += 1
            if low == high:
                continue
            start, few = texts[low][:depth], _few(grammar, here)
            for char in few or ():
                first = bisect_left(texts, start + char, low, high)
                last = bisect_left(texts, start + chr(ord(char) + 1), first, high)
                following = grammar.step(here, char) if first < last else None
                if following is not None:
                    rest.append((following, first, last, depth + 1))
            while few is None and low < high:
                char, first = texts[low][depth], low
                last = char == "\U0010ffff"
                low = high if last else bisect_left(texts, start + chr(ord(char) + 1), low, high)
                following = grammar.step(here, char)
                if following is not None:
                    rest.append((following, first, low, depth + 1))
        return _mask(tokens)

    def _run(self, grammar: Grammar, state: State) -> int | None:
        """The same where a run of characters may follow, and nothing else reads these: most
        tokens then are of these alone. None if it isn't so."""
        runs = [node for node, _ in state.places if node in grammar.runs]
        if state.half or len(runs) != 1:
            return None
        chars, most = grammar.runs[runs[0]]
        run = self._runs.get(chars)
        if run is None:
            run = self._runs[chars] = _Run(self._texts, self._tokens, chars)
        reach = run.longest if most is None else min(most, run.longest)
        sample, states = _sample(chars), [state]
        for _ in range(reach):
            following = grammar.step(states[-1], sample)
            if following is None:
                return None
            states.append(following)
        if any(
            self._others(grammar, each, chars) != (at < reach or most != reach)
            for at, each in enumerate(states)
        ):
            return None
        found: list[int] = []
        known: dict[tuple[State, str], bool] = {}
        for (depth, text), tokens in run.leaves.items():
            if depth <= reach:
                key = states[depth], text
                if key not in known:
                    known[key] = _behind(grammar, *key) is not None
                if known[key]:
                    found += tokens
        return run.upto[reach] | _mask(found)

    @staticmethod
    def _others(grammar: Grammar, state: State, chars: Ranges) -> int:
        """How many edges of a state read any of some characters."""
        return sum(_meet(own, chars) for node, _ in state.places for own, _ in grammar.reads[node])


def _few(grammar: Grammar, state: State) -> set[str] | None:
    """The characters that may follow, if they are few and none of them has several bytes."""
    found: set[str] = set()
    for node, _ in state.places:
        for chars, _ in grammar.reads[node]:
            for low, high in chars:
                if high > 127 or len(found) + high - low > 64:
                    return None
                found.update(map(chr, range(low, high + 1)))
    return None if state.half else found


def _behind(grammar: Grammar, state: State, text: str) -> State | None:
    """The state behind a text; None if it may not follow."""
    for char in text:
        found = grammar.step(state, char)
        if found is None:
            return None
        state = found
    return state


@lru_cache(maxsize=1000)
def _meet(one: Ranges, other: Ranges) -> bool:
    return any(low <= b and a <= high for low, high in one for a, b in other)


def _sample(chars: Ranges) -> str:
    """A character of a set, which is no byte of one."""
    low, high = chars[0]
    return chr(high if 0xDC80 <= low <= 0xDCFF else low)


def _mask(tokens: Sequence[int]) -> int:
    row = bytearray(max(tokens, default=0) // 8 + 1)
    for token in tokens:
        row[token >> 3] |= 1 << (token & 7)
    return int.from_bytes(row, "little")
