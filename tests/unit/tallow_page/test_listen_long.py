"""A long sound in the Listen view's Python: what it holds does not grow, and no turn is lost."""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncGenerator, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.unit.zoo.test_voice import detector, probabilities

import tallow as tl
from tallow.runtime.buffer import live_buffers
from tallow.zoo import Segment, SileroVAD, Span, VoiceDetector
from tallow.zoo.turns import CHUNK
from tallow_page import listen

RATE = 16000
PIECE = 5
"""Seconds of a piece."""
PIECES = 12


def piece(number: int) -> np.ndarray:
    """Five seconds of a tone that comes and goes, over the borders of pieces too."""
    time = np.arange(number * PIECE * RATE, (number + 1) * PIECE * RATE) / RATE
    return (0.5 * np.sin(time * 1900) * (np.sin(time * 1.9) > 0)).astype("f4")


class Whole:
    """A transcriber that hears all that it is given."""

    vocabulary = SimpleNamespace(languages={"en": 1})

    async def stream(self, samples: Any, **options: Any) -> AsyncGenerator[Segment, None]:
        """See `Transcriber`."""
        yield Segment(0.0, samples.shape[0] / RATE, "so", "en")


class Noted:
    """A stream of turns that notes them."""

    def __init__(self, stream: Any, turns: list[Span]) -> None:
        self._stream, self._turns = stream, turns

    @property
    def began(self) -> float | None:
        """See `VoiceStream`."""
        found: float | None = self._stream.began
        return found

    async def add_async(self, samples: Any, *, is_last: bool) -> list[Span]:
        """See `VoiceStream`."""
        found: list[Span] = await self._stream.add_async(samples, is_last=is_last)
        self._turns += found
        return found


@pytest.fixture
def turns(monkeypatch: Any) -> Iterator[list[Span]]:
    """Of a detector of random weights that hears the tone, what it has found."""
    tl.set_default_device("wasm")
    try:
        net = detector()
        middle = float(np.median(probabilities(net, piece(0))))
        found: list[Span] = []
        hearing = SimpleNamespace(
            stream=lambda **how: Noted(net.stream(threshold=middle, **how), found)
        )
        monkeypatch.setattr(listen, "_models", (Whole(), hearing))
        yield found
    finally:
        listen.close_listener()
        tl.set_default_device(None)


def test_what_is_held_does_not_grow_and_no_turn_is_lost(
    turns: list[Span], run_async: Callable[..., Any]
) -> None:
    held: list[Any] = []
    heard: list[tuple[float, float]] = []

    async def all_of_it() -> None:
        for number in range(PIECES):
            options = {
                "first": number == 0, "last": number == PIECES - 1, "live": False,
                "language": "en", "translate": False,
            }  # fmt: skip
            samples = memoryview(piece(number))
            async for item in listen.hear_sound(samples, json.dumps(options)):
                if step := json.loads(item).get("progress"):
                    heard.append((step["start"], step["end"]))
            assert listen._sound is not None
            gc.collect()
            held.append((live_buffers("wasm"), len(listen._sound._samples)))

    run_async(all_of_it())
    buffers = [each for each, _ in held]
    assert buffers[3].bytes > 0 and buffers[-1] == buffers[3]
    assert max(samples for _, samples in held) <= 35 * RATE
    assert len(turns) > 4
    for turn in turns:
        assert any(start <= turn.start + 0.01 and turn.end - 0.01 <= end for start, end in heard)


# ---- an hour -----------------------------------------------------------------------------------

EVERY, LONG = 9, 5.5
"""Seconds from one turn to the next, and of a turn."""


def hour(begin: int, end: int) -> np.ndarray:
    """Seconds of an hour in which somebody speaks every nine seconds. The samples of a turn are its
    number, in thousandths."""
    time = np.arange(begin * RATE, end * RATE)
    turn, within = np.divmod(time, EVERY * RATE)
    return np.where(within < LONG * RATE, (turn + 1) / 1000, 0).astype("f4")


class Numbered:
    """A transcriber that says which turn it hears."""

    vocabulary = SimpleNamespace(languages={})

    async def stream(self, samples: Any, **options: Any) -> AsyncGenerator[Segment, None]:
        """See `Transcriber`."""
        wave = samples.numpy()
        number = round(1000 * float(wave.max()))
        yield Segment(0.0, len(wave) / RATE, "so", "en", False)
        yield Segment(0.0, len(wave) / RATE, str(number), "en")


@pytest.mark.parametrize(("seconds", "live"), [(30, False), (2, True)])
def test_an_hour_keeps_its_times_and_takes_no_more_memory_than_a_minute(
    monkeypatch: Any, run_async: Callable[..., Any], seconds: int, live: bool
) -> None:
    def loud(self: Any, chunks: memoryview, states: Any) -> Any:
        found = np.frombuffer(chunks, "f4").reshape(-1, 64 + CHUNK)[:, 64:].max(1) > 0
        yield from ()
        return found.astype(float).tolist(), states

    monkeypatch.setattr(VoiceDetector, "probabilities", loud)
    monkeypatch.setattr(listen, "_models", (Numbered(), VoiceDetector(SileroVAD())))
    heard: list[tuple[float, float, str]] = []
    held: list[tuple[int, int, int]] = []
    count = 3600 // seconds

    async def all_of_it() -> Any:
        answer = None
        for number in range(count):
            options = {
                "first": number == 0, "last": number == count - 1, "live": live,
                "language": "en", "translate": False,
            }  # fmt: skip
            piece = hour(number * seconds, (number + 1) * seconds)
            async for item in listen.hear_sound(memoryview(piece), json.dumps(options)):
                found = json.loads(item)
                answer = found.get("answer")
                if found.get("progress", {}).get("final"):
                    step = found["progress"]
                    heard.append((step["start"], step["end"], step["text"]))
            sound = listen._sound
            assert sound is not None
            held.append((len(sound._samples), len(sound.turns._rest), len(sound.spans)))
        return answer

    assert run_async(all_of_it()) == {"seconds": 3600.0, "speaks": False}
    assert [text for *_, text in heard] == [str(number) for number in range(1, 401)]
    starts = [EVERY * number for number in range(400)]
    assert [start for start, *_ in heard] == pytest.approx(
        [max(0, at - 0.2) for at in starts], abs=0.04
    )
    assert [end for _, end, _ in heard] == pytest.approx(
        [at + LONG + 0.2 for at in starts], abs=0.04
    )
    samples, waiting, turns = zip(*held, strict=True)
    assert max(samples) <= max(samples[: count // 6]) < 62 * RATE
    assert max(waiting) < RATE and max(turns) <= 2
    listen.close_listener()
