"""Normalizers: what is changed in a text before it is cut into words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from .aligned import Aligned, Step, check_growth
from .bytes_as_text import as_text, sources
from .charsets import WHITE
from .charsmap import CharsMap
from .patterns import found
from .spec import Spec
from .unicode_forms import form_of, normal


def _lowercase(text: Aligned) -> Aligned:
    """Each character by itself: a final sigma is like any other."""
    before = text.text
    lower = before.replace("Σ", "σ").lower()
    if lower == before:
        return text
    if len(lower) == len(before):
        return text.mapped(lower)
    edits = [
        (at, at + 1, char.lower(), [at] * len(char.lower()))
        for at, char in enumerate(before)
        if len(char.lower()) > 1
    ]
    changed = text.edited(edits)
    return changed.mapped(changed.text.replace("Σ", "σ").lower())


def _without(text: Aligned, dropped: Callable[[str], bool]) -> Aligned:
    """Without some characters."""
    out = {char for char in set(text.text) if dropped(char)}
    if not out:
        return text
    kept = [at for at, char in enumerate(text.text) if char not in out]
    return text.picked("".join([text.text[at] for at in kept]), kept)


@cache
def _is_mark(char: str) -> bool:
    return unicodedata.category(char) == "Mn"


@cache
def _is_any_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


@cache
def _is_control(char: str) -> bool:
    """What BERT leaves out."""
    if char in "\t\n\r":
        return False
    return char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co")


_ONE_SPACE = {ord(char): " " for char in WHITE}

# The blocks that BERT takes for Chinese.
_CHINESE = re.compile(
    "[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f]"
)


def _bert(text: Aligned, *, clean: bool, chinese: bool, strip: bool, lower: bool) -> Aligned:
    if clean:
        text = _without(text, _is_control)
        text = text.mapped(text.text.translate(_ONE_SPACE))
    if chinese and not text.text.isascii():
        places = ((m.start(), m[0]) for m in _CHINESE.finditer(text.text))
        text = text.edited((at, at + 1, f" {char} ", (at, at, at)) for at, char in places)
    if strip and not text.text.isascii():
        text = _without(normal(text, "NFD"), _is_mark)
    return _lowercase(text) if lower else text


def _bert_of(spec: Spec) -> Step:
    lower = spec.flag("lowercase", True)
    strip = lower if spec.value.get("strip_accents") is None else spec.flag("strip_accents")
    return partial(
        _bert,
        clean=spec.flag("clean_text", True),
        chinese=spec.flag("handle_chinese_chars", True),
        strip=strip,
        lower=lower,
    )


def _strip(text: Aligned, *, left: bool, right: bool) -> Aligned:
    before = text.text
    start = len(before) - len(before.lstrip(WHITE)) if left else 0
    end = len(before.rstrip(WHITE)) if right else len(before)
    return text.part(start, max(start, end))


def replaced(text: Aligned, pattern: Any, content: str) -> Aligned:
    """With other text where a pattern fits; it stands for the last character that it replaces."""
    spans = found(pattern, text.text, 0, len(text.text))
    check_growth(len(text.text), len(spans) * len(content))
    if len(content) == 1 and all(end - start == 1 for start, end in spans):
        chars = list(text.text)
        for start, _ in spans:
            chars[start] = content
        return text.mapped("".join(chars)) if spans else text
    count = len(content)
    return text.edited((s, e, content, [max(e - 1, 0)] * count) for s, e in spans)


def _prepend(text: Aligned, prefix: str) -> Aligned:
    check_growth(len(text.text), len(prefix))
    return text.with_prefix(prefix)


# SentencePiece's rules nmt: characters that go, and characters that become spaces.
_NMT_OUT = {*range(0x1, 0x9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F}
_NMT_SPACES = (0x9, 0xA, 0xC, 0xD, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF)
_NMT_SPACE = dict.fromkeys((*_NMT_SPACES, 0xFFFD), " ")


def _nmt(text: Aligned) -> Aligned:
    text = _without(text, lambda char: ord(char) in _NMT_OUT)
    return text.mapped(text.text.translate(_NMT_SPACE))


def _bytes(text: Aligned) -> Aligned:
    return text.picked(as_text(text.text), sources(text.text))


def _sequence(text: Aligned, steps: list[Step]) -> Aligned:
    before = len(text.text)
    for step in steps:
        text = step(text)
        check_growth(before, len(text.text))
    return text


def _sequence_of(spec: Spec) -> Step:
    return partial(_sequence, steps=[normalizer(each) for each in spec.parts("normalizers")])


def _forms(spec: Spec) -> Step:
    return partial(normal, form=form_of(spec.kind))


_KINDS: dict[str, Callable[[Spec], Step]] = {
    "BertNormalizer": _bert_of,
    "ByteLevel": lambda spec: _bytes,
    "Lowercase": lambda spec: _lowercase,
    "NFC": _forms,
    "NFD": _forms,
    "NFKC": _forms,
    "NFKD": _forms,
    "Nmt": lambda spec: _nmt,
    "Precompiled": lambda spec: CharsMap(spec).normalized,
    "Prepend": lambda spec: partial(_prepend, prefix=spec.text("prepend")),
    "Replace": lambda spec: partial(replaced, pattern=spec.pattern(), content=spec.text("content")),
    "Sequence": _sequence_of,
    "Strip": lambda spec: partial(
        _strip, left=spec.flag("strip_left", True), right=spec.flag("strip_right", True)
    ),
    "StripAccents": lambda spec: partial(_without, dropped=_is_any_mark),
}


def normalizer(spec: Spec) -> Step:
    """The normalizer of a description. Raises: TextError."""
    return spec.chosen(_KINDS)(spec)
