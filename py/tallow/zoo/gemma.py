"""Gemma 3 (Gemma team 2025): windows in most layers, norms before and behind each part."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..generation.memory import Memory
from ..tensor import Tensor
from .decoder import Block, Decoder, DecoderConfig, Stack, norm_of
from .llama import llama_config, rope_of, windows_of
from .rotary import rotary


class GemmaBlock(Block):
    """A block with four norms."""

    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__(config, layer)
        self.pre_feedforward_layernorm = norm_of(config)
        self.post_feedforward_layernorm = norm_of(config)

    def forward(self, input: Tensor, memory: Memory) -> Any:
        attended = self.self_attn(self.input_layernorm(input), memory)
        x = input + self.post_attention_layernorm(attended)
        return x + self.post_feedforward_layernorm(self.mlp(self.pre_feedforward_layernorm(x)))


class Gemma3(Decoder):
    """Gemma 3's decoder of text: see `Decoder`."""

    def stack(self, config: DecoderConfig) -> Stack:
        """Embeddings are multiplied by the root of the width."""
        return Stack(config, GemmaBlock, factor=math.sqrt(config.width))


def gemma3_config(config: Mapping[str, Any], **others: Any) -> DecoderConfig:
    """The sizes that a config.json with the `model_type` "gemma3_text" says; one of "gemma3" has
    it under `text_config`. others: fields of the result that differ."""
    layers = config["num_hidden_layers"]
    period = config.get("sliding_window_pattern") or config.get("_sliding_window_pattern") or 6
    kinds = config.get("layer_types") or [
        "full_attention" if (layer + 1) % period == 0 else "sliding_attention"
        for layer in range(layers)
    ]
    size = config["head_dim"]
    whole, local = rope_of(config, "full_attention"), rope_of(config, "sliding_attention")
    if "rope_local_base_freq" in config:
        local = {"rope_theta": config["rope_local_base_freq"]}
    encodings = {
        "full_attention": rotary(size, whole["rope_theta"], whole),
        "sliding_attention": rotary(size, local["rope_theta"], local),
    }
    found: dict[str, Any] = {
        "rotary": tuple(encodings[kind] for kind in kinds),
        "windows": windows_of({**config, "layer_types": kinds}),
        "activation": "gelu_tanh",
        "head_norm": "head",
        "norm_offset": 1.0,
        "tied": bool(config.get("tie_word_embeddings", True)),
        "scale": (config.get("query_pre_attn_scalar") or size) ** -0.5,
    }
    return llama_config({**config, "hidden_act": "gelu_pytorch_tanh"}, **(found | others))
