"""Spectrograms: how strong each frequency is in short pieces of a sound, also on the mel scale.

A transform of so short a piece is a product with a matrix of cosines and sines, which every device
computes fast.
"""

from __future__ import annotations

import math
from array import array
from functools import lru_cache

from .. import functions as f
from ..core import dtype as dt
from ..core.hostarray import HostArray
from ..errors import OptionError, ShapeError
from ..graph import constant
from ..tensor import Tensor

_LINEAR_STEP = 200 / 3
"""Hertz of a mel below 1000 Hz, on Slaney's scale."""
_LOG_START = 1000.0
_LOG_STEP = math.log(6.4) / 27
"""The logarithm of the ratio of frequencies that are a mel apart, above 1000 Hz."""

_WHISPER_FLOOR = 1e-10
_WHISPER_RANGE = 8.0
"""Powers of ten below the loudest number, at which Whisper's features end."""


def _tensor(values: array[float], shape: tuple[int, ...]) -> Tensor:
    return Tensor(constant(HostArray(memoryview(values).cast("B"), shape, dt.float32)))


@lru_cache(maxsize=4)
def _transform(n_fft: int) -> Tensor:
    """Cosines and negative sines (n_fft, 2 * frequencies), times Hann's window."""
    turns = [2 * math.pi * step / n_fft for step in range(n_fft)]
    cosines, sines = [math.cos(turn) for turn in turns], [-math.sin(turn) for turn in turns]
    frequencies = range(n_fft // 2 + 1)
    values = array("f")
    for step in range(n_fft):
        window = 0.5 - 0.5 * cosines[step]
        for table in (cosines, sines):
            values.extend(window * table[step * number % n_fft] for number in frequencies)
    return _tensor(values, (n_fft, 2 * len(frequencies)))


def spectrogram(
    waveform: Tensor, n_fft: int = 400, hop_length: int | None = None, power: float = 2.0
) -> Tensor:
    """How strong each frequency is in each piece of a sound, weighted by Hann's window.

    waveform: float32 (..., samples), more than n_fft // 2. The pieces' middles lie on samples, from
      the first one on; the sound is mirrored at its ends.
    n_fft: samples of a piece.
    hop_length: samples from one piece to the next; None is n_fft // 2.
    power: 2 gives the squares of the absolute values, 1 these.
    Returns: float32 (..., n_fft // 2 + 1, samples // hop_length + 1).
    Raises: OptionError for lengths below 1 and another power, ShapeError for too few samples.
    Source: torchaudio's documentation, `torchaudio.transforms.Spectrogram`.
    """
    hop = n_fft // 2 if hop_length is None else hop_length
    if n_fft < 2 or hop < 1:
        raise OptionError(f"spectrogram: pieces of {n_fft} samples, {hop} samples apart")
    if power not in (1, 2):
        raise OptionError(f"spectrogram: power={power} is neither 1 nor 2")
    if waveform.ndim < 1 or waveform.shape[-1] <= n_fft // 2:
        raise ShapeError(
            f"spectrogram: a sound {waveform.shape} needs more than {n_fft // 2} samples"
        )
    lead, samples = waveform.shape[:-1], waveform.shape[-1]
    flat = f.reshape(waveform, (-1, samples))
    border = n_fft // 2
    # Two ends, turned round: `functional.pad` would list where each sample comes from, which
    # takes a second for half a minute of sound.
    before = f.flip(flat[:, 1 : border + 1], axis=1)
    behind = f.flip(flat[:, samples - border - 1 : samples - 1], axis=1)
    padded = f.concat([before, flat, behind], axis=1)
    count = samples // hop + 1
    starts = f.reshape(f.arange(count) * hop, (-1, 1))
    pieces = f.take(padded, starts + f.arange(n_fft), axis=1)
    parts = f.matmul(pieces, _transform(n_fft))
    bins = n_fft // 2 + 1
    real, imaginary = parts[..., :bins], parts[..., bins:]
    found = f.permute_dims(real * real + imaginary * imaginary, (0, 2, 1))
    found = f.reshape(found, (*lead, bins, count))
    return found if power == 2 else f.sqrt(found)


def _mel(hertz: float) -> float:
    if hertz < _LOG_START:
        return hertz / _LINEAR_STEP
    return _LOG_START / _LINEAR_STEP + math.log(hertz / _LOG_START) / _LOG_STEP


def _hertz(mel: float) -> float:
    start = _LOG_START / _LINEAR_STEP
    return mel * _LINEAR_STEP if mel < start else _LOG_START * math.exp(_LOG_STEP * (mel - start))


@lru_cache(maxsize=8)
def mel_filters(
    n_mels: int = 80,
    n_fft: int = 400,
    sample_rate: int = 16000,
    f_min: float = 0.0,
    f_max: float | None = None,
) -> Tensor:
    """Triangles over the frequencies of a spectrogram, evenly spaced on Slaney's mel scale, each of
    the same area.

    n_mels: how many.
    n_fft: samples of the spectrogram's pieces.
    sample_rate: samples a second.
    f_min: where the first begins, in hertz.
    f_max: where the last ends; None is half the sample rate.
    Returns: float32 (n_mels, n_fft // 2 + 1).
    Raises: OptionError for an empty range of frequencies and for no filters.
    Source: Slaney 1998, "Auditory Toolbox".
    """
    end = sample_rate / 2 if f_max is None else f_max
    if n_mels < 1 or not 0 <= f_min < end:
        raise OptionError(f"mel_filters: {n_mels} filters from {f_min} to {end} Hz")
    low, high = _mel(f_min), _mel(end)
    edges = [_hertz(low + (high - low) * at / (n_mels + 1)) for at in range(n_mels + 2)]
    bins = n_fft // 2 + 1
    values = array("f")
    for left, middle, right in zip(edges, edges[1:], edges[2:], strict=False):
        for number in range(bins):
            hertz = number * sample_rate / n_fft
            side = min((hertz - left) / (middle - left), (right - hertz) / (right - middle))
            values.append(max(side, 0.0) * 2 / (right - left))
    return _tensor(values, (n_mels, bins))


def mel_spectrogram(
    waveform: Tensor,
    sample_rate: int = 16000,
    n_fft: int = 400,
    hop_length: int | None = None,
    n_mels: int = 80,
    f_min: float = 0.0,
    f_max: float | None = None,
    power: float = 2.0,
) -> Tensor:
    """The energies of a sound in bands of the mel scale: see `spectrogram` and `mel_filters`.

    waveform: float32 (..., samples).
    Returns: float32 (..., n_mels, samples // hop_length + 1).
    Raises: as these do.
    """
    filters = mel_filters(n_mels, n_fft, sample_rate, f_min, f_max)
    return f.matmul(filters, spectrogram(waveform, n_fft, hop_length, power))


def log_mel_spectrogram(waveform: Tensor, n_mels: int = 80) -> Tensor:
    """What Whisper hears: the logarithms of energies in mel bands, a column for each hundredth of a
    second.

    waveform: float32 (samples,), 16,000 a second, between -1 and 1.
    n_mels: bands; 80 in most models, 128 in the third large one.
    Returns: float32 (n_mels, samples // 160); the loudest number is at most 1.5 and the lowest 2
      below it.
    Raises: ShapeError for another number of axes and fewer than 201 samples.
    Source: Radford et al. 2022, "Robust Speech Recognition via Large-Scale Weak Supervision",
      section 2.2.
    """
    if waveform.ndim != 1:
        raise ShapeError(f"log_mel_spectrogram: a sound {waveform.shape}; expected (samples,)")
    energies = mel_spectrogram(waveform, hop_length=160, n_mels=n_mels)[:, :-1]
    powers = f.log10(f.maximum(energies, _WHISPER_FLOOR))
    return (f.maximum(powers, f.max(powers) - _WHISPER_RANGE) + 4) / 4
