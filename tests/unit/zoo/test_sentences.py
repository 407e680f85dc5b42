"""Sentence embeddings: batches, texts that are too long, what is refused."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import zoo
from tallow.errors import OptionError, ShapeError


class Letters:
    """A token for each letter, between 1 and 2; some tokenizers fill up by themselves."""

    def __init__(self, fill: int = 0) -> None:
        self.fill = fill

    def encode(self, text: str) -> Any:
        """The tokens of a text."""
        ids = [1, *(3 + ord(letter) % 20 for letter in text), 2]
        return SimpleNamespace(ids=ids + [0] * (self.fill - len(ids)))


def encoder(fill: int = 0) -> zoo.SentenceEncoder:
    """A small one, with 24 positions."""
    tl.manual_seed(4)
    net = zoo.BERT(23, 8, 2, 2, 24)
    for parameter in net.parameters():
        parameter.assign(tl.randn(*parameter.shape))
    return zoo.SentenceEncoder(net, Letters(fill))


TEXTS = ["some words", "", "a", "more of them here", "some words and some more of them", "z" * 22]


def test_each_vector_is_the_mean_of_its_tokens() -> None:
    one = encoder()
    found = one.embed(TEXTS, batch=4).numpy()
    assert found.shape == (6, 8)
    for text, vector in zip(TEXTS, found, strict=True):
        ids = Letters().encode(text).ids
        ids = ids[:23] + ids[-1:] if len(ids) > 24 else ids
        states, _ = one.net(tl.asarray(np.array([ids], np.int32)))
        mean = states.numpy()[0].mean(0)
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)


def test_few_plans_serve_many_texts() -> None:
    one = encoder()
    texts = ["a" * length for length in range(1, 23)]
    one.embed(texts, batch=8)
    assert one._means.plans <= 4


def test_a_tokenizer_that_fills_up_changes_nothing() -> None:
    plain, filled = encoder().embed(TEXTS).numpy(), encoder(fill=24).embed(TEXTS).numpy()
    np.testing.assert_allclose(plain, filled, atol=1e-6)


def test_awaited_it_gives_the_same() -> None:
    one = encoder()
    found = asyncio.run(one.embed_async(TEXTS))
    np.testing.assert_array_equal(found.numpy(), one.embed(TEXTS).numpy())


def test_similarity_is_the_cosine() -> None:
    one = encoder()
    a, b = one.embed(TEXTS), one.embed(TEXTS[:2])
    found = one.similarity(a, b).numpy()
    np.testing.assert_allclose(found, a.numpy() @ b.numpy().T, atol=1e-6)
    assert abs(found[0, 0] - 1) < 1e-5
    with pytest.raises(ShapeError, match="similarity"):
        one.similarity(a, tl.zeros((2, 3)))


def test_no_texts_have_no_vectors() -> None:
    assert encoder().embed([]).shape == (0, 8)


def test_what_is_no_list_of_texts_is_refused() -> None:
    bad: list[Any] = ["a text", [3], [None, "a"]]
    for texts in bad:
        with pytest.raises(OptionError, match="list of texts"):
            encoder().embed(texts)
    with pytest.raises(OptionError, match="batch of 0"):
        encoder().embed(["a"], batch=0)


def test_a_config_gives_all_sizes() -> None:
    net = zoo.BERT.from_config(
        {
            "vocab_size": 11, "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 3,
            "max_position_embeddings": 5, "type_vocab_size": 1, "intermediate_size": 12,
            "hidden_act": "relu", "layer_norm_eps": 1e-5, "model_type": "bert",
        }
    )  # fmt: skip
    state = net.state_dict()
    assert state["embeddings.word_embeddings.weight"].shape == (11, 8)
    assert state["encoder.layer.2.intermediate.dense.weight"].shape == (12, 8)
    assert net.max_len == 5
    assert net.encoder.layer[0].output.LayerNorm.eps == 1e-5
    with pytest.raises(OptionError, match="swish"):
        zoo.BERT.from_config({"hidden_act": "swish"})
    with pytest.raises(OptionError, match="relative_key"):
        zoo.BERT.from_config({"position_embedding_type": "relative_key"})
