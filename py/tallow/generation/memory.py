"""What a decoder remembers of the tokens before: the seam between networks and caches.

A network says what each of its layers keeps (`KeptHeads`, `KeptRows`) and asks a `Memory` for it
while it computes. So one forward serves a whole text at once (`Whole`) and a text that grows, whose
past is in a cache (cache.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from .. import functional
from .. import functions as f
from ..core.dtype import float32
from ..core.hostarray import HostArray, from_values
from ..tensor import Tensor, asarray


@dataclass(frozen=True)
class KeptHeads:
    """A layer of attention: it keeps keys and values.

    heads: of keys and values. size: elements of one. window: how many positions a query sees, its
    own with them; None is all.
    """

    heads: int
    size: int
    window: int | None = None


@dataclass(frozen=True)
class KeptRows:
    """A layer that looks back over `count` positions, of `width` elements each: a convolution."""

    width: int
    count: int


Kept = KeptHeads | KeptRows


@dataclass(frozen=True)
class Layout:
    """What a cache has to know of a network.

    layers: what each keeps. context: the most positions. vocabulary: how many tokens there are.
    """

    layers: tuple[Kept, ...]
    context: int
    vocabulary: int


Numbers = Callable[[int], tuple[list[float], int]]
"""A hashable table: for a count of positions, its numbers, row by row, and the width of a row."""


class Memory(Protocol):
    """The past of the tokens that a network computes, in (batch, n) places."""

    @property
    def positions(self) -> Tensor:
        """The positions of the tokens: int32 (batch, n), or (1, n) if all are alike."""

    def rows(self, table: Numbers) -> Tensor:
        """The rows of a table at the positions: float32 (batch or 1, n, width)."""

    def attend(
        self,
        layer: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scale: float | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        """Attention of queries to the keys and values up to their own position.

        query: (batch, heads, n, size). key, value: (batch, key heads, n, size), which it keeps.
        Returns: (batch, heads, n, size).
        """

    def recent(self, layer: int, x: Tensor) -> Tensor:
        """x (batch, n, width), which it keeps, behind as many rows before it as the layer looks
        back; there are zeros before the first position."""


class Network(Protocol):
    """A decoder that generates."""

    @property
    def layout(self) -> Layout:
        """What its layers keep."""

    def hidden(self, tokens: Tensor, memory: Memory) -> Tensor:
        """Tokens (batch, n) to what the scores are computed from, (batch, n, width)."""

    def scores(self, hidden: Tensor) -> Tensor:
        """(..., width) to the scores of the next token, (..., vocabulary)."""


def table_of(table: Numbers, count: int) -> HostArray:
    """The first `count` rows of a table."""
    values, width = table(count)
    return from_values(values, (count, width), float32)


class Whole:
    """No past: texts from their first token on, as in training.

    length: of the texts.
    """

    def __init__(self, layout: Layout, length: int) -> None:
        self._layout, self._length = layout, length

    @property
    def positions(self) -> Tensor:
        """0, 1, ...: (1, n)."""
        return f.reshape(f.arange(self._length, dtype="int32"), (1, -1))

    def rows(self, table: Numbers) -> Tensor:
        """The first rows of a table: (1, n, width)."""
        return f.expand_dims(asarray(table_of(table, self._length)), axis=0)

    def attend(
        self,
        layer: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scale: float | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        """Causal attention; see `Memory`."""
        kept: Any = self._layout.layers[layer]
        return functional.scaled_dot_product_attention(
            query, key, value, None, dropout, True, scale, True, window=kept.window
        )

    def recent(self, layer: int, x: Tensor) -> Tensor:
        """x behind rows of zeros; see `Memory`."""
        kept: Any = self._layout.layers[layer]
        return f.concat([f.zeros((x.shape[0], kept.count, x.shape[2]), x.dtype), x], axis=1)


@dataclass(frozen=True)
class Rotary:
    """Cosines and sines of a rotary encoding (Su et al. 2021): a row has those of one position.

    rates: the angle of each pair of elements for one position. factor: of cosines and sines.
    """

    rates: tuple[float, ...]
    factor: float = 1.0

    def __call__(self, count: int) -> tuple[list[float], int]:
        """In double precision: a float32 angle of a late position has few digits left."""
        found: list[float] = []
        for position in range(count):
            angles = [position * rate for rate in self.rates]
            found += [math.cos(angle) * self.factor for angle in angles]
            found += [math.sin(angle) * self.factor for angle in angles]
        return found, 2 * len(self.rates)


def turned(x: Tensor, rows: Tensor, interleaved: bool = False) -> Tensor:
    """Turns pairs of elements.

    x: (batch, heads, n, size). rows: of a `Rotary`, (batch or 1, n, width); elements of a head
    beyond the width stay. interleaved: pairs are neighbours; else an element and the one half the
    width behind it.
    """
    width = rows.shape[-1]
    half = width // 2
    rows = f.expand_dims(rows, axis=1)
    cos, sin = rows[..., :half], rows[..., half:]
    if interleaved:
        first, second = x[..., 0:width:2], x[..., 1:width:2]
    else:
        first, second = x[..., :half], x[..., half:width]
    parts = [first * cos - second * sin, second * cos + first * sin]
    if interleaved:
        parts = [f.reshape(f.stack(parts, axis=-1), (*x.shape[:-1], width))]
    if width < x.shape[-1]:
        parts.append(x[..., width:])
    return f.concat(parts, axis=-1) if len(parts) > 1 else parts[0]
