"""Whisper's published weights: states, scores and texts beside those of transformers and of
onnxruntime, which runs the same files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.models.record_whisper import (
    RECORDED,
    SAID,
    TOKENS,
    WHISPER,
    json_of,
    speech,
    weights,
)
from tests.onnx.oracle import runtime

import tallow as tl
from tallow import zoo
from tallow.zoo.timestamps import Vocabulary
from tallow_build.content import networks

END, TIMES = 50257, 50364


class Words:
    """Decodes byte-level tokens by the vocabulary in tokenizer.json."""

    def __init__(self) -> None:
        model = json.loads((WHISPER / "tokenizer.json").read_text("utf-8"))["model"]
        self._tokens = {number: token for token, number in model["vocab"].items()}
        shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
        hidden = [byte for byte in range(256) if byte not in shown]
        self._bytes = {chr(byte): byte for byte in shown}
        self._bytes |= {chr(256 + index): byte for index, byte in enumerate(hidden)}

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens."""
        letters = "".join(self._tokens[token] for token in ids)
        return bytes(self._bytes[letter] for letter in letters).decode("utf-8", "replace")


@cache
def whisper() -> zoo.Whisper:
    """The network, from its ONNX files."""
    networks.ensure()
    net = zoo.Whisper.from_config(json_of("config.json"))
    tl.load_into(net, weights())
    return net.eval()


@pytest.fixture(scope="module")
def recorded() -> dict[str, np.ndarray]:
    with np.load(RECORDED) as archive:
        return dict(archive)


@pytest.fixture(autouse=True, scope="module")
def wasm() -> Iterator[None]:
    """Computes on WebAssembly."""
    tl.set_default_device("wasm")
    yield
    tl.set_default_device(None)
    whisper.cache_clear()


@pytest.fixture(scope="module")
def listener() -> zoo.Transcriber:
    """The network with its tokenizer."""
    return zoo.Transcriber(whisper(), Words(), json_of("generation_config.json"))


@pytest.fixture(scope="module")
def heard(listener: zoo.Transcriber) -> dict[str, Any]:
    """What it writes down, by the names of the sounds."""
    return {name: listener.transcribe(speech(name)) for name in SAID}


def test_states_and_scores_are_those_of_transformers(recorded: dict[str, np.ndarray]) -> None:
    sound = np.zeros(480000, np.float32)
    sound[: len(speech("jfk"))] = speech("jfk")
    net = whisper()

    @tl.jit
    def both(sound: tl.Tensor, tokens: tl.Tensor) -> tuple[tl.Tensor, tl.Tensor]:
        features = tl.audio.log_mel_spectrogram(sound)[None]
        return net.model.encoder(features), net(features, tokens)

    with tl.no_grad():
        states, scores = both(tl.asarray(sound), tl.asarray([TOKENS]))
    found = states.numpy()[0, ::50, ::8]
    assert np.abs(found - recorded["states"]).max() < 1e-3 * np.abs(recorded["states"]).max()
    found = scores.numpy()[0, :, ::97]
    assert np.abs(found - recorded["scores"]).max() < 1e-3 * np.abs(recorded["scores"]).max()


def pieces(tokens: Sequence[int]) -> list[tuple[float, float, list[int]]]:
    """Texts between timestamps, and their times in seconds."""
    found, piece, start = list[tuple[float, float, list[int]]](), list[int](), 0
    for token in map(int, tokens):
        if token < TIMES:
            piece.append(token)
        elif piece:
            found.append((start / 50, (token - TIMES) / 50, piece))
            piece = []
        else:
            start = token - TIMES
    return found


def test_texts_and_times_are_those_of_transformers(
    recorded: dict[str, np.ndarray],
    listener: zoo.Transcriber,
    heard: dict[str, Any],
    run_async: Callable[..., Any],
) -> None:
    for name, said in SAID.items():
        wanted = pieces(recorded[name])
        found = heard[name]
        assert [segment.language for segment in found.segments] == ["en"] * len(wanted)
        for segment, (start, end, tokens) in zip(found.segments, wanted, strict=True):
            assert (segment.start, segment.end) == pytest.approx((start, end), abs=0.011)
            assert segment.text == Words().decode(tokens)
        assert found.text == "".join(segment.text for segment in found.segments).strip()
        assert error_rate(said, found.text) < 0.2
    again = run_async(listener.transcribe_async(speech("jfk"), language="en"))
    assert again == heard["jfk"]
    assert (listener._hear.plans, listener._step.plans) == (1, 1)


def words_of(text: str) -> list[str]:
    """Words, without signs and in small letters."""
    return re.findall(r"[\w']+", text.lower())


def error_rate(said: str, found: str) -> float:
    """Words that are wrong, missing or too many, of those that were said (Levenshtein)."""
    wanted, given = words_of(said), words_of(found)
    row = list(range(len(given) + 1))
    for index, word in enumerate(wanted, 1):
        before, row[0] = row[0], index
        for at, other in enumerate(given, 1):
            before, row[at] = (
                row[at],
                min(row[at] + 1, row[at - 1] + 1, before + (word != other)),
            )
    return row[-1] / len(wanted)


def by_onnxruntime(name: str) -> str:
    """What its own files say in onnxruntime, by the same rules, without a cache."""
    words = Vocabulary.of(json_of("generation_config.json"), 51865)
    sound = np.zeros(480000, np.float32)
    sound[: len(speech(name))] = speech(name)
    features = tl.audio.log_mel_spectrogram(tl.asarray(sound)).numpy()[None]
    encoder = runtime(str(WHISPER / "encoder.onnx"))
    states = encoder.run(["last_hidden_state"], {"input_features": features})[0]
    decoder = runtime(str(WHISPER / "decoder.onnx"))
    feeds = {
        each.name: np.zeros((1, 6, 0, 64), np.float32)
        for each in decoder.get_inputs()
        if each.name.startswith("past")
    }
    feeds |= {"encoder_hidden_states": states, "use_cache_branch": np.array([False])}
    prompt, tokens = [50258, 50259, 50359], list[int]()
    while len(tokens) < 200:
        ids = np.array([prompt + tokens])
        scores = decoder.run(["logits"], {**feeds, "input_ids": ids})[0][0, -1]
        low, first, last, _ = words.allowed(tokens)
        scores[:TIMES][np.arange(TIMES) < low] = -np.inf
        times = np.arange(TIMES, len(scores))
        scores[TIMES:][(times < first) | (times > last)] = -np.inf
        scores[list(words.suppressed)] = -np.inf
        shares = np.exp(scores - scores.max())
        if shares[TIMES:].sum() > shares[:TIMES].max():
            scores[:TIMES] = -np.inf
        tokens.append(int(scores.argmax()))
        if tokens[-1] == END:
            break
    return Words().decode([token for token in tokens if token < END])


def test_no_more_words_are_wrong_than_with_onnxruntime(heard: dict[str, Any]) -> None:
    said = " ".join(SAID.values())
    mine = " ".join(heard[name].text for name in SAID)
    theirs = " ".join(by_onnxruntime(name) for name in SAID)
    assert error_rate(said, mine) <= error_rate(said, theirs) + 0.005
