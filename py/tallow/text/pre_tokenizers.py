"""Pre-tokenizers: where a text is cut into words."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from ..errors import TextError
from .aligned import Aligned
from .bytes_as_text import as_text
from .charsets import SPACES, Ranges, inverse, property_set, union, word_set, written
from .patterns import Pattern, found, literal
from .spec import Spec

Spans = list[tuple[int, int]]


@dataclass(frozen=True)
class Cut:
    """A text and its words. as_bytes: whether the model is to see each word's bytes as characters
    (bytes_as_text.py), which it does once for each word that it hasn't met yet."""

    text: Aligned
    spans: Spans
    as_bytes: bool = False


CutStep = Callable[[Cut], Cut]

# GPT-2's pattern.
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

_BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


def _pieces(spans: Spans, start: int, end: int) -> list[tuple[int, int, bool]]:
    """Matches and what lies between them, in order."""
    out, done = [], start
    for low, high in spans:
        if low > done:
            out.append((done, low, False))
        out.append((low, high, True))
        done = high
    if done < end:
        out.append((done, end, False))
    return out


def _joined(pieces: list[tuple[int, int, bool]], behavior: str) -> Spans:
    """Pieces under a behaviour that joins some of them."""
    if behavior == "MergedWithNext":
        mirrored = [(-high, -low, hit) for low, high, hit in reversed(pieces)]
        return [(-high, -low) for low, high in reversed(_joined(mirrored, "MergedWithPrevious"))]
    out: Spans = []
    before = False
    for low, high, hit in pieces:
        joins = hit == before if behavior == "Contiguous" else hit and not before
        if joins and out:
            out[-1] = (out[-1][0], high)
        else:
            out.append((low, high))
        before = hit
    return out


def split(cut: Cut, pattern: Any, behavior: str, *, invert: bool = False) -> Cut:
    """Words cut at a pattern."""
    out: Spans = []
    text = cut.text.text
    for start, end in cut.spans:
        spans = found(pattern, text, start, end)
        if behavior == "Removed" and invert:
            out += spans
            continue
        pieces = _pieces(spans, start, end)
        if invert:
            pieces = [(low, high, not hit) for low, high, hit in pieces]
        if behavior == "Removed":
            out += [(low, high) for low, high, hit in pieces if not hit]
        elif behavior == "Isolated":
            out += [(low, high) for low, high, _ in pieces]
        else:
            out += _joined(pieces, behavior)
    return replace(cut, spans=[(low, high) for low, high in out if high > low])


def _prefixed(cut: Cut, prefix: str, first: Callable[[str, int], bool]) -> Cut:
    """With something in front of those words for which `first(word, its origin)` holds."""
    text, out, spans = cut.text, [], []
    sources = array("i")
    size = 0
    for start, end in cut.spans:
        word = text.text[start:end]
        origin = text.origin[start:end]
        if first(word, origin[0]):
            word = prefix + word
            sources.extend([origin[0]] * len(prefix))
        sources.extend(origin)
        out.append(word)
        spans.append((size, size + len(word)))
        size += len(word)
    return replace(cut, text=Aligned("".join(out), sources), spans=spans)


@cache
def _class(name: str) -> Pattern:
    """Patterns of one set of characters, by name."""
    ascii_marks: Ranges = ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E))
    if name == "spaces":
        return Pattern(written(SPACES))
    if name == "numbers":
        return Pattern(r"\p{N}")
    if name == "words":
        rest = inverse(union([SPACES, word_set()]))
        return Pattern(f"{written(word_set())}+|{written(rest)}+")
    marks = union([ascii_marks, property_set("P")])
    if name == "marks":
        return Pattern(written(marks))
    return Pattern(f"{written(inverse(union([SPACES, marks])))}+|{written(marks)}")


def _bert(cut: Cut) -> Cut:
    """Cut at spaces, and marks by themselves, in one go."""
    return split(cut, _class("words and marks"), "Removed", invert=True)


def _byte_level(cut: Cut, *, prefix: bool, pattern: Pattern | None, last: bool) -> Cut:
    if prefix:
        cut = _prefixed(cut, " ", lambda word, origin: not word.startswith(" "))
    if pattern:
        cut = split(cut, pattern, "Isolated")
    if last:
        return replace(cut, as_bytes=True)
    words, spans = [], []
    sources = array("i")
    size = 0
    for start, end in cut.spans:
        word = as_text(cut.text.text[start:end])
        for at in range(start, end):
            sources.extend([cut.text.origin[at]] * len(cut.text.text[at].encode()))
        words.append(word)
        spans.append((size, size + len(word)))
        size += len(word)
    return replace(cut, text=Aligned("".join(words), sources), spans=spans)


