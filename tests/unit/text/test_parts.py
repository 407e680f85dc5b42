"""Each part of a description, beside the package `tokenizers`."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import pytest
import tokenizers
from tests.unit.text.beside import both, same, same_encoding, streamed
from tests.unit.text.texts import corpus, english
from tokenizers import models, pre_tokenizers, trainers

Part = dict[str, Any]


@cache
def trained(kind: str) -> Part:
    """A small model's description."""
    special = ["<unk>", "<s>", "</s>"]
    options: Part = {"vocab_size": 600, "special_tokens": special, "show_progress": False}
    trainer: Any
    if kind == "BPE":
        made = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
        trainer = trainers.BpeTrainer(**options)
    elif kind == "Unigram":
        made = tokenizers.Tokenizer(models.Unigram())
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(unk_token="<unk>", **options)
    else:
        made = tokenizers.Tokenizer(models.WordPiece(unk_token="<unk>"))
        trainer = trainers.WordPieceTrainer(**options)
    if kind != "Unigram":
        made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.train_from_iterator([english()[:60_000], *corpus()[:30]], trainer)
    description = json.loads(made.to_str())
    if kind == "Unigram":  # scores whose sums are exact: the package reads others 1 ulp off
        vocab = description["model"]["vocab"]
        description["model"]["vocab"] = [
            [name, round(score * 4096) / 4096] for name, score in vocab
        ]
    return description


def described(kind: str, **parts: Any) -> str:
    base = trained(kind)
    return json.dumps({**base, "pre_tokenizer": None, **parts})


def sequence(name: str, *parts: Part) -> Part:
    return {"type": "Sequence", name: list(parts)}


def replace(pattern: Part, content: str) -> Part:
    return {"type": "Replace", "pattern": pattern, "content": content}


