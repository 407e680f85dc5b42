"""Figures of a run that are no mean over samples: names, speed, memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from ..runtime.buffer import live_buffers
from ..runtime.device import backend
from ..runtime.jit import Jitted

FIGURES = ("lr", "grad_norm", "items_per_second", "memory", "process_memory")
"""What `Learner(metrics=...)` takes beside metrics. They become part of the records."""

_LOOKS_APART = 0.25
"""Seconds between two looks, about."""

_TURNS = 8
"""How many times from one look to the next other tasks get a turn."""


class Pace:
    """After how many steps there is a look: as many as take `_LOOKS_APART`. So a device that runs
    behind has few steps waiting, and one that is fast is rarely asked. Other tasks get a turn a few
    times in between. It counts the samples, too, since the look before and since the record
    before."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._every = clock, 1
        self.begin()

    def begin(self) -> None:
        """A record was made, or the first one begins: counts from here on."""
        self.started = self._clock()
        self._items = 0
        self._begin_look(self.started)

    def _begin_look(self, now: float) -> None:
        self._steps, self._looked_at, self._since = 0, self._items, now

    def due(self, items: int) -> bool:
        """Counts a step, of so many samples. Returns whether it is time for a look."""
        self._steps += 1
        self._items += items
        return self._steps >= self._every

    @property
    def gives_way(self) -> bool:
        """Whether it is time to let other tasks run; it is after a look."""
        return self._steps % max(1, self._every // _TURNS) == 0

    def looked(self) -> float:
        """A look is over. Returns how many samples a second there were since the one before."""
        now = self._clock()
        seconds = max(now - self._since, 1e-9)
        rate = (self._items - self._looked_at) / seconds
        wanted = round(self._steps / seconds * _LOOKS_APART)
        self._every = max(1, min(2 * self._every, wanted))
        self._begin_look(now)
        return rate

    def rate(self) -> float:
        """How many samples a second there were since the record before."""
        return self._items / max(self._clock() - self.started, 1e-9)


def device_memory(device: str | None, functions: Iterable[Jitted]) -> int:
    """The bytes that tensors, variables and these functions' plans hold on a device."""
    name = backend(device).info.device
    return live_buffers(name).bytes + sum(each.nbytes for each in functions)


def process_memory() -> int | None:
    """The bytes of this process that are in memory; its most so far where the system does not tell
    what they are now; None where it tells neither, as in a browser."""
    with suppress(OSError, ValueError, IndexError, AttributeError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * int(os.sysconf("SC_PAGE_SIZE"))
    with suppress(ImportError, OSError):
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return int(most) * (1 if sys.platform == "darwin" else 1024) or None
    return None
