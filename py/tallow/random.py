"""Where random operators without a seed of their own begin."""

from __future__ import annotations

import random

_source: random.Random = random.SystemRandom()
_drawn = 0


def manual_seed(seed: int | None) -> None:
    """Has random operators that have no seed draw the same numbers in each program run, as
    PyTorch's function of that name; None, the default: others each time."""
    global _source
    _source = random.SystemRandom() if seed is None else random.Random(seed)


def fresh_bytes(count: int) -> bytes:
    """New random bytes, or those that `manual_seed` determines."""
    global _drawn
    _drawn += 1
    return _source.randbytes(count)


def drawn() -> int:
    """How often there were such bytes: what was made meanwhile without any is made alike again."""
    return _drawn
