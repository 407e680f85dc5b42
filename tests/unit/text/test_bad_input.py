"""Descriptions and texts that are damaged or hostile: one clear line each."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import tallow as tl
from tallow.errors import ArgumentError, DataError, OptionError, TallowError, TextError
from tallow.text import Tokenizer

WORDS = {"type": "WordLevel", "vocab": {"a": 0, "<unk>": 1, "<T>": 2}, "unk_token": "<unk>"}
BPE = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}


def nested(key: str, depth: int) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "Sequence", key: []}
    for _ in range(depth):
        part = {"type": "Sequence", key: [part]}
    return part


def split(pattern: str) -> dict[str, Any]:
    return {
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    }


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"model": None}, "the tokenizer's model is None"),
        ({"model": {"type": "GPT"}}, "type 'GPT': there are BPE"),
        ({"model": {**WORDS, "vocab": [1]}}, "vocab is"),
        ({"model": {**WORDS, "vocab": {"a": -1}}}, "token 'a' has the number -1"),
        ({"model": {**WORDS, "vocab": {"a": "0"}}}, "token 'a' has the number '0'"),
        ({"model": {**BPE, "merges": [["a", "c"]]}}, "merge of 'a' and 'c' needs 'ac'"),
        ({"model": {**BPE, "merges": [["b", "a"]]}}, "needs 'ba', which is not in the vocabulary"),
        ({"model": {**BPE, "merges": ["a b c"]}}, "merge 0 is 'a b c'"),
        ({"model": {**BPE, "merges": [["a"]]}}, "merge 0"),
        ({"model": {**BPE, "merges": {"a": "b"}}}, "merges"),
        ({"model": {**BPE, "unk_token": "?"}}, "unknown token '\\?' is not in"),
        ({"model": {**BPE, "dropout": 0.1}}, "dropout"),
        ({"model": {"type": "WordPiece", "vocab": {}}}, "unknown token"),
        ({"model": {"type": "Unigram", "vocab": [["a"]]}}, r"vocab\[0\]"),
        ({"model": {"type": "Unigram", "vocab": [["a", 0.0]], "unk_id": 7}}, "unknown token is 7"),
        ({"normalizer": nested("normalizers", 300)}, "more than 100 deep"),
        ({"pre_tokenizer": nested("pretokenizers", 30)}, "more than 16 deep"),
        ({"decoder": nested("decoders", 30)}, "more than 16 deep"),
        ({"post_processor": nested("processors", 30)}, "more than 16 deep"),
        ({"normalizer": {"type": "Magic"}}, "type 'Magic': there are BertNormalizer"),
        ({"normalizer": {"type": ["NFC"]}}, "type"),
        ({"normalizer": {"type": "Replace", "pattern": {}, "content": "x"}}, "no String or Regex"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}}, "no base64"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "////fwAA"}}, "promise"),
        ({"pre_tokenizer": {"type": "Digits", "individual_digits": 1}}, "individual_digits 1, not"),
        ({"pre_tokenizer": {"type": "Punctuation", "behavior": "Up"}}, "behavior 'Up'"),
        ({"pre_tokenizer": {"type": "Metaspace", "replacement": "ab"}}, "replacement 'ab'"),
        ({"decoder": {"type": "Strip", "start": -1}}, "start -1"),
        ({"decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "content": "aa",
          "pattern": {"String": "a"}}] * 40}}, "again and again"),
        ({"decoder": {"type": "Replace", "content": "a" * 10_000, "pattern": {"Regex": ""}}},
         "10000 times longer"),
        ({"post_processor": {"type": "BertProcessing", "cls": [1]}}, "cls"),
        ({"post_processor": {"type": "TemplateProcessing", "special_tokens": {}, "pair": [],
          "single": [{"SpecialToken": {"id": "x", "type_id": 0}}]}}, "no special token 'x'"),
        ({"post_processor": {"type": "TemplateProcessing", "special_tokens": {}, "pair": [],
          "single": [{"Sequence": {"id": "B", "type_id": 0}}]}}, "has a second one"),
        ({"added_tokens": [{"id": 0, "content": "new"}]}, "number 0, which is that of 'a'"),
        ({"added_tokens": [{"id": 9, "content": "x"}, {"id": 9, "content": "y"}]}, "that of 'x'"),
        ({"added_tokens": [{"content": "x"}]}, "id None"),
        ({"added_tokens": "x"}, "not a list"),
        ({"truncation": {"max_length": -1}}, "max_length -1"),
        ({"truncation": {"max_length": 5, "strategy": "Never"}}, "strategy 'Never'"),
        ({"padding": {"strategy": {"Fixed": "x"}}}, "Fixed 'x'"),
        ({"padding": {"strategy": {"Fixed": 10**12}}}, "pads to 1,000,000,000,000 tokens"),
        ({"padding": {"pad_to_multiple_of": 10**12}}, "pads to 1,000,000,000,000 tokens"),
        (split("("), "can't be used"),
        (split(r"\p{Klingon}"), "property"),
        (split(r"\pL"), "braces"),
        (split("[a"), "ends too early"),
        (split("[z-a]"), "without an order"),
        (split(r"\y"), "unknown escape"),
        (split("a\\"), "ends too early"),
        (split("[" * 50), "too deeply"),
        (split("(a+)+b"), "forever"),
        (split("(?:a|a)*b"), "forever"),
        (split("((a*))*b"), "forever"),
        (split("(?:(?:a|b)?c){2,}d"), "forever"),
        (split(r"(?<=a*)b"), "can't be used"),
    ],
)  # fmt: skip
def test_descriptions(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(TextError, match=message) as error:
        Tokenizer.from_str(json.dumps({"model": WORDS, **parts}))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "parts",
    [
        {"normalizer": {"type": "Prepend", "prepend": "\ud800"}},
        {"model": {**WORDS, "vocab": {"\udc00": 0, "<unk>": 1}}},
        {"added_tokens": [{"id": 3, "content": "a\ud83d"}]},
    ],
)
def test_descriptions_with_half_of_a_surrogate_pair(parts: dict[str, Any]) -> None:
    for ascii in (True, False):
        text = json.dumps({"model": WORDS, **parts}, ensure_ascii=ascii)
        with pytest.raises(TextError, match=r"half of a surrogate pair, U\+D"):
            Tokenizer.from_str(text)
    whole = {"model": WORDS, "added_tokens": [{"id": 3, "content": "🙂"}]}
    assert Tokenizer.from_str(json.dumps(whole)).encode("a🙂").ids == [0, 3]


@pytest.mark.parametrize("text", ["", "[]", "{", "3", "null", '{"model": 1}', "[" * 100_000])
def test_no_description(text: str) -> None:
    with pytest.raises(TextError):
        Tokenizer.from_str(text)


def test_files(tmp_path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(TextError, match="not UTF-8"):
        Tokenizer.from_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        Tokenizer.from_file(tmp_path / "none.json")
    with pytest.raises(ArgumentError, match="bytes"):
        Tokenizer.from_str(b"{}")


@pytest.mark.parametrize(
    "normalizer",
    [
        {"type": "Sequence", "normalizers": [
            {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * 40},
        {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "a" * 5000}] * 10},
        {"type": "Replace", "pattern": {"Regex": ""}, "content": "a" * 10_000},
        {"type": "Sequence", "normalizers": [{"type": "ByteLevel"}] * 40},
    ],
)  # fmt: skip
def test_rules_that_make_a_text_grow_for_ever(normalizer: dict[str, Any]) -> None:
    made = Tokenizer.from_str(json.dumps({"model": WORDS, "normalizer": normalizer}))
    with pytest.raises(TextError, match="again and again"):
        made.encode("aaé")


@pytest.mark.parametrize(
    ("model", "ids"),
    [
        ({"type": "WordPiece", "unk_token": "?", "vocab": {"": 0, "##": 1, "a": 2, "?": 3}}, [3]),
        ({"type": "Unigram", "unk_id": 0, "vocab": [["", 0.0], ["a", -1.0], ["b", -1.0]]}, [1, 2]),
        ({"type": "BPE", "vocab": {"": 0, "a": 1, "b": 2, "ab": 3},
          "merges": [["", ""], ["a", ""], ["", "a"], ["a", "b"]]}, [3]),
    ],
    ids=["WordPiece", "Unigram", "BPE"],
)  # fmt: skip
def test_tokens_without_characters_lead_nowhere(model: dict[str, Any], ids: list[int]) -> None:
    """A search that took them would stand still, or go in a circle."""
    made = Tokenizer.from_str(json.dumps({"model": model}))
    assert made.encode("ab").ids == ids


def test_added_tokens_that_contain_one_another() -> None:
    added = [
        {"id": 10 + at, "content": content}
        for at, content in enumerate(("<", "<<", "<<<", "<T<T>>", "aa", ""))
    ]
    made = Tokenizer.from_str(json.dumps({"model": WORDS, "added_tokens": added}))
    assert made.encode("<<<<").ids == [12, 10]
    assert made.encode("<T<T>>aaa").ids == [13, 14, 0]
    assert len(made.encode("<" * 100_000).ids) == 33_334


def made() -> Tokenizer:
    return Tokenizer.from_str(json.dumps({"model": BPE}))


@pytest.mark.parametrize("text", ["ab\ud800", "\udfff", "a" * 1000 + "\ud83d" + "\ude00"])
def test_half_of_a_surrogate_pair(text: str) -> None:
    at = next(at for at, char in enumerate(text) if "\ud800" <= char <= "\udfff")
    with pytest.raises(DataError, match=rf"surrogate pair, U\+D[0-9A-F]{{3}}, at {at}:"):
        made().encode(text)
    with pytest.raises(DataError):
        made().encode("a", text)
    with pytest.raises(DataError):
        made().encode_batch(["a", text])


def test_arguments() -> None:
    mine: Any = made()
    for call, kind in (
        (lambda: mine.encode(5), ArgumentError),
        (lambda: mine.encode(b"ab"), ArgumentError),
        (lambda: mine.encode_batch("ab"), ArgumentError),
        (lambda: mine.encode_batch([("a", "b", "c")]), ArgumentError),
        (lambda: mine.decode(0), ArgumentError),
        (lambda: mine.decode(["x"]), ArgumentError),
        (lambda: mine.enable_truncation(-1), OptionError),
        (lambda: mine.enable_truncation(1, strategy="both"), OptionError),
        (lambda: mine.enable_truncation(1, direction="up"), OptionError),
        (lambda: mine.enable_padding(direction="up"), OptionError),
        (lambda: mine.enable_padding(length=-1), OptionError),
        (lambda: tl.text.DecodeStream(mine).step("x"), ArgumentError),
    ):
        with pytest.raises(kind):
            call()
    assert mine.decode([0, 1, 10**9, -1, 2]) == "a b ab"  # numbers without a token are left out


def test_mutants() -> None:
    """A description that is changed at random is refused, or works."""
    first = {"Sequence": {"id": "A", "type_id": 0}}
    second = {"Sequence": {"id": "B", "type_id": 1}}
    whole = {
        "added_tokens": [{"id": 9, "content": "<e>", "special": True, "lstrip": True}],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
            {"type": "BertNormalizer", "lowercase": True}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            split(r" ?\p{L}+|[^\s\p{L}]+")["pre_tokenizer"],
            {"type": "ByteLevel", "add_prefix_space": False}]},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "s", "type_id": 0}}, first],
            "pair": [first, second],
            "special_tokens": {"s": {"id": "s", "ids": [0], "tokens": ["s"]}}},
        "decoder": {"type": "ByteLevel"},
        "padding": {"strategy": {"Fixed": 4}, "pad_id": 0},
        "truncation": {"max_length": 8, "strategy": "LongestFirst"},
        "model": BPE,
    }  # fmt: skip
    text = json.dumps(whole)
    source = random.Random(7)
    worked = refused = 0
    for _ in range(1500):
        at = source.randrange(len(text))
        match source.randrange(4):
            case 0:
                mutant = text[:at] + text[at + source.randrange(1, 9) :]
            case 1:
                mutant = text[:at] + source.choice('{}[]",:0aT\\ +*(') + text[at + 1 :]
            case 2:
                mutant = text[:at] + text[source.randrange(len(text)) :][:20] + text[at:]
            case _:
                values = ("null", "-1", "[]", "{}", '"x"', "1e999", "true", '"\\ud800"')
                spots = [i for i in range(len(text)) if text.startswith(": ", i)]
                start = source.choice(spots) + 2
                mutant = text[:start] + source.choice(values) + ", " + text[start:]
        try:
            mine = Tokenizer.from_str(mutant)
            mine.decode(mine.encode("ab Ab<e> cd", "x").ids)
            worked += 1
        except TallowError as error:
            assert "\n" not in str(error)
            refused += 1
    assert worked > 20
    assert refused > 500
