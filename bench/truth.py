"""Whether devices choose the tokens that NumPy does, for weights of every type of a GGUF file.

A LLaMA of two layers has random weights of one type. Random tokens, 512 unless said otherwise, are
read at once, as a prompt is, and one by one, as a text is written; at each position the likeliest
next token counts. in_browser/chosen.py finds it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tests.unit.formats.gguf_files import Raw, Value, gguf
from tests.unit.hub.tiny import TEMPLATE
from tests.unit.hub.tiny import tokens as vocabulary

import tallow as tl

Tokens = NDArray[np.int64]

WIDTH, HIDDEN, LAYERS, HEADS, PAIRS, CONTEXT = 256, 512, 2, 4, 2, 1024
POSITIONS = 512
LEAST = 0.995
"""The share of positions at which a device must choose as NumPy does."""

SPREADS = {
    "Q4_0": (18, 32, {0: 4.6}),
    "Q4_1": (20, 32, {0: 4.6, 2: -0.61}),
    "Q5_0": (22, 32, {0: 9.2}),
    "Q5_1": (24, 32, {0: 9.2, 2: -0.59}),
    "Q8_0": (34, 32, {0: 74.0}),
    "Q2_K": (84, 256, {80: 16.0, 82: 10.7}),
    "Q3_K": (110, 256, {108: 43.0}),
    "Q4_K": (144, 256, {0: 320.0, 2: 42.7}),
    "Q5_K": (176, 256, {0: 655.0, 2: 42.3}),
    "Q6_K": (210, 256, {208: 1370.0}),
    "IQ4_NL": (18, 32, {0: 70.0}),
}
"""Of each type of blocks its bytes, its elements, and where it has float16 factors, each with what
it is divided by: so that numbers have one spread, and minima make their mean 0."""

FORMS = (*SPREADS, "F16", "BF16")


def weight(form: str, shape: Sequence[int], random: np.random.Generator) -> bytes:
    """Random numbers of a type, with a spread at which products neither grow nor vanish."""
    size, spread = int(np.prod(shape)), 1.2 / shape[-1] ** 0.5
    if form not in SPREADS:
        numbers = (spread * random.standard_normal(size)).astype(np.float32)
        upper = (numbers.view(np.uint32) >> 16).astype(np.uint16)
        return bytes(numbers.astype(np.float16) if form == "F16" else upper)
    nbytes, length, factors = SPREADS[form]
    raw = random.integers(0, 256, (size // length, nbytes), dtype=np.uint8)
    signs = random.choice([-1.0, 1.0], len(raw))
    for at, multiplied in factors.items():
        halves = (signs * spread / multiplied).astype(np.float16)
        raw[:, at : at + 2] = halves.view(np.uint8).reshape(-1, 2)
    return bytes(raw)


def model_file(form: str, width: int = WIDTH, layers: int = LAYERS) -> bytes:
    """A GGUF file whose matrices are all of one type."""
    random = np.random.default_rng(11)
    names, heads, hidden = vocabulary(), PAIRS * width // HEADS, HIDDEN * width // WIDTH
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (len(names), width)}
    for layer in range(layers):
        start = f"blk.{layer}."
        shapes |= {
            f"{start}attn_q": (width, width), f"{start}attn_k": (heads, width),
            f"{start}attn_v": (heads, width), f"{start}attn_output": (width, width),
            f"{start}ffn_gate": (hidden, width), f"{start}ffn_up": (hidden, width),
            f"{start}ffn_down": (width, hidden), f"{start}attn_norm": (width,),
            f"{start}ffn_norm": (width,),
        }  # fmt: skip
    shapes["output_norm"] = (width,)
    tensors = {
        f"{name}.weight": Raw(form, shape, weight(form, shape, random))
        if len(shape) == 2
        else Raw("F32", shape, np.ones(shape, np.float32).tobytes())
        for name, shape in shapes.items()
    }
    return gguf({
        "general.architecture": "llama",
        "llama.context_length": CONTEXT,
        "llama.embedding_length": width,
        "llama.block_count": layers,
        "llama.feed_forward_length": hidden,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": PAIRS,
        "llama.attention.layer_norm_rms_epsilon": Value("f", 1e-5),
        "llama.rope.freq_base": Value("f", 10000.0),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": names,
        "tokenizer.ggml.token_type": Value("i", [1] * (len(names) - 2) + [3, 3]),
        "tokenizer.ggml.merges": ["a b"],
        "tokenizer.ggml.bos_token_id": len(names) - 2,
        "tokenizer.ggml.eos_token_id": len(names) - 1,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
    }, tensors)  # fmt: skip


def prompt(positions: int = POSITIONS) -> list[int]:
    """Random tokens."""
    found = np.random.default_rng(5).integers(0, len(vocabulary()) - 2, positions)
    return [int(token) for token in found]


def references(content: bytes, tokens: Sequence[int]) -> Tokens:
    """What NumPy chooses at each position."""
    model = tl.zoo.load(content, device="numpy")
    return np.asarray(model.scores(tokens).numpy().argmax(-1))


def share(found: Sequence[int] | Tokens, wanted: Sequence[int] | Tokens) -> float:
    """The share of positions that agree; `found` may have fewer, the first ones."""
    return float(np.mean(np.asarray(found) == np.asarray(wanted)[: len(found)]))
