"""LLaMA (Touvron et al. 2023) and what has its blocks: LLaMA 2 and 3, SmolLM2, SmolLM3, Mistral,
Qwen2, Qwen3, with Hugging Face's names of modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .decoder import Decoder, DecoderConfig
from .rotary import rotary

ACTIVATIONS = {
    "silu": "silu", "swish": "silu", "gelu": "gelu", "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh", "relu": "relu",
}  # fmt: skip
"""Hugging Face's names of activations, and those here."""


class Llama(Decoder):
    """A decoder with rotary encodings, grouped queries and RMSNorm: see `Decoder`."""


def llama_config(config: Mapping[str, Any], **others: Any) -> DecoderConfig:
    """The sizes that a published config.json says.

    config: with `model_type` "llama", "mistral", "qwen2", "qwen3" or "smollm3", or of a family
    that has these fields. others: fields of the result that differ.
    Raises: OptionError for sizes that do not fit, KeyError for a field that is missing.
    """
    kind = config.get("model_type")
    layers, heads = config["num_hidden_layers"], config["num_attention_heads"]
    size = config.get("head_dim") or config["hidden_size"] // heads
    scaling = rope_of(config)
    turns = int(size * scaling.get("partial_rotary_factor", 1.0))
    encoding = rotary(turns, scaling["rope_theta"], scaling)
    places = config.get("no_rope_layers") or [1] * layers
    bias = bool(config.get("attention_bias", False))
    found: dict[str, Any] = {
        "vocabulary": config["vocab_size"],
        "width": config["hidden_size"],
        "feed": config["intermediate_size"],
        "layers": layers,
        "heads": heads,
        "key_heads": config.get("num_key_value_heads") or heads,
        "head_size": size,
        "context": config["max_position_embeddings"],
        "eps": config.get("rms_norm_eps", 1e-6),
        "tied": bool(config.get("tie_word_embeddings", kind == "smollm3")),
        "activation": ACTIVATIONS.get(config.get("hidden_act", "silu"), config.get("hidden_act")),
        "rotary": tuple(encoding if turned else None for turned in places),
        "windows": windows_of(config),
        "bias": bias or kind == "qwen2",
        "out_bias": bias and kind != "qwen2",
        "feed_bias": bool(config.get("mlp_bias", False)),
        "head_norm": "head" if kind in ("qwen3", "qwen3_moe") else None,
    }
    return DecoderConfig(**(found | others))


def rope_of(config: Mapping[str, Any], layers: str | None = None) -> dict[str, Any]:
    """What a config says of its rotary encoding: with `rope_theta`. layers: a type of layers."""
    given = config.get("rope_parameters") or {}
    if layers is not None and layers in given:
        given = given[layers]
    base = {"rope_theta": config.get("rope_theta", 10000.0)}
    if "partial_rotary_factor" in config:
        base["partial_rotary_factor"] = config["partial_rotary_factor"]
    return base | dict(config.get("rope_scaling") or {}) | dict(given)


def windows_of(config: Mapping[str, Any]) -> tuple[int | None, ...]:
    """How many positions each layer sees; None is all."""
    layers, window = config["num_hidden_layers"], config.get("sliding_window")
    if not config.get("use_sliding_window", True):
        window = None
    kinds = config.get("layer_types")
    if kinds is None:  # older files of Qwen2 and Qwen3: the last layers have windows
        first = config.get("max_window_layers", 0) if "use_sliding_window" in config else 0
        kinds = ["sliding_attention" if i >= first else "full_attention" for i in range(layers)]
    return tuple(window if kind == "sliding_attention" else None for kind in kinds)
