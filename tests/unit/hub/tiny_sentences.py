"""A tiny published model of sentences: a BERT of one layer, whose tokens are words and letters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import tallow as tl

WIDTH, POSITIONS = 32, 64
WORDS = [
    *("cat", "dog", "train", "rain", "bread", "the", "is", "in", "of", "and", "late"),
    ".",
    "?",
]


def _weights(rng: Any, name: str, shape: Sequence[int]) -> np.ndarray:
    """Those of norms are about 1; those of tokens are large, so that texts differ."""
    scale = 1 if name.endswith("word_embeddings.weight") else 0.2
    normal: np.ndarray = rng.normal(size=shape)
    return (scale * normal + ("norm" in name.lower())).astype(np.float32)


@cache
def files(width: int = WIDTH) -> dict[str, bytes]:
    """The model's files by their names."""
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys([*WORDS, *letters])]
    vocabulary += [f"##{letter}" for letter in letters]
    rng = np.random.default_rng(3)
    net = tl.zoo.BERT(len(vocabulary), width, 1, 2, POSITIONS)
    state = {
        name: tl.asarray(_weights(rng, name, each.shape)) for name, each in net.state_dict().items()
    }
    config = {
        "model_type": "bert", "vocab_size": len(vocabulary), "hidden_size": width,
        "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 4 * width,
        "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
        "hidden_act": "gelu", "pad_token_id": 0,
    }  # fmt: skip
    special = [
        {"id": index, "content": vocabulary[index], "special": True, "single_word": False,
         "lstrip": False, "rstrip": False, "normalized": False}
        for index in range(4)
    ]  # fmt: skip
    described = {
        "added_tokens": special,
        "truncation": {"max_length": 16, "strategy": "LongestFirst", "stride": 0,
                       "direction": "Right"},
        "padding": {"strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": None,
                    "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                       {"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [],
            "special_tokens": {
                "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]},
            },
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100,
                  "vocab": {token: index for index, token in enumerate(vocabulary)}},
    }  # fmt: skip
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        tl.save(state, path)
        weights = path.read_bytes()
    return {
        "config.json": json.dumps(config).encode(),
        "tokenizer.json": json.dumps(described).encode(),
        "model.safetensors": weights,
    }
