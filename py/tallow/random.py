"""The seed of random numbers, and how many draws there have been.

Every draw has a number. Numbers are computed from the seed and that number by a counter-based
generator (functions/philox.py), so that they are the same on every device, differ from draw to
draw, and begin again after `manual_seed`.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Self

from .core import context
from .core import dtype as dt
from .core.hostarray import HostArray, from_values
from .errors import TracingError
from .graph import make
from .ops import source
from .tensor import Tensor

_WORD = 0xFFFFFFFF


class Numbers:
    """A line of random numbers: the seed, how many draws there were, and those of the host.

    seed: an integer; with None, numbers differ in every run of the program.
    """

    def __init__(self, seed: int | None) -> None:
        self.begin(seed)

    def begin(self, seed: int | None) -> None:
        """Begins again."""
        self.source = random.SystemRandom() if seed is None else random.Random(seed)
        self.seed = None if seed is None else (seed & _WORD, seed >> 32 & _WORD)
        self.draws = 0


_common = Numbers(None)
_own: ContextVar[Numbers | None] = ContextVar("random_numbers", default=None)
_asked = 0


def _here() -> Numbers:
    return _own.get() or _common


@contextmanager
def drawing_from(numbers: Numbers) -> Iterator[None]:
    """Within the block, and in this thread or task alone, all random numbers are those given."""
    token = _own.set(numbers)
    try:
        yield
    finally:
        _own.reset(token)


def manual_seed(seed: int | None) -> None:
    """Begins random numbers again, equal for equal seeds: those of dropout, of initial values, of
    `rand` and the like, and of random ONNX operators without a seed of their own.

    The name is PyTorch's; the numbers are not.

    seed: an integer. With None, the default state, numbers differ in every run of the program.
    Returns: nothing.
    Source: PyTorch, `torch.manual_seed`, for the name.
    """
    _here().begin(seed)


class State(NamedTuple):
    """Where random numbers are: the seed, how many draws there were, and those of the host."""

    seed: tuple[int, int]
    draws: int
    host: tuple[Any, ...]


def state() -> State:
    """Where random numbers are now, for `set_state`."""
    numbers = _here()
    seed = _seed_of(numbers)
    if isinstance(numbers.source, random.SystemRandom):
        numbers.source = random.Random(seed[0])
    return State(seed, numbers.draws, numbers.source.getstate())


def packed(state: State) -> dict[str, Any]:
    """A state as numbers and texts, which a checkpoint can hold."""
    version, words, gauss = state.host
    host = [version, struct.pack(f"<{len(words)}I", *words).hex(), gauss]
    return {"seed": list(state.seed), "draws": state.draws, "host": host}


def unpacked(state: Mapping[str, Any]) -> State:
    """A state that was `packed`."""
    (low, high), (version, text, gauss) = state["seed"], state["host"]
    data = bytes.fromhex(text)
    words = struct.unpack(f"<{len(data) // 4}I", data)
    return State((low, high), state["draws"], (version, words, gauss))


def set_state(new: State) -> None:
    """Continues random numbers from a state."""
    numbers = _here()
    numbers.seed, numbers.draws, numbers.source = new.seed, new.draws, random.Random()
    numbers.source.setstate(new.host)


def _seed_of(numbers: Numbers) -> tuple[int, int]:
    if numbers.seed is None:
        low, high = struct.unpack("<II", random.SystemRandom().randbytes(8))
        numbers.seed = low, high
    return numbers.seed


def fresh_bytes(count: int) -> bytes:
    """New random bytes, which are reproducible after `manual_seed`."""
    global _asked
    _asked += 1
    return _here().source.randbytes(count)


def drawn() -> int:
    """How often something random was asked for. If the count did not change while something was
    built, building it again gives the same result."""
    return _asked


class Generator:
    """Random numbers of its own, as torch.Generator, for what takes a `generator`.

    device: changes nothing.
    """

    def __init__(self, device: str | None = None) -> None:
        self.seed()

    def seed(self) -> int:
        """Begins again with a seed from the system.

        Returns: that seed.
        """
        return self.manual_seed(random.SystemRandom().getrandbits(64)).initial_seed()

    def manual_seed(self, seed: int) -> Self:
        """Begins the numbers again, equal for equal seeds.

        seed: an integer.
        Returns: the generator itself.
        """
        self._seed, self._draws = seed, 0
        self._bytes = random.Random(seed)
        return self

    def initial_seed(self) -> int:
        """The seed that it began with."""
        return self._seed

    def get_state(self) -> State:
        """Where its numbers are, for `set_state`."""
        seed = self._seed & _WORD, self._seed >> 32 & _WORD
        return State(seed, self._draws, self._bytes.getstate())

    def set_state(self, new_state: State) -> Self:
        """Continues from a state.

        new_state: what `get_state` gave.
        Returns: the generator itself.
        """
        self._seed, self._draws = new_state.seed[0] | new_state.seed[1] << 32, new_state.draws
        self._bytes.setstate(new_state.host)
        return self

    def randbytes(self, count: int) -> bytes:
        """Random bytes.

        count: how many.
        Returns: the bytes.
        """
        return self._bytes.randbytes(count)

    def advance(self) -> HostArray:
        """The stream of the next draw. Raises TracingError under `@tl.jit`, where each call would
        draw the same."""
        if context.draws.get() is not None:
            raise TracingError(
                "a generator draws outside of @tl.jit only; leave out generator=, and seed all "
                "draws with tl.manual_seed"
            )
        self._draws += 1
        return _stream_of(self._seed & _WORD, self._seed >> 32 & _WORD, self._draws - 1)


def _stream_of(low: int, high: int, draw: int) -> HostArray:
    return from_values([low, high, draw & _WORD], (3,), dt.uint32)


def stream(generator: Generator | None = None) -> Tensor:
    """What a draw is computed from: uint32 (3,), the seed's two words and the draw's number."""
    traced = context.draws.get()
    if traced is not None and generator is None:
        drawn: Tensor = traced()
        return drawn
    data = advance(1) if generator is None else generator.advance()
    node = make(source.constant, data=data, shape=data.shape, dtype=data.dtype, varies=True)
    return Tensor(node)


def advance(draws: int) -> HostArray:
    """The stream of the next draw; as many are then over."""
    global _asked
    numbers = _here()
    data = _stream_of(*_seed_of(numbers), numbers.draws)
    numbers.draws += draws
    _asked += 1
    return data
