"""LFM2 (Liquid AI 2025): short convolutions with gates, and a few layers of attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import nn
from ..generation.memory import Kept, KeptRows, Memory
from ..tensor import Tensor
from .decoder import Attention, Decoder, DecoderConfig, Feed, Stack, norm_of
from .llama import llama_config


@dataclass(frozen=True)
class Convolutions:
    """The layers that convolve. layers: their numbers. length: of a filter. bias: they have one."""

    layers: frozenset[int]
    length: int
    bias: bool


class ShortConvolution(nn.Module):
    """A filter for each channel over the last few positions, between two gates."""

    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__()
        kinds: Convolutions = config.more
        self.layer, self.length = layer, kinds.length
        self.in_proj = nn.Linear(config.width, 3 * config.width, kinds.bias)
        self.conv = nn.Conv1d(
            config.width, config.width, kinds.length, groups=config.width, bias=kinds.bias
        )
        self.out_proj = nn.Linear(config.width, config.width, kinds.bias)

    def forward(self, input: Tensor, memory: Memory) -> Any:
        width, n = input.shape[-1], input.shape[1]
        parts = self.in_proj(input)
        before, behind, x = (parts[..., i * width : (i + 1) * width] for i in range(3))
        past = memory.recent(self.layer, before * x)
        taps = self.conv.weight[:, 0]
        y = sum((past[:, i : i + n] * taps[:, i] for i in range(1, self.length)),
                past[:, :n] * taps[:, 0])  # fmt: skip
        if self.conv.bias is not None:
            y = y + self.conv.bias
        return self.out_proj(behind * y)


class Lfm2Attention(Attention):
    """Attention under LFM2's names."""

    names = ("q_proj", "k_proj", "v_proj", "out_proj", "q_layernorm", "k_layernorm")


class Lfm2Feed(Feed):
    """A feed-forward layer under LFM2's names."""

    names = ("w1", "w3", "w2")


class Lfm2Block(nn.Module):
    """A convolution or attention, and a feed-forward layer, norms first."""

    def __init__(self, config: DecoderConfig, layer: int) -> None:
        super().__init__()
        self.convolves = layer in config.more.layers
        if self.convolves:
            self.conv = ShortConvolution(config, layer)
        else:
            self.self_attn = Lfm2Attention(config, layer)
        self.feed_forward = Lfm2Feed(config)
        self.operator_norm, self.ffn_norm = norm_of(config), norm_of(config)

    def forward(self, input: Tensor, memory: Memory) -> Any:
        part = self.conv if self.convolves else self.self_attn
        x = input + part(self.operator_norm(input), memory)
        return x + self.feed_forward(self.ffn_norm(x))


class Lfm2(Decoder):
    """LFM2: see `Decoder`."""

    def stack(self, config: DecoderConfig) -> Stack:
        """Blocks of both kinds."""
        return Stack(config, Lfm2Block, "embedding_norm")

    def kept(self, layer: int) -> Kept:
        """A convolution keeps what its filter looks back on."""
        kinds: Convolutions = self.config.more
        if layer in kinds.layers:
            return KeptRows(self.config.width, kinds.length - 1)
        return super().kept(layer)


def lfm2_config(config: Mapping[str, Any], **others: Any) -> DecoderConfig:
    """The sizes that a config.json with the `model_type` "lfm2" says. others: fields of the result
    that differ."""
    layers = config["num_hidden_layers"]
    kinds = config.get("layer_types")
    if kinds is None:
        attends = config.get("full_attn_idxs")
        attends = range(layers) if attends is None else attends
        kinds = ["full_attention" if layer in attends else "conv" for layer in range(layers)]
    feed = config.get("block_ff_dim") or config["intermediate_size"]
    if config.get("block_auto_adjust_ff_dim", True):
        step = config.get("block_multiple_of", 256)
        feed = int(config.get("block_ffn_dim_multiplier", 1.0) * int(2 * feed / 3))
        feed = -(-feed // step) * step
    convolutions = Convolutions(
        frozenset(layer for layer, kind in enumerate(kinds) if kind == "conv"),
        config.get("conv_L_cache", 3),
        bool(config.get("conv_bias", False)),
    )
    found: dict[str, Any] = {
        "eps": config.get("norm_eps", 1e-5),
        "feed": feed,
        "head_norm": "head",
        "more": convolutions,
        "tied": bool(config.get("tie_word_embeddings", config.get("tie_embedding", True))),
        "windows": (None,) * layers,
    }
    return llama_config({**config, "intermediate_size": feed, "hidden_act": "silu"},
                        **(found | others))  # fmt: skip
