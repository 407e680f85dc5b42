"""Regular expressions as forms: what `re.fullmatch` of this Python accepts.

The patterns are read by the parser of `re` itself.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from ..errors import OptionError
from ..text.charsets import Ranges, inverse, union
from .grammar import Grammar

Read = Callable[[int, Ranges, int, int | None], int]
"""Adds a run of characters behind a node: how often at least, and at most."""

_parser: Any = importlib.import_module("re._parser")
_ATOMS = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
_STARTS, _STOPS = ("AT_BEGINNING", "AT_BEGINNING_STRING"), ("AT_END", "AT_END_STRING")


def regex(pattern: str) -> Grammar:
    """The texts that a pattern matches from the start to the end.

    Raises: OptionError for one that `re` can't read, or that looks around, refers back, or
    ignores case; and for one that no text matches.
    """
    grammar = Grammar()
    rule, start = grammar.rule()
    grammar.finish(rule, Reader(grammar, grammar.run).add(start, pattern))
    return grammar.seal(f"regex {_short(pattern)}")


class Reader:
    """Adds patterns to a grammar. read: how characters are added; a form may write some of them in
    other ways."""

    def __init__(self, grammar: Grammar, read: Read) -> None:
        self._grammar, self._read = grammar, read
        self._pattern, self._flags = "", 0

    def add(self, at: int, pattern: str, anywhere: bool = False) -> int:
        """Adds a pattern behind a node. anywhere: it may stand within other text, as patterns of
        JSON Schema do. Raises OptionError."""
        if not isinstance(pattern, str):
            raise OptionError(f"a regular expression is a text, not {pattern!r:.60}")
        self._pattern = pattern
        try:
            parsed = _parser.parse(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise OptionError(f"regex {_short(pattern)} can't be read: {error}") from error
        self._flags = parsed.state.flags
        if self._flags & (re.IGNORECASE | re.LOCALE | re.MULTILINE):
            raise self._error("has a flag other than a, s, u or x, such as (?i): write [aA]")
        items = list(parsed)
        starts = bool(items) and _anchor(items[0], _STARTS)
        stops = len(items) > starts and _anchor(items[-1], _STOPS)
        items = items[starts : len(items) - stops]
        if anywhere and not starts:
            at = self._read(at, ((0, 0x10FFFF),), 0, None)
        at = self._sequence(at, items)
        return self._read(at, ((0, 0x10FFFF),), 0, None) if anywhere and not stops else at

    def _error(self, why: str) -> OptionError:
        return OptionError(f"regex {_short(self._pattern)} {why}")

    def _sequence(self, at: int, items: Sequence[Any]) -> int:
        for op, value in items:
            at = self._item(at, str(op), value)
        return at

    def _item(self, at: int, op: str, value: Any) -> int:
        if op in _ATOMS:
            return self._read(at, self._chars(op, value), 1, 1)
        if op == "BRANCH":
            return self._grammar.either(
                at, [partial(self._sequence, items=items) for items in value[1]]
            )
        if op == "SUBPATTERN":
            _, added, removed, items = value
            if added or removed:
                raise self._error("changes flags within")
            return self._sequence(at, items)
        if op in ("MAX_REPEAT", "MIN_REPEAT"):
            low, most, items = value
            high = None if most is _parser.MAXREPEAT else most
            inner = list(items)
            if len(inner) == 1 and str(inner[0][0]) in _ATOMS:
                return self._read(at, self._chars(str(inner[0][0]), inner[0][1]), low, high)
            return self._grammar.repeat(at, lambda at: self._sequence(at, items), low, high)
        if op == "AT":
            raise self._error("has ^ or $ within: they stand at its start and its end alone")
        raise self._error("looks around, refers back, or keeps a part whole, which no form can do")

    def _chars(self, op: str, value: Any) -> Ranges:
        if op == "LITERAL":
            return ((value, value),)
        if op == "NOT_LITERAL":
            return inverse(((value, value),))
        if op == "ANY":
            return inverse(() if self._flags & re.DOTALL else ((10, 10),))
        negated, sets = False, []
        for kind, own in value:
            name = str(kind)
            if name == "NEGATE":
                negated = True
            elif name == "CATEGORY":
                sets.append(_category(str(own), bool(self._flags & re.ASCII)))
            else:
                sets.append(((own, own),) if name == "LITERAL" else (own,))
        found = union(sets)
        return inverse(found) if negated else found


def _anchor(item: Any, names: tuple[str, ...]) -> bool:
    return str(item[0]) == "AT" and str(item[1]) in names


@cache
def _category(name: str, ascii: bool) -> Ranges:
    r"""The characters of `\d` and the like, as `re` sees them."""
    letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[name.split("_")[-1]]
    if "NOT" in name:
        return inverse(_category(name.replace("NOT_", ""), ascii))
    every = "".join(map(chr, range(128 if ascii else 0x110000)))
    found = re.finditer(rf"\{letter}+", every, re.ASCII if ascii else 0)
    return tuple((match.start(), match.end() - 1) for match in found)


def _short(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 80 else f"{pattern[:77]}...")
