"""One second of sound as the networks of the Train view see it: energies in bands of the mel scale,
computed on the device in use."""

from __future__ import annotations

from array import array
from typing import Any

import tallow as tl
from tallow import audio
from tallow.core import dtype as dt
from tallow.core.drivers import run_async
from tallow.core.hostarray import HostArray
from tallow.errors import DataError
from tallow.graph import constant
from tallow.tensor import Tensor, reading

from ..javascript import copied

__all__ = ["BANDS", "COLUMNS", "RATE", "log_mel", "spectrogram_picture"]

RATE = 16_000
"""Samples of a clip, which lasts a second."""
BANDS = 40
COLUMNS = 50
_HOP = RATE // COLUMNS
_FLOOR = 1e-10
_RANGE = 8.0
"""Powers of ten below the loudest number, at which the numbers end, as in Whisper's features."""


@tl.jit
def _log_mel(clip: Tensor) -> Tensor:
    energies = audio.mel_spectrogram(clip / 32768, hop_length=_HOP, n_mels=BANDS)[:, :COLUMNS]
    powers = tl.log10(tl.maximum(energies, _FLOOR))
    return (tl.maximum(powers, tl.max(powers) - _RANGE) + 4) / 4


async def log_mel(clip: Any) -> bytes:
    """The logarithms of a clip's energies, float32 (BANDS, COLUMNS).

    clip: int16 (RATE,), one second, a JavaScript typed array or any buffer. Raises DataError for a
    clip of another length. Source: Radford et al. 2022, "Robust Speech Recognition via Large-Scale
    Weak Supervision", section 2.2, with twice as long steps and half of the bands.
    """
    data = memoryview(copied(clip)).cast("B")
    if data.nbytes != 2 * RATE:
        raise DataError(f"a clip of {data.nbytes // 2:,} samples; expected {RATE:,}, one second")
    samples = memoryview(array("f", data.cast("h")))
    found = _log_mel(Tensor(constant(HostArray(samples, (RATE,), dt.float32))))
    (numbers,) = await run_async(reading([found]))
    return bytes(numbers.data.cast("B"))


def spectrogram_picture(numbers: bytes) -> bytes:
    """The same as a picture, BANDS x COLUMNS bytes, the highest band first."""
    values = memoryview(numbers).cast("f").tolist()
    low = min(values)
    scale = 255 / max(max(values) - low, 1e-6)
    grey = bytes(int((value - low) * scale) for value in values)
    return b"".join(grey[COLUMNS * band : COLUMNS * (band + 1)] for band in reversed(range(BANDS)))
