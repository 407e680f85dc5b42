"""Post-processors: special tokens around one or two texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from ..errors import TextError
from .bytes_as_text import BYTE_CHARS
from .encoding import Detail, Encoding, Part, extra
from .spec import Spec

_SPACE = BYTE_CHARS[0x20]


class Processor(Protocol):
    """What a tokenizer asks its post-processor for."""

    def added(self, pair: bool) -> int:
        """How many special tokens it adds."""
        ...

    def process(self, parts: list[Encoding], special: bool) -> list[Encoding]:
        """One or two encodings, with special tokens if they are wanted."""
        ...


class Nothing:
    """Leaves texts as they are."""

    def added(self, pair: bool) -> int:
        """None."""
        return 0

    def process(self, parts: list[Encoding], special: bool) -> list[Encoding]:
        """The encodings."""
        return parts


def _typed(encoding: Encoding, type_id: int) -> Encoding:
    return Encoding([replace(part, type_id=type_id) for part in encoding.parts])


class Template:
    """Special tokens and texts, in order. Each piece is a text's number, 0 or 1, or names and
    numbers of tokens, and a type."""

    Piece = tuple[int | tuple[list[str], list[int]], int]

    def __init__(self, single: list[Piece], pair: list[Piece]) -> None:
        self._single, self._pair = single, pair

    def added(self, pair: bool) -> int:
        """How many tokens the template has."""
        pieces = self._pair if pair else self._single
        return sum(len(what[1]) for what, _ in pieces if not isinstance(what, int))

    def process(self, parts: list[Encoding], special: bool) -> list[Encoding]:
        """The texts within the template."""
        out = []
        for what, type_id in self._pair if len(parts) > 1 else self._single:
            if isinstance(what, int):
                out.append(_typed(parts[what], type_id))
            elif special:
                out.append(Encoding([extra(*what, type_id)]))
        return out


class Trim:
    """Offsets without the spaces of byte-level tokens. prefix: whether a space was put in
    front."""

    def __init__(self, prefix: bool) -> None:
        self._prefix = prefix

    def added(self, pair: bool) -> int:
        """None."""
        return 0

    def process(self, parts: list[Encoding], special: bool) -> list[Encoding]:
        """The encodings with other offsets."""
        return [self.trimmed(each) for each in parts]

    def trimmed(self, encoding: Encoding) -> Encoding:
        """An encoding with other offsets."""
        out: list[Part] = []
        for at, part in enumerate(encoding.parts):
            out.append(part.changed(partial(self._trim, start=at == 0)))
        return Encoding(out)

    def _trim(self, detail: Detail, start: bool) -> Detail:
        offsets = []
        for at, (name, (low, high)) in enumerate(zip(detail.names, detail.offsets, strict=True)):
            first, last = name[:1], name[-1:]
            if first == _SPACE or last == _SPACE or first.isspace() or last.isspace():
                plain = "".join(" " if char == _SPACE else char for char in name)
                leading = len(plain) - len(plain.lstrip())
                trailing = len(plain) - len(plain.rstrip())
                if leading and self._prefix and ((start and at == 0) or low == 0):
                    leading -= 1
                low = min(low + leading, high)
                if trailing and high >= trailing:
                    high = max(high - trailing, low)
            offsets.append((low, high))
        return Detail(detail.names, offsets, detail.words)


class Chain:
    """Several, one after the other."""

    def __init__(self, steps: list[Processor]) -> None:
        self._steps = steps

    def added(self, pair: bool) -> int:
        """The sum."""
        return sum(step.added(pair) for step in self._steps)

    def process(self, parts: list[Encoding], special: bool) -> list[Encoding]:
        """Through all."""
        for step in self._steps:
            parts = step.process(parts, special)
        return parts


def _token(spec: Spec, key: str) -> tuple[list[str], list[int]]:
    match spec.value.get(key):
        case [str() as name, int() as number]:
            return [name], [number]
    raise TextError(
        f"{spec.where} has {key} {spec.value.get(key)!r:.60}, not a token's name and number"
    )


def _bert_of(spec: Spec) -> Processor:
    start, end = _token(spec, "cls"), _token(spec, "sep")
    single: list[Template.Piece] = [(start, 0), (0, 0), (end, 0)]
    return Template(single, [*single, (1, 1), (end, 1)])


def _roberta_of(spec: Spec) -> Processor:
    start, end = _token(spec, "cls"), _token(spec, "sep")
    single: list[Template.Piece] = [(start, 0), (0, 0), (end, 0)]
    template = Template(single, [*single, (end, 0), (1, 0), (end, 0)])
    if not spec.flag("trim_offsets", True):
        return template
    return Chain([Trim(spec.flag("add_prefix_space", True)), template])


def _piece(value: object, special: Mapping[str, Any], where: str) -> Template.Piece:
    match value:
        case {"Sequence": {"id": "A" | "B" as which, "type_id": int() as type_id}}:
            return (0 if which == "A" else 1), type_id
        case {"SpecialToken": {"id": str() as name, "type_id": int() as type_id}}:
            match special.get(name):
                case {"ids": list() as ids, "tokens": list() as names} if len(ids) == len(names):
                    return (list(names), list(ids)), type_id
            raise TextError(f"{where} has no special token {name!r}")
    raise TextError(f"{where} has the piece {value!r:.80}")


def _template_of(spec: Spec) -> Processor:
    special = spec.part("special_tokens").value
    single = [_piece(each, special, spec.where) for each in spec.list("single")]
    pair = [_piece(each, special, spec.where) for each in spec.list("pair")]
    if any(what == 1 for what, _ in single):
        raise TextError(f"{spec.where}'s template for one text has a second one")
    return Template(single, pair)


def _byte_level_of(spec: Spec) -> Processor:
    if not spec.flag("trim_offsets", True):
        return Nothing()
    return Trim(spec.flag("add_prefix_space", True))


_KINDS: dict[str, Callable[[Spec], Processor]] = {
    "BertProcessing": _bert_of,
    "ByteLevel": _byte_level_of,
    "RobertaProcessing": _roberta_of,
    "Sequence": lambda spec: Chain([processor(each) for each in spec.parts("processors")]),
    "TemplateProcessing": _template_of,
}


def processor(spec: Spec) -> Processor:
    """The post-processor of a description. Raises: TextError."""
    return spec.chosen(_KINDS)(spec)
