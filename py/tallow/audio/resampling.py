"""Sounds at another sampling rate."""

from __future__ import annotations

import math
from array import array
from functools import lru_cache

from .. import functional
from .. import functions as f
from ..core import dtype as dt
from ..core.hostarray import HostArray
from ..errors import OptionError, ShapeError
from ..graph import constant
from ..tensor import Tensor

_MOST = 1 << 22
"""Elements of a table of filters."""


def reduced(orig_freq: int, new_freq: int) -> tuple[int, int]:
    """The two rates without their common factor: so many old samples take the time of so many new
    ones. Raises OptionError for what is no rate."""
    for rate in (orig_freq, new_freq):
        if isinstance(rate, bool) or not isinstance(rate, int) or rate < 1:
            raise OptionError(f"resample: {rate!r} is no number of samples a second")
    common = math.gcd(orig_freq, new_freq)
    return orig_freq // common, new_freq // common


def reach(orig: int, new: int, width: int, rolloff: float) -> int:
    """Old samples on either side that a new one depends on; for rates without a common factor."""
    return math.ceil(width * orig / (min(orig, new) * rolloff))


@lru_cache(maxsize=4)
def _filters(orig: int, new: int, width: int, rolloff: float) -> Tensor:
    """A sinc under Hann's window for each of `new` samples, (new, 1, orig + 2 * reach)."""
    base = min(orig, new) * rolloff
    border = reach(orig, new, width, rolloff)
    values = array("f")
    for phase in range(new):
        for at in range(-border, border + orig):
            time = (at / orig - phase / new) * base
            if abs(time) >= width:
                values.append(0.0)
                continue
            window = math.cos(math.pi * time / width / 2) ** 2
            turn = math.pi * time
            sinc = math.sin(turn) / turn if turn else 1.0
            values.append(window * sinc * base / orig)
    shape = new, 1, orig + 2 * border
    return Tensor(constant(HostArray(memoryview(values).cast("B"), shape, dt.float32)))


def resample(
    waveform: Tensor,
    orig_freq: int,
    new_freq: int,
    lowpass_filter_width: int = 6,
    rolloff: float = 0.99,
) -> Tensor:
    """A sound with another number of samples a second, without the frequencies that these cannot
    express.

    waveform: float32 (..., samples).
    orig_freq, new_freq: samples a second.
    lowpass_filter_width: zeros of the filter on either side; more make it sharper.
    rolloff: where the filter ends, as a share of the highest frequency.
    Returns: float32 (..., ceil(samples * new_freq / orig_freq)).
    Raises: OptionError for rates that are no positive integers, and for two with so small a common
      factor that the table of filters would be huge; ShapeError for a number.
    Source: Smith, "Digital Audio Resampling Home Page"; torchaudio's documentation,
      `torchaudio.functional.resample`.
    """
    orig, new = reduced(orig_freq, new_freq)
    if waveform.ndim < 1:
        raise ShapeError("resample: a sound has an axis of samples")
    if orig == new:
        return waveform
    border = reach(orig, new, lowpass_filter_width, rolloff)
    if new * (orig + 2 * border) > _MOST:
        raise OptionError(
            f"resample: {orig_freq} and {new_freq} samples a second have too small a common factor "
            f"({math.gcd(orig_freq, new_freq)}); choose rates such as 44100, 48000 and 16000"
        )
    lead, samples = waveform.shape[:-1], waveform.shape[-1]
    flat = f.reshape(waveform, (-1, 1, samples))
    padded = functional.pad(flat, (border, border + orig))
    steps = functional.conv1d(
        padded, _filters(orig, new, lowpass_filter_width, rolloff), stride=orig
    )
    found = f.reshape(f.permute_dims(steps, (0, 2, 1)), (flat.shape[0], -1))
    length = math.ceil(new * samples / orig)
    return f.reshape(found[:, :length], (*lead, length))
