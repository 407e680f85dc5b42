"""The runner of WebAssembly outside a browser: one memory, laid out by a plan's slots.

Steps that have no function (compile/targets/wasm.py) are computed by NumPy, on the same memory.
"""

from __future__ import annotations

import ctypes
from base64 import b64decode
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import version
from itertools import pairwise
from math import prod
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
import wasmtime

from ...compile import Compiled
from ...compile.limits import Limits, host_limits
from ...compile.plan import Step
from ...compile.targets.wasm import WASM
from ...dtype import BY_NAME
from ...errors import DeviceError, DeviceMemoryError, IndexRangeError
from ...hostarray import HostArray, from_buffer
from ..base import PROFILE_REPEATS, PROFILE_SECONDS, DeviceInfo, Feed, Result, Timing, typical
from ..buffer import Buffer
from ..numpy.runner import NumpyMemory
from ..numpy.specialized import Workspace
from ..numpy.step import BoundStep

_PAGE = 65536
_MOST_PAGES = 65536
_ALIGNED = 64  # bytes, of each slot: a line of most caches

Call = Callable[[], None]


class WasmMemory(NumpyMemory):
    """Buffers are NumPy arrays, which runs copy into the module's memory and back."""

    name = "wasm"


MEMORY = WasmMemory()


@cache
def _engine() -> wasmtime.Engine:
    return wasmtime.Engine()


