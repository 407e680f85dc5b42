"""Configurations, GGUF's keys and names, weights that are put in place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.unit.zoo.decoder_cases import CASES, COMMON, prompt, weight
from tests.unit.zoo.test_decoders import config_of, network, recorded, whole

import tallow as tl
from tallow import zoo
from tallow.errors import OptionError, ShapeError
from tallow.zoo.rotary import rotary

pytestmark = pytest.mark.usefixtures("on_numpy")

GGUF: dict[str, dict[str, Any]] = {
    "llama": {"rope.dimension_count": 8, "rope.freq_base": 10000.0},
    "qwen2": {"rope.freq_base": 10000.0},
    "qwen3": {"attention.key_length": 16, "rope.freq_base": 10000.0},
    "smollm3": {"rope.freq_base": 2000000.0},
    "olmoe": {"attention.head_count_kv": 4, "expert_count": 6, "expert_used_count": 2,
              "attention.layer_norm_rms_epsilon": 1e-5},
    "lfm2": {"attention.head_count_kv": [0, 2, 0], "shortconv.l_cache": 3,
             "rope.freq_base": 1000000.0, "attention.layer_norm_rms_epsilon": 1e-5},
}  # fmt: skip
"""What the metadata of a case's GGUF file has beside the sizes that all share."""


def metadata_of(kind: str) -> dict[str, Any]:
    shared = {
        "embedding_length": 32, "feed_forward_length": 48, "block_count": 3, "vocab_size": 64,
        "attention.head_count": 4, "attention.head_count_kv": 2, "context_length": 512,
        "attention.layer_norm_rms_epsilon": 1e-6,
    }  # fmt: skip
    found = {f"{kind}.{name}": value for name, value in (shared | GGUF[kind]).items()}
    return found | {"general.architecture": kind}


def permuted(rows: np.ndarray, heads: int) -> np.ndarray:
    """Rows of queries or keys as a GGUF file of LLaMA's family has them."""
    halves = rows.reshape(heads, 2, -1, *rows.shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows.shape))


def as_gguf(kind: str, net: Any) -> dict[str, np.ndarray]:
    """The tensors of a network under a GGUF file's names."""
    found = {}
    layers = len(net.model.layers)
    stems = ["token_embd", "output_norm", "output", "token_embd_norm"]
    stems += [f"blk.{layer}.{stem}" for layer in range(layers)
              for stem in ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "attn_q_norm",
                           "attn_k_norm", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down",
                           "ffn_gate_inp", "ffn_gate_exps", "ffn_up_exps", "ffn_down_exps",
                           "shortconv.in_proj", "shortconv.conv",
                           "shortconv.out_proj")]  # fmt: skip
    state = {name: weight(name, p.shape) for name, p in net.named_parameters()}
    for stem in stems:
        for part in ("weight", "bias"):
            name = zoo.name_of_gguf(f"{stem}.{part}", kind)
            if name in state:
                found[f"{stem}.{part}"] = state.pop(name)
    assert not state
    if kind in ("llama", "smollm3"):
        for name in found:
            if "attn_q." in name or "attn_k." in name:
                found[name] = permuted(found[name], 4 if "attn_q" in name else 2)
    return found


@pytest.mark.parametrize("kind", GGUF)
def test_a_gguf_file_is_the_same_network(kind: str) -> None:
    net = network(kind)
    tensors = as_gguf(kind, net)
    other: Any = zoo.from_config(zoo.config_of_gguf(metadata_of(kind), tensors)).eval()
    state = {zoo.name_of_gguf(name, kind): value for name, value in tensors.items()}
    other.load_state_dict(state)
    expected = recorded()[f"scores of {kind}"]
    if kind == "smollm3":  # whose fourth layers do not turn, and the case has three
        net = zoo.from_config(config_of(kind) | {"no_rope_layers": [1, 1, 1]}).eval()
        net.load_state_dict({name: weight(name, p.shape) for name, p in net.named_parameters()})
        expected = whole(net, prompt())
    np.testing.assert_allclose(whole(other, prompt()), expected, rtol=1e-5, atol=2e-5)


