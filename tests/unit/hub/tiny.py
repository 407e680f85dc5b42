"""A tiny published model: a LLaMA of two layers with a byte-level vocabulary and a template."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from tests.unit.formats.gguf_files import Raw, Value, gguf

import tallow as tl
from tallow.text.bytes_as_text import BYTE_CHARS

WIDTH, HIDDEN, LAYERS, HEADS, PAIRS, CONTEXT = 32, 64, 2, 4, 2, 512
ENDS = 258

TEMPLATE = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def tokens() -> list[str]:
    """A token for each byte and for "ab", and two that begin and end a text."""
    return [*BYTE_CHARS, "ab", "<s>", "</s>"]


def weights() -> dict[str, np.ndarray]:
    """The tensors under GGUF's names, with weights that make varied texts."""
    rng = np.random.default_rng(7)
    heads = PAIRS * WIDTH // HEADS
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (len(tokens()), WIDTH)}
    for layer in range(LAYERS):
        start = f"blk.{layer}"
        shapes |= {
            f"{start}.attn_q": (WIDTH, WIDTH), f"{start}.attn_k": (heads, WIDTH),
            f"{start}.attn_v": (heads, WIDTH), f"{start}.attn_output": (WIDTH, WIDTH),
            f"{start}.ffn_gate": (HIDDEN, WIDTH), f"{start}.ffn_up": (HIDDEN, WIDTH),
            f"{start}.ffn_down": (WIDTH, HIDDEN), f"{start}.attn_norm": (WIDTH,),
            f"{start}.ffn_norm": (WIDTH,),
        }  # fmt: skip
    shapes["output_norm"] = (WIDTH,)
    found = {}
    for name, shape in shapes.items():
        scale = 1.5 / shape[-1] ** 0.5 if len(shape) > 1 else 0.1
        found[f"{name}.weight"] = (scale * rng.normal(size=shape) + (len(shape) == 1)).astype("f4")
    found["token_embd.weight"][ENDS] = 0  # so that no text ends by itself
    return found


def blocks(array: np.ndarray) -> tuple[bytes, np.ndarray]:
    """Q8_0 of an array, and the numbers that it stands for."""
    parts = array.reshape(-1, 32)
    scale = (np.abs(parts).max(1, keepdims=True) / 127).astype(np.float16)
    steps = np.rint(parts / np.maximum(scale.astype("f4"), 1e-9)).clip(-127, 127).astype(np.int8)
    content = np.concatenate([scale.view(np.int8).reshape(-1, 2), steps], axis=1).tobytes()
    return content, (steps * scale.astype("f4")).astype("f4").reshape(array.shape)


def gguf_file(**metadata: Any) -> bytes:
    """The model as a GGUF file in blocks of 8 bits."""
    said, tensors = _content()
    return gguf(said | metadata, tensors)


def gguf_parts() -> dict[str, bytes]:
    """The same in three parts, by their names."""
    said, tensors = _content()
    parts = {}
    for part in range(3):
        own = dict(list(tensors.items())[part * 7 : part * 7 + 7 if part < 2 else None])
        split = {"split.no": Value("H", part), "split.count": Value("H", 3)}
        parts[f"tiny-{part + 1:05}-of-00003.gguf"] = gguf((said if not part else {}) | split, own)
    return parts


def _content() -> tuple[dict[str, Any], dict[str, Raw]]:
    tensors = {}
    for name, array in weights().items():
        kind, content = ("F32", array.tobytes()) if array.ndim == 1 else ("Q8_0", blocks(array)[0])
        tensors[name] = Raw(kind, array.shape, content)
    names = tokens()
    said = {
        "general.architecture": "llama",
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.block_count": LAYERS,
        "llama.feed_forward_length": HIDDEN,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": PAIRS,
        "llama.attention.layer_norm_rms_epsilon": Value("f", 1e-5),
        "llama.rope.freq_base": Value("f", 10000.0),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": names,
        "tokenizer.ggml.token_type": Value("i", [1] * 257 + [3, 3]),
        "tokenizer.ggml.merges": ["a b"],
        "tokenizer.ggml.bos_token_id": 257,
        "tokenizer.ggml.eos_token_id": ENDS,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
    }
    return said, tensors


def folder(path: Path) -> Path:
    """The same network as a folder of Hugging Face's files."""
    state: dict[str, Any] = {}
    for name, array in weights().items():
        numbers = array if array.ndim == 1 else blocks(array)[1]
        for part, heads in (("attn_q", HEADS), ("attn_k", PAIRS)):
            if part in name:  # GGUF has the pairs that turn together side by side
                pairs = numbers.reshape(heads, -1, 2, WIDTH)
                numbers = np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(array.shape)
        state[str(tl.zoo.name_of_gguf(name, "llama"))] = tl.asarray(numbers)
    path.mkdir(exist_ok=True)
    tl.save(state, path / "model.safetensors")
    config = {
        "model_type": "llama", "vocab_size": len(tokens()), "hidden_size": WIDTH,
        "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "num_key_value_heads": PAIRS, "max_position_embeddings": CONTEXT, "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0, "tie_word_embeddings": True, "eos_token_id": ENDS,
    }  # fmt: skip
    (path / "config.json").write_text(json.dumps(config))
    described = {
        "model": {
            "type": "BPE",
            "vocab": {t: i for i, t in enumerate(tokens())},
            "merges": ["a b"],
        },
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "decoder": {"type": "ByteLevel"},
        "added_tokens": [{"id": ENDS, "content": "</s>", "special": True}],
    }
    (path / "tokenizer.json").write_text(json.dumps(described))
    (path / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    return path