NORMALIZERS: list[Part] = [
    *({"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "ByteLevel")),
    {"type": "StripAccents"},
    {"type": "Strip", "strip_left": True, "strip_right": False},
    {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "Prepend", "prepend": "▁▁x"},
    replace({"String": " "}, "▁"),
    replace({"String": "a"}, ""),
    replace({"Regex": r"\s+"}, "--"),
    replace({"Regex": r"(?i)[aeou]\p{L}"}, "é"),
    *(
        {
            "type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": chinese,
            "strip_accents": strip, "lowercase": lower,
        }
        for clean, chinese, strip, lower in (
            (True, True, None, True), (True, False, None, False), (False, True, True, False),
            (False, False, False, True),
        )
    ),
    sequence("normalizers", {"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}),
    sequence(
        "normalizers",
        {"type": "Prepend", "prepend": "▁"},
        replace({"String": " "}, "▁"),
        sequence("normalizers", {"type": "NFKC"}, {"type": "NFKD"}),
    ),
]  # fmt: skip


def name_of(part: Part) -> str:
    return part["type"]


@pytest.mark.parametrize("part", NORMALIZERS, ids=name_of)
def test_normalizers(part: Part) -> None:
    mine, other = both(described("BPE", normalizer=part))
    for text in corpus():
        same_encoding(mine.encode(text), other.encode(text), text)


BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
LLAMA = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PRE_TOKENIZERS: list[Part] = [
    *({"type": name} for name in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit")),
    *(
        {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}
        for prefix in (True, False)
        for regex in (True, False)
    ),
    *(
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}
        for scheme in ("always", "first", "never")
        for split in (True, False)
    ),
    {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"},
    *({"type": "Digits", "individual_digits": alone} for alone in (True, False)),
    {"type": "CharDelimiterSplit", "delimiter": "e"},
    *({"type": "Punctuation", "behavior": behavior} for behavior in BEHAVIORS),
    *(
        {"type": "Split", "pattern": {"Regex": r"\s"}, "behavior": behavior, "invert": invert}
        for behavior in BEHAVIORS
        for invert in (True, False)
    ),
    {"type": "Split", "pattern": {"Regex": LLAMA}, "behavior": "Isolated", "invert": False},
    {"type": "Split", "pattern": {"String": "a "}, "behavior": "Removed", "invert": False},
    {"type": "Split", "pattern": {"Regex": r"\w+|\d|[^\W\d]"}, "behavior": "Isolated",
     "invert": False},
    {"type": "Split", "pattern": {"Regex": r"[^\s\p{L}&&[^a-z]]+"}, "behavior": "Isolated",
     "invert": False},
    sequence(
        "pretokenizers",
        {"type": "Digits", "individual_digits": True},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    ),
    sequence(
        "pretokenizers",
        {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": False},
        {"type": "WhitespaceSplit"},
        {"type": "Punctuation", "behavior": "Isolated"},
    ),
    sequence("pretokenizers", {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁",
             "prepend_scheme": "always", "split": True}),
]  # fmt: skip


@pytest.mark.parametrize("part", PRE_TOKENIZERS, ids=name_of)
def test_pre_tokenizers(part: Part) -> None:
    mine, other = both(described("BPE", pre_tokenizer=part))
    for text in corpus():
        same_encoding(mine.encode(text), other.encode(text), text)


def template(single: str, pair: str) -> Part:
    special = {"<s>": 1, "</s>": 2}
    pieces = {
        "A": {"Sequence": {"id": "A", "type_id": 0}},
        "B": {"Sequence": {"id": "B", "type_id": 1}},
    }
    for name in special:
        pieces[name] = {"SpecialToken": {"id": name, "type_id": 1}}
    return {
        "type": "TemplateProcessing",
        "single": [pieces[each] for each in single.split()],
        "pair": [pieces[each] for each in pair.split()],
        "special_tokens": {
            name: {"id": name, "ids": [number, 0], "tokens": [name, "<unk>"]}
            for name, number in special.items()
        },
    }


BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
PROCESSORS: list[Part] = [
    {"type": "BertProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]},
    *(
        {
            "type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1],
            "trim_offsets": trim, "add_prefix_space": prefix,
        }
        for trim, prefix in ((True, True), (True, False), (False, False))
    ),
    template("<s> A </s>", "<s> A </s> </s> B </s>"),
    template("A", "B A"),
    BYTES,
    {**BYTES, "add_prefix_space": False},
    {**BYTES, "trim_offsets": False},
    sequence("processors", BYTES, template("<s> A", "<s> A <s> B")),
]  # fmt: skip


@pytest.mark.parametrize("part", PROCESSORS, ids=name_of)
def test_post_processors(part: Part) -> None:
    mine, other = both(described("BPE", pre_tokenizer=BYTES, post_processor=part))
    for text in corpus()[:60]:
        for special in (True, False):
            for pair in (None, "a second, text "):
                got = mine.encode(text, pair, add_special_tokens=special)
                wanted = other.encode(text, pair, add_special_tokens=special)
                same_encoding(got, wanted, (text, pair))


FALLBACK = [{"type": "ByteFallback"}, {"type": "Fuse"}]
DECODERS: list[Part | None] = [
    None,
    {**BYTES},
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "WordPiece", "prefix": "t", "cleanup": False},
    *({"type": "Metaspace", "replacement": "▁", "prepend_scheme": s} for s in ("always", "never")),
    {"type": "BPEDecoder", "suffix": "e"},
    {"type": "CTC", "pad_token": "a", "word_delimiter_token": "t", "cleanup": True},
    sequence("decoders", *FALLBACK),
    sequence("decoders", replace({"String": "▁"}, " "), *FALLBACK,
             {"type": "Strip", "content": " ", "start": 1, "stop": 0}),
    sequence("decoders", *FALLBACK, {"type": "Strip", "content": "e", "start": 2, "stop": 0}),
    {"type": "Strip", "content": "e", "start": 1, "stop": 0},
    sequence("decoders", {"type": "Fuse"}, replace({"Regex": "e.?t"}, "<>")),
]  # fmt: skip


@pytest.mark.parametrize("part", DECODERS, ids=lambda part: part["type"] if part else "none")
def test_decoders(part: Part | None) -> None:
    base = trained("BPE")
    vocab = {**base["model"]["vocab"]}
    for byte in range(256):
        vocab[f"<0x{byte:02X}>"] = len(vocab)
    for extra in ("▁", "▁▁", "▁the", "ee", " e", "e "):
        vocab.setdefault(extra, len(vocab))
    model = {**base["model"], "vocab": vocab, "byte_fallback": True}
    mine, other = both(json.dumps({**base, "model": model, "pre_tokenizer": None, "decoder": part}))
    same(mine, other, corpus()[:80])
    source = random.Random(9)
    for _ in range(60):
        ids = [source.randrange(len(vocab)) for _ in range(source.randrange(12))]
        assert mine.decode(ids) == other.decode(ids)
        assert streamed(mine, ids) == mine.decode(ids)


@pytest.mark.parametrize("options", [
    {}, {"fuse_unk": True}, {"unk_token": None}, {"byte_fallback": True}, {"ignore_merges": True},
    {"unk_token": None, "byte_fallback": True}, {"fuse_unk": True, "byte_fallback": True},
])  # fmt: skip
@pytest.mark.parametrize("whole", [False, True])
def test_bpe(options: Part, whole: bool) -> None:
    base = trained("BPE")
    vocab = {**base["model"]["vocab"]}
    if "byte_fallback" in options:
        for byte in range(256):
            vocab[f"<0x{byte:02X}>"] = len(vocab)
    model = {**base["model"], "vocab": vocab, **options}
    pre = None if whole else {"type": "WhitespaceSplit"}
    mine, other = both(json.dumps({**base, "model": model, "pre_tokenizer": pre}))
    for text in corpus():
        got, wanted = mine.encode(text), other.encode(text)
        assert got.ids == wanted.ids
        if options.get("unk_token", "") is not None:  # without, theirs are short of what is dropped
            same_encoding(got, wanted, text)


def test_bpe_with_prefix_and_suffix() -> None:
    made = tokenizers.Tokenizer(
        models.BPE(unk_token="<unk>", continuing_subword_prefix="##", end_of_word_suffix="</w>")
    )
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(
        vocab_size=500, special_tokens=["<unk>"], continuing_subword_prefix="##",
        end_of_word_suffix="</w>", show_progress=False,
    )  # fmt: skip
    made.train_from_iterator([english()[:60_000]], trainer)
    mine, other = both(made.to_str())
    for text in corpus():
        same_encoding(mine.encode(text), other.encode(text), text)


def test_a_word_of_many_letters() -> None:
    """Takes n log n steps: 100,000 letters are no attack."""
    mine, other = both(described("BPE"))
    source = random.Random(2)
    text = "".join(source.choice("etaoinshr") for _ in range(100_000))
    assert mine.encode(text).ids == other.encode(text).ids
    assert mine.encode("e" * 100_000).ids == other.encode("e" * 100_000).ids


@pytest.mark.parametrize("part", [
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}, None,
])  # fmt: skip
def test_unigram(part: Part | None) -> None:
    mine, other = both(described("Unigram", pre_tokenizer=part, decoder=part))
    same(mine, other, corpus())


def test_unigram_with_bytes() -> None:
    base = trained("Unigram")
    vocab = [*base["model"]["vocab"], *([f"<0x{byte:02X}>", -9.0] for byte in range(256))]
    mine, other = both(
        json.dumps({**base, "model": {**base["model"], "vocab": vocab, "byte_fallback": True}})
    )
    for text in corpus():
        same_encoding(mine.encode(text), other.encode(text), text)


def test_wordpiece_and_words() -> None:
    mine, other = both(described("WordPiece", pre_tokenizer={"type": "BertPreTokenizer"}))
    same(mine, other, corpus())
    base = trained("WordPiece")
    model = {"type": "WordLevel", "vocab": base["model"]["vocab"], "unk_token": "<unk>"}
    mine, other = both(json.dumps({**base, "model": model}))
    same(mine, other, corpus())


@pytest.mark.parametrize("flags", [
    (), ("lstrip",), ("rstrip",), ("lstrip", "rstrip"), ("single_word",), ("normalized",),
    ("normalized", "single_word"), ("normalized", "lstrip", "rstrip"), ("special",),
])  # fmt: skip
@pytest.mark.parametrize("normalizer", [None, {"type": "Lowercase"}])
def test_added_tokens(flags: tuple[str, ...], normalizer: Part | None) -> None:
    base = trained("BPE")
    names = ("lstrip", "rstrip", "single_word", "normalized", "special")
    added = [
        {"id": 700 + at, "content": content, **{name: name in flags for name in names}}
        for at, content in enumerate(("<T>", "<T><T>", "the", "OTHER", "▁▁", "été"))
    ]
    kept = base["added_tokens"]
    vocab = {name: number for name, number in base["model"]["vocab"].items() if name != "the"}
    merges = [
        each
        for each in base["model"]["merges"]
        if "".join(each) not in ("the",) and "the" not in each
    ]
    model = {**base["model"], "vocab": vocab, "merges": merges}
    for at, each in enumerate(added):
        each["id"] = len(vocab) + at
    numbers = dict(zip(vocab, range(len(vocab)), strict=True))
    model["vocab"] = numbers
    mine, other = both(json.dumps({
        **base, "model": model, "added_tokens": kept + added, "normalizer": normalizer,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
    }))  # fmt: skip
    texts = [
        "a <T><T><T> b", "the THE other  the ", "  <T>  ", "x<T>x the. the", "▁▁▁▁▁", "Été été<t>",
        "<T", "", "thethe the<T>the",
    ]  # fmt: skip
    same(mine, other, texts)
