"""A small decoder and a tokenizer of letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallow import zoo
from tallow.generation import LanguageModel

SIZES = {
    "model_type": "mistral", "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 2000, "sliding_window": None,
}  # fmt: skip


class Encoding:
    """Tokens of a text."""

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids


class Letters:
    """A token for each of 64 characters; 1 begins a text."""

    def encode(self, sequence: str, *, add_special_tokens: bool = True) -> Encoding:
        return Encoding([1] * add_special_tokens + [ord(each) - 48 for each in sequence])

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        return "".join(chr(48 + token) for token in ids)

    def apply_chat_template(self, messages: Sequence[Mapping[str, Any]]) -> str:
        return "".join(f"{each['role'][0].upper()}:{each['content']};" for each in messages)


def network(**sizes: Any) -> Any:
    """A decoder with weights that make its texts varied."""
    net: Any = zoo.from_config(SIZES | sizes).eval()
    rng = np.random.default_rng(1)
    state = {}
    for name, parameter in net.named_parameters():
        scale = 1.5 / parameter.shape[-1] ** 0.5 if parameter.ndim > 1 else 0.1
        state[name] = (scale * rng.normal(size=parameter.shape)).astype(np.float32)
        state[name] += parameter.ndim == 1
    net.load_state_dict(state)
    return net


def model(slots: int = 1, ends: Sequence[int] = (), **sizes: Any) -> LanguageModel:
    """The decoder and the tokenizer as a language model."""
    return LanguageModel(network(**sizes), Letters(), slots=slots, ends=ends)
