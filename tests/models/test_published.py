"""`tl.zoo.load` with models that others published: what they write, mean and hear."""

from __future__ import annotations

import wave
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow_build.content import networks

FRANCE = [{"role": "user", "content": "What is the capital of France?"}]


@pytest.fixture(autouse=True, scope="module")
def fetched() -> None:
    networks.ensure()


@pytest.fixture
def chosen(request: pytest.FixtureRequest) -> Iterator[str]:
    """A default device for the test."""
    before = tl.default_device()
    tl.set_default_device(request.param)
    yield request.param
    tl.set_default_device(before)


def test_a_language_model_in_blocks_of_4_bits_answers_alike_on_every_device() -> None:
    texts = {}
    for device in ("numpy", "wasm"):
        model = tl.zoo.load(networks.FOLDER / "smollm2" / "model.gguf", device=device)
        texts[device] = model.generate(FRANCE, max_tokens=12)
        if device == "wasm":
            pieces = list(model.stream(FRANCE, max_tokens=12))
            assert "".join(pieces) == texts[device] and len(pieces) > 4
    assert texts["wasm"] == texts["numpy"] == "The capital of France is Paris."


@pytest.mark.parametrize("chosen", ["numpy", "wasm"], indirect=True)
def test_sentences_by_their_meaning(chosen: str) -> None:
    model = tl.zoo.load(networks.FOLDER / "minilm")
    vectors = model.embed(["A cat sits on the mat.", "There is a cat.", "Trains are late."])
    found = model.similarity(vectors, vectors).numpy()
    assert vectors.shape == (3, 384)
    assert np.allclose(np.diag(found), 1, atol=1e-5)
    assert found[0, 1] > 0.6 and abs(found[0, 2]) < 0.2 and abs(found[1, 2]) < 0.2


def speech(name: str) -> tuple[Any, int]:
    with wave.open(str(networks.FOLDER / "speech" / name)) as file:
        samples = array("h", file.readframes(file.getnframes()))
        return np.array(samples, np.float32) / 32768, file.getframerate()


@pytest.mark.parametrize("chosen", ["wasm"], indirect=True)
def test_speech_as_text(chosen: str) -> None:
    folder = networks.FOLDER / "whisper-tiny"
    files = {file.name: file for file in folder.iterdir() if file.suffix == ".json"}
    files |= {
        f"{part}_model{end}_quantized.onnx": folder / f"{part}.onnx"
        for part, end in (("encoder", ""), ("decoder", "_merged"))
    }
    model = tl.zoo.load(files)
    samples, rate = speech("jfk.wav")
    text, segments = model.transcribe(samples, rate=rate)
    assert "ask not what your country can do for you" in text.lower()
    assert segments[0].start == 0 and 5 < segments[-1].end < 12
