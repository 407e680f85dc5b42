"""SentencePiece's table of replacements: a double array of UTF-8 bytes, and what they become."""

from __future__ import annotations

import base64
import binascii
import struct
import unicodedata
from array import array
from collections.abc import Iterator

from ..errors import TextError
from .aligned import Aligned
from .spec import Spec

# SentencePiece looks whole graphemes up only if they are this short, in bytes.
_SHORT = 5


class CharsMap:
    """The normalizer "Precompiled".

    The table is a 32-bit length, that many bytes of a double array (Darts-clone's units of 32
    bits), and texts that end with a zero byte. A unit has a label (bits 0 to 7), a flag for a leaf
    (bit 8), an offset (bits 10 to 30, times 256 if bit 9 is set); a leaf's unit has a value.
    """

    def __init__(self, spec: Spec) -> None:
        """Raises: TextError for a table that is cut short."""
        try:
            table = base64.b64decode(spec.text("precompiled_charsmap"), validate=True)
        except (binascii.Error, ValueError) as error:
            raise TextError(f"{spec.where}'s precompiled_charsmap is no base64") from error
        size = struct.unpack_from("<I", table)[0] if len(table) >= 4 else -1
        if size % 4 or not 0 <= size <= len(table) - 4:
            raise TextError(
                f"{spec.where}'s precompiled_charsmap has {len(table)} bytes, and its first four "
                f"promise {size} for the table"
            )
        self._units = array("I", struct.unpack_from(f"<{size // 4}I", table, 4))
        self._texts = table[4 + size :]
        self._known: dict[str, str | None] = {}

    def _look_up(self, text: str) -> str | None:
        """What the shortest beginning of a text that the table has becomes; None if it has
        none."""
        units = self._units
        if not units:
            return None
        at = _offset(units[0])
        for byte in text.encode():
            at ^= byte
            if byte == 0 or at >= len(units) or units[at] & 0x800000FF != byte:
                return None
            leaf = units[at] >> 8 & 1
            at ^= _offset(units[at])
            if leaf and at < len(units):
                start = units[at] & 0x7FFFFFFF
                end = self._texts.find(b"\0", start)
                return self._texts[start : len(self._texts) if end < 0 else end].decode(
                    errors="replace"
                )
        return None

    def became(self, text: str) -> str | None:
        """What a character or a grapheme becomes; None where it stays."""
        if text not in self._known:
            self._known[text] = self._look_up(text)
        return self._known[text]

    def normalized(self, text: Aligned) -> Aligned:
        """A text with all replacements."""
        edits = []
        for start, end in _graphemes(text.text):
            whole = text.text[start:end]
            if len(whole) == 1 or len(whole.encode()) <= _SHORT:
                spans = [(start, end)] if self.became(whole) is not None else None
            else:
                spans = None
            for low, high in spans or ((at, at + 1) for at in range(start, end)):
                new = self.became(text.text[low:high])
                if new is not None:
                    edits.append((low, high, new, _sources(low, high, len(new))))
        return text.edited(edits)


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


def _sources(low: int, high: int, count: int) -> list[int]:
    """New characters stand for the old ones at their places, further ones for the last."""
    return [min(low + at, high - 1) for at in range(count)]


def _graphemes(text: str) -> Iterator[tuple[int, int]]:
    """Characters with the marks that follow them, and CR with LF; the rest of Unicode's rules for
    graphemes is about ones that are too long to be looked up."""
    start = 0
    for at in range(1, len(text) + 1):
        if at < len(text):
            char = text[at]
            if char == "\n" and text[at - 1] == "\r":
                continue
            if not char.isascii() and _extends(char) and not _ends(text[at - 1]):
                continue
        yield start, at
        start = at


_JOINERS = "\u200c\u200d"


def _extends(char: str) -> bool:
    return char in _JOINERS or unicodedata.category(char)[0] == "M"


def _ends(char: str) -> bool:
    """Whether nothing joins a character, as controls."""
    return char not in _JOINERS and unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp")
