"""Small decoders of each family, with weights that a formula gives."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

COMMON: dict[str, Any] = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
LLAMA3 = {
    "rope_type": "llama3", "rope_theta": 500.0, "factor": 4.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
}  # fmt: skip
YARN = {"rope_type": "yarn", "rope_theta": 1000.0, "factor": 4.0,
        "original_max_position_embeddings": 64}  # fmt: skip
LINEAR = {"rope_type": "linear", "rope_theta": 1000.0, "factor": 2.0}

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {}),
    "llama3": ("Llama", {"rope_parameters": LLAMA3, "tie_word_embeddings": True}),
    "llama yarn": ("Llama", {"rope_parameters": YARN, "mlp_bias": True, "attention_bias": True}),
    "llama linear": ("Llama", {"rope_parameters": LINEAR, "head_dim": 16}),
    "mistral": ("Mistral", {"sliding_window": 7}),
    "qwen2": ("Qwen2", {"tie_word_embeddings": True}),
    "qwen2 windows": ("Qwen2", {"use_sliding_window": True, "sliding_window": 5,
                                "max_window_layers": 1}),
    "qwen3": ("Qwen3", {"head_dim": 16}),
    "smollm3": ("SmolLM3", {"no_rope_layers": [1, 1, 0], "tie_word_embeddings": True}),
    "gemma3": ("Gemma3", {"head_dim": 8, "sliding_window": 6, "query_pre_attn_scalar": 12,
                          "layer_types": ["sliding_attention", "full_attention",
                                          "sliding_attention"]}),
    "mixtral": ("Mixtral", {"num_local_experts": 5, "num_experts_per_tok": 2}),
    "olmoe": ("Olmoe", {"num_experts": 6, "num_experts_per_tok": 2, "num_key_value_heads": 4}),
    "qwen3 experts": ("Qwen3Moe", {"num_experts": 6, "num_experts_per_tok": 3, "head_dim": 8,
                                   "moe_intermediate_size": 24, "norm_topk_prob": True,
                                   "mlp_only_layers": [1]}),
    "lfm2": ("Lfm2", {"layer_types": ["conv", "full_attention", "conv"], "conv_L_cache": 3,
                      "block_auto_adjust_ff_dim": False}),
    "gpt2": ("GPT2", {"n_embd": 32, "n_head": 4, "n_layer": 3, "n_positions": 512}),
}  # fmt: skip
"""The name of a class of transformers, and what its configuration has beside COMMON."""

LENGTH, NEW = 24, 12
"""Tokens of a prompt, and of a text behind its first ones."""


def weight(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The numbers of a parameter of a name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if len(shape) == 1:
        return (1 + 0.3 * rng.normal(size=shape)).astype(np.float32)
    return (rng.normal(size=shape) / shape[-1] ** 0.5 * 1.5).astype(np.float32)


def prompt() -> np.ndarray:
    """Two texts: int32 (2, LENGTH)."""
    return np.random.default_rng(5).integers(3, 64, (2, LENGTH)).astype(np.int32)