def _byte_level_of(spec: Spec) -> CutStep:
    regex = Pattern(GPT2) if spec.flag("use_regex", True) else None
    return partial(
        _byte_level, prefix=spec.flag("add_prefix_space", True), pattern=regex, last=False
    )


def metaspace_options(spec: Spec) -> tuple[str, str]:
    """The character for a space, and where it is put in front: "always", "first" or "never"."""
    sign = spec.text("replacement", "▁")
    scheme = spec.text("prepend_scheme", "always")
    if spec.value.get("add_prefix_space") is False and "prepend_scheme" not in spec.value:
        scheme = "never"
    if scheme not in ("always", "first", "never") or len(sign) != 1:
        raise TextError(f"{spec.where} has prepend_scheme {scheme!r}, replacement {sign!r}")
    return sign, scheme


def _metaspace(cut: Cut, *, sign: str, scheme: str, cuts: bool) -> Cut:
    cut = replace(cut, text=cut.text.mapped(cut.text.text.replace(" ", sign)))
    if scheme != "never":
        always = scheme == "always"
        cut = _prefixed(
            cut, sign, lambda word, origin: not word.startswith(sign) and (always or origin == 0)
        )
    return split(cut, literal(sign), "MergedWithNext") if cuts else cut


def _metaspace_of(spec: Spec) -> CutStep:
    sign, scheme = metaspace_options(spec)
    return partial(_metaspace, sign=sign, scheme=scheme, cuts=spec.flag("split", True))


def _split_of(spec: Spec) -> CutStep:
    behavior = _behavior(spec, "Isolated")
    return partial(
        split, pattern=spec.pattern(), behavior=behavior, invert=spec.flag("invert", False)
    )


def _behavior(spec: Spec, default: str) -> str:
    name = spec.text("behavior", default)
    if name not in _BEHAVIORS:
        raise TextError(f"{spec.where} has behavior {name!r}: there are {', '.join(_BEHAVIORS)}")
    return name


def _digits_of(spec: Spec) -> CutStep:
    behavior = "Isolated" if spec.flag("individual_digits", False) else "Contiguous"
    return partial(split, pattern=_class("numbers"), behavior=behavior)


_KINDS: dict[str, Callable[[Spec], CutStep]] = {
    "BertPreTokenizer": lambda spec: _bert,
    "ByteLevel": _byte_level_of,
    "CharDelimiterSplit": lambda spec: partial(
        split, pattern=literal(spec.text("delimiter")), behavior="Removed"
    ),
    "Digits": _digits_of,
    "Metaspace": _metaspace_of,
    "Punctuation": lambda spec: partial(
        split, pattern=_class("marks"), behavior=_behavior(spec, "Isolated")
    ),
    "Sequence": lambda spec: pre_tokenizer(spec),
    "Split": _split_of,
    "Whitespace": lambda spec: partial(
        split, pattern=_class("words"), behavior="Removed", invert=True
    ),
    "WhitespaceSplit": lambda spec: partial(split, pattern=_class("spaces"), behavior="Removed"),
}


def _steps(spec: Spec) -> list[CutStep]:
    make = spec.chosen(_KINDS)
    if spec.kind == "Sequence":
        return [step for each in spec.parts("pretokenizers") for step in _steps(each)]
    return [make(spec)]


def pre_tokenizer(spec: Spec) -> CutStep:
    """The pre-tokenizer of a description. Raises: TextError."""
    return in_order(_steps(spec))


def in_order(steps: list[CutStep]) -> CutStep:
    """Several steps as one. Bytes become characters in the model if nothing else follows."""
    if steps and isinstance(steps[-1], partial) and steps[-1].func is _byte_level:
        steps = [*steps[:-1], partial(steps[-1], last=True)]

    def run(cut: Cut) -> Cut:
        for step in steps:
            cut = step(cut)
        return cut

    return run


def byte_level(pattern: str, *others: str) -> CutStep:
    """Cuts at patterns, one after the other; the model sees bytes."""
    steps: list[CutStep] = [
        partial(split, pattern=Pattern(each), behavior="Isolated") for each in (pattern, *others)
    ]
    return in_order([*steps, partial(_byte_level, prefix=False, pattern=None, last=False)])
