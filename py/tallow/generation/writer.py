"""Texts of tokens that grow, one in each slot of a cache.

`Writer` begins texts and takes steps; what it yields are requests, which `run_sync` or `run_async`
answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..core.drivers import Steps
from ..core.dtype import DType
from ..errors import OptionError
from ..tensor import Tensor, reading
from .cache import Cache
from .lookup import continued
from .memory import Network
from .plans import Plans, buckets_on
from .precision import cache_type
from .sampling import Kinds, Mask, Sampling

Allowed = Callable[[Sequence[int]], Sequence[int] | Mask | None]
"""Which tokens may follow those that were written; none ends the text, None allows all."""


@dataclass(frozen=True)
class Request:
    """A text that is wanted.

    tokens: of the prompt. most: how many may be written. ends: tokens that end the text, and are
    no part of it. sampling: how tokens are chosen. allowed: which may follow. lookup: how many
    tokens a draft may have that is found in the text so far; 0 makes none. considered: each token
    comes with the most probable ones.
    """

    tokens: Sequence[int]
    most: int = 64
    ends: frozenset[int] = frozenset()
    sampling: Sampling = field(default_factory=Sampling)
    allowed: Allowed | None = None
    lookup: int = 0
    considered: bool = False

    @property
    def kinds(self) -> Kinds:
        """What a plan has to compute for it."""
        masked = Kinds(masked=self.allowed is not None)
        return self.sampling.kinds | masked


@dataclass
class Written:
    """A text, while it is written.

    tokens: what was written. end: why it ended: "end" (a token that ends texts), "length" (most
    were written), "context" (no position is left), "allowed" (no token may follow), "stopped" (by
    the caller); None while it goes on. considered: for each token, the most probable ones and
    their probabilities.
    """

    slot: int
    request: Request
    tokens: list[int] = field(default_factory=list)
    end: str | None = None
    considered: list[list[tuple[int, float]]] = field(default_factory=list)


class Writer:
    """A network with a cache.

    network: see `Network`. slots: texts at once. device: where it runs; None is the default
    device. cache_dtype: in which the cache keeps keys and values: "float32", "float16" or "int8";
    None is float32.
    Raises: OptionError for any other cache_dtype, and for no slots.
    """

    def __init__(
        self,
        network: Network,
        slots: int = 1,
        device: str | None = None,
        cache_dtype: str | DType | None = None,
    ) -> None:
        self._layout = network.layout
        dtype = cache_type(cache_dtype)
        self.cache = Cache(self._layout, slots, device, dtype, buckets_on(device)[-1])
        self.plans = Plans(network, self.cache)
        self._held: list[list[int]] = [[] for _ in range(slots)]  # tokens whose rows a slot has
        self._bases = [0] * slots
        self._using: list[Written | None] = [None] * slots

    @property
    def context(self) -> int:
        """The most tokens of a text, prompt included."""
        return self._layout.context

    @property
    def open(self) -> list[Written]:
        """The texts that are being written."""
        return [each for each in self._using if each is not None]

    def begin(self, request: Request) -> Steps[Written]:
        """Reads a prompt, and writes the first token behind it.

        Raises OptionError for an empty prompt, for one that leaves no room in the context, for
        tokens that the network does not have, and where all slots are in use.
        """
        tokens = self._checked(request.tokens)
        if request.most < 1:
            raise OptionError(f"max_tokens is a whole number from 1 on, not {request.most!r}")
        slot = self._slot(tokens)
        written = self._using[slot] = Written(slot, request)
        try:
            self.plans.choose_by(slot, request.sampling)
            kinds = request.kinds
            if kinds.penal:
                self.plans.set_used(slot, tokens)
            if self._allow(written):
                result = self._read_prompt(slot, tokens, kinds, request.considered)
                yield from self._take(written, result)
        except BaseException:
            self.stop(written)
            raise
        return written

    def step(self) -> Steps[None]:
        """Writes one token more of each text, or several where a draft was right."""
        texts = self.open
        for each in texts:
            if len(self._held[each.slot]) + 1 >= self.context:
                self._end(each, "context")
        texts = self.open
        if not texts:
            return
        draft = self._draft(texts)
        if draft:
            yield from self._verified(texts[0], draft)
            return
        self._room({each.slot: 1 for each in texts})
        kinds = Kinds()
        for each in texts:
            kinds |= each.request.kinds
        considered = any(each.request.considered for each in texts)
        values = yield from self.plans.decode(kinds, considered)
        rows = [value.flat() for value in values]
        for each in texts:
            self._held[each.slot].append(each.tokens[-1])
            self._add(each, [rows[0][each.slot]])
            self._consider(each, rows[1:], each.slot)

    def stop(self, written: Written) -> None:
        """Ends a text; its slot is free then."""
        if written.end is None:
            self._end(written, "stopped")

    def forget(self) -> None:
        """The network has changed: plans and what slots have are made anew. Raises OptionError
        while texts are written."""
        if self.open:
            raise OptionError("the network can't change while texts are written: end them first")
        self.plans.clear()
        self._held = [[] for _ in self._held]
        self._bases = [0] * len(self._bases)

    def scores(self, tokens: Sequence[int]) -> Tensor:
        """The scores of the next token behind each of some tokens: (n, vocabulary)."""
        tokens = self._checked(tokens)
        slot = self._slot(tokens)
        self._held[slot], self._bases[slot] = [], 0
        self._room({slot: len(tokens)})
        if self.cache.rolls and len(tokens) > self.cache.ring:
            raise OptionError(
                f"scores of {len(tokens)} tokens at once; a window's cache has {self.cache.ring}"
            )
        found = self.plans.every(slot, 0, 0, tokens)
        self._held[slot] = list(tokens)
        self._leave(slot)
        return found

    # ---- prompts -------------------------------------------------------------------------------

    def _checked(self, tokens: Sequence[int]) -> list[int]:
        found = list(tokens)
        if not found:
            raise OptionError("the prompt is empty: it needs a token or more")
        if len(found) >= self.context:
            raise OptionError(
                f"the prompt has {len(found):,} tokens, and the model reads {self.context - 1:,} "
                "and one that it writes: shorten it"
            )
        most = self._layout.vocabulary
        wrong = [token for token in found if not 0 <= token < most]
        if wrong:
            raise OptionError(f"the token {wrong[0]} is none of the model's {most:,}")
        return found

    def _slot(self, tokens: Sequence[int]) -> int:
        """The free slot that has the most of a text already."""
        free = [slot for slot, using in enumerate(self._using) if using is None]
        if not free:
            raise OptionError(
                f"all {len(self._using)} slots are in use: wait for a text, or open more slots"
            )
        return max(free, key=lambda slot: (_common(self._held[slot], tokens), -slot))

    def _read_prompt(
        self, slot: int, tokens: list[int], kinds: Kinds, considered: bool
    ) -> tuple[Tensor, ...]:
        held = self._held[slot]
        start = min(_common(held, tokens), len(tokens) - 1)
        if self._bases[slot] and start - self.cache.window < self._bases[slot]:
            start = self._bases[slot] = 0  # the window before it is gone
        del held[start:]
        while True:
            wide = self.plans.bucket(len(tokens) - start)
            part = tokens[start : start + wide]
            last = start + len(part) == len(tokens)
            self._room({slot: wide})
            result = self.plans.prefill(
                slot, start, self._bases[slot], part, kinds if last else None, considered and last
            )
            held += part
            start += len(part)
            if last:
                return result

    def _room(self, coming: dict[int, int]) -> None:
        """Room for as many tokens more in some slots."""
        self.plans.room(max(len(self._held[slot]) + more for slot, more in coming.items()))
        if not self.cache.rolls:
            return
        for slot, more in coming.items():
            at, base = len(self._held[slot]), self._bases[slot]
            if at - base + more > self.cache.ring:
                self._bases[slot] = at - self.cache.window
                self.plans.roll(slot, self._bases[slot] - base)

    # ---- tokens --------------------------------------------------------------------------------

    def _take(self, written: Written, result: tuple[Tensor, ...]) -> Steps[None]:
        values = yield from reading(result)
        rows = [value.flat() for value in values]
        self._add(written, [rows[0][0]])
        self._consider(written, rows[1:], 0)

    def _add(self, written: Written, tokens: Sequence[int]) -> None:
        request = written.request
        for token in tokens:
            if token in request.ends:
                self._end(written, "end")
                return
            written.tokens.append(int(token))
            if len(written.tokens) >= request.most:
                self._end(written, "length")
                return
            if not self._allow(written):
                return

    def _allow(self, written: Written) -> bool:
        """Tells the device which tokens may follow; False if none may, and the text has ended."""
        allowed = written.request.allowed
        if allowed is None:
            return True
        tokens = allowed(written.tokens)
        if tokens is not None and not isinstance(tokens, Mask) and not tokens:
            self._end(written, "allowed")
            return False
        self.plans.set_allowed(written.slot, tokens)
        return True

    def _consider(self, written: Written, rows: Sequence[list[float]], row: int) -> None:
        if not rows or not written.request.considered:
            return
        tokens, parts = rows
        count = len(tokens) // (self.cache.slots if len(tokens) > 10 else 1)
        found = zip(tokens[row * count :][:count], parts[row * count :][:count], strict=True)
        written.considered.append([(int(token), float(part)) for token, part in found])

    def _end(self, written: Written, why: str) -> None:
        written.end = why
        self._using[written.slot] = None
        if written.request.allowed is not None:
            self.plans.set_allowed(written.slot, None)
        self._leave(written.slot)

    def _leave(self, slot: int) -> None:
        """A slot that is not in use keeps what it has; the row behind that is overwritten."""
        held = self._held[slot]
        del held[self.cache.capacity - 1 :]
        self.plans.stop(slot, len(held), self._bases[slot])

    # ---- drafts --------------------------------------------------------------------------------

    def _draft(self, texts: Sequence[Written]) -> list[int]:
        """Tokens that may follow, found in the text so far; as many as are asked for, or none."""
        request = texts[0].request
        if len(texts) > 1 or not request.lookup or request.kinds.penal or request.kinds.masked:
            return []
        held = self._held[texts[0].slot]
        if request.considered or len(held) + 1 + request.lookup >= self.context:
            return []
        return continued([*held, texts[0].tokens[-1]], request.lookup)

    def _verified(self, written: Written, draft: list[int]) -> Steps[None]:
        self._room({written.slot: len(draft) + 1})
        (found,) = yield from self.plans.verify(written.slot, draft, written.request.kinds)
        taken, *tokens = found.flat()
        self._held[written.slot] += [written.tokens[-1], *draft[:taken]]
        self._add(written, tokens[: taken + 1])


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """How many elements are the same from the start."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
