"""Published tokenizers give what the package `tokenizers` gives for them."""

from __future__ import annotations

import random

import pytest
import tokenizers
from tests.unit.text.beside import both, same, same_encoding, streamed
from tests.unit.text.texts import corpus, english

import tallow as tl
from tallow.errors import OptionError
from tallow_build.content import networks

NAMES = ("minilm", "minimind2", "whisper")


def description(name: str) -> str:
    return networks.ensure("tokenizers")[f"{name}.tokenizer.json"].read_text("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_same_tokens_and_texts(name: str) -> None:
    mine, other = both(description(name))
    same(mine, other, corpus())
    assert mine.get_vocab() == other.get_vocab()
    assert mine.get_vocab_size() == other.get_vocab_size()
    for token in ("the", "[CLS]", "<|endoftext|>", "no such token"):
        assert mine.token_to_id(token) == other.token_to_id(token)
    for number in (0, 5, 101, 6399, 51864, 10**6):
        assert mine.id_to_token(number) == other.id_to_token(number)


@pytest.mark.parametrize("name", NAMES)
def test_a_long_text(name: str) -> None:
    mine, other = both(description(name))
    text = english()[:200_000]
    same_encoding(mine.encode(text), other.encode(text))


@pytest.mark.parametrize("name", NAMES)
def test_random_tokens_as_text(name: str) -> None:
    """Such as a network that is not trained yet makes: half characters too."""
    mine, other = both(description(name))
    source = random.Random(1)
    for _ in range(50):
        ids = [source.randrange(mine.get_vocab_size()) for _ in range(60)]
        decoded = mine.decode(ids)
        assert decoded == other.decode(ids)
        assert streamed(mine, ids) == decoded


def test_half_a_character_waits() -> None:
    mine, _ = both(description("minimind2"))
    ids = mine.encode("𒀀🙂é").ids
    stream = tl.text.DecodeStream(mine)
    pieces = [stream.step(each) for each in ids]
    assert [piece for piece in pieces if piece] == ["𒀀", "🙂", "é"]
    assert pieces.count(None) == len(ids) - 3
    stream.step(ids[0])
    assert stream.finish() == "\ufffd"  # the text ended in the middle of a character
    assert stream.step(mine.encode("a").ids[0]) == "a"


def test_padding_and_truncation() -> None:
    text = description("minilm")
    pairs = [
        ("a short text", "and a second one that is longer"),
        ("x", "y"),
        ("much " * 30, "z " * 20),
    ]
    singles = ["a", "two words", "many words " * 60, ""]
    mine, other = both(text)
    stored = tl.text.Tokenizer.from_str(text), tokenizers.Tokenizer.from_str(text)
    for batch in (singles, pairs):
        for each in zip(stored[0].encode_batch(batch), stored[1].encode_batch(batch), strict=True):
            same_encoding(*each)
    for options in (
        {},
        {"direction": "left", "pad_id": 3, "pad_type_id": 1, "pad_token": "[P]"},
        {"length": 12},
        {"pad_to_multiple_of": 8},
    ):
        mine.enable_padding(**options)
        other.enable_padding(**options)
        for length in (5, 10, 11, 16):
            for more in ({}, {"direction": "left"}):
                mine.enable_truncation(length, **more)
                other.enable_truncation(length, **more)
                for batch in (singles, pairs):
                    for special in (True, False):
                        got = mine.encode_batch(batch, add_special_tokens=special)
                        wanted = other.encode_batch(batch, add_special_tokens=special)
                        for each in zip(got, wanted, strict=True):
                            same_encoding(*each, (options, length, more, special))
    mine.no_padding()
    other.no_padding()
    for strategy in ("only_first", "only_second"):
        mine.enable_truncation(20, strategy=strategy)
        other.enable_truncation(20, strategy=strategy)
        pair = ("a b c d e f g h i j k l m", "n o p q r s t u v w x")
        same_encoding(mine.encode(*pair), other.encode(*pair))
    mine.enable_truncation(10, strategy="only_first")
    with pytest.raises(OptionError, match="can't take"):
        mine.encode("a b", "c " * 40)


def test_reads_a_folder(tmp_path) -> None:
    found = networks.ensure("tokenizers")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes(found["minimind2." + name].read_bytes())
    for place in (tmp_path, tmp_path / "tokenizer.json", str(tmp_path)):
        mine = tl.text.Tokenizer.from_file(place)
        text = mine.apply_chat_template([{"role": "user", "content": "hi"}])
        assert text.endswith("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n")
        assert 1 in mine.encode(text, add_special_tokens=False).ids
        assert mine.special_tokens["eos_token"] == "<|im_end|>"
    (tmp_path / "chat_template.jinja").write_text("{{ bos_token }}{{ messages|length }}")
    assert tl.text.Tokenizer.from_file(tmp_path).apply_chat_template([]) == "<|im_start|>0"
