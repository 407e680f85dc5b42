"""The rates of rotary encodings, as published configurations say them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..errors import OptionError
from ..generation.memory import Rotary


def rotary(size: int, theta: float, scaling: Mapping[str, Any] | None = None) -> Rotary:
    """The rotary encoding of heads of `size` elements.

    size: how many elements turn; even. theta: the base of the rates. scaling: how a model reads
    texts longer than those it was first trained on: `rope_type` (or `type`) and its numbers, under
    Hugging Face's names: "default", "linear" (Chen et al. 2023), "llama3" (Llama 3.1), "yarn" (Peng
    et al. 2023), or "factors": a number for each pair, `factors`, that divides its rate.
    Raises: OptionError for an odd size or another type.
    """
    if size < 2 or size % 2:
        raise OptionError(f"a rotary encoding turns pairs of elements, not {size}")
    rates = [theta ** (-2 * i / size) for i in range(size // 2)]
    given = dict(scaling or {})
    kind = given.get("rope_type", given.get("type", "default"))
    if kind == "default":
        return Rotary(tuple(rates))
    if kind == "linear":
        return Rotary(tuple(rate / given["factor"] for rate in rates))
    if kind == "llama3":
        return Rotary(tuple(_llama3(rate, given) for rate in rates))
    if kind == "factors" and len(given["factors"]) == len(rates):
        return Rotary(tuple(r / each for r, each in zip(rates, given["factors"], strict=True)))
    if kind == "yarn":
        return _yarn(rates, size, theta, given)
    raise OptionError(f"rope_type {kind!r} is none of default, linear, llama3, yarn")


def _llama3(rate: float, given: Mapping[str, Any]) -> float:
    """Slow pairs turn slower by the factor, fast ones as before, and those between in between."""
    turns = float(given["original_max_position_embeddings"]) * rate / (2 * math.pi)
    low, high = float(given["low_freq_factor"]), float(given["high_freq_factor"])
    part = min(max((turns - low) / (high - low), 0.0), 1.0)
    return rate * (part + (1 - part) / float(given["factor"]))


def _yarn(rates: list[float], size: int, theta: float, given: Mapping[str, Any]) -> Rotary:
    """As llama3, but by the number of a pair between two that turn beta_fast and beta_slow times
    over the original context; cosines and sines grow too."""
    factor, context = given["factor"], given["original_max_position_embeddings"]

    def pair(turns: float) -> float:
        return size * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(theta))

    first, last = pair(given.get("beta_fast") or 32), pair(given.get("beta_slow") or 1)
    if given.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, size - 1)
    last += 0.001 if first == last else 0
    found = []
    for number, rate in enumerate(rates):
        part = 1 - min(max((number - first) / (last - first), 0.0), 1.0)
        found.append(rate * (part + (1 - part) / factor))

    def growth(scale: float = 1.0) -> float:
        return 1.0 if factor <= 1 else 0.1 * scale * math.log(factor) + 1.0

    grown = given.get("attention_factor")
    if grown is None:
        scale, whole = given.get("mscale"), given.get("mscale_all_dim")
        grown = growth(scale) / growth(whole) if scale and whole else growth()
    return Rotary(tuple(found), float(grown))
