"""Unicode's normal forms, with the source of each character (Unicode Standard Annex 15)."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal, cast

from .aligned import Aligned

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

# A character and how many characters of the old text it stands for, less one: 1 for one that is
# added, 0 for one in the place of another, negative where others are left out.
_Change = tuple[str, int]

_BEYOND_ASCII = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


@cache
def _parts(char: str, form: Form) -> str:
    return unicodedata.normalize(form, char)


@cache
def _pair(first: str, second: str) -> str:
    """The character that two make; nothing if they make none."""
    both = unicodedata.normalize("NFC", first + second)
    return both if len(both) == 1 else ""


def _decomposed(text: str, form: Form) -> list[_Change]:
    out: list[_Change] = []
    marks: list[tuple[int, str, int]] = []  # a run of marks, which is put into order
    for char in text:
        for at, part in enumerate(_parts(char, form)):
            rank = unicodedata.combining(part)
            if rank:
                marks.append((rank, part, int(at > 0)))
                continue
            if marks:
                out += [(mark, added) for _, mark, added in sorted(marks, key=lambda each: each[0])]
                marks.clear()
            out.append((part, int(at > 0)))
    return out + [(mark, added) for _, mark, added in sorted(marks, key=lambda each: each[0])]


def _composed(parts: list[_Change]) -> list[_Change]:
    out: list[_Change] = []
    base, last = -1, 0  # where the last starter is; the rank of what was kept after it
    for char, added in parts:
        rank = unicodedata.combining(char)
        blocked = last != 0 and last >= rank
        if (
            base >= 0
            and not blocked
            and (last == 0 or rank)
            and (whole := _pair(out[base][0], char) if base == len(out) - 1 or rank else "")
        ):
            out[base] = (whole, out[base][1] + added - 1)
            continue
        if rank == 0:
            base, last = len(out), 0
        else:
            last = rank
        out.append((char, added))
    return out


def _picked(changes: list[_Change], start: int) -> tuple[str, list[int]]:
    """The text, and the source of each character, from a position on."""
    sources, at = [], start
    for _, added in changes:
        if added > 0:
            sources.append(max(at - 1, 0))
        else:
            sources.append(at)
            at += 1 - added
    return "".join(char for char, _ in changes), sources


def normal(text: Aligned, form: Form) -> Aligned:
    """The text in a normal form."""
    before = text.text
    if before.isascii() or unicodedata.is_normalized(form, before):
        return text
    apart: Form = "NFKD" if form in ("NFKC", "NFKD") else "NFD"
    edits = []
    for match in _BEYOND_ASCII.finditer(before):
        piece = match[0]
        if unicodedata.is_normalized(form, piece):
            continue
        changes = _decomposed(piece, apart)
        if form in ("NFC", "NFKC"):
            changes = _composed(changes)
        after, sources = _picked(changes, match.start())
        edits.append((match.start(), match.end(), after, sources))
    return text.edited(edits)


def form_of(name: str) -> Form:
    """The form of a name."""
    return cast(Form, name)
