"""The stages of decoders.

A stage takes the names of tokens that are new, and gives those that are settled; with `last` it
gives all that it still holds.
"""

from __future__ import annotations

import codecs
import re
from typing import Any, Protocol

from .bytes_as_text import CHAR_BYTES
from .patterns import Pattern


class Stage(Protocol):
    """A part of a decoder, with what it has seen of one text."""

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """What is settled."""
        ...


class Spaced:
    """Without a decoder: tokens with spaces between."""

    def __init__(self) -> None:
        self._first = True

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """Tokens, each but the first after a space."""
        if not tokens:
            return tokens
        out = [" " + token for token in tokens]
        if self._first:
            out[0], self._first = tokens[0], False
        return out


class ByteLevel:
    """Characters that stand for bytes; bytes that are not UTF-8 become U+FFFD."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """Whole characters; the bytes of a half one wait."""
        parts = []
        for token in tokens:
            try:
                parts.append(bytes([CHAR_BYTES[char] for char in token]))
            except KeyError:
                parts.append(token.encode())
        text = self._decoder.decode(b"".join(parts), last)
        return [text] if text else []


_CLEANED = (
    *((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't")),
    *((" 'm", "'m"), (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")),
)


def _cleaned(text: str) -> str:
    for before, after in _CLEANED:
        text = text.replace(before, after)
    return text


class WordPieces:
    """Words with spaces between, and their pieces joined."""

    def __init__(self, prefix: str, cleanup: bool) -> None:
        self._prefix, self._cleanup, self._first = prefix, cleanup, True

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """Pieces without their prefix, words after a space."""
        out = []
        for token in tokens:
            if not self._first:
                prefix = self._prefix
                token = token[len(prefix) :] if token.startswith(prefix) else " " + token
            self._first = False
            out.append(_cleaned(token) if self._cleanup else token)
        return out


class Metaspace:
    """A sign becomes a space; in the first token it goes."""

    def __init__(self, sign: str, scheme: str) -> None:
        self._sign, self._first = sign, scheme != "never"

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """Tokens with spaces."""
        out = [token.replace(self._sign, " ") for token in tokens]
        if tokens and self._first:
            out[0], self._first = tokens[0].replace(self._sign, ""), False
        return out


_BYTE = re.compile("<0x([0-9A-Fa-f]{2})>")


class ByteFallback:
    """Tokens of bytes. A run of them is decoded as a whole, so it waits for its end; each byte of
    one that is not UTF-8 becomes U+FFFD."""

    def __init__(self) -> None:
        self._run = bytearray()

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """Other tokens, and the texts of runs that have ended."""
        out: list[str] = []
        for token in tokens:
            if found := _BYTE.fullmatch(token):
                self._run.append(int(found[1], 16))
                continue
            self._flush(out)
            out.append(token)
        if last:
            self._flush(out)
        return out

    def _flush(self, out: list[str]) -> None:
        if self._run:
            try:
                out.append(self._run.decode())
            except UnicodeDecodeError:
                out += ["\ufffd"] * len(self._run)
            self._run.clear()


class Fuse:
    """All tokens as one."""

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """The tokens: what follows takes them for pieces of one."""
        return tokens


class Replace:
    """Other text for a pattern, in each token."""

    def __init__(self, pattern: Any, content: str) -> None:
        self._pattern, self._content = pattern, content

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """Changed tokens."""
        return [self._changed(token) for token in tokens]

    def _changed(self, token: str) -> str:
        pattern = self._pattern.of(token) if isinstance(self._pattern, Pattern) else self._pattern
        return str(pattern.sub(lambda _: self._content, token))


def _stripped(token: str, content: str, start: int, stop: int) -> str:
    low = len(token) - len(token.lstrip(content))
    low = min(low, start)
    high = len(token)
    while high > low and len(token) - high < stop and token[high - 1] == content:
        high -= 1
    return token[low:high]


class Strip:
    """Tokens without so many of a character at their start and at their end."""

    def __init__(self, content: str, start: int, stop: int) -> None:
        self._options = content, start, stop

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """Tokens that are stripped."""
        return [_stripped(token, *self._options) for token in tokens]


class StripWhole:
    """The same for one token that comes in pieces."""

    def __init__(self, content: str, start: int, stop: int) -> None:
        self._content, self._start, self._stop = content, start, stop
        self._held = ""

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """What can't be an end that is stripped."""
        text = self._held + "".join(tokens)
        while self._start and text.startswith(self._content):
            text, self._start = text[1:], self._start - 1
        if text:
            self._start = 0
        if last:
            self._held = ""
            return [_stripped(text, self._content, 0, self._stop)]
        keep = min(self._stop, len(text) - len(text.rstrip(self._content)))
        self._held = text[len(text) - keep :]
        return [text[: len(text) - keep]]


class Suffixes:
    """BPE's sign for the end of a word becomes a space; in the last token it goes."""

    def __init__(self, suffix: str) -> None:
        self._suffix, self._held = suffix, ""

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """All but the last token."""
        out = []
        for token in tokens:
            if self._held:
                out.append(self._held.replace(self._suffix, " "))
            self._held = token
        if last and self._held:
            out.append(self._held.replace(self._suffix, ""))
        return out


class Repeats:
    """Connectionist temporal classification: without repeats and blanks."""

    def __init__(self, blank: str, space: str, cleanup: bool) -> None:
        self._blank, self._space, self._cleanup = blank, space, cleanup
        self._before: str | None = None

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """Tokens that are new."""
        out = []
        for token in tokens:
            if token != self._before:
                changed = token.replace(self._blank, "") if self._blank else token
                if self._cleanup:
                    changed = _cleaned(changed).replace(self._space, " ")
                if changed:
                    out.append(changed)
            self._before = token
        return out


class Whole:
    """A stage that has to see the whole text as one token."""

    def __init__(self, stage: Stage) -> None:
        self._stage, self._parts = stage, list[str]()

    def feed(self, tokens: list[str], last: bool) -> list[str]:
        """All, at the end."""
        self._parts += tokens
        return self._stage.feed(["".join(self._parts)], True) if last else []


def bytes_of_token(stages: list[Stage], name: str) -> bytes | None:
    """The bytes of a token where they are its name's; None where only its text tells them."""
    if len(stages) == 1 and isinstance(stages[0], ByteLevel):
        known = all(char in CHAR_BYTES for char in name)
        return bytes(CHAR_BYTES[char] for char in name) if known else name.encode()
    fallback = any(isinstance(stage, ByteFallback) for stage in stages)
    found = _BYTE.fullmatch(name) if fallback else None
    return bytes([int(found[1], 16)]) if found else None
