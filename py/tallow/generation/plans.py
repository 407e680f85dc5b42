"""The functions that a network runs as while it generates, each compiled once for a capacity.

What changes from token to token is a state on the device: for each slot the position of its next
token, the base of rolled buffers, the token itself, and whether the slot is in use. So a decoded
token costs one call without arguments, and gives as many numbers as there are slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import functions as f
from ..core.drivers import Steps
from ..core.dtype import float32, int32, uint32
from ..core.hostarray import HostArray, from_values
from ..grad_mode import no_grad
from ..runtime.device import backend
from ..runtime.jit import Jitted, Pinned, jit_method
from ..runtime.variable import Variable
from ..tensor import Tensor, asarray
from .cache import Cache, Cached, Place
from .memory import Network
from .sampling import NUMBERS, Kinds, Mask, Sampling, chosen, packed_bits

_BUCKETS, _ON_HOST = (16, 64, 256), (16, 64)

CONSIDERED = 10
"""How many of the most probable tokens a step tells."""


# Why: docs/decisions/generation.md, "Two buckets on the host"
def buckets_on(device: str | None) -> tuple[int, ...]:
    """How many tokens of a prompt one call may take on a device; shorter parts are filled up."""
    return _ON_HOST if backend(device).memory.is_host else _BUCKETS


class Plans:
    """The compiled functions of a network and a cache, and the states beside the cache."""

    def __init__(self, network: Network, cache: Cache) -> None:
        self.network, self.cache = network, cache
        self.buckets = buckets_on(cache.device)
        slots, self._count = cache.slots, network.layout.vocabulary
        self._words = (self._count + 31) // 32
        self.places = self._state(from_values([0] * 4 * slots, (slots, 4), int32))
        self.numbers = self._state(from_values([0.0] * NUMBERS * slots, (slots, NUMBERS), float32))
        self.seeds = self._state(from_values([0] * 2 * slots, (slots, 2), uint32))
        self._used: Variable | None = None
        self._allowed: Variable | None = None
        self._masks: list[Mask | None] = [None] * slots
        self.compiled = 0
        self._made: dict[str, Jitted] = {}
        self._pinned: dict[Any, Pinned] = {}

    @property
    def plans(self) -> int:
        """How many plans were compiled, those of former capacities with them."""
        return self.compiled + sum(each.plans for each in self._made.values())

    def bucket(self, count: int) -> int:
        """How many places a call has that takes so many tokens of a prompt, or the first ones."""
        return next((each for each in self.buckets if each >= count), self.buckets[-1])

    def room(self, positions: int) -> None:
        """Makes room in the cache; what was compiled for less is given up."""
        if self.cache.grow(positions):
            self.clear()

    def clear(self) -> None:
        """Gives up what was compiled."""
        self.compiled = self.plans
        for each in self._made.values():
            each.clear()
        self._made.clear()
        self._pinned.clear()

    def decode(self, kinds: Kinds, considered: bool = False) -> Steps[list[HostArray]]:
        """One token more for each slot that is in use: int32 (slots,); if considered, also the
        most probable tokens and their probabilities, (slots, CONSIDERED)."""
        return self._read("decode", self._decode, kinds, considered)

    def prefill(
        self,
        slot: int,
        position: int,
        base: int,
        tokens: Sequence[int],
        kinds: Kinds | None,
        considered: bool = False,
    ) -> tuple[Tensor, ...]:
        """Tokens of a text from a position on, no more than the largest bucket.

        kinds: how the token behind them is chosen, which is then the slot's next one; None chooses
        none.
        """
        count = len(tokens)
        wide = self.bucket(count)
        values = [slot, position, base, count, *tokens, *[0] * (wide - count)]
        control = asarray(from_values(values, (len(values),), int32))
        return self._run("prefill", self._prefill, control, kinds, considered)

    def verify(self, slot: int, draft: Sequence[int], kinds: Kinds) -> Steps[list[HostArray]]:
        """The slot's next token and a draft of those behind it. Gives int32 (n + 1,): how many of
        the draft are what is chosen anyway, then the n tokens that are chosen behind each."""
        control = asarray(from_values([slot, *draft], (1 + len(draft),), int32))
        return self._read("verify", self._verify, control, kinds)

    def every(self, slot: int, position: int, base: int, tokens: Sequence[int]) -> Tensor:
        """The scores behind each of some tokens, which the cache then has: (n, vocabulary)."""
        wide = 16
        while wide < len(tokens):
            wide *= 2
        fits = position + wide <= self.cache.capacity and not self.cache.rolls
        filled = [0] * (wide - len(tokens) if fits else 0)
        values = [slot, position, base, *tokens, *filled]
        control = asarray(from_values(values, (len(values),), int32))
        (found,) = self._run("every", self._every, control)
        return found[: len(tokens)]

    def roll(self, slot: int, rows: int) -> None:
        """Moves what rolled buffers of a slot have by some rows; its base grows by these."""
        self._run("roll", self._roll, asarray(from_values([slot, rows], (2,), int32)))

    def choose_by(self, slot: int, sampling: Sampling) -> None:
        """How the slot's tokens are chosen from now on."""
        self._set("numbers", slot, asarray([sampling.numbers], "float32"))
        self._set("seeds", slot, asarray(from_values(sampling.words, (1, 2), uint32)))

    def set_used(self, slot: int, tokens: Sequence[int]) -> None:
        """The tokens that a slot's text has so far, for penalties."""
        if self._used is None:
            self._used = self._state(f.zeros((self.cache.slots, self._count), "int8"))
        row = bytearray(self._count)
        for token in tokens:
            row[token] = 1
        self._set("_used", slot, asarray([list(row)], "int8"))

    def set_allowed(self, slot: int, tokens: Sequence[int] | Mask | None) -> None:
        """The tokens that may follow in a slot; None is all. The same mask is sent once."""
        words = self._words
        last, self._masks[slot] = self._masks[slot], tokens if isinstance(tokens, Mask) else None
        if isinstance(tokens, Mask) and tokens is last:
            return
        if self._allowed is None:
            if tokens is None:
                return
            every = from_values([0xFFFFFFFF] * words * self.cache.slots,
                                (self.cache.slots, words), uint32)  # fmt: skip
            self._allowed = self._state(every)
        bits = [0xFFFFFFFF] * words if tokens is None else packed_bits(tokens, self._count)
        self._set("_allowed", slot, asarray(from_values(bits, (1, words), uint32)))

    def stop(self, slot: int, position: int, base: int) -> None:
        """The slot is in use no longer. Steps of others write a row there, at this position."""
        row = from_values([position, base, 0, 0], (1, 4), int32)
        self._set("places", slot, asarray(row))

    # ---- what is traced ------------------------------------------------------------------------

    def _decode(self, kinds: Kinds, considered: bool) -> tuple[Tensor, ...]:
        places = self.places + 0
        slots = range(self.cache.slots)
        at = [Place(slot, places[slot, 0], places[slot, 1]) for slot in slots]
        memory = Cached(self.cache, at, 1)
        scores = self.network.scores(self.network.hidden(places[:, 2:3], memory)[:, 0])
        following = places[:, 0] + 1
        new = self._chosen(scores, kinds, self.numbers, self.seeds, following, self._allowed)
        active = places[:, 3]
        if kinds.penal:
            self._mark(new, [(slot, slot) for slot in slots])
        state = [places[:, 0] + active, places[:, 1], f.where(f.equal(active, 1), new, 0), active]
        self.places.assign(f.stack(state, axis=1))
        return (new, *_best(scores)) if considered else (new,)

    def _prefill(
        self, control: Tensor, kinds: Kinds | None, considered: bool
    ) -> tuple[Tensor, ...]:
        slot, position, base, count = (control[i] for i in range(4))
        n = control.shape[0] - 4
        memory = Cached(self.cache, [self._place(slot, position, base)], n)
        hidden = self.network.hidden(f.reshape(control[4:], (1, n)), memory)
        if kinds is None:
            return (count + 0,)
        last = f.slice_at(hidden, (0, count - 1), (1, 1))
        scores = self.network.scores(last[:, 0])
        following = f.reshape(position + count, (1,))
        (new,) = (self._one(scores, kinds, slot, following),)
        state = f.stack([position + count, base, new[0], f.ones((), "int32")])
        self._put(self.places, slot, f.reshape(state, (1, 4)))
        return (new, *_best(scores)) if considered else (new,)

    def _verify(self, control: Tensor, kinds: Kinds) -> tuple[Tensor, ...]:
        slot, draft = control[0], control[1:]
        row = f.slice_at(self.places, slot, 1)
        position, base = row[0, 0], row[0, 1]
        tokens = f.concat([row[0, 2:3], draft])
        n = tokens.shape[0]
        memory = Cached(self.cache, [self._place(slot, position, base)], n)
        scores = self.network.scores(self.network.hidden(f.reshape(tokens, (1, n)), memory)[0])
        following = position + 1 + f.arange(n, dtype="int32")
        new = self._one(scores, kinds, slot, following)
        right = f.equal(new[:-1], draft).astype("int32")
        taken = f.sum(f.cumulative_prod(right), dtype="int32")
        state = [position + taken + 1, base, f.slice_at(new, taken, 1)[0], f.ones((), "int32")]
        self._put(self.places, slot, f.reshape(f.stack(state), (1, 4)))
        return (f.concat([f.reshape(taken, (1,)), new]),)

    def _every(self, control: Tensor) -> tuple[Tensor, ...]:
        slot, position, base = (control[i] for i in range(3))
        n = control.shape[0] - 3
        memory = Cached(self.cache, [self._place(slot, position, base)], n)
        hidden = self.network.hidden(f.reshape(control[3:], (1, n)), memory)
        return (self.network.scores(hidden[0]),)

    def _roll(self, control: Tensor) -> tuple[Tensor, ...]:
        slot, rows = control[0], control[1]
        self.cache.roll(slot, rows)
        row = f.slice_at(self.places, slot, 1)
        shift = f.stack([f.zeros((), "int32"), rows, *[f.zeros((), "int32")] * 2])
        self._put(self.places, slot, row + shift)
        return ()

    def _place(self, slot: Tensor, position: Tensor, base: Tensor) -> Place:
        return Place(slot if self.cache.slots > 1 else 0, position, base)

    def _one(self, scores: Tensor, kinds: Kinds, slot: Tensor, following: Tensor) -> Tensor:
        """The tokens behind each of the rows of one slot."""
        rows = scores.shape[0]
        numbers, seeds = (
            f.broadcast_to(f.slice_at(each, slot, 1), (rows, each.shape[1]))
            for each in (self.numbers, self.seeds)
        )
        allowed = None
        if kinds.masked:
            assert self._allowed is not None
            allowed = f.slice_at(self._allowed, slot, 1)
        new = self._chosen(scores, kinds, numbers, seeds, following, allowed, slot)
        if kinds.penal:
            self._mark(new[:1], [(0, slot)])
        return new

    def _chosen(
        self,
        scores: Tensor,
        kinds: Kinds,
        numbers: Tensor,
        seeds: Tensor,
        following: Tensor,
        allowed: Tensor | None,
        slot: Tensor | None = None,
    ) -> Tensor:
        used: Tensor | None = self._used if kinds.penal else None
        if used is not None and slot is not None:
            used = f.slice_at(used, slot, 1)
        return chosen(scores, kinds, numbers, seeds, following, used, allowed)

    def _mark(self, new: Tensor, rows: Sequence[tuple[int, Any]]) -> None:
        assert self._used is not None
        whole: Tensor = self._used
        for row, slot in rows:
            whole = f.update_at(whole, (slot, new[row]), f.ones((1, 1), "int8"))
        self._used.assign(whole)

    # ---- states and calls ----------------------------------------------------------------------

    def _run(self, name: str, function: Any, *args: Any) -> tuple[Tensor, ...]:
        """A function's result. The network is not looked at again once there is a plan."""
        pinned, tensors = self._plan(name, function, args)
        with no_grad():
            result: tuple[Tensor, ...] = pinned(*tensors)
        return result

    def _read(self, name: str, function: Any, *args: Any) -> Steps[list[HostArray]]:
        """The same, as what is on the host: one submit on a GPU."""
        pinned, tensors = self._plan(name, function, args)
        return pinned.read(*tensors)

    def _plan(self, name: str, function: Any, args: tuple[Any, ...]) -> tuple[Pinned, list[Tensor]]:
        """A function's plan, and the arguments of that."""
        static = tuple(each for each in args if not isinstance(each, Tensor))
        tensors = [each for each in args if isinstance(each, Tensor)]
        key = (name, static, *((each.shape, each.dtype.name) for each in tensors))
        pinned = self._pinned.get(key)
        if pinned is None:
            made = self._made.get(name)
            if made is None:
                made = self._made[name] = jit_method(function, self.cache.device)
            with no_grad():
                pinned = self._pinned[key] = made.pinned(*args)
        return pinned, tensors

    def _state(self, value: object) -> Variable:
        return Variable(asarray(value), device=self.cache.device)

    def _set(self, name: str, slot: int, row: Tensor) -> None:
        self._run("write", self._write, name, asarray(from_values([slot], (), int32)), row)

    def _write(self, name: str, slot: Tensor, row: Tensor) -> tuple[Tensor, ...]:
        self._put(getattr(self, name), slot, row)
        return ()

    def _put(self, state: Variable, slot: Tensor, row: Tensor) -> None:
        state.assign(f.update_at(state, slot, row) if state.shape != row.shape else row)


def _best(scores: Tensor) -> tuple[Tensor, Tensor]:
    """The most probable tokens and their probabilities."""
    x = scores.astype("float32")
    values, tokens = f.topk(x, min(CONSIDERED, x.shape[-1]))
    peak = f.max(x, axis=-1, keepdims=True)
    total = f.sum(f.exp(x - peak), axis=-1, keepdims=True)
    return tokens.astype("int32"), f.exp(values - peak) / total
