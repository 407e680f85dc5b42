"""Texts of speech, with times, by Whisper."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from .. import functions as f
from ..audio import log_mel_spectrogram, resample
from ..audio.resampling import reach, reduced
from ..core import dtype as dt
from ..core.drivers import Steps, YieldControl, run_async, run_sync
from ..core.hostarray import HostArray
from ..errors import OptionError, ShapeError
from ..grad_mode import no_grad
from ..graph import constant
from ..runtime.jit import jit, jit_method
from ..tensor import Tensor, asarray, reading
from .timestamps import Vocabulary
from .whisper import Whisper

RATE = 16000
"""Samples a second that the network hears."""

_QUIET = 1e-3
"""A window without a louder sample is silent: 60 dB below the loudest sound."""
_LEAST = 0.1
"""Seconds below which the rest of a sound is left out."""
_NO_SPEECH, _UNSURE = 0.6, -1.0
"""A probability of no speech above which, with a mean logarithm of the tokens' probabilities below
which, a window has no text; Radford et al. 2022, section 4.5."""


class Decodes(Protocol):
    """What makes a text of tokens, such as `tl.text.Tokenizer`."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text."""


class Segment(NamedTuple):
    """A piece of a text, from `start` to `end` in seconds; language: such as "en"."""

    start: float
    end: float
    text: str
    language: str


