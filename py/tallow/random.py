"""Seeds for random operators that have none of their own."""

from __future__ import annotations

import random

_source: random.Random = random.SystemRandom()
_drawn = 0


def manual_seed(seed: int | None) -> None:
    """Makes random operators without a seed draw the same numbers in every run of the program, like
    PyTorch's function of that name; with None, the default state, they differ each time."""
    global _source
    _source = random.SystemRandom() if seed is None else random.Random(seed)


def fresh_bytes(count: int) -> bytes:
    """New random bytes, which are reproducible after `manual_seed`."""
    global _drawn
    _drawn += 1
    return _source.randbytes(count)


def drawn() -> int:
    """How often `fresh_bytes` was called. If the count did not change while something was built,
    building it again gives the same result."""
    return _drawn
