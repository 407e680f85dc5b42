"""The Listen view's Python: two networks, one that finds speech and one that writes it down."""

from __future__ import annotations

import json
from array import array
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from tallow.errors import OptionError
from tallow.zoo import Span, Transcriber, VoiceDetector, VoiceStream
from tallow.zoo.sounds import RATE, host_tensor

from .app import on_start
from .javascript import copied, plain
from .published import opened
from .steps import Answer, streamed

if TYPE_CHECKING:
    from .contract.texts import HeardAnswer, HeardText, SpeechModel

__all__ = ["close_listener", "hear_sound", "open_listener"]

_WINDOW = 28.0
"""Seconds that are transcribed together, at most: Whisper hears 30."""
_NEAR = 0.5
"""Seconds between turns that are still transcribed together: in longer pauses Whisper stops."""


class _Sound:
    """A sound that is being heard: the samples that are still needed, and the turns that nobody has
    transcribed."""

    def __init__(self, voice: VoiceDetector) -> None:
        self.turns: VoiceStream = voice.stream(min_silence=0.5, padding=0.2, longest=_WINDOW)
        self.spans: list[Span] = []
        self.language: str | None = None
        self.seconds = 0.0
        self._samples = array("f")
        self._begin = 0

    async def add(self, samples: Any, is_last: bool) -> None:
        """More of it. samples: float32, 16,000 a second."""
        data = memoryview(copied(samples)).cast("B")
        self._samples.frombytes(data)
        self.seconds += len(data) / 4 / RATE
        wave = host_tensor(data, len(data) // 4)
        self.spans += await self.turns.add_async(wave, is_last=is_last)

    def next(self, waits: bool) -> tuple[list[Span], Any] | None:
        """The turns to transcribe next, and their samples; None if there are none. waits: whether
        more turns may still come, that would fit into the same window."""
        self._forget()
        spans = self.spans
        count = 0
        while count < len(spans) and _together(spans[: count + 1]):
            count += 1
        if not count or (waits and count == len(spans) and not self._is_full()):
            return None
        turns = spans[:count]
        del spans[:count]
        first = max(0, round(turns[0].start * RATE) - self._begin)
        return turns, self._samples[first : round(turns[-1].end * RATE) - self._begin]

    def left(self, turns: list[Span], until: float) -> None:
        """Takes back the turns that begin after the last text."""
        self.spans[:0] = [turn for turn in turns[1:] if turn.start >= until]

    def _is_full(self) -> bool:
        """Whether what is said now no longer fits behind the turns."""
        began = self.turns.began
        now = self.seconds if began is None else began
        first, last = self.spans[0], self.spans[-1]
        return now - last.end > _NEAR or self.seconds - first.start > _WINDOW

    def _forget(self) -> None:
        """Forgets samples that no turn needs."""
        began = self.turns.began
        needed = [span.start for span in self.spans[:1]]
        needed += [self.seconds - 2.0 if began is None else began]
        count = round(min(needed) * RATE) - self._begin
        if count > 0:
            del self._samples[:count]
            self._begin += count


def _together(spans: list[Span]) -> bool:
    gap = spans[-1].start - spans[-2].end if spans[1:] else 0.0
    return spans[-1].end - spans[0].start <= _WINDOW + 1 and gap <= _NEAR


_models: tuple[Transcriber, VoiceDetector] | None = None
_sound: _Sound | None = None


def close_listener() -> None:
    """Frees the networks, if they are open."""
    global _models, _sound
    _models = _sound = None


on_start.append(close_listener)


@streamed
async def open_listener(source: Any, voice: Any) -> AsyncGenerator[Any, None]:
    """Opens the networks; those before are closed. Yields a `Fetching` for each step, and last a
    `SpeechModel`.

    source: Whisper as `opened` takes it, from JavaScript. voice: the same of the voice detector.
    Raises TallowError in one line.
    """
    global _models
    close_listener()
    found: list[Any] = []
    for given, wanted in ((voice, VoiceDetector), (source, Transcriber)):
        async for item in opened(plain(given)):
            if isinstance(item, dict):
                yield item
            elif isinstance(item, wanted):
                found.append(item)
            else:
                raise OptionError(f"this network is no {wanted.__name__}")
    detector, transcriber = found
    _models = transcriber, detector
    facts: SpeechModel = {
        "parameters": sum(each.size for each in transcriber.net.state_dict().values()),
        "languages": list(transcriber.vocabulary.languages),
    }
    yield Answer(facts)


@streamed
async def hear_sound(samples: Any, options: str) -> AsyncGenerator[Any, None]:
    """Hears the next samples of a sound: a `HeardText` a step, last a `HeardAnswer`.

    samples: float32, 16,000 a second, a JavaScript typed array or a buffer. options: JSON: first,
    last: whether the sound begins, ends with them; live: whether it is being recorded, so that no
    turn waits for others; language: such as "en", or null; translate: into English.
    """
    global _sound
    if _models is None:
        raise OptionError("no network of speech is open")
    transcriber, voice = _models
    given = json.loads(options)
    if given["first"] or _sound is None:
        _sound = _Sound(voice)
    sound = _sound
    await sound.add(samples, given["last"])
    task = "translate" if given["translate"] else "transcribe"
    waits = not given["live"] and not given["last"]
    while (turn := sound.next(waits)) is not None:
        turns, wave = turn
        begin = until = turns[0].start
        language = given["language"] or sound.language
        data = host_tensor(memoryview(wave).cast("B"), len(wave))
        stream = transcriber.stream(data, language=language, task=task, partial=True)
        async for segment in stream:
            sound.language = segment.language if transcriber.vocabulary.languages else None
            step: HeardText = {
                "stage": "heard",
                "start": round(begin + segment.start, 2),
                "end": round(begin + segment.end, 2),
                "text": segment.text,
                "language": segment.language,
                "final": segment.final,
            }
            if segment.final:
                until = begin + segment.end
            yield step
        if until > begin:
            sound.left(turns, until)
    answer: HeardAnswer = {"seconds": sound.seconds, "speaks": sound.turns.began is not None}
    yield Answer(answer)
