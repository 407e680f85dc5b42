"""Decoders: from the names of tokens to a text, at once or one token at a time.

A decoder is a chain of stages (stages.py). A text that streams is the text that is decoded at once:
both come from the same stages.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import TextError
from .pre_tokenizers import metaspace_options
from .spec import Spec
from .stages import (
    ByteFallback,
    ByteLevel,
    Fuse,
    Metaspace,
    Repeats,
    Replace,
    Spaced,
    Stage,
    Strip,
    StripWhole,
    Suffixes,
    Whole,
    WordPieces,
)

Make = Callable[[], Stage]


def _strip_options(spec: Spec) -> tuple[str, int, int]:
    return spec.text("content", " "), spec.number("start", 0), spec.number("stop", 0)


def _strip_of(spec: Spec) -> Make:
    content, start, stop = (
        spec.text("content", " "),
        spec.number("start", 0),
        spec.number("stop", 0),
    )
    return lambda: Strip(content, start, stop)


def _replace_of(spec: Spec) -> Make:
    pattern, content = spec.pattern(), spec.text("content")
    return lambda: Replace(pattern, content)


def _metaspace_of(spec: Spec) -> Make:
    options = metaspace_options(spec)
    return lambda: Metaspace(*options)


def _wordpiece_of(spec: Spec) -> Make:
    prefix, cleanup = spec.text("prefix", "##"), spec.flag("cleanup", True)
    return lambda: WordPieces(prefix, cleanup)


def _ctc_of(spec: Spec) -> Make:
    names = spec.text("pad_token", "<pad>"), spec.text("word_delimiter_token", "|")
    cleanup = spec.flag("cleanup", True)
    return lambda: Repeats(*names, cleanup)


def _suffix_of(spec: Spec) -> Make:
    suffix = spec.text("suffix", "</w>")
    return lambda: Suffixes(suffix)


_KINDS: dict[str, Callable[[Spec], Make]] = {
    "BPEDecoder": _suffix_of,
    "ByteFallback": lambda spec: ByteFallback,
    "ByteLevel": lambda spec: ByteLevel,
    "CTC": _ctc_of,
    "Fuse": lambda spec: Fuse,
    "Metaspace": _metaspace_of,
    "Replace": _replace_of,
    "Strip": _strip_of,
    "WordPiece": _wordpiece_of,
}


def _whole(spec: Spec, make: Make) -> Make:
    """A stage behind one that makes one token of all."""
    if spec.kind == "Strip":
        content, start, stop = (
            spec.text("content", " "),
            spec.number("start", 0),
            spec.number("stop", 0),
        )
        return lambda: StripWhole(content, start, stop)
    if spec.kind in ("Fuse", "ByteLevel"):
        return make
    return lambda: Whole(make())


def _flat(spec: Spec) -> list[Spec]:
    if spec.value.get("type") == "Sequence":
        return [each for part in spec.parts("decoders") for each in _flat(part)]
    return [spec]


# One token may become this many times longer by all replacements.
_MOST = 10_000


def _growth(spec: Spec) -> float:
    """How many times longer a replacement can make a token."""
    pattern = spec.part("pattern").value.get("String")
    length = len(spec.text("content"))
    return max(length / max(len(pattern), 1) if isinstance(pattern, str) else length + 1.0, 1.0)


def decoder(spec: Spec | None) -> Callable[[], list[Stage]]:
    """What makes a decoder's stages for one text. None: tokens with spaces between. Raises:
    TextError."""
    if spec is None:
        return lambda: [Spaced()]
    makes: list[Make] = []
    fused = False
    growth = 1.0
    for each in _flat(spec):
        make = each.chosen(_KINDS)(each)
        growth *= _growth(each) if each.kind == "Replace" else 1
        if growth > _MOST:
            raise TextError(
                f"{spec.where} makes a token more than {_MOST} times longer: it replaces text by "
                "more text, again and again"
            )
        makes.append(_whole(each, make) if fused else make)
        fused |= each.kind in ("Fuse", "ByteLevel")
    return lambda: [make() for make in makes]


def feed(stages: list[Stage], tokens: list[str], last: bool) -> str:
    """What a chain of stages gives for tokens that are new."""
    for stage in stages:
        tokens = stage.feed(tokens, last)
    return "".join(tokens)
