"""Keys and values of the tokens so far, in variables on the device.

A cache has a slot for each conversation, and room for `capacity` positions, which grows in steps.
Keys and values of int8 have a scale for each row, in buffers of their own; a GPU has four of their
elements in a word.
Layers that only see a window have buffers of at most `ring` rows. Once one is full, its last
window moves to its start, and `base` is the position of its first row. So what is read stays one
region, and rolling costs less than a row for each token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import functional
from .. import functions as f
from ..core.dtype import DType, float32, int8, int32
from ..core.shape import Shape
from ..errors import OptionError
from ..functional.words import IN_WORD, packed
from ..runtime.variable import Variable
from ..tensor import Tensor, asarray
from .memory import Kept, KeptHeads, KeptRows, Layout, Numbers, table_of
from .precision import in_words, quantized

STEP = 256
"""The least capacity; the others are twice the one before."""


def capacity_for(positions: int) -> int:
    """The capacity for as many positions."""
    capacity = STEP
    while capacity < positions:
        capacity *= 2
    return capacity


def _looks_back(kept: Kept) -> int | None:
    return kept.count if isinstance(kept, KeptRows) else kept.window


class Cache:
    """The variables of a cache. Which text they hold is for the caller to know.

    layout: of the network. slots: conversations at once. device: where it is; None is the default
    device. dtype: of what is kept: float32, float16 or int8; short convolutions keep float32 beside
    int8. widest: the most tokens that one call writes.
    """

    def __init__(
        self,
        layout: Layout,
        slots: int = 1,
        device: str | None = None,
        dtype: DType = float32,
        widest: int = 256,
    ) -> None:
        if slots < 1:
            raise OptionError(f"a cache has one slot or more, not {slots}")
        self.layout, self.slots, self.device, self.dtype = layout, slots, device, dtype
        self._in_words = in_words(dtype, device)
        for kept in layout.layers if self._in_words else ():
            if isinstance(kept, KeptHeads) and kept.size % IN_WORD:
                raise OptionError(
                    f"cache_dtype int8 packs {IN_WORD} elements in a word on this device, and "
                    f"heads have {kept.size}; use float32"
                )
        backs = [_looks_back(kept) for kept in layout.layers]
        self._local = [each is not None for each in backs]
        self.window = max((each for each in backs if each is not None), default=0)
        self.ring = capacity_for(2 * self.window + widest)
        self.capacity = STEP
        self.buffers = [self._made(kept) for kept in range(len(layout.layers))]
        self._tables: dict[Numbers, Variable] = {}

    def __repr__(self) -> str:
        return f"<Cache of {self.slots} x {self.capacity} positions, {self.nbytes:,} bytes>"

    @property
    def nbytes(self) -> int:
        """The bytes of its variables."""
        return sum(each.size * each.dtype.size for several in self.buffers for each in several)

    @property
    def rolls(self) -> bool:
        """Whether there are layers whose buffers roll at this capacity."""
        return any(self._local) and self.ring < self.capacity

    def rolled(self, layer: int) -> bool:
        """Whether the buffers of a layer roll."""
        return self._local[layer] and self.ring < self.capacity

    def grow(self, positions: int) -> bool:
        """Makes room for as many positions; False if there was."""
        wanted = capacity_for(positions)
        if wanted <= self.capacity:
            return False
        self.capacity = wanted
        self._tables.clear()
        for layer, old in enumerate(self.buffers):
            new = self._kinds(layer)
            if new[0][0] != old[0].shape:  # one by one: the old ones may go
                self.buffers[layer] = [
                    self._made_of(each, shape) for each, (shape, _) in zip(old, new, strict=True)
                ]
        return True

    def roll(self, slot: Tensor, rows: Tensor) -> None:
        """Moves the last window of a slot's rolled buffers `rows` towards their start."""
        for layer, several in enumerate(self.buffers):
            if not self.rolled(layer):
                continue
            kept = self.layout.layers[layer]
            count = self.window + (kept.count if isinstance(kept, KeptRows) else 0)
            for each in several:
                axis = each.ndim - 2
                between = each.shape[1:axis]
                moved = f.slice_at(each, (slot, *[0] * len(between), rows), (1, *between, count))
                each.assign(f.update_at(each, slot, moved))

    def rows(self, key: Tensor, value: Tensor) -> Sequence[Tensor]:
        """Keys and values as the variables of a layer hold them."""
        if self.dtype != int8:
            return key, value
        (keys, key_scale), (values, value_scale) = quantized(key), quantized(value)
        if self._in_words:
            keys, values = packed(keys), packed(values)
        return keys, values, key_scale, value_scale

    def table(self, table: Numbers) -> Variable:
        """A table with a row for each position, on the device: a variable, which WebAssembly keeps
        in a program's memory from call to call."""
        found = self._tables.get(table)
        if found is None:
            found = Variable(asarray(table_of(table, self.capacity)), device=self.device)
            self._tables[table] = found
        return found

    def _kinds(self, layer: int) -> list[tuple[Shape, DType]]:
        """The shapes and types of a layer's variables: of rows; of keys and values, and, for int8,
        of the scales of each."""
        kept = self.layout.layers[layer]
        rows = min(self.capacity, self.ring) if self._local[layer] else self.capacity
        if isinstance(kept, KeptRows):
            dtype = float32 if self.dtype == int8 else self.dtype
            return [((self.slots, rows + kept.count, kept.width), dtype)]
        lines: Shape = (self.slots, kept.heads, rows)
        scales = [((*lines, 1), float32)] * 2 if self.dtype == int8 else []
        if not self._in_words:
            return [((*lines, kept.size), self.dtype)] * 2 + scales
        return [((*lines, kept.size // IN_WORD), int32)] * 2 + scales

    def _made(self, layer: int) -> list[Variable]:
        return [Variable(f.zeros(*kind), device=self.device) for kind in self._kinds(layer)]

    def _made_of(self, old: Variable, shape: Shape) -> Variable:
        value = f.update_at(f.zeros(shape, old.dtype), 0, old)
        grown = Variable(value, device=self.device)
        grown.buffer()
        return grown


@dataclass(frozen=True)
class Place:
    """Where the next tokens of a text stand: slot, position, and the base of rolled buffers."""

    slot: int | Tensor
    position: Tensor
    base: Tensor


class Cached:
    """A cache in a function that is being traced: `n` tokens at each of some places."""

    def __init__(self, cache: Cache, places: Sequence[Place], n: int) -> None:
        self._cache, self._places, self._n = cache, places, n
        self._firsts = f.stack([each.position for each in places])
        self._bases = f.stack([each.base for each in places])

    @property
    def positions(self) -> Tensor:
        """The positions of the tokens: int32 (batch, n)."""
        return f.reshape(self._firsts, (-1, 1)) + f.arange(self._n, dtype="int32")

    def rows(self, table: Numbers) -> Tensor:
        """The rows of a table at the positions; see `Memory`."""
        whole = self._cache.table(table)
        if len(self._places) == 1:
            return f.expand_dims(f.slice_at(whole, self._places[0].position, self._n), axis=0)
        return f.stack([f.slice_at(whole, each.position, self._n) for each in self._places])

    def attend(
        self,
        layer: int,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        scale: float | None = None,
        dropout: float = 0.0,
    ) -> Tensor:
        """Keeps keys and values, and attends to all so far; see `Memory`."""
        kept = self._cache.layout.layers[layer]
        assert isinstance(kept, KeptHeads)
        firsts = self._firsts_of(layer)
        keys, values, *scales = (
            self._kept(each, rows, firsts, axis=2)
            for each, rows in zip(
                self._cache.buffers[layer], self._cache.rows(key, value), strict=True
            )
        )
        key_scale, value_scale = scales or (None, None)
        y = functional.scaled_dot_product_attention(
            query,
            keys,
            values,
            None,
            dropout,
            is_causal=True,
            scale=scale,
            enable_gqa=True,
            first=firsts,
            window=kept.window,
            key_scale=key_scale,
            value_scale=value_scale,
        )
        return y.astype(query.dtype)

    def recent(self, layer: int, x: Tensor) -> Tensor:
        """Keeps x, and gives it behind the rows before it; see `Memory`."""
        kept = self._cache.layout.layers[layer]
        assert isinstance(kept, KeptRows)
        firsts = self._firsts_of(layer)
        (buffer,) = self._cache.buffers[layer]
        whole = self._kept(buffer, x, firsts + kept.count, axis=1)
        size = (1, self._n + kept.count)
        several = [f.slice_at(whole, (b, firsts[b]), size) for b in range(len(self._places))]
        return f.concat(several, axis=0).astype(x.dtype)

    def _firsts_of(self, layer: int) -> Tensor:
        """The rows of a layer's buffers where the tokens begin: int32 (batch,)."""
        return self._firsts - self._bases if self._cache.rolled(layer) else self._firsts

    def _kept(self, buffer: Variable, new: Tensor, firsts: Tensor, axis: int) -> Tensor:
        """Writes new rows of all places; gives the buffer's slots of these places."""
        whole: Tensor = buffer
        new = new.astype(buffer.dtype)
        for b, place in enumerate(self._places):
            start = [place.slot, *[0] * (axis - 1), firsts[b]]
            whole = f.update_at(whole, start, new[b : b + 1])
        buffer.assign(whole)
        if len(self._places) == buffer.shape[0]:
            return whole
        return f.slice_at(whole, self._places[0].slot, 1)
