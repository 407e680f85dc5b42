"""A tiny Whisper with random weights, as published files; it hears windows of a second."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import tallow as tl
from tallow import zoo
from tallow.text.bytes_as_text import BYTE_CHARS

END, START, EN, DE, TRANSLATE, TRANSCRIBE, SILENT, NONE, TIMES = range(256, 265)
FRAMES = 50
SIZE = TIMES + FRAMES + 1

CONFIG: dict[str, Any] = {
    "model_type": "whisper", "vocab_size": SIZE, "d_model": 16, "encoder_layers": 1,
    "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "num_mel_bins": 8,
    "max_source_positions": FRAMES, "max_target_positions": 24,
}  # fmt: skip
GENERATION: dict[str, Any] = {
    "decoder_start_token_id": START, "eos_token_id": END, "no_timestamps_token_id": NONE,
    "is_multilingual": True, "lang_to_id": {"<|en|>": EN, "<|de|>": DE},
    "task_to_id": {"translate": TRANSLATE, "transcribe": TRANSCRIBE},
    # Letters alone are said.
    "suppress_tokens": [n for n, c in enumerate(BYTE_CHARS) if not "a" <= c <= "z"],
    "max_initial_timestamp_index": 2,
}  # fmt: skip


def files() -> dict[str, bytes]:
    """By their names."""
    tl.manual_seed(3)
    net = zoo.Whisper.from_config(CONFIG)
    for name, parameter in net.named_parameters():
        if "norm" not in name:
            parameter.assign(tl.randn(*parameter.shape) * 0.4)
    tokenizer = {
        "model": {"type": "BPE", "vocab": {c: n for n, c in enumerate(BYTE_CHARS)}, "merges": []},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "decoder": {"type": "ByteLevel"},
        "added_tokens": [{"id": END, "content": "<|endoftext|>", "special": True}],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        tl.save(net.state_dict(), path)
        weights = path.read_bytes()
    texts = {
        "config.json": CONFIG,
        "generation_config.json": GENERATION,
        "tokenizer.json": tokenizer,
    }
    return {name: json.dumps(each).encode() for name, each in texts.items()} | {
        "model.safetensors": weights
    }