class WasmProgram:
    """A plan in a memory of its own. One run at a time: calls from several threads wait."""

    def __init__(self, compiled: Compiled) -> None:
        self._plan = plan = compiled.plan
        self._lock = Lock()
        self._runs = 0
        self._closed = False
        self._workspace = Workspace(np)
        self._offsets, size = _layout([slot.bytes for slot in plan.slots])
        self._store = wasmtime.Store(_engine())
        self._memory = self._allocate(size)
        self._functions = self._instantiate()
        by_offset = dict(compiled.weights)
        for number, slot in enumerate(plan.slots):
            if slot.kind == "weight":
                content = WASM.stored(by_offset[slot.offset])
                self._bytes(number)[: content.nbytes] = np.frombuffer(content, np.uint8)
        for call in map(self._bound, plan.prepare):
            call()
        self._steps = [self._bound(step) for step in plan.run]

    def _allocate(self, size: int) -> np.ndarray:
        pages = -(-size // _PAGE)
        if pages > _MOST_PAGES:
            raise DeviceMemoryError(
                f"{self._plan.name} cannot fit: it needs {size:,} bytes, and WebAssembly has 4 GiB"
            )
        limits = wasmtime.Limits(pages, pages)
        self._linear = wasmtime.Memory(self._store, wasmtime.MemoryType(limits))
        pointer = ctypes.addressof(self._linear.data_ptr(self._store).contents)
        content = (ctypes.c_ubyte * self._linear.data_len(self._store)).from_address(pointer)
        return np.frombuffer(memoryview(content), np.uint8)

    def _instantiate(self) -> dict[str, Any]:
        if not self._plan.modules:
            return {}
        module = wasmtime.Module(_engine(), b64decode(self._plan.modules[0]))
        instance = wasmtime.Instance(self._store, module, [self._linear])
        return dict(instance.exports(self._store).items())

    def _bytes(self, slot: int) -> np.ndarray:
        first = self._offsets[slot]
        return self._memory[first : first + self._plan.slots[slot].bytes]

    def _array(self, slot: int, shape: Sequence[int], dtype: str) -> np.ndarray:
        size = prod(shape) * np.dtype(dtype).itemsize
        return self._bytes(slot)[:size].view(dtype).reshape(shape)

    def _bound(self, step: Step) -> Call:
        """The step as a call."""
        name = step.kernel.get("function")
        if name is not None:
            addresses = [self._offsets[slot] for slot in step.bindings]
            return partial(self._functions[name], self._store, *addresses)
        *slots, target = step.bindings
        reads = [
            self._array(slot, shape, dtype)
            for slot, (shape, dtype) in zip(slots, step.reads, strict=True)
        ]
        result = self._array(target, *step.write)
        known = [self._plan.slots[slot].kind in ("weight", "prepared") for slot in slots]
        return BoundStep(np, step, reads, known, result, self._workspace)

    def run(self, inputs: Sequence[Feed], fetch: Sequence[bool] | None = None) -> list[Result]:
        """Runs on inputs in the plan's order; any buffer of the right size serves."""
        plan = self._plan
        with self._lock, self._explained():
            self._feed(inputs)
            for step in self._steps:
                step()
            self._runs += 1
            results = [
                self._output(port, wanted)
                for port, wanted in zip(
                    plan.outputs, fetch or [True] * len(plan.outputs), strict=True
                )
            ]
            for copy in plan.copies:
                self._bytes(copy.target)[: copy.bytes] = self._bytes(copy.source)[: copy.bytes]
            for port, state in zip(plan.states, inputs[len(plan.inputs) :], strict=True):
                state.handle[...] = self._array(port.slot, port.shape, port.dtype)
            return results

    @contextmanager
    def _explained(self) -> Any:
        """What NumPy and the engine raise as errors of Tallow."""
        try:
            with np.errstate(all="ignore"):
                yield
        except MemoryError as error:
            raise DeviceMemoryError(f"{self._plan.name}: out of memory: {error}") from error
        except IndexError as error:
            raise IndexRangeError(f"{self._plan.name}: {error}") from error
        except wasmtime.Trap as error:
            raise DeviceError(f"{self._plan.name}: a kernel stopped: {error}") from error

    def _feed(self, inputs: Sequence[Feed]) -> None:
        if self._closed:
            raise DeviceError(f"{self._plan.name}: the program is closed")
        for port, value in zip((*self._plan.inputs, *self._plan.states), inputs, strict=True):
            if isinstance(value, Buffer):
                given = value.handle
            else:
                given = np.frombuffer(value, dtype=port.dtype).reshape(port.shape)
            self._array(port.slot, port.shape, port.dtype)[...] = given

    def _output(self, port: Any, fetch: bool) -> Result:
        """The output in memory of its own, which the next run leaves alone."""
        content = self._array(port.slot, port.shape, port.dtype).copy()
        dtype = BY_NAME[port.dtype]
        if not fetch:
            return MEMORY.buffer(content, dtype)
        return HostArray(from_buffer(content).data, port.shape, dtype)

    async def run_async(
        self, inputs: Sequence[Feed], fetch: Sequence[bool] | None = None
    ) -> list[Result]:
        """As `run`; the computation itself does not yield."""
        return self.run(inputs, fetch)

    def profile(self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS) -> Timing:
        """Runs some times, with the clock around each step."""
        runs: list[list[float]] = []
        until = perf_counter() + seconds
        while not runs or (len(runs) < PROFILE_REPEATS and perf_counter() < until):
            with self._lock, self._explained():
                self._feed(inputs)
                clock = [perf_counter()]
                for step in self._steps:
                    step()
                    clock.append(perf_counter())
            runs.append([after - before for before, after in pairwise(clock)])
        times = typical(runs, 0.0)
        return Timing("clock", times, sum(times), len(runs))

    async def profile_async(
        self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS
    ) -> Timing:
        """As `profile`; the computation itself does not yield."""
        return self.profile(inputs, seconds)

    @property
    def stats(self) -> dict[str, Any]:
        plan = self._plan
        return {
            "kernels": sum(bool(step.kernel) for step in (*plan.prepare, *plan.run)),
            "dispatches": len(plan.run),
            "slots": len(plan.slots),
            "bytes": self._memory.nbytes,
            "runs": self._runs,
            "adapter": WasmBackend().info.adapter,
        }

    def close(self) -> None:
        with self._lock:
            self._steps, self._functions = [], {}
            self._closed = True


def _layout(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Where each slot begins, and where the last one ends. Nothing is at address 0."""
    offsets, end = [], _ALIGNED
    for size in sizes:
        offsets.append(end)
        end += -(-size // _ALIGNED) * _ALIGNED
    return offsets, end


class WasmBackend:
    """The engine of the package `wasmtime`."""

    target = WASM
    memory = MEMORY

    @property
    def info(self) -> DeviceInfo:
        return DeviceInfo(self.target.name, f"wasmtime {version('wasmtime')}")

    @property
    def limits(self) -> Limits:
        return host_limits()

    def tuning_record(self) -> str | None:
        return None  # there are no kernels to choose from yet

    async def keep_tuning_record(self, text: str) -> None:
        pass

    def load(self, compiled: Compiled) -> WasmProgram:
        return WasmProgram(compiled)

    def load_now(self, compiled: Compiled) -> WasmProgram:
        return WasmProgram(compiled)

    async def load_async(self, compiled: Compiled) -> WasmProgram:
        await compiled.arrive()
        return WasmProgram(compiled)
