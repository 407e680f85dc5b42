"""RE2's syntax: parses a pattern into a tree.

The only question is whether a whole text matches, so anything that only affects what a group
captures, or which match is found first, is ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....errors import OnnxFormatError, OnnxUnsupportedError
from . import characters as ch
from .characters import Characters
from .tree import (
    BEGIN_LINE,
    BEGIN_TEXT,
    BOUNDARY,
    END_LINE,
    END_TEXT,
    INSIDE,
    Check,
    Choice,
    Joined,
    Letter,
    Repeat,
    Tree,
)

MAX_DEPTH = 100
"""Nested groups."""

MAX_REPEATS = 1000
"""Repetitions of a counted repetition, multiplied by those around it; RE2's own limit."""

MAX_SIZE = 1 << 14
"""Instructions of an automaton."""


def parse(pattern: str) -> Tree:
    """The tree of a pattern.

    Raises OnnxFormatError if RE2 rejects it, OnnxUnsupportedError for what Tallow lacks and for
    patterns that are too large.
    """
    return _Parser(pattern).whole()


@dataclass(frozen=True)
class _Flags:
    """(?i), (?m), (?s); greediness, (?U), does not matter when matching a whole text."""

    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


_ESCAPES = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_OCTAL = "01234567"
_HEXADECIMAL = "0123456789abcdefABCDEF"


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._depth = 0
        self._names: set[str] = set()

    def whole(self) -> Tree:
        tree = self._choice(_Flags())
        if self._at < len(self._text):
            raise self._wrong("an unmatched )")
        return tree

    # ---- reading -------------------------------------------------------------------------------

    def _next(self, length: int = 1) -> str:
        return self._text[self._at : self._at + length]

    def _take(self, length: int = 1) -> str:
        taken = self._next(length)
        self._at += length
        return taken

    def _skip(self, start: str) -> bool:
        """Consumes `start` if it comes next."""
        found = self._text.startswith(start, self._at)
        self._at += len(start) * found
        return found

    def _until(self, end: str, what: str) -> str:
        """Consumes and returns everything before `end`; consumes `end` too."""
        stop = self._text.find(end, self._at)
        if stop < 0:
            raise self._wrong(f"{what} without {end}")
        taken = self._text[self._at : stop]
        self._at = stop + len(end)
        return taken

    def _wrong(self, what: str) -> OnnxFormatError:
        return OnnxFormatError(f"the pattern {self._shown()} is not in RE2's syntax: {what}")

    def _lacking(self, what: str) -> OnnxUnsupportedError:
        return OnnxUnsupportedError(f"the pattern {self._shown()}: {what}")

    def _shown(self) -> str:
        return f"{self._text!r:.200}"

    # ---- parts ---------------------------------------------------------------------------------

    def _choice(self, flags: _Flags) -> Tree:
        """Parses everything up to the end of the group or of the pattern."""
        branches: list[Tree] = []
        parts: list[Tree] = []
        repeated = False  # whether the last thing read was a repetition
        while self._next() not in ("", ")"):
            if self._skip("|"):
                branches.append(self._together(parts))
                parts, repeated = [], False
                continue
            counts = self._counts()
            if counts is not None:
                if repeated:
                    raise self._wrong("a repetition of a repetition")
                if not parts:
                    raise self._wrong("a repetition of nothing")
                parts.append(self._repeat(parts.pop(), *counts))
                repeated = True
                continue
            repeated = False
            changed = self._flags_alone(flags)
            if changed is not None:
                flags = changed
            elif self._skip("\\Q"):
                parts += [self._letter(x, flags) for x in self._literal()]
            else:
                parts.append(self._part(flags))
        branches.append(self._together(parts))
        if len(branches) == 1:
            return branches[0]
        letters = [branch.characters for branch in branches if isinstance(branch, Letter)]
        if len(letters) == len(branches):
            return Letter(1, 1, ch.union(letters))
        size = sum(branch.size + 2 for branch in branches)
        return self._sized(Choice(size, _repeats(branches), tuple(branches)))

    def _together(self, parts: Sequence[Tree]) -> Tree:
        if len(parts) == 1:
            return parts[0]
        size = sum(part.size for part in parts)
        return self._sized(Joined(size, _repeats(parts), tuple(parts)))

    def _sized(self, tree: Tree) -> Tree:
        if tree.size > MAX_SIZE:
            raise self._lacking(
                f"its automaton has {tree.size:,} instructions; the maximum is {MAX_SIZE:,}"
            )
        return tree

    def _part(self, flags: _Flags) -> Tree:
        """One character, a set of them, a condition, or a group."""
        letter = self._take()
        if letter == "(":
            return self._group(flags)
        if letter == "[":
            return Letter(1, 1, self._brackets(flags))
        if letter == ".":
            return Letter(1, 1, ch.ALL if flags.s else ch.complement(ch.span(10, 10)))
        if letter == "^":
            return Check(1, 1, BEGIN_LINE if flags.m else BEGIN_TEXT)
        if letter == "$":
            return Check(1, 1, END_LINE if flags.m else END_TEXT)
        if letter != "\\":
            return self._letter(ord(letter), flags)
        conditions = {"A": BEGIN_TEXT, "z": END_TEXT, "b": BOUNDARY, "B": INSIDE}
        if self._next() in conditions:
            return Check(1, 1, conditions[self._take()])
        if self._next() == "C":
            raise self._lacking("\\C, a single byte, is not supported")
        named = self._named(flags)
        return self._letter(self._escaped(), flags) if named is None else Letter(1, 1, named)

    def _letter(self, code: int, flags: _Flags) -> Tree:
        return Letter(1, 1, self._cased(ch.span(code, code), flags))

    def _cased(self, characters: Characters, flags: _Flags) -> Characters:
        return ch.folded(characters) if flags.i else characters

    def _literal(self) -> list[int]:
        r"""The characters up to \E, or to the end."""
        stop = self._text.find("\\E", self._at)
        if stop < 0:
            return [ord(letter) for letter in self._take(len(self._text))]
        return [ord(letter) for letter in self._until("\\E", "\\Q")]

    # ---- groups --------------------------------------------------------------------------------

    def _group(self, flags: _Flags) -> Tree:
        """A group in parentheses, the first of which is already read."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._lacking(f"more than {MAX_DEPTH} nested groups")
        named = self._next(2) == "?<" and self._next(3) not in ("?<=", "?<!")
        if self._skip("?<" if named else "?P<"):
            self._name(self._until(">", "a group name"))
        elif self._skip("?"):
            flags, _ = self._changed(flags)
        tree = self._choice(flags)
        if not self._skip(")"):
            raise self._wrong("a ( without )")
        self._depth -= 1
        return tree

    def _name(self, name: str) -> None:
        if not name or not all(letter.isalnum() or letter == "_" for letter in name):
            raise self._wrong(f"{name!r:.80} is not a valid group name")
        if name in self._names:
            raise self._wrong(f"two groups are named {name!r:.80}")
        self._names.add(name)

    def _flags_alone(self, flags: _Flags) -> _Flags | None:
        """The flags after a group that only changes them, as (?i) does; None for anything else."""
        if self._next(2) != "(?" or self._next(3) in ("(?P", "(?<"):
            return None
        before = self._at
        self._take(2)
        changed, ends = self._changed(flags)
        if not ends:
            self._at = before
            return None
        return changed

    def _changed(self, flags: _Flags) -> tuple[_Flags, bool]:
        """The flags before : or ), and whether they end in )."""
        value, given = True, True
        while (letter := self._take()) not in ("", ":", ")"):
            if letter == "-" and value:
                value = given = False
            elif letter in ("i", "m", "s", "U"):
                flags, given = replace(flags, **{letter: value}), True
            else:
                raise self._wrong(
                    f"(?{letter}: RE2 has neither look-around nor conditions, and no such flag"
                )
        if not letter or not given:
            raise self._wrong("unterminated flags")
        return flags, letter == ")"

    # ---- repetitions ---------------------------------------------------------------------------

    def _counts(self) -> tuple[int, int | None] | None:
        """The minimum and maximum of a repetition, if one comes next; None for anything else."""
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        counts = simple.get(self._next())
        if counts is not None:
            self._take()
        else:
            counts = self._counted()
        if counts is None:
            return None
        self._skip("?")  # non-greedy
        return counts

    def _counted(self) -> tuple[int, int | None] | None:
        """{2}, {2,} or {2,3}, consumed if it comes next; other braces are literal."""
        stop = self._text.find("}", self._at, self._at + 40)
        if self._next() != "{" or stop < 0:
            return None
        minimum, comma, maximum = self._text[self._at + 1 : stop].partition(",")
        if not _is_number(minimum) or (maximum and not _is_number(maximum)):
            return None
        self._at = stop + 1
        if not comma:
            return int(minimum), int(minimum)
        return int(minimum), int(maximum) if maximum else None

    def _repeat(self, part: Tree, minimum: int, maximum: int | None) -> Tree:
        copies = minimum if maximum is None else maximum
        repeats = max(copies, 1) * part.repeats
        if copies < minimum:
            raise self._wrong(f"a repetition from {minimum} to {maximum} times")
        if repeats > MAX_REPEATS and copies > 1:
            raise self._wrong(f"{repeats:,} repetitions; the maximum is {MAX_REPEATS:,}")
        size = max(copies, 1) * (part.size + 2) + 2
        return self._sized(Repeat(size, repeats, part, minimum, maximum))

    # ---- characters ----------------------------------------------------------------------------

    def _named(self, flags: _Flags) -> Characters | None:
        r"""A named set such as \d or \pL, after its backslash; None for anything else."""
        letter = self._next()
        if letter and letter in "pP":
            self._take()
            name = self._take()
            if name == "{":
                name = self._until("}", "a character class name")
            negated = (letter == "P") != name.startswith("^")
            found = ch.category(name.removeprefix("^"))
            if found is None:
                raise self._lacking(f"\\p{{{name}}} is not a Unicode general category")
        elif letter and letter in "dDsSwW":
            self._take()
            found, negated = ch.PERL[letter.lower()], letter.isupper()
        else:
            return None
        found = self._cased(found, flags)
        return ch.complement(found) if negated else found

    def _escaped(self) -> int:
        """The character that an escape stands for, after its backslash."""
        letter = self._take()
        if not letter:
            raise self._wrong("a \\ at the end")
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter == "x":
            digits = self._until("}", "\\x{") if self._skip("{") else self._take(2).ljust(2)
            if not digits or any(digit not in _HEXADECIMAL for digit in digits):
                raise self._wrong(f"\\x{digits:.80}")
            return self._code(int(digits, 16))
        octal = letter in _OCTAL and (letter == "0" or self._next() in tuple(_OCTAL))
        if octal:
            digits = letter
            while len(digits) < 3 and self._next() in tuple(_OCTAL):
                digits += self._take()
            return self._code(int(digits, 8))
        if letter.isalnum() or ord(letter) >= 0x80:
            known = "; RE2 has no backreferences" if letter.isdigit() else ""
            raise self._wrong(f"\\{letter}{known}")
        return ord(letter)

    def _code(self, code: int) -> int:
        if code >= ch.END:
            raise self._wrong(f"the character {code:#x}")
        return code

    def _brackets(self, flags: _Flags) -> Characters:
        """A set in brackets, the first of which is already read."""
        negated = self._skip("^")
        sets: list[Characters] = []
        first = True
        while first or self._next() != "]":
            first = False
            if not self._next():
                raise self._wrong("a [ without ]")
            sets.append(self._posix(flags) or self._escaped_set(flags) or self._range(flags))
        self._take()
        found = ch.union(sets)
        return ch.complement(found) if negated else found

    def _posix(self, flags: _Flags) -> Characters | None:
        """[:alpha:] or [:^alpha:], if that comes next."""
        stop = self._text.find(":]", self._at + 2)
        if self._next(2) != "[:" or stop < 0:
            return None
        name = self._text[self._at + 2 : stop]
        if name.removeprefix("^") not in ch.POSIX:
            raise self._wrong(f"[:{name:.80}:]")
        self._at = stop + 2
        found = self._cased(ch.POSIX[name.removeprefix("^")], flags)
        return ch.complement(found) if name.startswith("^") else found

    def _escaped_set(self, flags: _Flags) -> Characters | None:
        if self._next() != "\\":
            return None
        before = self._at
        self._take()
        found = self._named(flags)
        if found is None:
            self._at = before
        return found

    def _range(self, flags: _Flags) -> Characters:
        """A character or a range of characters."""
        first = last = self._member()
        if self._next() == "-" and self._next(2) not in ("-", "-]"):
            self._take()
            last = self._member()
        if last < first:
            raise self._wrong(f"a range from {chr(first)!r} to {chr(last)!r}")
        return self._cased(ch.span(first, last), flags)

    def _member(self) -> int:
        letter = self._take()
        if not letter:
            raise self._wrong("a [ without ]")
        return self._escaped() if letter == "\\" else ord(letter)


def _repeats(parts: Sequence[Tree]) -> int:
    return max((part.repeats for part in parts), default=1)


def _is_number(text: str) -> bool:
    """Whether the text is a decimal number without leading zeros."""
    digits = text.isascii() and text.isdigit()
    return digits and (text == "0" or not text.startswith("0"))
