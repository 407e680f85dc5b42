"""The runner of WebAssembly: memory for a plan, laid out by its slots.

Steps that have no function (devices/wasm/target.py) are computed by NumPy, from copies.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from threading import RLock
from typing import Any

from ...compile import Compiled
from ...compile.limits import Limits, host_limits
from ...compile.plan import Port, Step
from ...core.drivers import IfAwaited, Steps, at_once
from ...core.dtype import BY_NAME, DType
from ...core.hostarray import HostArray
from ...core.streamed_weights import StreamedArray
from ...errors import (
    DeviceError,
    DeviceMemoryError,
    DeviceUnavailableError,
    IndexRangeError,
)
from ...ops.numpy_kernels import HAS_BLAS, numpy_module
from ...runtime.base import PROFILE_SECONDS, DeviceInfo, Feed, Result, Timing
from ...runtime.buffer import Buffer
from ...runtime.contents import used_slots
from ...runtime.immediate import ImmediateProgram, clocked, profiled
from ..numpy.specialized import Workspace
from .arena import PAGE, Arena, Extent, aligned
from .codegen.kernels import Features
from .engine import Engine, call_all, has_relaxed_simd
from .on_numpy import NumpyStep
from .places import Place
from .shared_weights import Placed, Shared, SharedWeights
from .target import TARGET

_MOST_BYTES = 1 << 32
_LARGE = 1 << 16
"""Bytes from which on outputs stay: a small one would keep the whole memory alive."""

Call = Callable[[], Any]


class WasmMemory:
    """Buffers between runs: HostArrays, which a run copies into its module's memory and back, or
    Places, where they stay."""

    name = "wasm"
    is_host = True

    def __init__(self) -> None:
        self.programs: dict[Any, Any] = {}

    def held_type(self, dtype: DType) -> DType:
        return dtype

    def upload(self, data: HostArray | Place) -> Buffer:
        return self.held(HostArray(memoryview(bytes(data.data)), data.shape, data.dtype))

    def held(self, data: HostArray | Place) -> Buffer:
        """As `upload`, of elements that nothing else writes: without a copy."""
        return Buffer(self, data, data.dtype, data.shape, data.dtype, data.nbytes)

    @at_once
    def read(self, buffers: Sequence[Buffer]) -> list[HostArray]:
        return [HostArray(each.handle.data, each.shape, each.dtype) for each in buffers]

    def clone(self, buffer: Buffer) -> Buffer:
        return self.upload(buffer.handle)

    def release(self, handle: Any) -> None:
        """The bytes go with the last that holds them."""


class _Explained:
    """Raises what the engine and NumPy raise as errors of Tallow. A class, since it is entered at
    every run, and a generator takes longer."""

    __slots__ = ("_bytes", "_fault", "_name")

    def __init__(self, name: str, size: int, fault: tuple[type[Exception], ...]) -> None:
        self._name, self._bytes, self._fault = name, size, fault

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MemoryError):
            words = f"it needs {self._bytes:,} bytes: {str(error) or 'out of memory'}"
            raise DeviceMemoryError(f"{self._name}: {words}") from error
        if isinstance(error, IndexError):
            raise IndexRangeError(f"{self._name}: {error}") from error
        if isinstance(error, self._fault):
            raise DeviceError(f"{self._name}: WebAssembly stopped: {error}") from error


class WasmProgram(ImmediateProgram):
    """A plan in a memory of its own, or in a part of one that brief programs share. One run at a
    time: calls from several threads wait."""

    def __init__(self, compiled: Compiled, backend: WasmBackend) -> None:
        self._plan = plan = compiled.plan
        self._backend = backend
        self._lock = RLock()  # a run may ask for what is in its own memory
        self._runs = 0
        states = {port.slot for port in plan.states}
        large = {port.slot for port in plan.outputs if port.bytes >= _LARGE}
        self._lasting = large - states  # the slots of outputs that nothing writes before a run
        self._places: dict[int, Place] = {}  # of states and lasting outputs, by slots
        engine = backend.engine
        self._fault = engine.fault
        steps = (*plan.prepare, *plan.run)
        shared = any("units" in step.kernel for step in steps)
        self._scratch = aligned(max((step.kernel.get("scratch", 0) for step in steps), default=0))
        self._instance: Any = None
        self._workspace: Workspace | None = None  # of the steps that NumPy computes
        if compiled.loaded is not None:
            self._instance = engine.adopted(compiled.loaded)
        threads = self._instance.threads if self._instance else engine.threads if shared else 1
        sizes = [slot.bytes for slot in plan.slots]
        self._offsets, self._bytes = _layout(threads * self._scratch, sizes)
        if self._bytes > _MOST_BYTES:
            raise DeviceMemoryError(
                f"{plan.name} cannot fit: it needs {self._bytes:,} bytes, and WebAssembly has "
                "4 GiB; use a smaller input or batch, or device='numpy'"
            )
        self._shared: dict[int, Shared] = {}  # the weights that other programs may have too
        with _Explained(plan.name, self._bytes, self._fault):
            if self._instance is None:
                self._load(compiled, threads)
            # Until the first run it may take the states' places from a program that has them.
            self._is_bound = False
            for port in (*plan.states, *plan.outputs):
                if port.slot in states | self._lasting and port.slot not in self._places:
                    offset = self._offsets[port.slot]
                    self._places[port.slot] = Place(port, offset, self._instance, self._lock)
            if not plan.states:
                self._bind()

    def _place_states(self, ports: Sequence[Port], extent: Extent, shared: bool) -> None:
        """Has states apart from the program's own memory, so that other programs can."""
        instance = self._backend.engine.placed(None, extent, shared)
        offsets, _ = _layout(extent.start, [port.bytes for port in ports])
        for port, offset in zip(ports, offsets, strict=True):
            self._offsets[port.slot] = offset
            self._places[port.slot] = Place(port, offset, instance, self._lock, extent.block)

    def _bind(self) -> None:
        """Makes calls of the steps, which have addresses from now on."""
        plan = self._plan
        self._is_bound = True
        self._steps = [self._bound(step) for step in plan.run]
        alone = all("function" in step.kernel for step in plan.run)
        self._all: Call = partial(call_all, self._steps)
        if alone:
            self._all = self._instance.together(self._steps)
        self._copies: Call = self._instance.copies(
            [(self._offsets[each.source], self._offsets[each.target], each.bytes)
             for each in plan.copies]
        )  # fmt: skip

    def _load(self, compiled: Compiled, threads: int) -> None:
        """Fills a new memory: the weights, and what `prepare` computes."""
        plan, by_offset = self._plan, dict(compiled.weights)
        weights = {
            number: by_offset[slot.offset]
            for number, slot in enumerate(plan.slots)
            if slot.kind == "weight"
        }
        placed = self._make_instance(compiled, threads, weights)
        lacking = placed.lacking if placed else set()
        for number, data in weights.items():
            if number in self._shared.keys() - lacking or (placed and number not in placed.needed):
                continue
            offset = self._offsets[number]
            if isinstance(data, StreamedArray) and data.part and data.part.here:
                self._instance.write_part(offset, data.part)
            else:
                self._instance.write(offset, TARGET.stored(data))
        for call in map(self._bound, placed.prepare if placed else plan.prepare):
            call()
        for place in self._shared.values():
            place.is_new = False
        used = used_slots(plan)
        self._shared = {slot: place for slot, place in self._shared.items() if slot in used}

    def _make_instance(
        self, compiled: Compiled, threads: int, weights: Mapping[int, HostArray]
    ) -> Placed | None:
        """Makes the memory, and lays out the slots in it. Gives what it shares with others."""
        plan, engine, shared = self._plan, self._backend.engine, threads > 1
        module = b64decode(plan.modules[0]) if plan.modules else None
        arena = engine.arena(shared)
        placed = None
        if compiled.brief:
            self._instance = engine.placed(module, arena.extent(self._bytes), shared)
        else:
            placed = self._backend.shared_weights(arena).place(self._bytes, plan, weights)
            if placed is None:
                self._instance = engine.instance(module, -(-self._bytes // PAGE), shared)
            else:
                self._shared = placed.shared
                self._instance = engine.placed(module, placed.part, shared)
        apart = placed.apart if placed else ()
        sizes = [0 if number in apart else each.bytes for number, each in enumerate(plan.slots)]
        self._offsets, _ = _layout(self._instance.start + threads * self._scratch, sizes)
        for number, place in self._shared.items():
            self._offsets[number] = place.extent.start
        if placed and placed.states:
            self._place_states(plan.states, placed.states, shared)
        return placed

    def _bound(self, step: Step) -> Call:
        """The step as a call."""
        offsets = [self._offsets[slot] for slot in step.bindings]
        if "at" in step.kernel:
            offsets = list(map(int.__add__, offsets, step.kernel["at"]))
        if "function" in step.kernel:
            call: Call = self._instance.bound(step.kernel, offsets, self._scratch)
            return call
        slots = self._plan.slots
        known = [slots[slot].kind in ("weight", "prepared") for slot in step.bindings[:-1]]
        try:
            self._workspace = self._workspace or Workspace(numpy_module())
            return NumpyStep(step, known, self._instance, offsets, self._workspace)
        except ImportError as error:
            raise DeviceUnavailableError(
                f"{self._plan.name}: WebAssembly has no kernel for {step.name}, and NumPy, which "
                "would compute it, is not installed"
            ) from error

    def use_states(self, states: Sequence[Buffer]) -> None:
        """Moves the elements of states into this memory, until they go to another one."""
        with self._lock:
            self._check_open()
            if not self._is_bound:
                self._adopt(states)
                self._bind()
        with self._lock, _Explained(self._plan.name, self._bytes, self._fault):
            for port, state in zip(self._plan.states, states, strict=True):
                self._places[port.slot].take(state)

    def _adopt(self, states: Sequence[Buffer]) -> None:
        """Has states where other programs in this block have them, and the lock of these."""
        own, left, block = self._lock, [], None
        for port, state in zip(self._plan.states, states, strict=True):
            there = state.handle
            fits = type(there) is Place and there.serves(self._places[port.slot])
            if fits and (self._lock is own or self._lock is there.lock):
                self._lock, block = there.lock, there.block
                self._places[port.slot] = there
                self._offsets[port.slot] = there.offset
            else:
                left.append(port)
        if left and block is not None:
            shared = self._instance.threads > 1
            arena = self._backend.engine.arena(shared)
            extents = arena.within(block, [sum(aligned(port.bytes) for port in left)])
            if extents:  # what they had is free then
                self._place_states(left, extents[0], shared)
        for place in self._places.values():
            place.lock = self._lock

    def _run(self, inputs: Sequence[Feed], fetch: Sequence[bool]) -> list[Result]:
        plan = self._plan
        with self._lock, _Explained(self._plan.name, self._bytes, self._fault):
            self._feed(inputs)
            self._all()
            self._runs += 1
            results = [
                self._read(port)
                if fetched or port.slot not in self._lasting
                else self._kept(self._places[port.slot])
                for port, fetched in zip(plan.outputs, fetch, strict=True)
            ]
            self._copies()
        held = self._backend.memory.held
        return [
            result if fetched or isinstance(result, Buffer) else held(result)
            for result, fetched in zip(results, fetch, strict=True)
        ]

    def _kept(self, place: Place) -> Buffer:
        """An output whose elements stay in this memory until the next run."""
        buffer = self._backend.memory.held(place)
        place.hold(buffer)
        return buffer

    def _feed(self, inputs: Sequence[Feed]) -> None:
        self._check_open()
        plan = self._plan
        for slot in self._lasting:
            self._places[slot].leave()
        for port, value in zip(plan.inputs, inputs, strict=True):
            content = value.handle.data if isinstance(value, Buffer) else value
            self._instance.write(self._offsets[port.slot], content)

    def _read(self, port: Port) -> HostArray:
        """An output in memory of its own, which the next run leaves alone."""
        dtype = BY_NAME[port.dtype]
        size = dtype.size
        for dim in port.shape:
            size *= dim
        content = self._instance.read(self._offsets[port.slot], size)
        return HostArray(memoryview(content), port.shape, dtype)

    @at_once
    def profile(self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS) -> Timing:
        """Runs some times, with the clock around each step."""

        def run() -> list[float]:
            with self._lock, _Explained(self._plan.name, self._bytes, self._fault):
                self._feed(inputs)
                return clocked(self._steps)

        return profiled(run, seconds)

    @property
    def stats(self) -> dict[str, Any]:
        plan = self._plan
        return {
            "kernels": sum(bool(step.kernel) for step in (*plan.prepare, *plan.run)),
            "dispatches": len(plan.run),
            "slots": len(plan.slots),
            "bytes": self._bytes,
            "runs": self._runs,
            "adapter": self._backend.info.adapter,
        }

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                for place in self._places.values():
                    if place.block is None:  # else it stays until nothing has its elements
                        place.leave()
            self._places = {}
            self._steps, self._all, self._copies = [], partial(call_all, ()), partial(call_all, ())
            if self._instance is not None:
                self._instance.close()
            self._instance = None  # and its memory
            self._shared = {}
            self._closed = True


def _layout(start: int, sizes: Sequence[int]) -> tuple[list[int], int]:
    """Where each slot begins, the first one at `start`, and where the last one ends."""
    offsets, end = [], start
    for size in sizes:
        offsets.append(end)
        end += aligned(size)
    return offsets, end


class WasmBackend:
    """An engine as a device."""

    target = TARGET
    begin = None

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.memory = WasmMemory()
        self._shared_weights: dict[Arena, SharedWeights] = {}
        relaxed = has_relaxed_simd(engine)
        features = ("relaxed-simd",) if relaxed else ()
        adapter = f"{engine.name} with relaxed SIMD" if relaxed else engine.name
        self.info = DeviceInfo(self.target.name, adapter, features)
        most = min(host_limits().total_bytes, _MOST_BYTES)
        blas = engine.host_memory and HAS_BLAS and find_spec("numpy") is not None
        self.limits: Limits = replace(
            host_limits(),
            binding_bytes=most,
            buffer_bytes=most,
            total_bytes=most,
            traits=Features(relaxed, blas),
        )

    @property
    def threads(self) -> int:
        """How many threads share the steps of programs that are loaded afterwards."""
        return self.engine.threads

    def use_threads(self, count: int) -> None:
        """Changes that number. Code that runs eagerly then has its programs loaded again."""
        self.engine.use_threads(count)
        self._forget(len(self.memory.programs))

    def shared_weights(self, arena: Arena) -> SharedWeights:
        """The weights that programs share in the memories of an arena."""
        return self._shared_weights.setdefault(arena, SharedWeights(arena))

    def tuning_record(self) -> str | None:
        return None  # each op has one kernel at most

    async def keep_tuning_record(self, text: str) -> None:
        pass

    def _forget(self, count: int) -> None:
        """Closes the least recently used programs of eager code."""
        programs = self.memory.programs
        for key in sorted(programs, key=lambda each: programs[each].last)[:count]:
            programs.pop(key).program.close()

    def load_now(self, compiled: Compiled) -> WasmProgram:
        try:
            return WasmProgram(compiled, self)
        except DeviceMemoryError:
            kept = len(self.memory.programs)
            if not kept:
                raise
        self._forget(-(-kept // 2))
        return WasmProgram(compiled, self)

    def load(self, compiled: Compiled) -> Steps[WasmProgram]:
        yield IfAwaited(compiled.download)
        return self.load_now(compiled)
