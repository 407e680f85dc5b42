"""Texts of speech, with times, by Whisper.

A window whose text is unlikely, or repeats itself, is decoded again at higher temperatures (Radford
et al. 2022, section 4.5); the numbers are those of their program.
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Generator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple, Protocol

from .. import functions as f
from ..audio import log_mel_spectrogram
from ..core import dtype as dt
from ..core.drivers import Request, Steps, YieldControl, run_async, run_sync
from ..core.hostarray import HostArray
from ..core.iterating import StepIterator
from ..errors import OptionError
from ..grad_mode import no_grad
from ..graph import constant
from ..runtime.device import backend
from ..runtime.jit import Jitted, Pinned, jit_method
from ..tensor import Tensor
from .sounds import RATE, Resampler, host_tensor, peak
from .timestamps import Vocabulary
from .whisper import Whisper

TEMPERATURES = 0.0, 0.2, 0.4, 0.6, 0.8, 1.0
"""At which a window is decoded, until its text is likely enough."""

_QUIET = 1e-3
"""A window without a louder sample is silent: 60 dB below the loudest sound."""
_LEAST = 0.1
"""Seconds below which the rest of a sound is left out."""
_NO_SPEECH, _UNSURE = 0.6, -1.0
"""A probability of no speech above which, with a mean logarithm of the tokens' probabilities below
which, a window has no text."""
_REPETITIVE = 2.4
"""How many times shorter zlib makes a text that repeats itself."""


class Decodes(Protocol):
    """What makes a text of tokens, such as `tl.text.Tokenizer`."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text."""


class Segment(NamedTuple):
    """A piece of a text, from `start` to `end` in seconds; language: such as "en". final: False
    while its window is still being decoded."""

    start: float
    end: float
    text: str
    language: str
    final: bool = True


class Transcript(NamedTuple):
    """What was said."""

    text: str
    segments: list[Segment]


class _Scored(NamedTuple):
    """Scores of the next token: all of them, those of texts and of timestamps that may follow, and
    whether a timestamp does. total: the logarithm of the sum of the exponentials of what may."""

    scores: Tensor
    texts: Tensor
    times: Tensor
    is_time: Tensor
    total: Tensor


class _Decoded(NamedTuple):
    """The tokens of a window, the mean logarithm of their probabilities, that of no speech, and
    whether a loop was cut."""

    tokens: list[int]
    mean: float
    silent: float
    loops: bool


_Items = Generator["Request | Segment", Any, Any]


class Transcription(StepIterator[Segment]):
    """A sound that is being transcribed: an iterator of its segments, for `for` and `async for`."""

    def __init__(self, items: _Items) -> None:
        self._items = items

    def next_item(self) -> Steps[Segment | None]:
        """The next one; None at the end."""
        step = partial(self._items.send, None)
        while True:
            try:
                found = step()
            except StopIteration:
                return None
            if isinstance(found, Segment):
                return found
            try:
                answer = yield found
            except Exception as error:
                step = partial(self._items.throw, error)
            else:
                step = partial(self._items.send, answer)


