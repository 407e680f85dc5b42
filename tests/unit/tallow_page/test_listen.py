"""The Listen view's Python: which turns are transcribed together, and what is reported."""

from __future__ import annotations

import json
from array import array
from collections.abc import AsyncGenerator, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tallow.errors import OptionError
from tallow.zoo import Segment, Span
from tallow_page import listen

RATE = 16000


class Turns:
    """A stream of turns that a test writes: each is given once its end was heard."""

    def __init__(self, spans: list[Span]) -> None:
        self._spans, self._seconds = list(spans), 0.0

    @property
    def began(self) -> float | None:
        """See `VoiceStream`."""
        return next((s.start for s in self._spans if s.start < self._seconds), None)

    async def add_async(self, samples: Any, *, is_last: bool) -> list[Span]:
        """See `VoiceStream`."""
        self._seconds += samples.shape[0] / RATE
        ended = [s for s in self._spans if is_last or s.end <= self._seconds]
        self._spans = [s for s in self._spans if s not in ended]
        return ended


class Heard:
    """A transcriber that says which sample of a sound it begins with, and for how long it lasts."""

    vocabulary = SimpleNamespace(languages={"en": 1, "de": 2})

    def __init__(self) -> None:
        self.given: list[dict[str, Any]] = []

    async def stream(self, samples: Any, **options: Any) -> AsyncGenerator[Segment, None]:
        """See `Transcriber`."""
        self.given.append(options)
        numbers = samples.tolist()
        seconds = len(numbers) / RATE
        yield Segment(0.0, seconds, "so", "de", False)
        yield Segment(0.0, seconds, f"{numbers[0]:.0f}", "de")


@pytest.fixture
def hear(monkeypatch: Any, run_async: Callable[..., Any]) -> Any:
    """Hears pieces of a sound, whose samples are seconds; the steps of each, and its answer."""

    def open_with(spans: list[Span]) -> Any:
        voice = SimpleNamespace(stream=lambda **_: Turns(spans))
        transcriber = Heard()
        monkeypatch.setattr(listen, "_models", (transcriber, voice))

        def add(begin: float, end: float, **options: Any) -> tuple[list[Any], Any]:
            samples = array(
                "f", (at / RATE for at in range(round(begin * RATE), round(end * RATE)))
            )
            given = {
                "first": begin == 0, "last": False, "live": False, "language": None,
                "translate": False, **options,
            }  # fmt: skip

            async def steps() -> list[Any]:
                action = listen.hear_sound(samples, json.dumps(given))
                return [json.loads(item) async for item in action]

            *found, answer = run_async(steps())
            return [each["progress"] for each in found], answer["answer"]

        add.given = transcriber.given  # type: ignore[attr-defined]
        return add

    return open_with


def finals(steps: list[Any]) -> list[tuple[float, float, str]]:
    return [(s["start"], s["end"], s["text"]) for s in steps if s["final"]]


def test_turns_of_a_file_that_are_near_are_transcribed_together(hear: Any) -> None:
    add = hear([Span(1, 4), Span(4.4, 9), Span(14, 18), Span(40, 45)])
    steps, answer = add(0, 30)
    # The turns until 9 s; that at 14 s is too far from them, and after it nobody speaks.
    assert finals(steps) == [(1, 9, "1"), (14, 18, "14")]
    assert answer == {"seconds": 30.0, "speaks": False}
    assert not steps[0]["final"] and steps[0]["text"] == "so"
    steps, answer = add(30, 60)
    assert finals(steps) == [(40, 45, "40")]
    steps, answer = add(60, 61, last=True)
    assert steps == [] and answer["seconds"] == 61


def test_a_window_is_never_longer_than_whisper_hears(hear: Any) -> None:
    add = hear([Span(at, at + 9.75) for at in range(0, 60, 10)])
    found = []
    for begin in (0, 30):
        steps, _ = add(begin, begin + 30, last=begin == 30)
        found += finals(steps)
    assert found[0][0] == 0 and found[-1][1] == 59.75
    assert all(end - start <= 29 for start, end, _ in found)
    assert [text for *_, text in found] == [f"{start:.0f}" for start, *_ in found]


def test_a_turn_that_may_go_on_waits_in_a_file_but_not_in_a_recording(hear: Any) -> None:
    add = hear([Span(1, 4), Span(4.5, 8)])
    assert finals(add(0, 4.25)[0]) == []
    steps, answer = add(4.25, 6)
    assert steps == [] and answer["speaks"]
    assert finals(add(6, 8.5, last=True)[0]) == [(1, 8, "1")]
    add = hear([Span(1, 4), Span(5, 8)])
    assert finals(add(0, 4.5, live=True)[0]) == [(1, 4, "1")]
    assert finals(add(4.5, 8.5, live=True)[0]) == [(5, 8, "5")]


def test_a_turn_that_whisper_left_out_is_transcribed_alone(hear: Any, monkeypatch: Any) -> None:
    add = hear([Span(1, 4), Span(4.5, 8)])

    async def first_alone(self: Any, samples: Any, **_: Any) -> AsyncGenerator[Segment, None]:
        yield Segment(0.0, 3.0, f"{samples.tolist()[0]:.1f}", "en")

    monkeypatch.setattr(Heard, "stream", first_alone)
    assert finals(add(0, 9, last=True)[0]) == [(1, 4, "1.0"), (4.5, 7.5, "4.5")]


def test_the_first_language_is_kept_and_options_are_handed_on(hear: Any) -> None:
    add = hear([Span(1, 2), Span(6, 7)])
    add(0, 10, last=True, translate=True)
    assert [each["language"] for each in add.given] == [None, "de"]
    assert {each["task"] for each in add.given} == {"translate"}
    add(0, 1, language="en", live=True)
    assert len(finals(add(1, 8, language="en", live=True)[0])) == 2  # another sound
    assert [each["language"] for each in add.given[2:]] == ["en", "en"]


def test_without_networks_nothing_is_heard(run_async: Callable[..., Any]) -> None:
    listen.close_listener()

    async def heard() -> list[Any]:
        return [each async for each in listen.hear_sound(array("f"), "{}")]

    with pytest.raises(OptionError, match="no network of speech is open"):
        run_async(heard())
