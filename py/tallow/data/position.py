"""How far a loader is within an epoch, so that another one can go on from there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from random import Random
from typing import Any, TypeVar

from .. import random
from ..random import Generator, State, packed, unpacked

T = TypeVar("T")


class Position:
    """How many batches an epoch has given, and the random numbers that its order began with.

    generator: what the order is drawn from; None is what `tl.manual_seed` begins.
    """

    def __init__(self, generator: object) -> None:
        self.batches = 0
        self._generator = generator
        self._order: State | None = None
        self._resumed: Mapping[str, Any] | None = None

    def state_dict(self) -> dict[str, Any]:
        """Numbers and texts, for `load_state_dict`."""
        if self._resumed is not None:  # nothing was given since
            return dict(self._resumed)
        own = None if self._generator is None else packed(self._state())
        order = None if self._order is None else packed(self._order)
        return {"batches": self.batches, "order": order, "generator": own}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Has the next epoch go on where `state_dict` was called."""
        self._resumed = dict(state)

    def begin(self) -> int:
        """Begins an epoch. Returns how many of its batches were given before."""
        resumed = self._resumed
        self.batches = 0
        if resumed is None or resumed["order"] is None:
            self._resumed, self._order = None, self._state()
            return 0
        self._order = unpacked(resumed["order"])
        self.batches = int(resumed["batches"])
        return self.batches

    def after(self, source: Iterable[T], skipped: int) -> Iterator[T]:
        """What comes after the first elements, which are drawn as they were before."""
        resumed, self._resumed = self._resumed, None
        if resumed is None or self._order is None:
            return iter(source)
        now = self._state() if self._generator is None else unpacked(resumed["generator"])
        self._restore(self._order)
        rest = iter(source)
        for _ in islice(rest, skipped):
            pass
        self._restore(now)
        return rest

    def _state(self) -> State:
        generator = self._generator
        if generator is None:
            return random.state()
        if isinstance(generator, Generator):
            return generator.get_state()
        host = generator.getstate() if isinstance(generator, Random) else Random(0).getstate()
        return State((0, 0), 0, host)

    def _restore(self, state: State) -> None:
        generator = self._generator
        if generator is None:
            random.set_state(state)
        elif isinstance(generator, Generator):
            generator.set_state(state)
        elif isinstance(generator, Random):
            generator.setstate(state.host)
