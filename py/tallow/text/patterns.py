"""Patterns of tokenizers, which are Oniguruma's, as patterns of `re`.

What `re` lacks or sees in another way is a set of characters: Unicode's properties, white space,
words, classes in classes. Each becomes a class of plain ranges.
"""

from __future__ import annotations

import re

from ..errors import TextError
from .charsets import LAST, Ranges, escape_set, inverse, property_set, union, written

_BMP = 0xFFFF

_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
_REPEAT = re.compile(r"[*+?]|\{\d*,?\d*\}")


class _Reader:
    """Reads a pattern from left to right and writes it for `re`."""

    def __init__(self, pattern: str, last: int) -> None:
        self.pattern, self.last, self.at = pattern, last, 0

    def fail(self, why: str) -> TextError:
        return TextError(f"the pattern {self.pattern[:80]!r} {why} at {self.at}")

    def take(self) -> str:
        if self.at >= len(self.pattern):
            raise self.fail("ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def starts(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def run(self) -> str:
        out: list[str] = []
        groups: list[bool] = []  # whether each open group could be matched in many ways
        while self.at < len(self.pattern):
            char = self.take()
            if char == "\\":
                got = self.escape(inside=False)
                out.append(got if isinstance(got, str) else written(got, self.last))
            elif char == "[":
                out.append(written(self.klass(), self.last))
            elif char == "(":
                groups.append(False)
                if self.starts("?<") and not self.starts("?<=") and not self.starts("?<!"):
                    self.at += 1
                    out.append("(?P")
                else:
                    out.append("(")
            elif char == ")":
                unsure = bool(groups and groups.pop())
                if self.repeats() and unsure:
                    raise self.fail("repeats a choice or a repeat, which can take forever,")
                if groups:
                    groups[-1] |= unsure
                out.append(")")
            else:
                if char == "|" and groups:
                    groups[-1] = True
                out.append({"^": "(?m:^)", "$": "(?m:$)"}.get(char, char))
            if groups and char not in "(|" and self.repeats():
                groups[-1] = True
        return "".join(out)

    def repeats(self) -> bool:
        """Whether what was read last repeats without a limit."""
        found = _REPEAT.match(self.pattern, self.at)
        return bool(found) and (found[0] in "*+" or found[0].endswith(",}"))  # type: ignore[index]

    def escape(self, *, inside: bool) -> str | Ranges:
        """What follows a backslash: a set, or text for `re`."""
        char = self.take()
        if char in "pP":
            if self.take() != "{" or "}" not in self.pattern[self.at :]:
                raise self.fail("has a property without braces")
            end = self.pattern.index("}", self.at)
            name, self.at = self.pattern[self.at : end], end + 1
            ranges = property_set(name)
            return ranges if char == "p" else inverse(ranges)
        if (found := escape_set(char)) is not None:
            return found
        if char == "x" and self.starts("{"):
            end = self.pattern.find("}", self.at)
            digits, self.at = self.pattern[self.at + 1 : end], end + 1
            return self.code(digits)
        if char in "xuU":
            length = {"x": 2, "u": 4, "U": 8}[char]
            digits = self.pattern[self.at : self.at + length]
            self.at += length
            return self.code(digits)
        if char in _LETTERS:
            return self.code(f"{ord(_LETTERS[char]):x}")
        if not inside and char in "bBAZz":
            return {"z": r"\Z", "Z": r"(?=\n?\Z)"}.get(char, "\\" + char)
        if not inside and char.isdigit():
            return "\\" + char
        if char.isalnum():
            raise self.fail(f"has the unknown escape \\{char}")
        return self.code(f"{ord(char):x}")

    def code(self, digits: str) -> Ranges:
        try:
            code = int(digits, 16)
        except ValueError:
            code = -1
        if not 0 <= code <= LAST:
            raise self.fail(f"has the unknown character {digits!r}")
        return ((code, code),)

    def klass(self, depth: int = 0) -> Ranges:
        """A class, after its bracket. `&&` intersects, a class in a class joins."""
        if depth > 20:
            raise self.fail("nests its classes too deeply")
        negated = self.starts("^")
        self.at += negated
        sides: list[list[Ranges]] = [[]]
        first = True
        while True:
            char = self.take()
            if char == "]" and not first:
                break
            first = False
            if char == "&" and self.starts("&"):
                self.at += 1
                sides.append([])
                continue
            if char == "[":
                if self.starts(":") and (end := self.pattern.find(":]", self.at)) > 0:
                    name, self.at = self.pattern[self.at + 1 : end], end + 2
                    names = {"alpha": "L", "digit": "Nd", "upper": "Lu", "lower": "Ll"}
                    sides[-1].append(property_set(names.get(name, name)))
                else:
                    sides[-1].append(self.klass(depth + 1))
                continue
            low = self.escape(inside=True) if char == "\\" else ((ord(char), ord(char)),)
            assert not isinstance(low, str)
            if (
                self.starts("-")
                and not self.starts("-]")
                and len(low) == 1
                and low[0][0] == low[0][1]
            ):
                self.at += 1
                other = self.take()
                high = self.escape(inside=True) if other == "\\" else ((ord(other), ord(other)),)
                assert not isinstance(high, str)
                if len(high) != 1 or high[0][0] < low[0][0]:
                    raise self.fail("has a range without an order")
                low = ((low[0][0], high[0][1]),)
            sides[-1].append(low)
        kept = union(sides[0])
        for other_side in sides[1:]:
            kept = inverse(union([inverse(kept), inverse(union(other_side))]))
        return inverse(kept) if negated else kept


_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Pattern:
    """A pattern of a tokenizer, compiled when it is first used.

    `re` looks through a class's ranges above 0xFFFF one by one, for each character that is not in
    the class. So texts without such characters get classes without them.
    """

    def __init__(self, source: str) -> None:
        """Raises: TextError for a pattern that `re` can't have, or that could take for
        ever."""
        self.source = source
        self._compiled: dict[int, re.Pattern[str]] = {}
        self._compile(_BMP)

    def _compile(self, last: int) -> re.Pattern[str]:
        if last not in self._compiled:
            try:
                self._compiled[last] = re.compile(_Reader(self.source, last).run())
            except (re.error, RecursionError, OverflowError) as error:
                raise TextError(
                    f"the pattern {self.source[:80]!r} can't be used: {error}"
                ) from error
        return self._compiled[last]

    def of(self, text: str) -> re.Pattern[str]:
        """The compiled pattern for a text."""
        return self._compile(LAST if not text.isascii() and _ASTRAL.search(text) else _BMP)


def literal(text: str) -> re.Pattern[str]:
    """A pattern of this very text."""
    return re.compile(re.escape(text))


def found(
    pattern: Pattern | re.Pattern[str], text: str, start: int, end: int
) -> list[tuple[int, int]]:
    """Where a pattern occurs between two positions, as if nothing stood before or after."""
    part = text if end - start == len(text) else text[start:end]
    compiled = pattern.of(part) if isinstance(pattern, Pattern) else pattern
    if start == 0:
        return [match.span() for match in compiled.finditer(part)]
    return [(m.start() + start, m.end() + start) for m in compiled.finditer(part)]
