"""Tokenizers from GGUF's metadata, beside those of the same vocabulary's tokenizer.json."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
import tokenizers
from tests.unit.text.beside import both, same_encoding, streamed
from tests.unit.text.test_parts import LLAMA, described, trained
from tests.unit.text.test_published import description
from tests.unit.text.texts import corpus, english
from tokenizers import models, trainers

import tallow as tl
from tallow.errors import TextError
from tallow.text import Tokenizer

NORMAL, UNKNOWN, CONTROL, USER, BYTE = 1, 2, 3, 4, 6


def keys(**values: Any) -> dict[str, object]:
    return {f"tokenizer.ggml.{name}": value for name, value in values.items()}


def byte_level(name: str, **more: Any) -> tuple[dict[str, Any], dict[str, object]]:
    """A description and the metadata for it."""
    whole = json.loads(description(name))
    vocab = dict(whole["model"]["vocab"])
    special = {each["content"]: each["special"] for each in whole["added_tokens"]}
    for each in whole["added_tokens"]:
        vocab[each["content"]] = each["id"]
        each["normalized"] = False
    tokens = [token for token, _ in sorted(vocab.items(), key=lambda each: each[1])]
    types = [{True: CONTROL, False: USER}.get(special.get(token), NORMAL) for token in tokens]
    merges = [
        each if isinstance(each, str) else " ".join(each) for each in whole["model"]["merges"]
    ]
    whole |= {"post_processor": None}
    return whole, keys(model="gpt2", tokens=tokens, token_type=types, merges=merges, **more)


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
PLAIN = {**BYTES, "use_regex": False}


def isolated(regex: str) -> dict[str, Any]:
    part = {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [part, PLAIN]}


@pytest.mark.parametrize(
    ("name", "pre", "part"),
    [
        ("whisper", "gpt-2", BYTES),
        ("minimind2", "gpt-2", BYTES),
        ("minimind2", "smollm", {
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": True}, BYTES],
        }),
        ("minimind2", "llama-bpe", isolated(LLAMA)),
        ("minimind2", "qwen2", isolated(LLAMA.replace("{1,3}", ""))),
    ],
)  # fmt: skip
def test_byte_level(name: str, pre: str, part: dict[str, Any]) -> None:
    whole, metadata = byte_level(name, pre=pre)
    whole["pre_tokenizer"] = part
    whole["model"]["ignore_merges"] = pre == "llama-bpe"
    mine, other = Tokenizer.from_gguf(metadata), tokenizers.Tokenizer.from_str(json.dumps(whole))
    for text in corpus():
        encoding = mine.encode(text)
        same_encoding(encoding, other.encode(text), text)
        assert mine.decode(encoding.ids) == other.decode(encoding.ids)
        assert streamed(mine, encoding.ids, skip=False) == mine.decode(encoding.ids, False)


@pytest.mark.parametrize(
    "pre", ["default", "deepseek-coder", "deepseek-v3", "falcon", "gpt-4o", "tekken"]
)
def test_other_patterns(pre: str) -> None:
    """Whatever cuts, texts come back as they were."""
    _, metadata = byte_level("minimind2", pre=pre)
    mine = Tokenizer.from_gguf(metadata)
    for text in corpus():
        assert mine.decode(mine.encode(text).ids, skip_special_tokens=False) == text
    assert mine.encode("ABCdef x1234").tokens == mine.encode("ABCdef").tokens + (
        mine.encode(" x1234").tokens
    )


def test_special_tokens_and_template() -> None:
    template = "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}"
    _, metadata = byte_level(
        "minimind2", bos_token_id=1, eos_token_id=2, add_bos_token=True, add_eos_token=True
    )
    metadata["tokenizer.chat_template"] = template
    mine = Tokenizer.from_gguf(metadata)
    assert mine.encode("a<|im_end|>").ids == [
        1,
        *mine.encode("a", add_special_tokens=False).ids,
        2,
        2,
    ]
    assert mine.encode("a", "b").type_ids == [0, 0, 0, 1, 1, 1]
    assert mine.decode([1, 2]) == ""
    text = mine.apply_chat_template([{"role": "user", "content": "hi"}])
    assert text == "<|im_start|>hi<|im_end|>"
    assert mine.special_tokens == {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"}
    _, llama = byte_level("minimind2", pre="llama-bpe", bos_token_id=1)
    assert Tokenizer.from_gguf(llama).encode("a").ids == [1, mine.token_to_id("a")]


def scored() -> tuple[list[str], list[float], list[int]]:
    """SentencePiece's vocabulary: special tokens, bytes, then pieces with scores. Some scores are
    equal."""
    made = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    trainer = trainers.BpeTrainer(vocab_size=700, show_progress=False)
    text = english()[:60_000].replace(" ", "▁")
    made.train_from_iterator([line for line in text.split("\n") if line], trainer)
    pieces = [name for name, _ in sorted(made.get_vocab().items(), key=lambda each: each[1])]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    scores = [0.0] * 259 + [-float(at // 3) for at in range(len(pieces))]
    return tokens, scores, [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * len(pieces)]


def sentencepiece(text: str, numbers: dict[str, int], scores: list[float]) -> list[int]:
    """The plain way: the neighbours with the best score become one, until there are none."""
    parts = list(text)
    while True:
        found = [
            (scores[numbers[left + right]], -at)
            for at, (left, right) in enumerate(pairwise(parts))
            if numbers.get(left + right, 0) >= 259
        ]
        if not found:
            break
        at = -max(found)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    out = []
    for part in parts:
        out += [numbers[part]] if part in numbers else [3 + byte for byte in part.encode()]
    return out


def test_sentencepiece() -> None:
    tokens, scores, types = scored()
    numbers = {token: at for at, token in enumerate(tokens)}
    metadata = keys(
        model="llama", tokens=tokens, scores=scores, token_type=types, bos_token_id=1,
        eos_token_id=2, unknown_token_id=0,
    )  # fmt: skip
    mine = Tokenizer.from_gguf(metadata)
    for text in corpus()[1:90]:
        if "<s>" in text:
            continue
        text = text[:600]
        ids = mine.encode(text).ids
        assert ids == [1, *sentencepiece("▁" + text.replace(" ", "▁"), numbers, scores)], text
        assert mine.decode(ids) == text.replace("▁", " ")
        assert streamed(mine, ids) == mine.decode(ids)
    assert mine.encode("").ids == [1]
    assert mine.encode("a</s>a").tokens == ["<s>", "▁a", "</s>", "▁a"]
    bare = Tokenizer.from_gguf(metadata | keys(add_space_prefix=False, add_bos_token=False))
    assert bare.encode(" a").tokens == ["▁a"]
    assert bare.encode("a").tokens == ["a"]
    assert bare.decode(bare.encode(" a b").ids) == " a b"


def test_bert() -> None:
    mine, other = both(description("minilm"))
    vocab = sorted(mine.get_vocab().items(), key=lambda each: each[1])
    tokens = [
        token if token.startswith("[") and token.endswith("]")
        else token[2:] if token.startswith("##") else "▁" + token
        for token, _ in vocab
    ]  # fmt: skip
    types = [CONTROL if token in ("[PAD]", "[CLS]", "[SEP]") else NORMAL for token in tokens]
    from_gguf = Tokenizer.from_gguf(
        keys(
            model="bert", tokens=tokens, token_type=types, bos_token_id=101, unknown_token_id=100,
            seperator_token_id=102, padding_token_id=0,
        )
    )  # fmt: skip
    for text in corpus():
        if "[MASK]" not in text:
            assert from_gguf.encode(text, "b").ids == other.encode(text, "b").ids
    assert from_gguf.decode(from_gguf.encode("hello, worlds").ids) == "hello, worlds"


def test_unigram() -> None:
    vocab = trained("Unigram")["model"]["vocab"]
    _, other = both(described("Unigram", pre_tokenizer={
        "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True,
    }))  # fmt: skip
    mine = Tokenizer.from_gguf(
        keys(
            model="t5", tokens=[name for name, _ in vocab], scores=[score for _, score in vocab],
            token_type=[UNKNOWN, CONTROL, CONTROL, *[NORMAL] * (len(vocab) - 3)],
            unknown_token_id=0, eos_token_id=2,
        )
    )  # fmt: skip
    for text in corpus():
        assert mine.encode(text).ids == [*other.encode(text).ids, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": None}, "model is None: there are bert, gpt2, llama, t5"),
        ({"model": "rwkv"}, "model is 'rwkv'"),
        ({"tokens": None}, "no list tokenizer.ggml.tokens"),
        ({"tokens": [1, 2, 3]}, "other values than texts"),
        ({"tokens": "abc"}, "no list"),
        ({"tokens": ["a", "b", "ab\ud800"]}, "half of a surrogate pair"),
        ({"merges": None}, "no list tokenizer.ggml.merges"),
        ({"merges": ["a c"]}, "needs 'ac'"),
        ({"merges": ["a"]}, "merge 0 is 'a'"),
        ({"token_type": [1]}, "has 1 numbers for 3 tokens"),
        ({"token_type": ["x", "y", "z"]}, "has 0 numbers for 3 tokens"),
        ({"pre": "unheard"}, "pre is 'unheard': there are"),
        ({"pre": ["x"]}, "pre is"),
        ({"model": ["x"]}, "model is"),
        ({"bos_token_id": 3}, "bos_token_id is 3 of 3 tokens"),
        ({"eos_token_id": "x"}, "eos_token_id is 'x'"),
        ({"model": "llama"}, "scores has 0 numbers for 3"),
        ({"model": "bert", "unknown_token_id": 9}, "9 of 3"),
        ({"model": "bert"}, "unknown token"),
    ],
)
def test_metadata_that_can_not_be_used(change: dict[str, Any], message: str) -> None:
    sound = {
        "model": "gpt2",
        "tokens": ["a", "b", "ab"],
        "merges": ["a b"],
        "token_type": [1, 1, 1],
    }
    assert Tokenizer.from_gguf(keys(**sound)).encode("abab").ids == [2, 2]
    with pytest.raises(TextError, match=message) as error:
        Tokenizer.from_gguf(keys(**(sound | change)))
    assert "\n" not in str(error.value)


def test_bytes_as_names() -> None:
    """Readers may hand texts over as bytes."""
    mine = tl.text.Tokenizer.from_gguf(
        keys(model="gpt2", tokens=[b"a", b"\xff", b"ab", b"b"], merges=[b"a b"], pre="gpt-2")
    )
    assert mine.encode("ab").ids == [2]
