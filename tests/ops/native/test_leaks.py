"""The native runner leaves nothing behind: runs, sessions, and those that fail."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.compile import compile_graph
from tallow.core.drivers import run_sync
from tallow.core.hostarray import from_array
from tallow.devices.webgpu.native.backend import NativeBackend
from tallow.devices.webgpu.native.device import open_device
from tallow.formats.onnx.run.model_session import ModelSession
from tallow_build.paths import ROOT

BLOCKS = 500  # that Python and `wgpu` keep for themselves: caches and free lists
MODEL = ROOT / "models" / "mnist" / "mnist.onnx"


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch, native: None) -> Iterator[Callable[[], int]]:
    """Bytes of the buffers that were created since, and not destroyed."""
    device = open_device().handle
    alive: dict[int, Any] = {}  # the buffers themselves: dropping one must not count as freeing it
    create = device.create_buffer

    def created(**arguments: Any) -> Any:
        buffer = create(**arguments)
        alive[id(buffer)] = buffer
        return buffer

    kind = type(create(size=16, usage="COPY_DST"))
    destroy = kind.destroy

    def destroyed(buffer: Any) -> None:
        alive.pop(id(buffer), None)
        destroy(buffer)

    monkeypatch.setattr(device, "create_buffer", created)
    monkeypatch.setattr(kind, "destroy", destroyed)
    yield lambda: sum(buffer.size for buffer in alive.values())


def blocks() -> int:
    """Blocks of memory that Python holds."""
    gc.collect()
    return sys.getallocatedblocks()


def same_after(action: Callable[[], object], held: Callable[[], int], count: int) -> None:
    """What an action holds after the tenth time, it holds after the last.

    In a thread of its own: in this one Playwright's event loop may stand still, and `wgpu` would
    leave a callback in it for every run.
    """

    def look() -> None:
        for _ in range(10):
            action()
        before = held(), blocks()
        for _ in range(count - 10):
            action()
        assert held() == before[0]
        assert blocks() - before[1] < BLOCKS

    with ThreadPoolExecutor(1) as thread:
        thread.submit(look).result()


def feeds_of(session: ModelSession) -> dict[str, Any]:
    (port,) = session.plan.inputs
    return {port.name: np.zeros(port.shape, np.float32)}


def test_many_runs(held: Callable[[], int]) -> None:
    with tl.onnx.load(MODEL).session("webgpu") as session:
        feeds = feeds_of(session)
        # A block of each run would be more than `BLOCKS`.
        same_after(lambda: session.run(feeds), held, 600)
        assert held() == session.stats["bytes"] > 0
    assert held() == 0


def test_many_sessions(held: Callable[[], int]) -> None:
    model = tl.onnx.load(MODEL)

    def once() -> None:
        with model.session("webgpu") as session:
            session.run(feeds_of(session))

    same_after(once, held, 40)  # one that stays holds hundreds of blocks
    assert held() == 0


def test_what_fails(held: Callable[[], int]) -> None:
    backend = NativeBackend()
    compiled = compile_graph(tl.onnx.load(MODEL).graph(), "webgpu", backend.limits)
    modules = [*compiled.plan.modules[:-1], "this is no WGSL"]
    broken = replace(compiled, plan=replace(compiled.plan, modules=modules))

    def load() -> None:
        with pytest.raises(tl.DeviceError):
            run_sync(backend.load(broken))

    same_after(load, held, 50)
    assert held() == 0
    with tl.onnx.load(MODEL).session("webgpu") as session:

        def run() -> None:
            with pytest.raises(tl.FeedError):
                session.run({"x": 1.0})
            with pytest.raises(tl.DeviceError):
                run_sync(session._only()._program.run([bytes(8 << 20)]))

        same_after(run, held, 100)
        session.run(feeds_of(session))
    assert held() == 0


def test_buffers_of_a_cycle_are_used_again(native: None) -> None:
    memory = NativeBackend().memory
    content = from_array(np.arange(37, dtype=np.float32))
    for _ in range(3):
        cycle: list[Any] = [memory.upload(content)]
        cycle.append(cycle)
        del cycle
        gc.collect()
        (found,) = run_sync(memory.read([memory.upload(content)]))
        np.testing.assert_array_equal(found.numpy(), np.arange(37))
