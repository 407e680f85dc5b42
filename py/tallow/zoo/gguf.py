"""Decoders in GGUF files: their metadata as a configuration, their tensors' names as parameters.

Files of LLaMA's family have the rows of queries and keys in another order, in which the pairs that
rotary encodings turn are neighbours: the network turns these, and the rows stay as they are. Norms
of Gemma's files have their offset in them already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import OptionError

_GGUF_KINDS = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "qwen3moe": "qwen3_moe",
               "smollm3": "smollm3", "olmoe": "olmoe", "gemma3": "gemma3_text", "lfm2": "lfm2",
               "gpt2": "gpt2"}  # fmt: skip

_INTERLEAVED = ("llama", "smollm3")
"""Architectures whose files have the rows of queries and keys in the order in which neighbours
turn."""


def config_of_gguf(metadata: Mapping[str, Any], tensors: Iterable[str] = ()) -> dict[str, Any]:
    """The configuration of a GGUF file, under Hugging Face's names, for `from_config`.

    metadata: the file's keys and values. tensors: the names of its tensors; where `output.weight`
    is none of them, scores are products with the embeddings.
    Raises: OptionError for an architecture without a network here, and for keys that are missing.
    """
    kind = metadata.get("general.architecture")
    if kind not in _GGUF_KINDS:
        raise OptionError(
            f"the file's general.architecture is {kind!r}; there is a network for "
            f"{', '.join(_GGUF_KINDS)}"
        )

    def get(name: str, default: Any = None) -> Any:
        return metadata.get(f"{kind}.{name}", default)

    def need(name: str) -> Any:
        value = get(name)
        if value is None:
            raise OptionError(f"the file has no {kind}.{name}")
        return value

    width, heads = need("embedding_length"), need("attention.head_count")
    layers = need("block_count")
    vocabulary = get("vocab_size") or len(metadata.get("tokenizer.ggml.tokens") or ())
    family = _GGUF_KINDS[kind]
    if family == "gpt2":
        return {"model_type": family, "vocab_size": vocabulary, "n_embd": width, "n_head": heads,
                "n_layer": layers, "n_positions": need("context_length"),
                "layer_norm_epsilon": get("attention.layer_norm_epsilon", 1e-5)}  # fmt: skip
    several = get("attention.head_count_kv", heads)
    each = list(several) if isinstance(several, (list, tuple)) else [several] * layers
    found: dict[str, Any] = {
        "model_type": family,
        "vocab_size": vocabulary,
        "hidden_size": width,
        "intermediate_size": need("feed_forward_length"),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": max(each),
        "head_dim": get("attention.key_length") or get("rope.dimension_count") or width // heads,
        "max_position_embeddings": need("context_length"),
        "rms_norm_eps": get("attention.layer_norm_rms_epsilon", 1e-6),
        "rope_theta": get("rope.freq_base", 10000.0),
        "tie_word_embeddings": "output.weight" not in set(tensors),
        "interleaved": kind in _INTERLEAVED,
    }
    scaling = get("rope.scaling.type")
    if scaling not in (None, "none"):
        found["rope_scaling"] = {
            "rope_type": scaling,
            "factor": get("rope.scaling.factor", 1.0),
            "original_max_position_embeddings": get(
                "rope.scaling.original_context_length", found["max_position_embeddings"]
            ),
        }
    if get("expert_count"):
        family = found["model_type"] = "mixtral" if kind == "llama" else family
        found |= {
            "num_experts": get("expert_count"),
            "num_experts_per_tok": need("expert_used_count"),
            "moe_intermediate_size": get("expert_feed_forward_length"),
            "norm_topk_prob": family != "olmoe",
        }
    if family == "gemma3_text":
        found |= {"norm_offset": 0.0, "sliding_window": get("attention.sliding_window"),
                  "rope_local_base_freq": 10000.0}  # fmt: skip
    elif get("attention.sliding_window"):
        found["sliding_window"] = get("attention.sliding_window")
    if family == "smollm3":
        found["no_rope_layers"] = [int((layer + 1) % 4 != 0) for layer in range(layers)]
    if family == "lfm2":
        found |= {
            "layer_types": ["full_attention" if count else "conv" for count in each],
            "conv_L_cache": get("shortconv.l_cache", 3),
            "norm_eps": found["rms_norm_eps"],
            "block_auto_adjust_ff_dim": False,
        }
    return found


_NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "ffn_gate_inp": "mlp.gate",
    "ffn_gate_exps": "mlp.experts.gate_proj", "ffn_up_exps": "mlp.experts.up_proj",
    "ffn_down_exps": "mlp.experts.down_proj",
}  # fmt: skip
_GEMMA = {
    "post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}  # fmt: skip
_LFM2 = {
    "attn_norm": "operator_norm", "ffn_norm": "ffn_norm", "attn_output": "self_attn.out_proj",
    "attn_q_norm": "self_attn.q_layernorm", "attn_k_norm": "self_attn.k_layernorm",
    "ffn_gate": "feed_forward.w1", "ffn_up": "feed_forward.w3", "ffn_down": "feed_forward.w2",
    "shortconv.in_proj": "conv.in_proj", "shortconv.conv": "conv.conv",
    "shortconv.out_proj": "conv.out_proj",
}  # fmt: skip
_GPT2 = {
    "attn_norm": "ln_1", "attn_qkv": "attn.c_attn", "attn_output": "attn.c_proj",
    "ffn_norm": "ln_2", "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj",
}  # fmt: skip
_WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
          "token_embd_norm": "model.embedding_norm"}  # fmt: skip
_WHOLE_GPT2 = {"token_embd": "wte", "position_embd": "wpe", "output_norm": "ln_f"}


def name_of_gguf(name: str, kind: str) -> str | None:
    """The parameter that a tensor of a GGUF file is.

    name: of the tensor, such as "blk.0.attn_q.weight". kind: general.architecture.
    Returns: such as "model.layers.0.self_attn.q_proj.weight"; None for what no network has.
    """
    block = re.fullmatch(r"blk\.(\d+)\.(.+)\.(weight|bias)", name)
    if block is None:
        stem, _, part = name.rpartition(".")
        whole = (_WHOLE_GPT2 if kind == "gpt2" else _WHOLE).get(stem)
        return None if whole is None else f"{whole}.{part}"
    number, stem, part = block.groups()
    names = {"gemma3": _NAMES | _GEMMA, "lfm2": _NAMES | _LFM2, "gpt2": _GPT2}.get(kind, _NAMES)
    found = names.get(stem)
    if found is None:
        return None
    start = "h" if kind == "gpt2" else "model.layers"
    end = "" if stem.endswith("_exps") else f".{part}"
    return f"{start}.{number}.{found}{end}"
