"""Reading a tokenizer.json and what lies beside it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, TextError
from .added import added_of
from .chat import ChatTemplate, special_tokens
from .decoders import decoder
from .encoding import Padding, Side, Strategy, Truncation, side
from .models import model
from .normalizers import normalizer
from .pre_tokenizers import pre_tokenizer
from .processors import processor
from .spec import Spec

_READERS: dict[str, Callable[[Spec], Any]] = {
    "normalizer": normalizer,
    "pre_tokenizer": pre_tokenizer,
    "post_processor": processor,
    "truncation": lambda spec: _truncation_of(spec),
    "padding": lambda spec: _padding_of(spec),
}

# What is no bracket of JSON's: strings, and all else.
_NO_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[^][{}"]+', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}

# `json` goes down with each bracket, and a page's stack ends before Python says so.
_DEEPEST = 100

# Whether a text may have half of a surrogate pair; most have whole ones, or none.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")

_STRATEGIES: dict[str, Strategy] = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}


def parts(text: str, config: str | None = None) -> dict[str, Any]:
    """What a `Tokenizer` is made of, from the contents of tokenizer.json and
    tokenizer_config.json. Raises: TextError."""
    value = Spec(_json(text, "tokenizer.json"), "the tokenizer")
    made: dict[str, Any] = {
        key.removeprefix("post_"): read(value.part(key))
        for key, read in _READERS.items()
        if value.value.get(key) is not None
    }
    made["model"] = model(value.part("model"))
    made["decoder"] = decoder(value.part("decoder") if value.value.get("decoder") else None)
    if value.value.get("added_tokens"):
        made["added"] = added_of(list(value.parts("added_tokens")), made["model"])
    if config is not None:
        settings = _json(config, "tokenizer_config.json")
        made["special_tokens"] = special_tokens(settings)
        made["chat"] = ChatTemplate.from_config(settings)
    return made


def parts_of_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The same from a tokenizer.json or its folder, with the chat template beside it. Raises:
    TextError, OSError."""
    file = Path(path)
    if file.is_dir():
        file = file / "tokenizer.json"
    beside, template = (
        file.with_name("tokenizer_config.json"),
        file.with_name("chat_template.jinja"),
    )
    made = parts(_read(file), _read(beside) if beside.is_file() else None)
    if template.is_file():
        made["chat"] = ChatTemplate(_read(template), made.get("special_tokens"))
    return made


def _json(text: str, name: str) -> Any:
    if not isinstance(text, str):
        raise ArgumentError(f"{name}: the content is a {type(text).__name__}, not a text")
    brackets = _NO_BRACKETS.sub("", text)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > _DEEPEST:
        raise TextError(f"{name} nests more than {_DEEPEST} deep")
    try:
        value = json.loads(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"U+{ord(error.object[error.start]):04X}"
        raise TextError(f"{name} has half of a surrogate pair, {half}") from None
    except (ValueError, RecursionError) as error:
        raise TextError(f"{name} can't be read as JSON: {error}") from None
    return value


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise TextError(f"{path.name} is not UTF-8: {error}") from None


def _truncation_of(spec: Spec) -> Truncation:
    name = spec.text("strategy", "LongestFirst")
    if name not in _STRATEGIES:
        raise TextError(f"{spec.where} has strategy {name!r}: {', '.join(_STRATEGIES)}")
    return Truncation(spec.number("max_length"), _STRATEGIES[name], _direction(spec))


def _direction(spec: Spec) -> Side:
    return side(spec.text("direction", "Right").lower())


_LONGEST = 1 << 24
"""Tokens to which a file may have texts padded: the longest contexts have ten million."""


def _padding_of(spec: Spec) -> Padding:
    strategy = spec.value.get("strategy", "BatchLongest")
    fixed = Spec(strategy, spec.where).number("Fixed") if isinstance(strategy, dict) else None
    multiple = None
    if spec.value.get("pad_to_multiple_of") is not None:
        multiple = spec.number("pad_to_multiple_of")
    for length in (fixed, multiple):
        if length is not None and length > _LONGEST:
            raise TextError(f"{spec.where} pads to {length:,} tokens; {_LONGEST:,} is the most")
    return Padding(
        _direction(spec),
        spec.number("pad_id", 0),
        spec.number("pad_type_id", 0),
        spec.text("pad_token", "[PAD]"),
        fixed,
        multiple,
    )
