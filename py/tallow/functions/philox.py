"""Counter-based random numbers: the same on every device, computed in parallel and in any order.
ops/formulas.py has the generator."""

from __future__ import annotations

import math

from ..core import dtype as dt
from ..core.shape import Shape, size_of
from ..graph import make
from ..ops import logic, source
from ..tensor import Tensor, asarray
from . import elementwise
from .elementwise import expand_node
from .manipulation import reshape

Key = tuple[int, int]


def random_bits(shape: Shape, key: Key | Tensor) -> Tensor:
    """Words of 32 random bits, as uint32.

    key: two words that seed the numbers, or a stream of random.py, uint32 (3,): the words, and the
    number of the draw.
    """
    stream = key if isinstance(key, Tensor) else asarray([*key, 0], dt.uint32)
    count = size_of(shape)
    index = make(source.iota, shape=(count,), dtype=dt.uint32, axis=0)
    words = [expand_node(stream[number].node, (count,)) for number in range(3)]
    return reshape(Tensor(make(logic.philox, index, *words)), shape)


def uniform(shape: Shape, key: Key | Tensor) -> Tensor:
    """float32 numbers between 0 and 1, both excluded."""
    return ((random_bits(shape, key) >> 9).astype(dt.float32) + 0.5) * 2.0**-23


def normal(shape: Shape, key: Key | Tensor) -> Tensor:
    """float32 numbers of the standard normal distribution (Box and Muller 1958)."""
    pairs = uniform((2, *shape), key)
    radius = elementwise.sqrt(elementwise.log(pairs[0]) * -2.0)
    return radius * elementwise.cos(pairs[1] * (2 * math.pi))
