"""The choice of a token from its scores, on the device.

Top-k and top-p leave the tokens above a threshold, which is found by halving an interval of scores:
each half takes a sum over all tokens, and nothing is sorted. Of the rest, the one is drawn at which
the running sum of probabilities passes a random number. That number is a counter's, of the seed and
the position, so that a text repeats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .. import functions as f
from ..core.dtype import float32
from ..errors import OptionError
from ..functions.philox import uniform
from ..tensor import Tensor

NUMBERS = 5
"""How many numbers say how a token is chosen: see `Sampling.numbers`."""


_RANGE, _HALVES = 32.0, 24
"""Below the best score by 32, a probability is 1e-14; 24 halves of that are 2e-6."""


@dataclass(frozen=True)
class Kinds:
    """What a plan has to compute; which numbers it computes with is no part of it.

    draws: random numbers, not the best token alone. top_k, top_p: these thresholds. penal:
    repetition penalties. masked: some tokens alone are allowed.
    """

    draws: bool = False
    top_k: bool = False
    top_p: bool = False
    penal: bool = False
    masked: bool = False

    def __or__(self, other: Kinds) -> Kinds:
        """What both need."""
        return Kinds(
            self.draws or other.draws,
            self.top_k or other.top_k,
            self.top_p or other.top_p,
            self.penal or other.penal,
            self.masked or other.masked,
        )


@dataclass(frozen=True)
class Sampling:
    """How a token is chosen.

    temperature: divides the scores; 0 takes the best token. top_k: the tokens with the k best
    scores alone; 0 is all. top_p: the least set of the best tokens whose probabilities add up to
    this (Holtzman et al. 2020). min_p: tokens with at least this part of the best one's
    probability (Nguyen et al. 2024). repetition_penalty: divides the positive scores of tokens
    that the text has, and multiplies negative ones (Keskar et al. 2019); 1 is none. seed: of the
    random numbers.
    Raises: OptionError for a value out of range.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        _check("temperature", self.temperature, 0, math.inf)
        _check("top_p", self.top_p, 0, 1)
        _check("min_p", self.min_p, 0, 1)
        _check("repetition_penalty", self.repetition_penalty, 1e-3, 1e3)
        for name in ("top_k", "seed"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise OptionError(f"{name} is a whole number from 0 on, not {value!r}")
        if self.top_p == 0:
            raise OptionError("top_p is above 0; temperature=0 takes the best token alone")

    @property
    def kinds(self) -> Kinds:
        """What a plan has to compute for it."""
        draws = self.temperature > 0
        penal = self.repetition_penalty != 1
        return Kinds(draws, draws and self.top_k > 0, draws and self.top_p < 1, penal)

    @property
    def numbers(self) -> list[float]:
        """What a plan takes."""
        return [
            float(self.temperature),
            float(self.top_k),
            float(self.top_p),
            float(self.min_p),
            float(self.repetition_penalty),
        ]

    @property
    def words(self) -> list[int]:
        """The seed in words of 32 bits."""
        return [self.seed & 0xFFFFFFFF, self.seed >> 32 & 0xFFFFFFFF]


def _check(name: str, value: float, least: float, most: float) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not least <= value <= most or math.isinf(value):
        above = f"to {most:g}" if math.isfinite(most) else "on"
        raise OptionError(f"{name} is a number from {least:g} {above}, not {value!r}")


def chosen(
    scores: Tensor,
    kinds: Kinds,
    numbers: Tensor,
    words: Tensor,
    positions: Tensor,
    used: Tensor | None = None,
    allowed: Tensor | None = None,
) -> Tensor:
    """The tokens that follow.

    scores: (rows, vocabulary).
    kinds: what to compute.
    numbers: float32 (rows, NUMBERS), of a `Sampling` each.
    words: uint32 (rows, 2): seeds.
    positions: int32 (rows,): where the tokens will stand.
    used: (rows, vocabulary): not 0 for tokens that the text has; needed for penalties.
    allowed: uint32 (rows, words): a bit for each token, set if it may follow; needed if masked.
    Returns: int32 (rows,).
    """
    x = scores.astype(float32)
    count = x.shape[-1]
    temperature, top_k, top_p, min_p, penalty = (numbers[:, i : i + 1] for i in range(NUMBERS))
    if kinds.penal:
        assert used is not None
        punished = f.where(f.greater(x, 0), x / penalty, x * penalty)
        x = f.where(f.not_equal(used, 0), punished, x)
    if kinds.masked:
        assert allowed is not None
        x = f.where(allowed_bits(allowed, count), x, -math.inf)
    best = f.argmax(x, axis=-1).astype("int32")
    if not kinds.draws:
        return best
    x = x / f.where(f.greater(temperature, 0), temperature, 1.0)
    peak = f.max(x, axis=-1, keepdims=True)
    weights = f.where(f.greater_equal(x, peak + f.log(min_p)), f.exp(x - peak), 0.0)
    if kinds.top_k:
        every = f.where(f.equal(top_k, 0), float(count), top_k)
        weights = _best(x, peak, weights, f.greater(weights, 0).astype(float32), every)
    if kinds.top_p:
        weights = _best(x, peak, weights, weights, top_p * f.sum(weights, axis=-1, keepdims=True))
    random = [uniform((1,), _stream(words[b], positions[b])) for b in range(x.shape[0])]
    sums = f.where(f.greater(weights, 0), f.cumulative_sum(weights, axis=-1), -1.0)
    passed = f.greater_equal(sums, f.stack(random) * f.max(sums, axis=-1, keepdims=True))
    drawn = f.argmax(passed.astype("int8"), axis=-1).astype("int32")
    return f.where(f.greater(temperature[:, 0], 0), drawn, best)


def _best(x: Tensor, peak: Tensor, weights: Tensor, counted: Tensor, wanted: Tensor) -> Tensor:
    """The weights of the best tokens whose `counted` adds up to what is wanted, 0 for others.

    The threshold is found to the last bits of a score, between the best one and `_RANGE` below,
    where probabilities are nothing.
    """
    low, high = peak - _RANGE, peak
    for _ in range(_HALVES):
        middle = (low + high) * 0.5
        enough = f.greater_equal(
            f.sum(f.where(f.greater_equal(x, middle), counted, 0.0), axis=-1, keepdims=True), wanted
        )
        low, high = f.where(enough, middle, low), f.where(enough, high, middle)
    return f.where(f.greater_equal(x, low), weights, 0.0)


def _stream(words: Tensor, position: Tensor) -> Tensor:
    return f.concat([words, f.reshape(position, (1,)).astype("uint32")])


def allowed_bits(allowed: Tensor, count: int) -> Tensor:
    """Booleans of packed bits: (rows, count)."""
    places = f.arange(count, dtype="int32")
    words = f.take(allowed, places >> 5, axis=-1)
    bits = (words >> (places & 31).astype("uint32")) & f.ones((), "uint32")
    return f.not_equal(bits, 0)


class Mask:
    """Tokens that may follow, packed as `allowed` has them. words: of 32 bits, a bit a token."""

    def __init__(self, words: list[int]) -> None:
        self.words = words


def packed_bits(tokens: Sequence[int] | Mask, count: int) -> list[int]:
    """The words of `allowed` in which the bits of these tokens are set.

    Raises: OptionError for a token that the model does not have.
    """
    if isinstance(tokens, Mask):
        return tokens.words
    words = [0] * ((count + 31) // 32)
    for token in tokens:
        if not 0 <= token < count:
            raise OptionError(f"the token {token} is none of the model's {count:,}")
        words[token >> 5] |= 1 << (token & 31)
    return words
