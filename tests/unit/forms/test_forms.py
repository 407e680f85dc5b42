"""Forms: what a grammar lets through is what `json.loads`, a schema or `re` accepts."""

from __future__ import annotations

import json
import random
import re
from datetime import datetime, time
from decimal import Decimal
from itertools import permutations
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallow.errors import OptionError
from tallow.forms import Grammar, State, Vocabulary, choices, regex, schema

LINKED = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            },
            "required": ["value"],
        }
    },
}
SCHEMAS: list[Any] = [
    True, {}, LINKED, {"type": "object"}, {"type": "number"},
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
     "required": ["b"]},
    {"type": "object", "properties": {"ab": {"type": "null"}, "a": {"type": "null"}},
     "additionalProperties": {"type": "integer"}},
    {"type": "object", "properties": {"a": False, "b": {"const": 1}}, "required": ["z"]},
    {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 3},
    {"prefixItems": [{"type": "null"}, {"type": "boolean"}], "items": False},
    {"prefixItems": [{"type": "null"}], "items": {"type": "boolean"}, "minItems": 3},
    {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}},
    {"enum": ["a", 1, None, True, [1, {"x": "\n"}], 'b"c\\', "é"]},
    {"enum": [1, "a", 2.5, None], "type": ["number", "null"]}, {"const": {"x": 1}},
    {"type": ["string", "null"], "maxLength": 3},
    {"type": "string", "minLength": 2, "maxLength": 4}, {"type": "string", "maxLength": 0},
    {"type": "string", "pattern": "^[a-c\"\\\\]{2,3}$"}, {"type": "string", "pattern": "^b+\\d"},
    {"type": "integer", "minimum": -123, "maximum": 4567}, {"type": "integer", "minimum": 3},
    {"type": "integer", "exclusiveMinimum": 0.5, "exclusiveMaximum": 2},
    {"type": "number", "minimum": -3, "exclusiveMaximum": 12}, {"type": "number", "maximum": 0},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    {"oneOf": [{"type": "integer"}, {"type": "string"}]},
    {"oneOf": [
        {"type": "object", "properties": {"k": {"const": each}, each: {"type": "null"}},
         "required": ["k", each]} for each in ("cat", "dog")]},
    {"type": "object", "anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]},
                                 {"properties": {"b": {"const": 2}}, "required": ["b"]}]},
    {"allOf": [{"$ref": "#/definitions/a"}, {"required": ["z"]}],
     "definitions": {"a": {"type": "object", "properties": {"q": {"type": "null"}}}}},
    {"anyOf": [{"type": "integer"}, {"enum": []}, {"type": "integer", "minimum": 3, "maximum": 2}]},
    {"$ref": "#/$defs/text", "maxLength": 2, "$defs": {"text": {"type": "string"}}},
    {"type": "integer", "multipleOf": 7}, {"type": "number", "multipleOf": 0.25, "minimum": -3.5},
    {"type": "number", "multipleOf": 2, "exclusiveMinimum": 1e6, "maximum": 1000009.5},
    {"type": "integer", "multipleOf": 1.5, "minimum": 2}, {"multipleOf": 1000},
    {"type": "array", "items": {"enum": ["a", "b", 1, 1.0, None]}, "uniqueItems": True},
    {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 45},
     "uniqueItems": True, "minItems": 2, "maxItems": 3},
    {"prefixItems": [{"type": "boolean"}, {"enum": [True, 2]}], "uniqueItems": True,
     "items": {"anyOf": [{"const": 2}, {"type": "null"}, {"$ref": "#/$defs/x"}]},
     "$defs": {"x": {"enum": [[1], [1.0], {"a": 1}]}}},
    {"type": "array", "uniqueItems": True, "maxItems": 1},
    {"type": "array", "uniqueItems": False, "items": {"type": "null"}},
    {"not": {"type": ["object", "array", "number"]}}, {"not": {"type": "number"}},
    {"type": ["integer", "string"], "not": {"type": "integer"}},
    {"enum": [1, 1.0, 1.5, "a", None], "not": {"type": "integer"}},
    {"enum": [1, 1.0, 2, "a", True], "not": {"enum": [1, "a"]}},
    {"type": "string", "not": {"enum": ["", "a", "ab", 'a"c', "\\"]}},
    {"type": ["boolean", "null", "integer"], "not": {"enum": [True, None, 0, 5.0]}},
    {"type": "number", "not": {"const": 0}, "minimum": -2, "maximum": 2},
    {"type": "number", "not": {"enum": [1, 3]}}, {"not": {"const": "a"}, "type": "string"},
    {"type": "number", "multipleOf": 0.5, "not": {"const": 0.5}, "minimum": 0, "maximum": 2},
    {"allOf": [{"not": {"const": 1}}, {"not": {"$ref": "#/$defs/x"}}, {"type": "integer"}],
     "minimum": 0, "maximum": 4, "$defs": {"x": {"anyOf": [{"const": 3}, {"type": "string"}]}}},
    {"anyOf": [{"type": "boolean"}, {"type": "string", "not": {"const": "b"}}],
     "not": {"enum": [True, "a"]}},
    *({"type": "string", "format": form} for form in
      ("date", "uuid", "ipv4", "email", "strange")),
]  # fmt: skip
ALPHABET = [*map(chr, range(32, 127)), "\n", "\t", "\x01", "é", "日"]


