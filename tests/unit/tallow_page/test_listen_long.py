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
from tallow.zoo import Segment, Span
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