class Transcript(NamedTuple):
    """What was said."""

    text: str
    segments: list[Segment]


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
        self._hear, self._step = jit_method(self._hearing), jit_method(self._stepping)
        self._resample = jit(resample)

    def transcribe(
        self,
        samples: Any,
        rate: int = RATE,
        *,
        language: str | None = None,
        task: str = "transcribe",
        on_segment: Callable[[Segment], object] | None = None,
    ) -> Transcript:
        """What is said in a sound; blocks.

        samples: floating numbers between -1 and 1, (n,): a tensor, an array or a list, of any
          length. Silence has an empty text.
        rate: samples a second; they are resampled to 16,000.
        language: such as "en"; None is the one that the network hears in the first window with
          speech. Networks that know English alone take none.
        task: "translate" gives an English text.
        on_segment: is called with each segment as soon as there is one.
        Returns: the text, and its segments with their times in seconds.
        Raises: ShapeError for samples with other axes, such as two channels; OptionError for
          integers, samples that are not finite, a rate that is none, an unknown language or task.
        """
        return run_sync(self._transcribing(samples, rate, language, task, on_segment))

    async def transcribe_async(
        self,
        samples: Any,
        rate: int = RATE,
        *,
        language: str | None = None,
        task: str = "transcribe",
        on_segment: Callable[[Segment], object] | None = None,
    ) -> Transcript:
        """As `transcribe`, without blocking the event loop."""
        return await run_async(self._transcribing(samples, rate, language, task, on_segment))

    # ---- on the device --------------------------------------------------------------------------

    def _hearing(self, samples: Tensor) -> Tensor:
        features = log_mel_spectrogram(samples, self.net.mels)
        self._cache.hear(self.net.listen(f.expand_dims(features, 0)))
        return f.max(features)

    def _stepping(self, given: Tensor) -> Tensor:
        """The next token, behind one. given: int32 (6,): the token, its position, and what may
        follow. Returns float32 (4,): the next token, the logarithm of its probability, the
        probability of no speech, and the likeliest language."""
        words = self.vocabulary
        token, position, low, first, last, may_end = (given[number] for number in range(6))
        scores = self.net.step(f.reshape(token, (1, 1)), position, self._cache)[0]
        ids = f.arange(words.size)
        is_text = ids < words.times
        fits = f.where(is_text, ids >= low, f.logical_and(ids >= first, ids <= last))
        ends = f.logical_and(ids == words.end, may_end == 0)
        fits = f.logical_and(fits, f.logical_not(f.logical_or(self._banned, ends)))
        allowed = f.where(fits, scores, -math.inf)
        shares = f.exp(allowed - f.max(allowed))
        # A timestamp comes if all of them together are likelier than any text.
        is_time = f.sum(shares[words.times :]) > f.max(shares[: words.times])
        shares = f.where(f.logical_and(is_text, is_time), 0.0, shares)
        found = f.argmax(shares)
        chance = f.log(f.max(shares) / f.sum(shares))
        silent = f.exp(scores[words.silent] - f.max(scores))
        silent = silent / f.sum(f.exp(scores - f.max(scores)))
        tongues = words.languages.values()
        begin, end = (min(tongues), max(tongues)) if tongues else (0, 0)
        tongue = f.argmax(scores[begin : end + 1]) + begin
        numbers = [found.astype(dt.float32), chance, silent, tongue.astype(dt.float32)]
        return f.stack(numbers)

    # ---- on the host ----------------------------------------------------------------------------

    def _transcribing(
        self,
        samples: Any,
        rate: int,
        language: str | None,
        task: str,
        on_segment: Callable[[Segment], object] | None,
    ) -> Steps[Transcript]:
        words = self.vocabulary
        known = words.languages
        if language is not None and language not in known:
            which = ", ".join(known) or "none: the network knows English alone"
            raise OptionError(f"transcribe: language={language!r} is none of {which}")
        if task not in (words.tasks or ("transcribe",)):
            which = ", ".join(words.tasks or ("transcribe",))
            raise OptionError(f"transcribe: task={task!r} is none of {which}")
        wave = yield from self._at_rate(samples, rate)
        segments: list[Segment] = []
        at = 0
        while len(wave) - at > _LEAST * RATE:
            window = wave[at : at + self._window]
            seconds, start = len(window) / RATE, at / RATE
            if _peak(window) < _QUIET:
                at += len(window)
                continue
            self._hear_window(window)
            is_last = at + len(window) == len(wave)
            until = seconds if is_last else 0.0
            tokens, language, is_speech = yield from self._decode(language, task, until)
            cuts, after = words.cuts(tokens, seconds, is_last)
            at += max(round(after * RATE), 1) if is_speech else len(window)
            for cut in cuts if is_speech else ():
                text = self.tokenizer.decode(cut.tokens)
                if not text.strip():
                    continue
                end = min(cut.end, seconds)
                begin, end = round(start + cut.start, 2), round(start + end, 2)
                segments.append(Segment(begin, end, text, language or "en"))
                if on_segment:
                    on_segment(segments[-1])
            yield YieldControl()
        return Transcript("".join(each.text for each in segments).strip(), segments)

    def _hear_window(self, window: memoryview[float]) -> None:
        whole = bytearray(4 * self._window)
        whole[: window.nbytes] = window.cast("B")
        with no_grad():
            self._hear(_tensor(memoryview(whole), self._window))

    def _decode(
        self, language: str | None, task: str, until: float
    ) -> Steps[tuple[list[int], str | None, bool]]:
        """The tokens of the window that was heard, its language, and whether there is speech.
        until: see `Vocabulary.allowed`."""
        words = self.vocabulary
        first = yield from self._next(words.start, 0, [])
        silent = first[2]
        if language is None and words.languages:
            heard = int(first[3])
            language = next(name for name, token in words.languages.items() if token == heard)
        position, following = 0, first
        if language is not None:
            for token in (words.languages[language], words.tasks[task]):
                position += 1
                following = yield from self._next(token, position, [])
        tokens: list[int] = []
        total = 0.0
        for _ in range(self.net.max_len // 2):
            token, chance = int(following[0]), following[1]
            total += chance
            if token == words.end:
                break
            tokens.append(token)
            shorter = words.without_loop(tokens)
            if shorter is not None:
                tokens = shorter
                break
            position += 1
            if position + 1 >= self.net.max_len:
                break
            following = yield from self._next(token, position, tokens, until)
        unsure = total / (len(tokens) + 1) < _UNSURE
        return tokens, language, bool(tokens) and not (silent > _NO_SPEECH and unsure)

    def _next(
        self, token: int, position: int, tokens: Sequence[int], until: float = 0.0
    ) -> Steps[list[Any]]:
        given = array("i", [token, position, *self.vocabulary.allowed(tokens, until)])
        with no_grad():
            numbers = self._step(
                Tensor(constant(HostArray(memoryview(given).cast("B"), (6,), dt.int32)))
            )
        (read,) = yield from reading([numbers])
        return read.flat()

    def _at_rate(self, samples: Any, rate: int) -> Steps[memoryview[float]]:
        """The samples, 16,000 a second, float32."""
        orig, new = reduced(rate, RATE)
        sound = samples if isinstance(samples, Tensor) else asarray(samples)
        if sound.ndim != 1:
            raise ShapeError(
                f"transcribe: samples {sound.shape}; expected (n,): one channel, or their mean"
            )
        if not sound.dtype.is_floating:
            raise OptionError(
                f"transcribe: samples are {sound.dtype.name}; expected floating numbers between -1 "
                "and 1, such as int16 divided by 32768"
            )
        (read,) = yield from reading([sound.astype(dt.float32)])
        wave = memoryview(read.data).cast("f")
        if not math.isfinite(_total(wave)):
            raise OptionError("transcribe: samples are NaN or infinite")
        if orig == new:
            return wave
        # Piece by piece, so that a sound of an hour takes no more of the device than one of 30 s.
        steps = max(self._window // new, 1)
        border = math.ceil(reach(orig, new, 6, 0.99) / orig) * orig
        found = array("f")
        for begin in range(0, len(wave), steps * orig):
            piece = array("f", bytes(4 * (steps * orig + 2 * border)))
            low, high = begin - border, begin + steps * orig + border
            inside = wave[max(low, 0) : min(high, len(wave))]
            offset = max(low, 0) - low
            piece[offset : offset + len(inside)] = array("f", inside)
            with no_grad():
                slower = self._resample(
                    _tensor(memoryview(piece).cast("B"), len(piece)), orig_freq=rate, new_freq=RATE
                )
            (read,) = yield from reading([slower])
            skipped = border // orig * new
            found.frombytes(read.data[4 * skipped : 4 * (skipped + steps * new)])
        return memoryview(found).cast("B").cast("f")[: math.ceil(len(wave) * new / orig)]


def _tensor(data: memoryview, length: int) -> Tensor:
    return Tensor(constant(HostArray(data, (length,), dt.float32)))


def _total(wave: memoryview[float]) -> float:
    """The sum, which is not finite if a sample is not."""
    numpy = sys.modules.get("numpy")
    return float(numpy.frombuffer(wave, "f4").sum(dtype="f8")) if numpy else sum(wave)


def _peak(wave: memoryview[float]) -> float:
    """The loudest sample's absolute value."""
    low, high = HostArray(wave.cast("B"), (len(wave),), dt.float32).extremes()
    return max(-float(low), float(high))
