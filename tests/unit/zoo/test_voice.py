"""Silero's voice detector: its turns, its stream, what is refused. With published weights:
tests/models/test_voice.py."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from tests.unit.zoo.record_turns import RECORDED

import tallow as tl
from tallow import zoo
from tallow.errors import OptionError, ShapeError
from tallow.zoo.turns import Hearing, Turns


@pytest.mark.parametrize("case", json.loads(RECORDED.read_text("utf-8")))
def test_turns_are_those_of_the_package(case: dict[str, Any]) -> None:
    turns = Turns(Hearing(**case["options"]))
    found = []
    for probability in case["probabilities"]:
        turns.add(probability)
        found += turns.take()
        began = turns.began
        assert began is None or began >= (found[-1][1] if found else 0) - 1
    turns.ended(case["length"])
    found += turns.take(is_last=True)
    assert [list(turn) for turn in found] == case["turns"]


def test_a_turn_is_known_as_soon_as_it_has_ended() -> None:
    turns = Turns(Hearing(min_silence=0.1, padding=0.03))
    for _ in range(20):
        turns.add(0.9)
    assert turns.began == 0 and turns.take() == []
    for _ in range(5):
        turns.add(0.1)
    assert turns.take() == [(0, 20 * 512 + 480)]
    assert turns.began is None


def detector(seed: int = 1) -> zoo.VoiceDetector:
    """One with random weights."""
    tl.manual_seed(seed)
    net = zoo.SileroVAD()
    for parameter in net.parameters():
        parameter.assign(tl.randn(*parameter.shape) * 0.2)
    last = net.decoder.decoder[2].weight
    last.assign(last * 10)
    return zoo.VoiceDetector(net)


def sound(seconds: float, rate: int = 16000) -> np.ndarray:
    """A tone that comes and goes."""
    time = np.arange(round(seconds * rate)) / rate
    return (0.5 * np.sin(time * 1900) * (np.sin(time * 4) > 0)).astype("f4")


@pytest.mark.parametrize("device", ["numpy", "wasm", "webgpu"])
def test_chunks_together_give_what_chunks_one_by_one_give(device: str, request: Any) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    tl.set_default_device(device)
    try:
        net = detector().net
        chunks = tl.randn(5, 576).realize()
        states = tl.zeros((2, 1, 128))
        with tl.no_grad():
            whole, last = (each.numpy() for each in net(chunks, states))
            for number in range(5):
                found, states = net(chunks[number : number + 1], states)
                np.testing.assert_allclose(found.numpy(), whole[number : number + 1], atol=1e-4)
        np.testing.assert_allclose(states.numpy(), last, atol=1e-3)
    finally:
        tl.set_default_device(None)


@pytest.mark.parametrize("pieces", [1, 3, 50])
def test_a_sound_in_pieces_has_the_turns_of_the_whole(pieces: int, run_async: Any) -> None:
    one = detector()
    wave = sound(5.3)
    middle = float(np.median(probabilities(one, wave)))
    options = {"threshold": middle, "min_speech": 0.05, "min_silence": 0.05}
    wanted = one.speech(wave, **options)
    assert len(wanted) > 1
    stream = one.stream(**options)
    found = []
    for piece in np.array_split(wave, pieces):
        found += stream.add(piece)
    found += stream.add(np.zeros(0, np.float32), is_last=True)
    assert found == wanted
    assert run_async(one.speech_async(wave, **options)) == wanted


def probabilities(one: zoo.VoiceDetector, wave: np.ndarray) -> np.ndarray:
    """Of each chunk, with states that are handed on."""
    padded = np.concatenate([np.zeros(64, np.float32), wave, np.zeros(-len(wave) % 512, "f4")])
    rows = [padded[at : at + 576] for at in range(0, len(padded) - 64, 512)]
    found: np.ndarray = one.net(tl.asarray(np.stack(rows)), tl.zeros((2, 1, 128)))[0].numpy()
    return found


def test_nothing_and_other_rates() -> None:
    one = detector()
    assert one.speech([]) == [] and one.speech(np.zeros(0, np.float32), 44100) == []
    spans = one.speech(sound(2.0, 48000), 48000, threshold=0.02)
    assert all(0 <= span.start <= span.end <= 2.0 for span in spans)


def test_what_is_no_sound_is_refused() -> None:
    one = detector()
    with pytest.raises(OptionError, match="speech: samples are NaN or infinite"):
        one.speech([0.0, math.nan])
    with pytest.raises(ShapeError, match="one channel"):
        one.speech(np.zeros((2, 16000), np.float32))
    with pytest.raises(OptionError, match="int16 divided by 32768"):
        one.stream().add(np.zeros(600, np.int16))
    with pytest.raises(OptionError, match="samples a second"):
        one.speech([0.0], 0)
    for wrong in (
        {"threshold": 1.0},
        {"min_speech": -1.0},
        {"padding": math.nan},
        {"longest": 0.5},
    ):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            one.speech([0.0], **wrong)
    with pytest.raises(ShapeError, match=r"\(n, 576\)"):
        one.net(tl.zeros((1, 512)), tl.zeros((2, 1, 128)))
    with pytest.raises(ShapeError, match=r"\(2, 1, 128\)"):
        one.net(tl.zeros((1, 576)), tl.zeros((1, 128)))
