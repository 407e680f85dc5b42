"""Networks by the configurations of published models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import nn
from ..errors import OptionError
from .experts import ExpertsDecoder, experts_config
from .gemma import Gemma3, gemma3_config
from .gpt2 import gpt2
from .lfm2 import Lfm2, lfm2_config
from .llama import Llama, llama_config

_HABITS = ("interleaved", "norm_offset")
"""What the configuration of a GGUF file may say beside Hugging Face's fields."""


def _family(
    network: Callable[[Any], nn.Module], sizes: Callable[..., Any]
) -> Callable[[Mapping[str, Any]], nn.Module]:
    def made(config: Mapping[str, Any]) -> nn.Module:
        others = {name: config[name] for name in _HABITS if name in config}
        return network(sizes(config, **others))

    return made


FAMILIES: dict[str, Callable[[Mapping[str, Any]], nn.Module]] = {
    **{name: _family(Llama, llama_config) for name in ("llama", "mistral", "qwen2", "qwen3",
                                                       "smollm3")},
    **{name: _family(ExpertsDecoder, experts_config) for name in ("mixtral", "olmoe", "qwen3_moe")},
    "gemma3_text": _family(Gemma3, gemma3_config),
    "lfm2": _family(Lfm2, lfm2_config),
    "gpt2": gpt2,
}  # fmt: skip
"""A network for each `model_type`."""

_BY_ARCHITECTURE = {
    "LlamaForCausalLM": "llama", "MistralForCausalLM": "mistral", "Qwen2ForCausalLM": "qwen2",
    "Qwen3ForCausalLM": "qwen3", "SmolLM3ForCausalLM": "smollm3", "MixtralForCausalLM": "mixtral",
    "OlmoeForCausalLM": "olmoe", "Qwen3MoeForCausalLM": "qwen3_moe", "Lfm2ForCausalLM": "lfm2",
    "Gemma3ForCausalLM": "gemma3_text", "Gemma3ForConditionalGeneration": "gemma3",
    "GPT2LMHeadModel": "gpt2",
}  # fmt: skip


def from_config(config: Mapping[str, Any]) -> nn.Module:
    """The network that a configuration describes, with random weights.

    config: of a published model (config.json), with `model_type` or `architectures`; or what
    `config_of_gguf` gives.
    Returns: the network, in training mode.
    Raises: OptionError for a family that is none of these, for fields that are missing, and for
    sizes that do not fit.
    """
    kind = config.get("model_type")
    if kind is None:
        named = [name for name in config.get("architectures") or () if name in _BY_ARCHITECTURE]
        kind = _BY_ARCHITECTURE[named[0]] if named else None
    if kind == "gemma3" and "text_config" in config:
        kind, config = "gemma3_text", config["text_config"]
    if kind not in FAMILIES:
        what = repr(kind) if kind else str(config.get("architectures") or "nothing")
        raise OptionError(
            f"the configuration describes {what}; there is a network for {', '.join(FAMILIES)}"
        )
    try:
        return FAMILIES[kind]({**config, "model_type": kind})
    except KeyError as error:
        raise OptionError(f"the configuration of a {kind} has no {error}") from error
    except (TypeError, ZeroDivisionError) as error:
        raise OptionError(f"the configuration of a {kind} has a damaged field: {error}") from error
