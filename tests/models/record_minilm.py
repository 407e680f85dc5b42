"""Records what transformers gives for MiniLM's published weights, where it is installed:

    PYTHONPATH=py python -m tests.models.record_minilm

The project itself needs no transformers: what it gave stands in minilm.npz.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tallow_build.content.networks import FOLDER

RECORDED = Path(__file__).parent / "minilm.npz"

TEXTS = [
    "A cat sits on the mat.",
    "",
    "On the mat there is a cat.",
    "Der Zug fährt um halb acht ab — naïve café, 東京! 123.45",
    "The committee agreed to meet again soon after the summer holidays this year. " * 12,
    "many words " * 700,
]


def main() -> None:
    """Records tokens, cut to 512, and vectors."""
    import torch  # type: ignore[import-not-found]
    from safetensors.torch import load_file  # type: ignore[import-not-found]
    from tokenizers import Tokenizer  # type: ignore[import-not-found]
    from transformers import BertConfig, BertModel  # type: ignore[import-not-found]

    folder = FOLDER / "minilm"
    net = BertModel(BertConfig(**json.loads((folder / "config.json").read_text("utf-8")))).eval()
    state = load_file(folder / "model.safetensors")
    net.load_state_dict({name: x.float() for name, x in state.items()}, strict=False)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    whole = [tokenizer.encode(text).ids for text in TEXTS]
    tokenizer.enable_truncation(512)
    vectors = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            mean = net(torch.tensor([ids])).last_hidden_state.mean(1)
        vectors.append(torch.nn.functional.normalize(mean).numpy()[0])
    np.savez_compressed(
        RECORDED,
        vectors=np.stack(vectors),
        tokens=np.concatenate(whole).astype(np.uint16),
        lengths=np.array([len(ids) for ids in whole]),
    )


if __name__ == "__main__":
    main()
