"""Mixtures of experts (Shazeer et al. 2017; Fedus et al. 2022): Mixtral, OLMoE, Qwen3's.

The weights of all experts of a layer stand in one tensor, expert by expert. Published files of
Hugging Face have one tensor an expert; `families.py` says which become one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import functional, nn
from .. import functions as f
from ..tensor import Tensor
from .decoder import Block, Decoder, DecoderConfig, Feed, Stack
from .llama import llama_config


@dataclass(frozen=True)
class Mixture:
    """The experts of a decoder.

    count: how many a layer has. used: how many a token uses. feed: the width within one.
    normed: the weights of those used add up to 1. dense: layers that have no experts.
    """

    count: int
    used: int
    feed: int
    normed: bool
    dense: tuple[int, ...] = ()


class Experts(nn.Module):
    """Feed-forward layers; each token uses the few that a gate scores highest."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        mixture: Mixture = config.more
        self.mixture = mixture
        self.gate = nn.Linear(config.width, mixture.count, bias=False)
        self.experts = nn.Module()
        sizes = (
            (config.width, mixture.feed),
            (config.width, mixture.feed),
            (mixture.feed, config.width),
        )
        for name, (inputs, outputs) in zip(Feed.names, sizes, strict=True):
            weight = nn.Parameter(f.zeros((mixture.count, outputs, inputs)))
            nn.init.normal_(weight, std=inputs**-0.5)
            self.experts.register_parameter(name, weight)

    def forward(self, input: Tensor) -> Any:
        mixture = self.mixture
        x = f.reshape(input, (-1, input.shape[-1]))
        probabilities = functional.softmax(self.gate(x), -1)
        weights, chosen = f.topk(probabilities, mixture.used)
        if mixture.normed:
            weights = weights / f.sum(weights, axis=-1, keepdims=True)
        few = x.shape[0] * mixture.used <= mixture.count
        y = self._few(x, weights, chosen) if few else self._all(x, weights, chosen)
        return f.reshape(y, input.shape)

    def _few(self, x: Tensor, weights: Tensor, chosen: Tensor) -> Tensor:
        """Each token reads the experts that it uses."""
        rows, used = chosen.shape
        gate, up, down = (
            f.take(getattr(self.experts, name), f.reshape(chosen, (-1,)), axis=0)
            for name in Feed.names
        )
        each = f.reshape(f.broadcast_to(f.expand_dims(x, 1), (rows, used, x.shape[-1])),
                         (rows * used, 1, x.shape[-1]))  # fmt: skip
        y = (functional.silu(each @ gate.mT) * (each @ up.mT)) @ down.mT
        y = f.reshape(y, (rows, used, -1))
        return f.sum(y * f.expand_dims(weights, -1), axis=1)

    def _all(self, x: Tensor, weights: Tensor, chosen: Tensor) -> Tensor:
        """All experts compute all tokens, and those that are not used count nothing."""
        gate, up, down = (getattr(self.experts, name) for name in Feed.names)
        each = f.expand_dims(x, 0)
        y = (functional.silu(each @ gate.mT) * (each @ up.mT)) @ down.mT
        numbers = f.reshape(f.arange(self.mixture.count), (-1, 1, 1))
        parts = f.sum(f.where(f.equal(chosen, numbers), weights, 0.0), axis=-1)
        return f.sum(y * f.expand_dims(parts, -1), axis=0)


class ExpertsDecoder(Decoder):
    """A decoder whose blocks have experts: see `Decoder`."""

    def stack(self, config: DecoderConfig) -> Stack:
        """Blocks with experts, but for those that are dense."""

        def block(config: DecoderConfig, layer: int) -> nn.Module:
            dense = layer in config.more.dense
            return Block(config, layer, None if dense else Experts(config))

        return Stack(config, block)


def experts_config(config: Mapping[str, Any], **others: Any) -> DecoderConfig:
    """The sizes that a config.json with the `model_type` "mixtral", "olmoe" or "qwen3_moe" says.
    others: fields of the result that differ."""
    kind = config["model_type"]
    count = config.get("num_local_experts") or config["num_experts"]
    step = config.get("decoder_sparse_step", 1)
    dense = set(config.get("mlp_only_layers") or ())
    dense |= {layer for layer in range(config["num_hidden_layers"]) if (layer + 1) % step}
    mixture = Mixture(
        count,
        config["num_experts_per_tok"],
        config.get("moe_intermediate_size") or config["intermediate_size"],
        kind == "mixtral" or bool(config.get("norm_topk_prob", False)),
        tuple(sorted(dense)),
    )
    found: dict[str, Any] = {"more": mixture}
    if kind == "olmoe":
        found["head_norm"] = "whole"
    return llama_config(config, **(found | others))