def test_names_of_gguf() -> None:
    assert zoo.name_of_gguf("blk.3.ffn_norm.weight", "gemma3") == (
        "model.layers.3.pre_feedforward_layernorm.weight"
    )
    assert zoo.name_of_gguf("blk.3.attn_qkv.bias", "gpt2") == "h.3.attn.c_attn.bias"
    assert zoo.name_of_gguf("position_embd.weight", "gpt2") == "wpe.weight"
    assert zoo.name_of_gguf("rope_freqs.weight", "llama") is None
    assert zoo.name_of_gguf("blk.0.unknown.weight", "llama") is None


def test_gguf_of_gemma_and_gpt2() -> None:
    shared = {
        name.replace("llama", "gemma3"): value for name, value in metadata_of("llama").items()
    }
    shared |= {"general.architecture": "gemma3", "gemma3.attention.key_length": 8,
               "gemma3.attention.sliding_window": 6}  # fmt: skip
    net: Any = zoo.from_config(zoo.config_of_gguf(shared))
    assert net.config.norm_offset == 0 and net.config.windows == (6, 6, 6)
    sizes = {f"gpt2.{name}": value for name, value in
             {"embedding_length": 32, "attention.head_count": 4, "block_count": 3,
              "context_length": 512, "vocab_size": 64}.items()}  # fmt: skip
    net = zoo.from_config(zoo.config_of_gguf({"general.architecture": "gpt2", **sizes}))
    assert net.layout.context == 512 and len(net.h) == 3


