"""Counter-based random numbers: the same on every device, computed in parallel and in any order.

Philox 4x32-10 of Salmon, Moraes, Dror and Shaw 2011, "Parallel Random Numbers: As Easy as 1, 2, 3".
"""

from __future__ import annotations

import math
from typing import Any

from .. import dtype as dt
from ..graph import make
from ..ops import source
from ..shape import Shape, size_of
from ..tensor import Tensor, apply
from .creation import zeros
from .manipulation import reshape, stack

Key = tuple[int, int]

_FACTORS = 0xD2511F53, 0xCD9E8D57
_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_WORD = 0xFFFFFFFF


def random_bits(shape: Shape, key: Key | Tensor) -> Tensor:
    """Words of 32 random bits, as uint32.

    key: two words that seed the numbers, or a stream of random.py, uint32 (3,): the words, and the
    number of the draw.
    """
    blocks = -(-size_of(shape) // 4)
    counter = Tensor(make(source.iota, shape=(blocks,), dtype=dt.uint32, axis=0))
    none = zeros((blocks,), dt.uint32)
    c0, c1, c2, c3 = counter, none, none, none
    k0: Any
    k1: Any
    if isinstance(key, Tensor):
        k0, k1 = key[0], key[1]
        c1 = c1 + key[2]
    else:
        k0, k1 = key
    for _ in range(_ROUNDS):
        high0, low0 = _product(c0, _FACTORS[0])
        high1, low1 = _product(c2, _FACTORS[1])
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = k0 + _STEPS[0] & _WORD, k1 + _STEPS[1] & _WORD
    words = reshape(stack([c0, c1, c2, c3], 1), (4 * blocks,))
    return reshape(words[: size_of(shape)], shape)


def _product(x: Tensor, factor: int) -> tuple[Tensor, Tensor]:
    """The upper and the lower word of the 64-bit product."""
    x_high, x_low = x >> 16, x & 0xFFFF
    high, low = factor >> 16, factor & 0xFFFF
    middle = x_high * low + (x_low * low >> 16)
    other = x_low * high + (middle & 0xFFFF)
    return x_high * high + (middle >> 16) + (other >> 16), x * factor


def uniform(shape: Shape, key: Key | Tensor) -> Tensor:
    """float32 numbers between 0 and 1, both excluded."""
    return ((random_bits(shape, key) >> 9).astype(dt.float32) + 0.5) * 2.0**-23


def normal(shape: Shape, key: Key | Tensor) -> Tensor:
    """float32 numbers of the standard normal distribution (Box and Muller 1958)."""
    pairs = uniform((2, *shape), key)
    radius = apply("sqrt", apply("log", pairs[0]) * -2.0)
    return radius * apply("cos", pairs[1] * (2 * math.pi))
