"""Silero's voice detector with its published weights, beside onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.models.record_whisper import speech
from tests.onnx.oracle import runtime

import tallow as tl
from tallow import zoo
from tallow.errors import FormatError
from tallow.zoo.turns import Hearing, Turns
from tallow_build.content import networks

VOICE = networks.FOLDER / "voice" / "silero_vad_16k_op15.onnx"


@pytest.fixture(autouse=True, scope="module")
def fetched() -> None:
    networks.ensure()


Sound = tuple[np.ndarray, list[tuple[float, float]]]


@pytest.fixture(scope="module")
def sound() -> Sound:
    """Silence, speech, noise, speech, noise; and in which seconds there is speech."""
    rng = np.random.default_rng(0)
    parts = [
        np.zeros(16000), speech("beckett"), rng.normal(0, 0.01, 32000), speech("jfk"),
        rng.normal(0, 0.1, 32000),
    ]  # fmt: skip
    ends = np.cumsum([len(part) for part in parts]) / 16000
    whole = np.concatenate(parts).astype(np.float32)
    return whole, [(ends[0], ends[1]), (ends[2], ends[3])]


def theirs(samples: np.ndarray) -> list[float]:
    """What onnxruntime gives for the same file, chunk by chunk."""
    session = runtime(str(VOICE))
    state, before = np.zeros((2, 1, 128), np.float32), np.zeros(64, np.float32)
    found = []
    for at in range(0, len(samples), 512):
        chunk = np.pad(samples[at : at + 512], (0, max(at + 512 - len(samples), 0)))
        feeds: dict[str, Any] = {"input": np.concatenate([before, chunk])[None], "state": state}
        if any(each.name == "sr" for each in session.get_inputs()):
            feeds["sr"] = np.array(16000)
        out, state = session.run(None, feeds)
        found.append(float(out[0, 0]))
        before = chunk[-64:]
    return found


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_probabilities_and_turns_are_those_of_onnxruntime(
    sound: Sound, device: str, monkeypatch: Any
) -> None:
    samples, wanted = sound
    mine: list[float] = []
    plain = Turns.add

    def added(turns: Turns, probability: float) -> None:
        mine.append(probability)
        plain(turns, probability)

    monkeypatch.setattr(Turns, "add", added)
    before = tl.default_device()
    tl.set_default_device(device)
    try:
        model = tl.zoo.load(VOICE)
        assert isinstance(model, zoo.VoiceDetector)
        spans = found = model.speech(samples, min_silence=0.5)
    finally:
        tl.set_default_device(before)
    np.testing.assert_allclose(mine, theirs(samples), atol=1e-4)
    for start, end in wanted:
        inside = [s for s in spans if start - 0.1 < s.start < s.end < end + 0.3]
        assert sum(s.end - s.start for s in inside) > 0.5 * (end - start)
        spans = [span for span in spans if span not in inside]
    assert spans == []

    turns = Turns(Hearing(min_silence=0.5))
    for probability in theirs(samples):
        plain(turns, probability)
    turns.ended(len(samples))
    assert [(s / 16000, e / 16000) for s, e in turns.take(is_last=True)] == found


def test_nobody_speaks_in_silence_and_noise() -> None:
    model = tl.zoo.load(VOICE)
    assert model.speech(np.zeros(48000, np.float32)) == []
    noise = np.random.default_rng(1).normal(0, 0.2, 80000).astype(np.float32)
    assert model.speech(noise) == []


def test_another_network_is_no_voice_detector() -> None:
    with pytest.raises(FormatError, match=r"orientation\.onnx: is no GGUF file"):
        tl.zoo.load(networks.FOLDER / "orientation.onnx")
