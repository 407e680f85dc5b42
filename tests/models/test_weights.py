"""Published files of weights are read by ranges, and give the numbers of other readers."""

from __future__ import annotations

import tracemalloc
from hashlib import sha256

import numpy as np
import pytest

import tallow as tl
from tallow_build.content import networks

LLAMA, MINILM = (
    networks.FOLDER / name for name in ("smollm2/model.gguf", "minilm/model.safetensors")
)

# Of the float32 numbers that the package gguf makes of each, the beginning of the sha256.
NUMBERS = {
    "token_embd.weight": ("Q8_0", "3fd491c8066dd9dc1a2bf6796701526c"),
    "blk.0.attn_k.weight": ("Q4_1", "29614b1cceeca5d59dc07bcd5666f4c7"),
    "blk.29.ffn_down.weight": ("Q4_1", "c19605745425a11e704e305ce3d27b63"),
    "output_norm.weight": ("F32", "3b87f8e27335e67fc08f159cabfd2d18"),
}


@pytest.fixture(scope="module")
def llama() -> tl.Weights:
    networks.ensure()
    return tl.open_weights(LLAMA)


def test_a_language_model_in_blocks(llama: tl.Weights) -> None:
    assert len(llama) == 272
    assert llama.metadata["general.architecture"] == "llama"
    assert llama.metadata["llama.attention.head_count_kv"] == 3
    assert len(llama.metadata["tokenizer.ggml.tokens"]) == 49152
    assert llama.metadata["tokenizer.chat_template"].startswith("{% for message in messages %}")
    for name, (kind, digest) in NUMBERS.items():
        assert llama.info(name).kind == kind
        numbers = llama[name].to("numpy").numpy()
        assert sha256(numbers.tobytes()).hexdigest().startswith(digest)


def test_it_is_never_in_memory(llama: tl.Weights) -> None:
    """The header has 1.6 MB, the largest tensor 30 MB, the file 98 MB."""
    tracemalloc.start()
    try:
        opened = tl.open_weights(LLAMA)
        assert tracemalloc.get_traced_memory()[1] < 20e6
        opened["blk.0.attn_k.weight"]
        assert tracemalloc.get_traced_memory()[1] < 20e6
        opened["token_embd.weight"]
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_an_encoder_in_float16() -> None:
    networks.ensure()
    found = tl.open_weights(MINILM)
    name = "embeddings.word_embeddings.weight"
    assert (found.info(name).kind, found.info(name).shape) == ("F16", (30522, 384))
    values = found[name].numpy()
    assert values.dtype == np.float16
    raw = MINILM.read_bytes()[found.info(name).start :][: values.nbytes]
    assert values.tobytes() == raw
