"""Tokenizers from a GGUF file's metadata: parts with the same meaning as in llama.cpp.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md names the keys. The numbers of
`token_type`: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import TextError
from .added import AddedToken
from .aligned import Step
from .bpe import BPE, merges_of
from .chat import ChatTemplate
from .decoders import decoder
from .gguf_cuts import CUTS, SAME, WHOLE_WORDS
from .normalizers import normalizer
from .pre_tokenizers import byte_level, pre_tokenizer
from .processors import Processor, Template
from .spec import Spec
from .unigram import Unigram
from .wordpiece import WordPiece

_CONTROL, _USER, _UNUSED, _BYTE = 3, 4, 5, 6
_UNKNOWN = 2

# What the format calls special tokens, and what templates call them.
_PARTS = {
    "bos": "bos_token",
    "eos": "eos_token",
    "eot": "eot_token",
    "unknown": "unk_token",
    "padding": "pad_token",
}


class _Keys:
    """The metadata, checked where they are read."""

    def __init__(self, metadata: Mapping[str, object]) -> None:
        self._values = metadata

    def get(self, name: str, default: Any = None) -> Any:
        return self._values.get("tokenizer.ggml." + name, default)

    def texts(self, name: str) -> list[str]:
        values = self.get(name)
        if values is None or isinstance(values, str | bytes):
            raise TextError(f"the file's metadata has no list tokenizer.ggml.{name}")
        texts = [
            each.decode(errors="replace") if isinstance(each, bytes) else each for each in values
        ]
        if not all(isinstance(each, str) for each in texts):
            raise TextError(f"tokenizer.ggml.{name} has other values than texts")
        try:
            "".join(texts).encode()
        except UnicodeEncodeError:
            raise TextError(
                f"tokenizer.ggml.{name} has half of a surrogate pair: its reader is to decode UTF-8"
            ) from None
        return texts

    def numbers(self, name: str, count: int, kind: Callable[[Any], Any]) -> list[Any]:
        values = self.get(name)
        try:
            numbers = [] if values is None else [kind(each) for each in values]
        except (TypeError, ValueError):
            numbers = []
        if len(numbers) != count:
            raise TextError(f"tokenizer.ggml.{name} has {len(numbers)} numbers for {count} tokens")
        return numbers

    def id(self, name: str, count: int) -> int | None:
        """The number of a special token, such as "bos"."""
        value = self.get(name + "_token_id")
        if value is None:
            return None
        if not isinstance(value, int) and not hasattr(value, "__index__"):
            raise TextError(f"tokenizer.ggml.{name}_token_id is {value!r:.60}, not a number")
        number = int(value)
        if not 0 <= number < count:
            raise TextError(f"tokenizer.ggml.{name}_token_id is {number} of {count} tokens")
        return number


def parts(metadata: Mapping[str, object]) -> dict[str, Any]:
    """What a `Tokenizer` is made of. Raises: TextError."""
    keys = _Keys(metadata)
    kind = keys.get("model")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise TextError(f"tokenizer.ggml.model is {kind!r}: there are {', '.join(sorted(_KINDS))}")
    tokens = keys.texts("tokens")
    types = (
        keys.numbers("token_type", len(tokens), int)
        if keys.get("token_type") is not None
        else [1] * len(tokens)
    )
    made = dict(_KINDS[kind](keys, tokens, types))
    made["added"] = {
        number: AddedToken(token, special=type == _CONTROL)
        for number, (token, type) in enumerate(zip(tokens, types, strict=True))
        if type in (_CONTROL, _USER) and token
    }
    made.setdefault("processor", _template(keys, tokens, kind))
    names = {
        part: tokens[number]
        for name, part in _PARTS.items()
        if (number := keys.id(name, len(tokens))) is not None
    }
    made["special_tokens"] = names
    template = metadata.get("tokenizer.chat_template")
    if isinstance(template, str):
        made["chat"] = ChatTemplate(template, names)
    return made


def _template(keys: _Keys, tokens: list[str], kind: str) -> Processor | None:
    """The beginning and the end that texts get."""
    first, last = keys.id("bos", len(tokens)), keys.id("eos", len(tokens))
    usual = kind == "llama" or keys.get("pre") in WHOLE_WORDS
    before = [first] if first is not None and keys.get("add_bos_token", usual) else []
    after = [last] if last is not None and keys.get("add_eos_token", kind == "t5") else []
    if not before and not after:
        return None
    start: list[Template.Piece] = [(([tokens[each]], [each]), 0) for each in before]
    end: list[Template.Piece] = [(([tokens[each]], [each]), 0) for each in after]
    single: list[Template.Piece] = [*start, (0, 0), *end]
    second = [(what, 1) for what, _ in (*start, (1, 0), *end)]
    return Template(single, [*single, *second])


def _vocab(tokens: list[str]) -> dict[str, int]:
    """Numbers by name; of two tokens with one name the first counts."""
    vocab: dict[str, int] = {}
    for number, token in enumerate(tokens):
        vocab.setdefault(token, number)
    return vocab


def _byte_level(keys: _Keys, tokens: list[str], types: list[int]) -> dict[str, Any]:
    name = keys.get("pre", "default")
    cuts = CUTS.get(SAME.get(name, name)) if isinstance(name, str) else None
    if cuts is None:
        raise TextError(
            f"tokenizer.ggml.pre is {name!r}: there are {', '.join(sorted([*CUTS, *SAME]))}"
        )
    merges = merges_of(keys.texts("merges"))
    return {
        "model": BPE(_vocab(tokens), merges, ignore_merges=name in WHOLE_WORDS),
        "pre_tokenizer": byte_level(*cuts),
        "decoder": decoder(Spec({"type": "ByteLevel"}, "the decoder")),
    }


def _rules(scores: list[float], usable: dict[str, int]) -> Iterable[tuple[str, str, int]]:
    """Merges for SentencePiece's way: of all pairs that make a token, the one with the best score,
    of equal ones the leftmost."""
    ranks = {score: rank for rank, score in enumerate(sorted(set(scores), reverse=True))}
    for token, number in usable.items():
        rank = ranks[scores[number]]
        for at in range(1, len(token)):
            left, right = token[:at], token[at:]
            if left in usable and right in usable:
                yield left, right, rank


def _steps(steps: list[dict[str, Any]]) -> Step:
    return normalizer(Spec({"type": "Sequence", "normalizers": steps}, "the normalizer"))


def _sentencepiece(keys: _Keys, tokens: list[str], types: list[int]) -> dict[str, Any]:
    scores = keys.numbers("scores", len(tokens), float)
    vocab = _vocab(tokens)
    usable = {
        token: number
        for token, number in vocab.items()
        if types[number] not in (_CONTROL, _UNUSED, _BYTE, _UNKNOWN)
    }
    unknown = keys.id("unknown", len(tokens))
    model = BPE(
        vocab,
        _rules(scores, usable),
        unknown=None if unknown is None else tokens[unknown],
        byte_fallback=True,
        fuse_unknown=True,
    )
    spaces = keys.get("add_space_prefix", True)
    steps: list[dict[str, Any]] = [{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]
    ends: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if spaces:
        steps.insert(0, {"type": "Prepend", "prepend": "▁"})
        ends.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {
        "model": model,
        "normalizer": _steps(steps),
        "decoder": decoder(Spec({"type": "Sequence", "decoders": ends}, "the decoder")),
    }


def _plain(token: str) -> str:
    """A token of WordPiece's, from its form in GGUF, where words begin with a sign and pieces do
    not."""
    if token.startswith("▁"):
        return token[1:]
    bracketed = token.startswith("[") and token.endswith("]")
    return token if bracketed else "##" + token


def _bert(keys: _Keys, tokens: list[str], types: list[int]) -> dict[str, Any]:
    tokens[:] = map(_plain, tokens)
    count = len(tokens)
    first, last = keys.id("bos", count), keys.id("eos", count)
    if first is None:
        first = keys.id("cls", count)
    for name in ("seperator", "separator"):  # the format's own spelling, and the right one
        last = keys.id(name, count) if last is None else last
    unknown = keys.id("unknown", count)
    processor = None
    if first is not None and last is not None and keys.get("add_bos_token", True):
        start, end = ([tokens[first]], [first]), ([tokens[last]], [last])
        single: list[Template.Piece] = [(start, 0), (0, 0), (end, 0)]
        processor = Template(single, [*single, (1, 1), (end, 1)])
    return {
        "model": WordPiece(
            _vocab(tokens),
            unknown="[UNK]" if unknown is None else tokens[unknown],
            prefix="##",
            longest=100,
        ),
        "normalizer": normalizer(Spec({"type": "BertNormalizer"}, "the normalizer")),
        "pre_tokenizer": pre_tokenizer(Spec({"type": "BertPreTokenizer"}, "the pre-tokenizer")),
        "decoder": decoder(Spec({"type": "WordPiece"}, "the decoder")),
        "processor": processor,
    }


def _unigram(keys: _Keys, tokens: list[str], types: list[int]) -> dict[str, Any]:
    scores = keys.numbers("scores", len(tokens), float)
    spaces = {"type": "Metaspace"}
    if not keys.get("add_space_prefix", True):
        spaces["prepend_scheme"] = "never"
    steps: list[dict[str, Any]] = []
    table = keys.get("precompiled_charsmap")
    if table is not None and len(table):
        raw = bytes(each & 0xFF for each in map(int, table))
        steps.append(
            {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(raw).decode()}
        )
    if keys.get("remove_extra_whitespaces"):
        steps += [
            {"type": "Strip"},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        ]
    made: dict[str, Any] = {
        "model": Unigram(
            list(zip(tokens, scores, strict=True)), unknown=keys.id("unknown", len(tokens))
        ),
        "pre_tokenizer": pre_tokenizer(Spec(spaces, "the pre-tokenizer")),
        "decoder": decoder(Spec(spaces, "the decoder")),
    }
    if steps:
        made["normalizer"] = _steps(steps)
    return made


_KINDS: dict[str, Callable[[_Keys, list[str], list[int]], dict[str, Any]]] = {
    "bert": _bert,
    "gpt2": _byte_level,
    "llama": _sentencepiece,
    "t5": _unigram,
}