def test_scaled_rotary_encodings_of_gguf() -> None:
    more = {"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 4.0}
    net: Any = zoo.from_config(zoo.config_of_gguf(metadata_of("llama") | more))
    assert net.config.rotary[0].rates[0] == 0.25
    factors = rotary(8, 100.0, {"rope_type": "factors", "factors": [1, 1, 2, 8]})
    plain = rotary(8, 100.0)
    assert [p / f for p, f in zip(plain.rates, factors.rates, strict=True)] == [1, 1, 2, 8]


def test_experts_of_published_files_become_one_tensor() -> None:
    for name, gate in (("mixtral", "block_sparse_moe.gate"), ("olmoe", "mlp.gate")):
        net = network(name)
        names = {"gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}
        tensors = {}
        for path, parameter in net.named_parameters():
            value = weight(path, parameter.shape)
            found = re.fullmatch(r"(.*)\.mlp\.experts\.(\w+)", path)
            if found is None:
                tensors[path.replace("mlp.gate.", f"{gate}.")] = value
                continue
            start, part = found.groups()
            for number, one in enumerate(value):
                stem = f"block_sparse_moe.experts.{number}.{names[part]}"
                stem = stem if name == "mixtral" else f"mlp.experts.{number}.{part}"
                tensors[f"{start}.{stem}.weight"] = one
        other: Any = zoo.from_config(config_of(name)).eval()
        other.load_state_dict(zoo.published(tensors))
        expected = recorded()[f"scores of {name}"]
        np.testing.assert_allclose(whole(other, prompt()), expected, rtol=1e-5, atol=2e-5)


def test_names_that_larger_models_put_in_front() -> None:
    given = {"transformer.h.0.attn.bias": 1, "transformer.wte.weight": 2,
             "language_model.model.norm.weight": 3,
             "model.language_model.norm.weight": 3}  # fmt: skip
    assert zoo.published(given) == {"wte.weight": 2, "model.norm.weight": 3}


def test_weights_that_are_computed_where_they_are_read(device: str) -> None:
    """A weight in 8 bits with a factor for each row stays what it is, and no variable."""
    net = network("llama3")
    tensors, state = {}, {}
    for name, parameter in net.named_parameters():
        value = weight(name, parameter.shape)
        if value.ndim == 2:
            factor = np.abs(value).max(axis=1, keepdims=True) / 127
            codes = np.round(value / factor).astype(np.int8)
            tensors[name] = tl.asarray(codes).astype("float32") * tl.asarray(factor)
            value = codes.astype(np.float32) * factor
        else:
            tensors[name] = tl.asarray(value)
        state[name] = value
    net.load_state_dict(state)
    expected = whole(net, prompt())
    other = network("llama3")
    assert zoo.set_weights(other, tensors) == []
    assert list(other.parameters()) == []
    np.testing.assert_allclose(whole(other, prompt()), expected, rtol=1e-4, atol=1e-4)
    text = tl.generation.LanguageModel(other).generate([5, 6, 7], 6)
    assert text == tl.generation.LanguageModel(net).generate([5, 6, 7], 6)


def test_constants_give_the_same_texts(device: str) -> None:
    m = tl.generation.LanguageModel(network("gemma3"))
    expected = m.generate([5, 6, 7], 6)
    frozen = zoo.freeze(network("gemma3"))
    assert list(frozen.parameters()) == []
    assert tl.generation.LanguageModel(frozen).generate([5, 6, 7], 6) == expected


def test_weights_that_do_not_fit_or_are_missing() -> None:
    net = network("llama")
    name = "model.norm.weight"
    with pytest.raises(ShapeError, match=r"model.norm.weight is \(3,\), and should be \(32,\)"):
        zoo.set_weights(net, {name: tl.ones(3)})
    assert name not in zoo.set_weights(net, {name: tl.ones(32)})


def test_a_configuration_by_its_architecture() -> None:
    config = {**COMMON, "architectures": ["SomethingElse", "Qwen3ForCausalLM"]}
    assert zoo.from_config(config).config.head_norm == "head"  # type: ignore[attr-defined]
    whole = {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "text_config": config_of("gemma3"),
    }
    assert type(zoo.from_config(whole)).__name__ == "Gemma3"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "describes nothing"),
        ({"model_type": "bloom"}, "'bloom'.*llama, mistral"),
        ({"architectures": ["MambaForCausalLM"]}, "MambaForCausalLM"),
        ({"model_type": "llama"}, "no 'num_hidden_layers'"),
        ({**COMMON, "model_type": "llama", "hidden_size": None}, "damaged field"),
        ({**COMMON, "model_type": "llama", "num_key_value_heads": 3}, "4 heads are not a multiple"),
        ({**COMMON, "model_type": "llama", "num_attention_heads": 0}, "damaged field"),
        ({**COMMON, "model_type": "llama", "vocab_size": -1}, "vocabulary"),
        ({**COMMON, "model_type": "llama", "hidden_act": "xyz"}, "'xyz' is none of"),
        ({**COMMON, "model_type": "llama", "rope_scaling": {"type": "dynamic"}}, "'dynamic'"),
        ({**COMMON, "model_type": "llama", "head_dim": 7}, "pairs of elements, not 7"),
        ({"model_type": "gpt2"}, "no 'vocab_size'"),
    ],
)
def test_configurations_that_do_not_fit(config: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said) as caught:
        zoo.from_config(config)
    assert len(str(caught.value).splitlines()) == 1


def test_gguf_files_that_do_not_fit() -> None:
    with pytest.raises(OptionError, match=r"general\.architecture is 'clip'"):
        zoo.config_of_gguf({"general.architecture": "clip"})
    broken = metadata_of("llama")
    del broken["llama.block_count"]
    with pytest.raises(OptionError, match=r"no llama\.block_count"):
        zoo.config_of_gguf(broken)


def test_cases_are_of_all_rotary_kinds() -> None:
    kinds = {config_of(name).get("rope_parameters", {}).get("rope_type") for name in CASES}
    assert {"default", "linear", "llama3", "yarn"} <= kinds