def drawn(grammar: Grammar, seed: int, most: int = 250) -> str | None:
    """A text of a form, character by character; None if it grew too long."""
    draw, state, text = random.Random(seed), grammar.start(), ""
    for _ in range(most):
        chars = [each for each in ALPHABET if grammar.step(state, each)]
        if state.ends and (not chars or draw.random() < 0.4):
            return text
        assert chars, f"nothing follows {text!r}"
        ending = [each for each in chars if each in '"}]']
        char = draw.choice(ending if ending and draw.random() < 0.5 else chars)
        following = grammar.step(state, char)
        assert following is not None
        state, text = following, text + char
    return None


@pytest.mark.parametrize("given", SCHEMAS, ids=lambda each: json.dumps(each)[:60])
def test_what_a_schema_lets_through_fits_it(given: Any) -> None:
    grammar = schema(given)
    texts = [text for seed in range(40) if (text := drawn(grammar, seed)) is not None]
    assert texts
    for text in texts:
        value = json.loads(text)
        jsonschema.validate(value, given, format_checker=jsonschema.FormatChecker())


@pytest.mark.parametrize("name, kind", [("time", time), ("date-time", datetime)])
def test_times(name: str, kind: Any) -> None:
    grammar = schema({"type": "string", "format": name})
    for seed in range(100):
        text = drawn(grammar, seed)
        assert text is not None and kind.fromisoformat(json.loads(text)).tzinfo is not None


LEAVES = st.sampled_from([
    {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"type": "null"}, True,
    {"type": "string"}, {"type": "string", "maxLength": 3}, {"enum": ["x", 2]}, {"const": None},
])  # fmt: skip


def _possible(given: Any) -> bool:
    return given["additionalProperties"] or set(given["required"]) <= set(given["properties"])


