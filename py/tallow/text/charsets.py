"""Sets of characters: Unicode's categories and a few scripts, as ranges.

Lists of characters come from this Python's `unicodedata`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from ..errors import TextError

Ranges = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
"""The highest code point."""

SPACES: Ranges = (
    *((0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680)),
    *((0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)),
)
"""Unicode's White_Space. `str.isspace` has four control characters more."""

WHITE = "".join(chr(code) for low, high in SPACES for code in range(low, high + 1))

# Letters in circles and squares are Alphabetic, though their category is So.
_CIRCLED: Ranges = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))

_JOINERS: Ranges = ((0x200C, 0x200D),)

# `unicodedata` knows no scripts. These are the ones that tokenizers ask for.
_SCRIPTS: dict[str, Ranges] = {
    "han": (
        *((0x2E80, 0x2E99), (0x2E9B, 0x2EF3), (0x2F00, 0x2FD5), (0x3005, 0x3005)),
        *((0x3007, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B), (0x3400, 0x4DBF)),
        *((0x4E00, 0x9FFF), (0xF900, 0xFA6D), (0xFA70, 0xFAD9), (0x16FF0, 0x16FF1)),
        *((0x20000, 0x2A6DF), (0x2A700, 0x2EBE0), (0x2F800, 0x2FA1D), (0x30000, 0x3134A)),
    ),
    "hiragana": ((0x3041, 0x3096), (0x309D, 0x309F), (0x1B001, 0x1B11F), (0x1F200, 0x1F200)),
    "katakana": (
        *((0x30A1, 0x30FA), (0x30FD, 0x30FF), (0x31F0, 0x31FF), (0x32D0, 0x32FE)),
        *((0x3300, 0x3357), (0xFF66, 0xFF6F), (0xFF71, 0xFF9D), (0x1B000, 0x1B000)),
    ),
    "hangul": (
        *((0x1100, 0x11FF), (0x302E, 0x302F), (0x3131, 0x318E), (0x3200, 0x321E)),
        *((0x3260, 0x327E), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xD7B0, 0xD7FB)),
        *((0xFFA0, 0xFFBE), (0xFFC2, 0xFFDC)),
    ),
}

_LONG = {
    "letter": "L", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt",
    "modifierletter": "Lm", "otherletter": "Lo", "mark": "M", "nonspacingmark": "Mn",
    "number": "N", "decimalnumber": "Nd", "punctuation": "P", "punct": "P", "symbol": "S",
    "separator": "Z", "spaceseparator": "Zs", "other": "C", "control": "Cc",
}  # fmt: skip
_CATEGORIES = [
    "Lu",
    "Ll",
    "Lt",
    "Lm",
    "Lo",
    "Mn",
    "Mc",
    "Me",
    "Nd",
    "Nl",
    "No",
    "Pc",
    "Pd",
    "Ps",
    "Pe",
    "Pi",
    "Pf",
    "Po",
    "Sm",
    "Sc",
    "Sk",
    "So",
    "Zs",
    "Zl",
    "Zp",
    "Cc",
    "Cf",
    "Cs",
    "Co",
    "Cn",
]


def union(sets: Iterable[Ranges]) -> Ranges:
    """All characters of several sets, in order and without gaps of nothing."""
    joined: list[list[int]] = []
    for low, high in sorted(each for one in sets for each in one):
        if joined and low <= joined[-1][1] + 1:
            joined[-1][1] = max(joined[-1][1], high)
        else:
            joined.append([low, high])
    return tuple((low, high) for low, high in joined)


def inverse(ranges: Ranges) -> Ranges:
    """All characters that a set does not have."""
    out, after = [], 0
    for low, high in union([ranges]):
        if low > after:
            out.append((after, low - 1))
        after = high + 1
    return (*out, (after, LAST)) if after <= LAST else tuple(out)


@cache
def _by_category() -> dict[str, Ranges]:
    """Each category's characters. Only planes that have characters are looked through."""
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in _CATEGORIES}
    for low, high in ((0, 0x3FFFF), (0xE0000, 0xE0FFF)):
        start, last = low, unicodedata.category(chr(low))
        for code in range(low + 1, high + 2):
            name = unicodedata.category(chr(code)) if code <= high else ""
            if name != last:
                found[last].append((start, code - 1))
                start, last = code, name
    found["Co"] += [(0xF0000, 0xFFFFD), (0x100000, 0x10FFFD)]
    found["Cn"] += [(0x40000, 0xDFFFF), (0xE1000, 0xEFFFF), (0xFFFFE, 0xFFFFF), (0x10FFFE, LAST)]
    return {name: tuple(each) for name, each in found.items()}


@cache
def property_set(name: str) -> Ranges:
    r"""The characters of `\p{name}`: a category, or one of few scripts. Raises: TextError."""
    plain = re.sub(r"[\s_-]", "", name).lower()
    if plain.startswith("^"):
        return inverse(property_set(plain[1:]))
    short = _LONG.get(plain, plain).capitalize()
    if short == "Any":
        return ((0, LAST),)
    if plain in ("space", "whitespace"):
        return SPACES
    if plain in ("l&", "lc"):
        return union(_by_category()[each] for each in ("Lu", "Ll", "Lt"))
    if plain.removeprefix("script=") in _SCRIPTS:
        return _SCRIPTS[plain.removeprefix("script=")]
    fitting = [each for each in _CATEGORIES if each == short or each[0] == short]
    if not fitting:
        raise TextError(
            f"the pattern's property \\p{{{name}}} is unknown: there are Unicode's categories, "
            f"such as L or Nd, and the scripts {', '.join(sorted(_SCRIPTS))}"
        )
    return union(_by_category()[each] for each in fitting)


@cache
def word_set() -> Ranges:
    """The characters of words, after Unicode (Technical Standard 18): letters, marks, decimal
    digits, connectors, joiners."""
    parts = (property_set(each) for each in ("L", "M", "Nd", "Nl", "Pc"))
    return union([*parts, _CIRCLED, _JOINERS])


@cache
def _letters_of_words() -> Ranges:
    r"""The characters of Oniguruma's `\w`: no joiners, and Latin-1's superscripts and fractions."""
    others = inverse(union([inverse(word_set()), _JOINERS]))
    return union([others, ((0xB2, 0xB3), (0xB9, 0xB9), (0xBC, 0xBE))])


def escape_set(letter: str) -> Ranges | None:
    r"""The set of `\s` and the like; None for a letter that names none."""
    small = letter.lower()
    if small not in "swdh":
        return None
    ranges: Ranges
    if small == "h":
        ranges = ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66))
    elif small == "s":
        ranges = SPACES
    else:
        ranges = _letters_of_words() if small == "w" else property_set("Nd")
    return ranges if letter == small else inverse(ranges)


def written(ranges: Ranges, last: int = LAST) -> str:
    """A class for `re`. last: the highest character that it will meet."""
    parts = []
    for low, high in union([ranges]):
        if low <= last:
            parts.append(f"\\U{low:08x}" + (f"-\\U{min(high, last):08x}" if high > low else ""))
    return "[" + "".join(parts) + "]" if parts else f"[^\\x00-\\U{LAST:08x}]"
