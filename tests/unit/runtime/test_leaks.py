"""The NumPy runner leaves nothing behind: runs, sessions, and runs that fail."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow_build.paths import ROOT

BLOCKS = 200  # which Python itself may keep: caches and free lists
BYTES = 50_000  # likewise; less than the smallest buffer of the network used here
MODEL = ROOT / "models" / "mnist" / "mnist.onnx"


def feeds_of(session: tl.Session) -> dict[str, Any]:
    (port,) = session.plan.inputs
    return {port.name: np.zeros(port.shape, np.float32)}


def held() -> tuple[int, int]:
    """Python's allocated blocks, and the bytes in them and in NumPy's arrays."""
    gc.collect()
    return sys.getallocatedblocks(), tracemalloc.get_traced_memory()[0]


def same_after(action: Callable[[], object], count: int) -> None:
    """Checks that memory grows no more after the action's tenth time.

    A table of the process that outgrows its size in the meantime is no leak, so one of two rounds
    may grow: what leaks grows in both.
    """
    tracemalloc.start()
    try:
        for _ in range(10):
            action()
        grown = []
        for _ in range(2):
            before = held()
            for _ in range(count - 10):
                action()
            grown.append([now - then for now, then in zip(held(), before, strict=True)])
        assert min(blocks for blocks, _ in grown) < BLOCKS
        assert min(size for _, size in grown) < BYTES
    finally:
        tracemalloc.stop()


def test_many_runs() -> None:
    with tl.onnx.load(MODEL).session("numpy") as session:
        feeds = feeds_of(session)
        same_after(lambda: session.run(feeds), 300)  # one leaked block per run exceeds `BLOCKS`


def test_many_sessions() -> None:
    model = tl.onnx.load(MODEL)

    def once() -> None:
        session = model.session("numpy")
        session.run(feeds_of(session))
        session.close()
        assert session.stats["bytes"] == 0

    same_after(once, 40)  # a leaked session holds hundreds of blocks


def test_runs_that_fail() -> None:
    with tl.onnx.load(MODEL).session("numpy") as session:

        def once() -> None:
            with pytest.raises(tl.FeedError):
                session.run({"x": 1.0})
            with pytest.raises(tl.FeedError):
                session.run({session.plan.inputs[0].name: [1.0]})

        same_after(once, 100)
