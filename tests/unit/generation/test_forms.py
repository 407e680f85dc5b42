"""Texts of a given form: schemas, patterns and choices, on a tiny network of random weights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from tests.unit.generation.networks import Letters, model, network
from tests.unit.hub import tiny

import tallow as tl
from tallow.errors import OptionError
from tallow.generation import LanguageModel

pytestmark = pytest.mark.usefixtures("on_numpy")

DRAWN: dict[str, Any] = {"temperature": 1.5, "seed": 3}
SCHEMAS: list[Any] = [
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", None]}},
     "required": ["a", "b"]},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 4},
    {"type": "string", "minLength": 2, "maxLength": 6},
    {"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [{"type": "null"}, {"type": "object",
     "properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}]}}},
]  # fmt: skip


@pytest.fixture(scope="module")
def whole() -> Any:
    """A network with the bytes as tokens, whose text any token may end."""
    return tl.zoo.load(tiny.gguf_file(), device="numpy")


@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_a_text_fits_its_schema_or_says_that_it_was_cut(whole: Any, schema: Any) -> None:
    ended = 0
    for options in ({}, DRAWN, DRAWN | {"seed": 4}, DRAWN | {"seed": 5, "max_tokens": 5}):
        stream = whole.stream("abc", schema=schema, **{"max_tokens": 60} | options)
        text = "".join(stream)
        if stream.written.end == "length":
            assert len(stream.written.tokens) == options.get("max_tokens", 60)
            continue
        assert stream.written.end in ("end", "allowed")
        jsonschema.validate(json.loads(text), schema)
        assert text == whole.generate("abc", schema=schema, **{"max_tokens": 60} | options)
        ended += 1
    assert ended


def test_a_cut_text_says_so_and_is_the_beginning_of_the_form(whole: Any) -> None:
    stream = whole.stream("abc", max_tokens=4, schema={"type": "string", "minLength": 9})
    text = "".join(stream)
    assert stream.written.end == "length" and text.startswith('"') and not text.endswith('"')


def test_a_text_matches_its_pattern(whole: Any) -> None:
    for seed in range(4):
        text = whole.generate(
            "abc", 40, regex=r"[A-Z][a-z]{2,5}: \d{1,4}\.", **DRAWN | {"seed": seed}
        )
        assert re.fullmatch(r"[A-Z][a-z]{2,5}: \d{1,4}\.", text)
    assert whole.generate("abc", 40, regex="only this 🙂é") == "only this 🙂é"


def test_choices_of_characters_that_are_no_token(whole: Any, run_async: Callable[..., Any]) -> None:
    answers = ["🙂", "é", "日本語"]
    found = {whole.generate("abc", 20, choices=answers, **DRAWN | {"seed": i}) for i in range(8)}
    assert len(found) > 1 and found <= set(answers)

    async def awaited() -> str:
        return "".join([piece async for piece in whole.stream("abc", 20, choices=answers)])

    assert run_async(awaited()) in answers


def test_slots_have_forms_of_their_own() -> None:
    several = model(slots=2, ends=[0])
    texts = several.generate_all(["ABC", "XYZ", "QRS"], 30, regex="[A-F]{3,9}", **DRAWN)
    assert all(re.fullmatch("[A-F]{3,9}", text) for text in texts)
    alone = model(ends=[0])
    assert texts == [alone.generate(each, 30, regex="[A-F]{3,9}", **DRAWN) for each in
                     ("ABC", "XYZ", "QRS")]  # fmt: skip


def test_a_mask_is_sent_where_it_changes(whole: Any) -> None:
    sent: list[str] = []
    plans = whole.writer.plans
    write = plans._set

    def counted(name: str, *rest: Any) -> None:
        sent.append(name)
        write(name, *rest)

    plans._set = counted
    try:
        stream = whole.stream("abc", 12, schema={"type": "string", "minLength": 40})
        assert len("".join(stream)) >= 1
    finally:
        plans._set = write
    assert 2 <= sent.count("_allowed") < 9


def test_forms_that_do_not_fit(whole: Any) -> None:
    m = model()
    with pytest.raises(OptionError, match="no token that goes on with this regex"):
        m.generate("ABC", regex="é")
    with pytest.raises(OptionError, match="no tokenizer"):
        LanguageModel(network()).generate([1], schema={})
    wrongs: list[dict[str, Any]] = [
        {"schema": {"type": "x"}}, {"regex": "("}, {"schema": {}, "regex": "a"},
        {"schema": {}, "allowed": print}, {"schema": {"enum": []}}, {"schema": "{}"},
        {"schema": {1, 2}},
    ]  # fmt: skip
    for wrong in wrongs:
        with pytest.raises(OptionError) as caught:
            whole.generate("abc", **wrong)
        assert len(str(caught.value).splitlines()) == 1
    assert not whole.writer.open and not m.writer.open


def test_letters_are_tokens_of_their_own_bytes() -> None:
    assert not hasattr(Letters(), "token_bytes")
    assert re.fullmatch("[A-Z]{4}", model().generate("ABC", 9, regex="[A-Z]{4}"))
