"""Bytes as visible characters: the alphabet of byte-level tokenizers (Radford et al. 2019).

Bytes that are visible in Latin-1 stand for themselves, the others for characters from 256 on, in
order.
"""

from __future__ import annotations

_VISIBLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_HIDDEN = [byte for byte in range(256) if byte not in _VISIBLE]

BYTE_CHARS = [chr(byte if byte in _VISIBLE else 256 + _HIDDEN.index(byte)) for byte in range(256)]
"""The character of each byte."""

CHAR_BYTES = {char: byte for byte, char in enumerate(BYTE_CHARS)}
"""The byte of each character."""

_TABLE = dict(enumerate(BYTE_CHARS))


def as_text(text: str) -> str:
    """The UTF-8 bytes of a text, each as its character."""
    if text.isascii():
        return text.translate(_TABLE)
    return text.encode().decode("latin-1").translate(_TABLE)


def sources(text: str) -> list[int]:
    """For each of its bytes, the position of its character."""
    return [at for at, char in enumerate(text) for _ in range(len(char.encode()))]
