"""A turn of Tallow's, eager and compiled; bench/turns.py calls these functions in Pyodide."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import tallow as tl
from tallow.runtime.device import backend

if TYPE_CHECKING:  # it has run before
    from bench.in_browser.clock import clock

SIDE = 256


def _matrix(scale: float) -> tl.Tensor:
    rows = [[((7 * i + 3 * j) % 11 - 5) * scale for j in range(SIDE)] for i in range(SIDE)]
    return tl.asarray(rows).realize()


x, w = _matrix(0.1), _matrix(0.1)


def step(y: tl.Tensor) -> tl.Tensor:
    """Ten elementwise operations and a product."""
    for _ in range(5):
        y = tl.tanh(y * 2.0)
    return y @ w


MODES: dict[str, Callable[[tl.Tensor], tl.Tensor]] = {
    "eager": lambda y: step(y).realize(),
    "jit": tl.jit(step),
}


async def answer(mode: str) -> float:
    """The sum of the squares of what a turn gives."""
    found = MODES[mode](x)
    return float(await tl.sum(found * found).numpy_async())


async def turns(mode: str, count: int) -> dict[str, float]:
    """Milliseconds a turn: in Python alone, for the host, and as a whole; plans and buffers that
    are left. Each turn computes with the result of the one before, so that none can be skipped."""
    turn = MODES[mode]
    programs = backend().memory.programs
    before = len(programs), tl.live_buffers().count
    clock.runner = 0.0
    began = time.perf_counter()
    y = x
    for _ in range(count):
        y = turn(y)
    called = time.perf_counter()
    python = called - began - clock.runner
    await y.numpy_async()
    ended = time.perf_counter()
    del y
    left = len(programs) - before[0] + tl.live_buffers().count - before[1]
    seconds = {"python": python, "host": called - began, "whole": ended - began}
    return {name: 1000 * each / count for name, each in seconds.items()} | {"left": left}
