"""Records what transformers gives for the decoders of decoder_cases.py, where it is installed:

    python -m tests.unit.zoo.record_decoders

The project itself needs it not: configurations, scores and texts stand in decoders.npz.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from .decoder_cases import CASES, COMMON, LENGTH, NEW, prompt, weight

RECORDED = Path(__file__).parent / "decoders.npz"

_MOST = ("architectures", "torch_dtype", "transformers_version", "id2label", "label2id")


def _numbers(name: str, shape: tuple[int, ...], kind: str) -> np.ndarray:
    """A parameter of theirs, of which some are several of ours."""
    if name.endswith("experts.gate_up_proj"):
        count, both, width = shape
        stem = name.removesuffix("gate_up_proj")
        halves = [
            weight(stem + part, (count, both // 2, width)) for part in ("gate_proj", "up_proj")
        ]
        return np.concatenate(halves, axis=1)
    if kind == "GPT2":
        name = name.removeprefix("transformer.")
    return weight(name, shape)


def _one(kind: str, more: dict[str, Any]) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    import torch  # type: ignore[import-not-found]
    import transformers  # type: ignore[import-not-found]

    text = "TextConfig" if kind == "Gemma3" else "Config"
    common = {} if kind == "GPT2" else COMMON
    config = getattr(transformers, kind + text)(**(common | {"vocab_size": 64} | more))
    head = "LMHeadModel" if kind == "GPT2" else "ForCausalLM"
    net = getattr(transformers, kind + head)(config).eval()
    state = net.state_dict()
    tied = config.tie_word_embeddings
    new = {name: torch.from_numpy(_numbers(name, tuple(value.shape), kind))
           for name, value in state.items() if not (tied and name == "lm_head.weight")
           and not name.endswith((".attn.bias", "masked_bias"))}  # fmt: skip
    net.load_state_dict(new, strict=False)
    net.tie_weights()
    tokens = torch.from_numpy(prompt().astype(np.int64))
    with torch.no_grad():
        scores = net(tokens).logits.numpy()
        written = tokens[:1, : LENGTH // 2]
        for _ in range(NEW):
            written = torch.cat([written, net(written).logits[:, -1:].argmax(-1)], dim=1)
    given = {name: value for name, value in config.to_dict().items() if name not in _MOST}
    return given, scores, written.numpy()[0, LENGTH // 2 :]


def main() -> None:
    """Writes the file."""
    arrays: dict[str, np.ndarray] = {}
    configs = {}
    for name, (kind, more) in CASES.items():
        configs[name], arrays[f"scores of {name}"], arrays[f"text of {name}"] = _one(kind, more)
    np.savez_compressed(RECORDED, configs=np.array(json.dumps(configs)), **arrays)


if __name__ == "__main__":
    main()
