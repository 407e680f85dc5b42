"""How many threads share the steps of a program, and how they share them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import OptionError

MOST = 64

_USUAL = 4
"""More would gain little with networks of this size, and leave nothing for other programs."""


def usual() -> int:
    """The number of threads unless another one is asked for."""
    return min(os.cpu_count() or 1, _USUAL)


def checked(threads: int) -> int:
    """The same number. Raises OptionError if there can't be so many threads."""
    if type(threads) is not int or not 1 <= threads <= MOST:
        raise OptionError(
            f"{threads!r} is not a number of threads; choose a whole number from 1 to {MOST}"
        )
    return threads


def arguments(kernel: Mapping[str, Any], addresses: Sequence[int], scratch: int) -> list[int]:
    """What the function of a step takes, but for the units. scratch: the address of a thread's."""
    own = [scratch] if "scratch" in kernel else []
    return [*addresses, *own, *kernel.get("sizes", ())]


def cuts(units: int, threads: int) -> list[int]:
    """Where the parts begin that threads take one after the other, and where the last one ends.

    They get smaller, so that all threads end at about the same time, even if one is interrupted;
    but not smaller than two units if there are two for each thread, since kernels of few units gain
    by computing several at once. web/wasm/claims.js cuts in the same way.
    """
    found, least = [0], max(-(-units // (16 * threads)), min(units // threads, 2))
    while found[-1] < units:
        left = units - found[-1]
        found.append(found[-1] + min(max(-(-left // (2 * threads)), least), left))
    return found