def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas with others in them."""
    names = st.sampled_from(["a", "ab", "b", 'c"'])
    objects = st.builds(
        lambda parts, required, more: {
            "type": "object", "properties": parts, "required": required,
            "additionalProperties": more,
        },
        st.dictionaries(names, inner, max_size=3), st.lists(names, max_size=2, unique=True),
        st.booleans(),
    ).filter(_possible)  # fmt: skip
    arrays = st.builds(
        lambda items, low, more: {
            "type": "array", "items": items, "minItems": low, "maxItems": low + more,
        },
        inner, st.integers(0, 2), st.integers(0, 2),
    )  # fmt: skip
    return objects | arrays | st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1))


@settings(max_examples=60, deadline=None)
@given(st.recursive(LEAVES, grown, max_leaves=6), st.integers(0, 99))
def test_every_schema_keeps_its_word(given: Any, seed: int) -> None:
    text = drawn(schema(given), seed)
    if text is not None:
        jsonschema.validate(json.loads(text), given)


@pytest.mark.parametrize("low, high", [(0, 0), (7, 7), (3, 12), (95, 1005), (0, 999), (120, 129)])
def test_bounds_are_met_by_every_number_within_and_by_no_other(low: int, high: int) -> None:
    grammar = schema({"type": "integer", "minimum": -high, "maximum": -low})
    other = schema({"type": "integer", "minimum": low, "maximum": high})
    for number in range(1200):
        assert other.accepts(str(number)) == (low <= number <= high)
        assert number == 0 or grammar.accepts(str(-number)) == (low <= number <= high)


@pytest.mark.parametrize(
    "given",
    [
        {"multipleOf": 0.1}, {"multipleOf": 0.05, "minimum": 0.1, "exclusiveMaximum": 7},
        {"multipleOf": 2.5}, {"multipleOf": 0.3, "exclusiveMinimum": -4.5, "maximum": 0.9},
        {"multipleOf": 12}, {"multipleOf": 40, "minimum": -39, "maximum": 400},
        {"multipleOf": 0.25, "not": {"enum": [0.5, 1, -2.75]}}, {"multipleOf": 1e-3},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("kind", ["number", "integer"])
def test_multiples_are_met_by_every_number_within_and_by_no_other(given: Any, kind: str) -> None:
    grammar = schema({"type": kind, **given})
    decimal = {name: Decimal(str(value)) for name, value in given.items() if name != "not"}
    draw = random.Random(2)
    texts = [f"{whole}{end}" for whole in range(-45, 45) for end in ("", ".5", ".25", ".30")]
    texts += [f"{draw.uniform(-50, 500):.{draw.randrange(5)}f}" for _ in range(2000)]
    places = -min(int(decimal["multipleOf"].as_tuple().exponent), 0) if kind == "number" else 0
    for text in texts:
        value = Decimal(text)
        fits = (
            value % decimal["multipleOf"] == 0
            and (value or not text.startswith("-"))
            and float(value) not in given.get("not", {"enum": ()})["enum"]
            and -int(value.as_tuple().exponent) <= places
            and decimal.get("minimum", value) <= value <= decimal.get("maximum", value)
            and decimal.get("exclusiveMinimum", value - 1) < value
            and value < decimal.get("exclusiveMaximum", value + 1)
        )
        assert grammar.accepts(text) == bool(fits), text


def test_values_that_differ_come_in_every_order() -> None:
    grammar = schema({"type": "array", "items": {"enum": [*"abc"]}, "uniqueItems": True})
    for count in range(4):
        for some in permutations("abc", count):
            assert grammar.accepts(json.dumps(some)), some
    for text in ('["a", "a"]', '["a","b","a"]', '["d"]'):
        assert not grammar.accepts(text)


@pytest.mark.parametrize("left_out", ["", "a", "ab", "a\n", 'say "a"'])
def test_every_other_string_is_let_through(left_out: str) -> None:
    grammar = schema({"type": "string", "not": {"enum": [left_out, "b"]}})
    for text in ("", "a", "b", "ab", "abc", "a\n", "a\nb", 'say "a"', "é", "\t"):
        written = json.dumps(text, ensure_ascii=False)
        assert grammar.accepts(written) == (text not in (left_out, "b")), text


@pytest.mark.parametrize(
    "pattern",
    [
        "abc", "a|bc|", "(ab)+c?", "[^a-y0-9]{2,4}", r"\d{3}-\w+\s?", "^x.y$", r"(?:a{2}){1,3}?b*?",
        r"[\w.]+@[a-z]+\.com", "(?s).", "(?a)\\w", "(a*)*b", "((a|b)*c){2}", "", "é+🙂",
    ],
)  # fmt: skip
def test_a_pattern_lets_through_what_it_matches(pattern: str) -> None:
    grammar = regex(pattern)
    for seed in range(30):
        text = drawn(grammar, seed) if pattern != "é+🙂" else "éé🙂"
        assert text is None or (re.fullmatch(pattern, text) and grammar.accepts(text))
    draw = random.Random(1)
    for _ in range(300):
        text = "".join(draw.choice("abcxy01-@. zé\n") for _ in range(draw.randrange(5)))
        assert grammar.accepts(text) == bool(re.fullmatch(pattern, text)), text


def brute(vocabulary: dict[int, str], grammar: Grammar, state: State) -> int:
    """The tokens that may follow, tried one by one."""
    found = 0
    for token, text in vocabulary.items():
        here: State | None = state
        for char in text:
            here = grammar.step(here, char) if here else None
        found |= (here is not None) << token
    return found


@pytest.mark.parametrize(
    "grammar",
    [
        schema({"properties": {"a": {"type": "string"}}, "additionalProperties": True}),
        schema({"type": "string", "minLength": 3, "maxLength": 9}), regex(r"\w{2,5}.*\d"),
        regex("[^b]+b?"), regex(".{3}[a-z]+|日本.*"), choices(["yes", "yesterday", "🙂é"]),
    ],
    ids=range(6),
)  # fmt: skip
def test_tokens_that_may_follow_are_those_whose_characters_may(grammar: Grammar) -> None:
    draw = random.Random(3)
    pieces = [
        '"',
        '":',
        '": "',
        "{",
        "a",
        "b",
        " ",
        "\\",
        '\\"',
        "}",
        "é",
        "日本",
        "🙂",
        "\U0010ffff",
    ]
    texts = {at: "".join(draw.choices(pieces, k=draw.randrange(1, 6))) for at in range(300)}
    halves = ["🙂".encode()[:2], "🙂".encode()[2:], "日".encode()[:1], "日".encode()[1:], b"\xff"]
    words = [*pieces, *"0123456789", "yes", "yester", "day"]
    extra = [*words, *(each.decode("utf-8", "surrogateescape") for each in halves)]
    texts |= {300 + at: text for at, text in enumerate(extra)}
    vocabulary = Vocabulary(400, texts.items())
    for _ in range(25):
        state = grammar.start()
        for _ in range(draw.randrange(8)):
            mask = vocabulary.allowed(grammar, state)
            assert mask == brute(texts, grammar, state)
            if not mask:
                break
            token = draw.choice([each for each in texts if mask >> each & 1])
            state = vocabulary.behind(grammar, state, token)
    with pytest.raises(OptionError, match="may not follow"):
        vocabulary.behind(grammar, grammar.start(), 399)


@pytest.mark.parametrize(
    "given, said",
    [
        (None, "no JSON schema"), ([], "no JSON schema"), (False, "no text has this form"),
        ({"type": "strnig"}, "there are object, array"), ({"type": []}, "there are object, array"),
        ({"enum": []}, "no text has this form"), ({"enum": 3}, "not a list"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "no text has this form"),
        ({"const": {1, 2}}, "is no JSON"), ({"const": float("nan")}, "is no JSON"),
        ({"not": {}}, "no text has this form"), ({"not": True}, "no text has this form"),
        ({"not": 3}, "no JSON schema"), ({"not": {"not": {}}}, "uses 'not'"),
        ({"not": {"required": ["a"]}}, "#/not uses 'required'"),
        ({"not": {"type": "integer"}}, "numbers that are no integers"),
        ({"type": "array", "not": {"const": []}}, "from a single array"),
        ({"type": "string", "maxLength": 3, "not": {"const": "a"}}, "leaves strings out beside"),
        ({"type": "number", "not": {"const": 0.5}}, "are whole here, and so is what"),
        ({"enum": [1], "not": {"enum": [1.0]}}, "no text has this form"),
        ({"type": "array", "uniqueItems": 1}, "not a boolean"),
        ({"type": "array", "uniqueItems": True}, "nothing keeps values apart"),
        ({"uniqueItems": True, "items": {"type": "string"}}, "nothing keeps values apart"),
        ({"uniqueItems": True, "items": {"enum": [*range(30)]}}, "more than 5,000 sets"),
        ({"uniqueItems": True, "items": {"type": "null"}, "minItems": 2}, "no text has this form"),
        ({"uniqueItems": True, "items": {"enum": [1, 2, 3]}, "minItems": 3, "maxItems": 2},
         "no text has this form"),
        ({"multipleOf": 0}, "has to be more than 0"), ({"multipleOf": "1"}, "not a number"),
        ({"multipleOf": -0.5}, "has to be more than 0"), ({"multipleOf": True}, "not a number"),
        ({"multipleOf": 1e-30}, "too many decimals"), ({"multipleOf": 1e400}, "not a number from"),
        ({"minimum": 10**310}, "not a number from"), ({"multipleOf": 123457}, "remainders"),
        ({"type": "number", "minimum": 0.5}, "bounds are whole here"),
        ({"type": "number", "minimum": "a"}, "not a number"),
        ({"$ref": "#/$defs/a"}, "no such part"), ({"$ref": "http://x/y"}, "begin with #/"),
        ({"$ref": "#"}, "by itself alone"), ({"allOf": [{"$ref": "#"}]}, "by itself alone"),
        ({"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "by itself alone"),
        ({"properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "no text has this form"),
        ({"type": "array", "minItems": 1, "items": {"$ref": "#"}}, "no text has this form"),
        ({"minLength": -1}, "not a whole number"), ({"maxItems": 1.5}, "not a whole number"),
        ({"type": "string", "maxLength": 10**9}, "more than 200,000 places"),
        ({"type": "array", "items": {}, "maxItems": 10**9}, "more than 200,000 places"),
        ({"type": "string", "pattern": "("}, "can't be read"),
        ({"pattern": "a", "minLength": 2}, "a length beside it"),
        ({"enum": [1], "minimum": 0}, "beside given values"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "may fit another option"),
        ({"allOf": [{"type": "null"}, {"type": "string"}]}, "says 'type' twice"),
        ({"properties": 3}, "properties are an object"), ({"required": "ab"}, "not a list"),
        ({"required": [1]}, "properties are an object"), ({"anyOf": 1}, "not a list"),
    ],
    ids=str,
)  # fmt: skip
def test_schemas_that_can_not_be_met(given: Any, said: str) -> None:
    with pytest.raises(OptionError, match=re.escape(said)) as caught:
        schema(given)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "pattern, said",
    [
        ("(", "can't be read"), (3, "is a text"), (r"(a)\1", "refers back"), ("a(?=b)", "looks"),
        ("(?i)a", "a flag"), ("a^b", "at its start and its end"), ("[^\\s\\S]", "no text has"),
        ("(?>a*)a", "keeps a part whole"), ("(?i:a)", "changes flags"), (r"\bab", "at its start"),
        ("a{1000000}", "more than 200,000 places"), ("(((a{99}){99}){99}){99}", "200,000 places"),
    ],
)  # fmt: skip
def test_patterns_that_are_none(pattern: Any, said: str) -> None:
    with pytest.raises(OptionError, match=re.escape(said)) as caught:
        regex(pattern)
    assert len(str(caught.value).splitlines()) == 1


def test_choices() -> None:
    grammar = choices(["yes", "yesterday"])
    assert [grammar.accepts(each) for each in ("yes", "yesterday", "yest", "")] == [1, 1, 0, 0]
    for wrong in ([], ["a", ""], "ab", [3]):
        with pytest.raises(OptionError, match="one answer or more"):
            choices(wrong)
