"""Attention as one op, which never has all scores in memory.

The scores of a few queries and keys at a time become weights less the largest score so far; what
was summed up before is scaled whenever a larger one comes (Milakov and Gimelshein 2018, "Online
normalizer calculation for softmax"; Dao et al. 2022, "FlashAttention").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core import dtype as dt
from ..errors import DTypeError, ShapeError
from .kinds import Attrs, Composite, Spec

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


def _rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (query, *_), (key, _), (value, _), (reach, whole) = operands
    if any(dtype != dt.float32 for _, dtype in operands[:3]) or whole != dt.int32:
        names = ", ".join(dtype.name for _, dtype in operands)
        raise DTypeError(f"attention: float32 three times and int32, not {names}")
    fits = len(query) == len(key) == len(value) == 4 and key[:3] == value[:3]
    fits = fits and query[0] == key[0] and query[3] == key[3] and reach == query[:1]
    if not fits or not key[1] or query[1] % key[1]:
        raise ShapeError(f"attention: query {query}, key {key}, value {value}, reach {reach}")
    return (*query[:3], value[3]), dt.float32


def _attend(np: NumPy, *operands: Any, **attrs: Any) -> Array:
    from .numpy_attention import attend  # which a page on another device does not need

    return attend(np, *operands, **attrs)


attention = Composite("attention", _attend, _rule)
"""softmax(query @ key.T * scale) @ value, of the keys that a query sees; none gives zeros.

query (batch, heads, rows, size), key (batch, key heads, keys, size), value (batch, key heads, keys,
width), float32; each key head serves as many neighbouring heads as there are to it. reach (batch,),
int32: how many keys the first query sees, from the first one on; the others see as many, or one
more each where it is `causal`. `window`: how many keys a query sees at most, the last ones; 0 is
all.
"""
