"""Sets of characters.

A set is a sorted tuple of the code points where membership changes: (97, 123) contains a to z,
(97,) contains everything from a on.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import cache

Characters = tuple[int, ...]

END = 0x110000
"""One more than the last code point."""

ALL: Characters = (0, END)


def contains(characters: Characters, code: int) -> bool:
    """Whether a code point is in the set."""
    return bool(bisect_right(characters, code) & 1)


def span(first: int, last: int) -> Characters:
    """The code points from the first to the last, both included."""
    return (first, last + 1)


def complement(characters: Characters) -> Characters:
    """All characters that are not in the set."""
    inside = characters[1:] if characters[:1] == (0,) else (0, *characters)
    return inside[:-1] if inside[-1:] == (END,) else (*inside, END)


def union(sets: Iterable[Characters]) -> Characters:
    """The characters in any of the sets."""
    pairs = sorted(
        pair for one in sets for pair in zip(one[::2], one[1::2], strict=True) if pair[0] < pair[1]
    )
    bounds: list[int] = []
    for start, stop in pairs:
        if bounds and start <= bounds[-1]:
            bounds[-1] = max(bounds[-1], stop)
        else:
            bounds += (start, stop)
    return tuple(bounds)


# ---- case --------------------------------------------------------------------------------------

_LAST_CASED = 0x1F000
"""No code point from here on has upper or lower case."""


def folded(characters: Characters) -> Characters:
    """The set extended by every character that differs only in case from one in it."""
    cased, others = _cases()
    added = {
        other
        for start, stop in zip(characters[::2], characters[1::2], strict=True)
        for code in cased[bisect_left(cased, start) : bisect_left(cased, stop)]
        for other in others[code]
    }
    return union([characters, *(span(code, code) for code in added)])


@cache
def _cases() -> tuple[list[int], dict[int, list[int]]]:
    """The code points with other cases, in order; and for each, all that fold to the same one."""
    alike: dict[str, list[int]] = {}
    for code in range(_LAST_CASED):
        letter = chr(code)
        if letter.lower() != letter or letter.upper() != letter:
            alike.setdefault(_fold(letter), []).append(code)
    others = {code: codes for codes in alike.values() if len(codes) > 1 for code in codes}
    return sorted(others), others


def _fold(letter: str) -> str:
    """One character for all that differ only in case (Unicode's simple case folding)."""
    if letter in "\u0130\u0131":  # the dotted I and the dotless i: only Turkish folds them
        return letter
    for change in (str.lower, str.upper, str.lower):
        changed = change(letter)
        letter = changed if len(changed) == 1 else letter
    return letter


# ---- names -------------------------------------------------------------------------------------

DIGIT = span(0x30, 0x39)
LOWER = span(0x61, 0x7A)
UPPER = span(0x41, 0x5A)
WORD = union([DIGIT, LOWER, UPPER, span(0x5F, 0x5F)])

PERL = {"d": DIGIT, "s": (0x09, 0x0B, 0x0C, 0x0E, 0x20, 0x21), "w": WORD}
"""Sets named by one letter after a backslash; all are ASCII."""

POSIX = {
    "alnum": union([DIGIT, LOWER, UPPER]),
    "alpha": union([LOWER, UPPER]),
    "ascii": span(0, 0x7F),
    "blank": union([span(0x09, 0x09), span(0x20, 0x20)]),
    "cntrl": union([span(0, 0x1F), span(0x7F, 0x7F)]),
    "digit": DIGIT,
    "graph": span(0x21, 0x7E),
    "lower": LOWER,
    "print": span(0x20, 0x7E),
    "punct": union([span(0x21, 0x2F), span(0x3A, 0x40), span(0x5B, 0x60), span(0x7B, 0x7E)]),
    "space": union([span(0x09, 0x0D), span(0x20, 0x20)]),
    "upper": UPPER,
    "word": WORD,
    "xdigit": union([DIGIT, span(0x41, 0x46), span(0x61, 0x66)]),
}
"""Sets named in brackets, as in [[:alpha:]]; all are ASCII."""

_SUBCATEGORIES = {"C": "cfos", "L": "lmotu", "M": "cen", "N": "dlo", "P": "cdefios", "S": "ckmo",
                  "Z": "lps"}  # fmt: skip


@cache
def category(name: str) -> Characters | None:
    """The code points of a Unicode general category by its short name; None for other names.

    C excludes unassigned code points.
    """
    from unicodedata import category as category_of

    if name == "Any":
        return ALL
    if name[:1] not in _SUBCATEGORIES or name[1:] not in ("", *_SUBCATEGORIES[name[0]]):
        return None
    bounds: list[int] = []
    for code in range(END):
        found = category_of(chr(code))
        if (found.startswith(name) and found != "Cn") != bool(len(bounds) & 1):
            bounds.append(code)
    return (*bounds, END) if len(bounds) & 1 else tuple(bounds)
