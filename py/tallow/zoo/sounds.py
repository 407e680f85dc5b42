"""Sounds as networks of speech hear them: one channel, 16,000 samples a second, float32."""

from __future__ import annotations

import math
import sys
from array import array
from typing import Any

from ..audio import resample
from ..audio.resampling import reach, reduced
from ..core import dtype as dt
from ..core.drivers import Steps
from ..core.hostarray import HostArray
from ..errors import OptionError, ShapeError
from ..grad_mode import no_grad
from ..graph import constant
from ..runtime.jit import jit
from ..tensor import Tensor, asarray, reading

RATE = 16000
"""Samples a second."""


class Resampler:
    """Sounds of any rate at 16,000 samples a second. name: of the function, for errors."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._resample = jit(resample)

    def at_rate(self, samples: Any, rate: int, piece: int) -> Steps[memoryview[float]]:
        """The samples, float32.

        samples: floating numbers (n,): a tensor, an array or a list. rate: theirs. piece: how many
        new samples are computed at once, about, so that a sound of an hour takes no more of the
        device than so many.
        Raises: ShapeError for other axes; OptionError for integers, samples that are not finite,
          and a rate that is none.
        """
        orig, new = reduced(rate, RATE)
        sound = samples if isinstance(samples, Tensor) else asarray(samples)
        if sound.ndim != 1:
            raise ShapeError(
                f"{self._name}: samples {sound.shape}; expected (n,): one channel, or their mean"
            )
        if not sound.dtype.is_floating:
            raise OptionError(
                f"{self._name}: samples are {sound.dtype.name}; expected floating numbers between "
                "-1 and 1, such as int16 divided by 32768"
            )
        (read,) = yield from reading([sound.astype(dt.float32)])
        wave = memoryview(read.data).cast("f")
        if not math.isfinite(_total(wave)):
            raise OptionError(f"{self._name}: samples are NaN or infinite")
        if orig == new:
            return wave
        steps = max(piece // new, 1)
        border = math.ceil(reach(orig, new, 6, 0.99) / orig) * orig
        found = array("f")
        for begin in range(0, len(wave), steps * orig):
            part = array("f", bytes(4 * (steps * orig + 2 * border)))
            low, high = begin - border, begin + steps * orig + border
            inside = wave[max(low, 0) : min(high, len(wave))]
            offset = max(low, 0) - low
            part[offset : offset + len(inside)] = array("f", inside)
            with no_grad():
                slower = self._resample(
                    host_tensor(memoryview(part).cast("B"), len(part)),
                    orig_freq=rate,
                    new_freq=RATE,
                )
            (read,) = yield from reading([slower])
            skipped = border // orig * new
            found.frombytes(read.data[4 * skipped : 4 * (skipped + steps * new)])
        return memoryview(found).cast("B").cast("f")[: math.ceil(len(wave) * new / orig)]


def host_tensor(data: memoryview, *shape: int) -> Tensor:
    """A float32 tensor of bytes."""
    return Tensor(constant(HostArray(data, shape, dt.float32)))


def peak(wave: memoryview[float]) -> float:
    """The loudest sample's absolute value."""
    low, high = HostArray(wave.cast("B"), (len(wave),), dt.float32).extremes()
    return max(-float(low), float(high))


def _total(wave: memoryview[float]) -> float:
    """The sum, which is not finite if a sample is not."""
    numpy = sys.modules.get("numpy")
    return float(numpy.frombuffer(wave, "f4").sum(dtype="f8")) if numpy else sum(wave)