class Transcriber:
    """Sounds to texts with times.

    A sound is heard in windows of 30 s, each of which begins where the last text ended. One plan
    hears, another one decodes token by token, with a cache on the device.

    net: a Whisper with its weights; it is set to `eval`.
    tokenizer: the network's own.
    generation: what its generation_config.json has.
    """

    def __init__(self, net: Whisper, tokenizer: Decodes, generation: Mapping[str, Any]) -> None:
        self.net, self.tokenizer = net.eval(), tokenizer
        self.vocabulary = Vocabulary.of(generation, net.vocabulary)
        self._cache = net.cache()
        self._window = RATE * net.frames // 50
        banned = array("B", bytes(net.vocabulary))
        for token in self.vocabulary.suppressed:
            banned[token] = 1
        self._banned = Tensor(constant(HostArray(memoryview(banned), (len(banned),), dt.bool_)))
        self._hear, self._step = jit_method(self._hearing), jit_method(self._best)
        self._draw = jit_method(self._drawn)
        self._pinned: dict[Any, Pinned] = {}
        self._resampler = Resampler("transcribe")

    def transcribe(
        self,
        samples: Any,
        rate: int = RATE,
        *,
        language: str | None = None,
        task: str = "transcribe",
        temperatures: Sequence[float] = TEMPERATURES,
    ) -> Transcript:
        """What is said in a sound; blocks.

        samples: floating numbers between -1 and 1, (n,): a tensor, an array or a list, of any
          length. Silence has an empty text.
        rate: samples a second; they are resampled to 16,000.
        language: such as "en"; None is the one that the network hears in the first window with
          speech. Networks that know English alone take none.
        task: "translate" gives an English text.
        temperatures: a window is decoded at one after the other until its text is likely and does
          not repeat itself; 0 takes the best token, others draw.
        Returns: the text, and its segments with their times in seconds.
        Raises: ShapeError for samples with other axes, such as two channels; OptionError for
          integers, samples that are not finite, a rate that is none, an unknown language or task,
          and temperatures out of range.
        """
        return run_sync(self._whole(samples, rate, language, task, temperatures))

    async def transcribe_async(
        self,
        samples: Any,
        rate: int = RATE,
        *,
        language: str | None = None,
        task: str = "transcribe",
        temperatures: Sequence[float] = TEMPERATURES,
    ) -> Transcript:
        """As `transcribe`, without blocking the event loop."""
        return await run_async(self._whole(samples, rate, language, task, temperatures))

    def stream(
        self,
        samples: Any,
        rate: int = RATE,
        *,
        language: str | None = None,
        task: str = "transcribe",
        temperatures: Sequence[float] = TEMPERATURES,
        partial: bool = False,
    ) -> Transcription:
        """The segments of a sound, each as soon as its window is decoded.

        partial: gives, between them, segments that are not `final`: the text of a window so far,
          after each token.
        The other arguments and errors are those of `transcribe`.
        Returns: what `for` and `async for` take.
        """
        return Transcription(
            self._transcribing(samples, rate, language, task, temperatures, partial)
        )

    # ---- on the device --------------------------------------------------------------------------

    def _hearing(self, samples: Tensor) -> Tensor:
        features = log_mel_spectrogram(samples, self.net.mels)
        self._cache.hear(self.net.listen(f.expand_dims(features, 0)))
        return f.max(features)

    def _best(self, given: Tensor) -> Tensor:
        """The likeliest token that may follow one. given: int32 (6,): the token, its position, and
        what may follow. Returns float32 (4,): the next token, the logarithm of its probability, the
        probability of no speech, and the likeliest language."""
        scored = self._scored(given)
        texts, times = scored.texts, scored.times
        found = f.where(scored.is_time, f.argmax(times) + texts.size, f.argmax(texts))
        return self._numbers(scored, found, f.where(scored.is_time, f.max(times), f.max(texts)))

    def _drawn(self, given: Tensor, chance: Tensor) -> Tensor:
        """As `_best`, with a token that is drawn. chance: float32 (2,): the temperature, and a
        number between 0 and 1: the share of the tokens before it."""
        scored = self._scored(given)
        texts = f.where(scored.is_time, -math.inf, scored.texts)
        scores = f.concat([texts, scored.times])
        running = f.cumulative_sum(f.exp((scores - f.max(scores)) / chance[0]))
        found = f.argmax((running > chance[1] * running[-1]).astype(dt.int32))
        one = f.sum(f.where(f.arange(self.vocabulary.size) == found, scores, 0.0))
        return self._numbers(scored, found, one)

    def _scored(self, given: Tensor) -> _Scored:
        """The scores of the next token."""
        words = self.vocabulary
        token, position, low, first, last, may_end = (given[number] for number in range(6))
        scores = self.net.step(f.reshape(token, (1, 1)), position, self._cache)[0]
        ids = f.arange(words.size)
        fits = f.where(ids < words.times, ids >= low, f.logical_and(ids >= first, ids <= last))
        ends = f.logical_and(ids == words.end, may_end == 0)
        fits = f.logical_and(fits, f.logical_not(f.logical_or(self._banned, ends)))
        allowed = f.where(fits, scores, -math.inf)
        texts, times = allowed[: words.times], allowed[words.times :]
        best = f.max(texts)
        most = f.maximum(best, f.max(times))
        share = f.sum(f.exp(times - most))
        # A timestamp comes if all of them together are likelier than any text.
        is_time = share > f.exp(best - most)
        total = f.where(is_time, share, share + f.sum(f.exp(texts - most)))
        return _Scored(scores, texts, times, is_time, most + f.log(total))

    def _numbers(self, scored: _Scored, found: Tensor, score: Tensor) -> Tensor:
        """found, score: a token and its own."""
        words, scores = self.vocabulary, scored.scores
        most = f.max(scores)
        silent = f.exp(scores[words.silent] - most) / f.sum(f.exp(scores - most))
        tongues = words.languages.values()
        begin, end = (min(tongues), max(tongues)) if tongues else (0, 0)
        tongue = f.argmax(scores[begin : end + 1]) + begin
        numbers = [found, score - scored.total, silent, tongue]
        return f.stack([number.astype(dt.float32) for number in numbers])

    # ---- on the host ----------------------------------------------------------------------------

    def _whole(
        self,
        samples: Any,
        rate: int,
        language: str | None,
        task: str,
        temperatures: Sequence[float],
    ) -> Steps[Transcript]:
        pieces = self.stream(samples, rate, language=language, task=task, temperatures=temperatures)
        segments: list[Segment] = []
        while segment := (yield from pieces.next_item()):
            segments.append(segment)
        return Transcript("".join(each.text for each in segments).strip(), segments)

    def _transcribing(
        self,
        samples: Any,
        rate: int,
        language: str | None,
        task: str,
        temperatures: Sequence[float],
        partial: bool,
    ) -> _Items:
        words = self.vocabulary
        known = words.languages
        if language is not None and language not in known:
            which = ", ".join(known) or "none: the network knows English alone"
            raise OptionError(f"transcribe: language={language!r} is none of {which}")
        if task not in (words.tasks or ("transcribe",)):
            which = ", ".join(words.tasks or ("transcribe",))
            raise OptionError(f"transcribe: task={task!r} is none of {which}")
        warmth = tuple(temperatures)
        if not warmth or min(warmth) < 0 or any(b <= a for a, b in pairwise(warmth)):
            raise OptionError(f"transcribe: temperatures={warmth} do not rise from 0 or more")
        wave = yield from self._resampler.at_rate(samples, rate, self._window)
        at = 0
        while len(wave) - at > _LEAST * RATE:
            window = wave[at : at + self._window]
            seconds, start = len(window) / RATE, at / RATE
            if peak(window) < _QUIET:
                at += len(window)
                continue
            self._hear_window(window)
            is_last = at + len(window) == len(wave)
            until = seconds if is_last else 0.0
            so_far = (start, start + seconds) if partial else None
            tokens, language = yield from self._likely(language, task, until, warmth, so_far)
            cuts, after = words.cuts(tokens, seconds, is_last)
            at += max(round(after * RATE), 1) if tokens else len(window)
            for cut in cuts if tokens else ():
                text = self.tokenizer.decode(cut.tokens)
                if not text.strip():
                    continue
                begin, end = (round(start + min(time, seconds), 2) for time in cut[:2])
                yield Segment(begin, end, text, language or "en")
            yield YieldControl()

    def _hear_window(self, window: memoryview[float]) -> None:
        whole = bytearray(4 * self._window)
        whole[: window.nbytes] = window.cast("B")
        with no_grad():
            self._hear(host_tensor(memoryview(whole), self._window))

    def _likely(
        self,
        language: str | None,
        task: str,
        until: float,
        temperatures: Sequence[float],
        so_far: tuple[float, float] | None,
    ) -> Generator[Request | Segment, Any, tuple[list[int], str | None]]:
        """The tokens of the window that was heard, none if nobody speaks in it, and its language.
        until: see `Vocabulary.allowed`. so_far: the window's times, if partial texts are wanted."""
        words = self.vocabulary
        first = yield from self._next(words.start, 0, [])
        if language is None and words.languages:
            heard = int(first[3])
            language = next(name for name, token in words.languages.items() if token == heard)
        dice = Random(0)
        tokens: list[int] = []
        for temperature in temperatures:
            found = yield from self._decode(first, language, task, until, temperature, dice, so_far)
            tokens = found.tokens
            unsure = found.mean < _UNSURE
            if found.silent > _NO_SPEECH and unsure:
                return [], language
            if not unsure and not found.loops and not self._repeats(tokens):
                break
        return tokens, language

    def _repeats(self, tokens: Sequence[int]) -> bool:
        text = self._text(tokens).encode()
        return len(text) > _REPETITIVE * len(zlib.compress(text))

    def _text(self, tokens: Sequence[int]) -> str:
        return self.tokenizer.decode([token for token in tokens if token < self.vocabulary.end])

    def _decode(
        self,
        first: list[Any],
        language: str | None,
        task: str,
        until: float,
        temperature: float,
        dice: Random,
        so_far: tuple[float, float] | None,
    ) -> Generator[Request | Segment, Any, _Decoded]:
        """first: what follows the first token."""
        words = self.vocabulary
        prompt = [] if language is None else [words.languages[language], words.tasks[task]]
        position, following = 0, first
        if not prompt and temperature:
            prompt, position = [words.start], -1
        for token in prompt:
            position += 1
            chance = (temperature, dice.random()) if token == prompt[-1] else None
            following = yield from self._next(token, position, [], until, chance)
        tokens: list[int] = []
        total, loops = 0.0, False
        for _ in range(self.net.max_len // 2):
            token = int(following[0])
            total += following[1]
            if token == words.end:
                break
            tokens.append(token)
            shorter = words.without_loop(tokens)
            if shorter is not None:
                tokens, loops = shorter, True
                break
            if so_far and token < words.end:
                yield Segment(*so_far, self._text(tokens), language or "en", False)
            position += 1
            if position + 1 >= self.net.max_len:
                break
            chance = temperature, dice.random()
            following = yield from self._next(token, position, tokens, until, chance)
        return _Decoded(tokens, total / (len(tokens) + 1), first[2], loops)

    def _next(
        self,
        token: int,
        position: int,
        tokens: Sequence[int],
        until: float = 0.0,
        chance: tuple[float, float] | None = None,
    ) -> Steps[list[Any]]:
        """What follows a token. chance: the temperature, and a number between 0 and 1."""
        given = array("i", [token, position, *self.vocabulary.allowed(tokens, until)])
        what = Tensor(constant(HostArray(memoryview(given).cast("B"), (6,), dt.int32)))
        if chance and chance[0]:
            how = host_tensor(memoryview(array("f", chance)).cast("B"), 2)
            running = self._plan(self._draw, what, how).read(what, how)
        else:
            running = self._plan(self._step, what).read(what)
        (read,) = yield from running
        return read.flat()

    def _plan(self, function: Jitted, *args: Tensor) -> Pinned:
        """A function's plan; the network is not looked at again once there is one, which would take
        longer than Python's other work for a token."""
        key = function, backend(None).memory
        if key not in self._pinned:
            with no_grad():
                self._pinned[key] = function.pinned(*args)
        return self._pinned[key]
