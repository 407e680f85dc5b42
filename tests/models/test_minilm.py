"""MiniLM's published weights give the vectors that transformers gives, on every device."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.models.record_minilm import RECORDED, TEXTS

import tallow as tl
from tallow import zoo
from tallow_build.content import networks


class Recorded:
    """Gives the tokens that the tokenizers package gave."""

    def __init__(self) -> None:
        with np.load(RECORDED) as archive:
            ends = np.cumsum(archive["lengths"])
            tokens = np.split(archive["tokens"], ends[:-1])
            self.vectors = archive["vectors"]
        self._known = {
            text: [int(token) for token in ids] for text, ids in zip(TEXTS, tokens, strict=True)
        }

    def encode(self, text: str) -> Any:
        """The tokens of one of the texts."""
        return SimpleNamespace(ids=self._known[text])


def minilm() -> zoo.BERT:
    """The network, from its files."""
    networks.ensure()
    folder = networks.FOLDER / "minilm"
    net = zoo.BERT.from_config(json.loads((folder / "config.json").read_text("utf-8")))
    state = tl.load(folder / "model.safetensors")
    report = tl.load_into(net, state, strict=False)
    assert report.unexpected == ["embeddings.position_ids"]
    assert not report.missing
    return net


@pytest.mark.parametrize("device", ["numpy", "webgpu", "wasm"])
def test_vectors_are_those_of_transformers(
    device: str, request: Any, run_async: Callable[..., Any]
) -> None:
    texts = TEXTS
    if device == "webgpu":
        request.getfixturevalue("native")
        texts = TEXTS[:-1]  # the last one, of 512 tokens, takes long without a GPU
    recorded = Recorded()
    tl.set_default_device(device)
    try:
        encoder = zoo.SentenceEncoder(minilm(), recorded)
        found = encoder.embed(texts, batch=4)
        assert found.shape == (len(texts), 384)
        assert np.abs(found.numpy() - recorded.vectors[: len(texts)]).max() < 1e-4
        np.testing.assert_allclose(np.linalg.norm(found.numpy(), axis=1), 1, atol=1e-5)
        alone = run_async(encoder.embed_async(TEXTS[2:3]))
        np.testing.assert_allclose(alone.numpy()[0], found.numpy()[2], atol=1e-5)
        alike = encoder.similarity(found, alone).numpy()
        assert alike[2, 0] > alike[0, 0] > 0.8 > 0.3 > alike[1, 0]
    finally:
        tl.set_default_device(None)
