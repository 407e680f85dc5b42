"""WebGPU outside a browser: runs plans with the `wgpu` package, as web/gpu/runner.js does inside.

Loading creates every pipeline, uploads the weights and runs `prepare`. A run is one upload per
input, one submit and one map; it creates no buffer, unless outputs stay on the device.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....compile import Compiled
from ....compile.plan import Port, Step
from ....core.drivers import InThread, Steps, run_sync
from ....core.dtype import BY_NAME
from ....core.hostarray import HostArray
from ....errors import DeviceError
from ....runtime.base import PROFILE_SECONDS, Feed, Result, Timing
from ....runtime.buffer import Buffer
from ....runtime.contents import needed
from ....runtime.transfer import from_device
from .device import NativeDevice
from .dispatch import Dispatch, encode, key_of, named, pipelines_of
from .memory import GpuBuffer
from .timing import timing_of

_Copy = tuple[int, int]  # slot, bytes


class _Submitted(NamedTuple):
    """A run that the device has begun. kept: the outputs that stay; staging: what the others, of
    these ports, are read from."""

    wanted: Sequence[bool]
    kept: list[Buffer]
    staging: GpuBuffer
    ports: list[Port]

    def results(self, read: Sequence[HostArray]) -> list[Result]:
        """All outputs in the plan's order."""
        fetched, left = iter(read), iter(self.kept)
        return [next(fetched) if want else next(left) for want in self.wanted]


class NativeProgram:
    """A plan on the machine's GPU. Runs may overlap, from any thread."""

    def __init__(self, gpu: NativeDevice, compiled: Compiled) -> None:
        self._gpu = gpu
        self._plan = plan = compiled.plan
        self._copies = [(port.slot, _words(port.bytes)) for port in plan.outputs]
        self._slots: list[Any] = []  # a buffer each, None once it is freed
        self._params: GpuBuffer | None = None  # of all steps, each at an offset of its own
        self._staging: list[Any] = []  # one for every run that is under way at a time
        self._idle: list[Any] = []  # those of them that no run uses
        self._dispatches: list[Dispatch] = []
        self._kernels = 0
        self._runs = 0
        self._closed = False
        # Guards the fields above, and that a run's uploads are followed by its own dispatches.
        # Once submitted, runs do not disturb each other: the GPU keeps to their order.
        self._lock = threading.Lock()
        self._over: dict[int, Any] = {}  # what slots have in a run, instead of their own buffers
        self._states: dict[int, Any] = {}  # the buffers of states, by their slots
        self._common = gpu.common.of(compiled)  # by slots; their buffers are not this program's
        ports = (*plan.inputs, *plan.states, *plan.outputs)
        outside = ("input", "state", "output")
        self._outside = {port.slot for port in ports if plan.slots[port.slot].kind in outside}
        try:
            self._load(compiled.stored_weights())
        except BaseException:
            self.close()
            raise

    # ---- loading -------------------------------------------------------------------------------

    def _load(self, weights: Iterator[memoryview]) -> None:
        plan, gpu = self._plan, self._gpu
        there = {slot: each.buffer for slot, each in self._common.items() if each.buffer}
        slots, prepare = needed(plan, set(there))
        steps = [*prepare, *plan.run]
        pipelines = pipelines_of(gpu, plan, steps)
        self._kernels = len(pipelines)
        with gpu.checked(f"{plan.name}: allocating"):
            self._allocate(weights, slots, there)
            offsets = self._upload_params(steps)
        dispatches = [
            self._bind(step, offset, pipelines[key_of(step)])
            for step, offset in zip(steps, offsets, strict=True)
            if step.kernel
        ]
        self._warm_up(dispatches)
        prepared = sum(bool(step.kernel) for step in prepare)
        self._dispatches = dispatches[prepared:]
        self._free_unused()

    def _allocate(
        self, weights: Iterator[memoryview], slots: Collection[int], there: Mapping[int, Any]
    ) -> None:
        """slots: those that are needed. there: what other programs have of them."""
        gpu = self._gpu
        for number, slot in enumerate(self._plan.slots):
            content: Any = next(weights) if slot.kind == "weight" else None
            if number in there or number not in slots:
                self._slots.append(there.get(number))
                continue
            label = f"{self._plan.name} slot {number} ({slot.kind})"
            buffer = gpu.storage(slot.bytes, label)
            self._slots.append(buffer)
            if content is not None:
                if not content.nbytes:  # `wgpu` refuses to upload nothing
                    continue
                if padding := -content.nbytes % 4:  # uploads are of whole words
                    content = content.tobytes() + bytes(padding)
                gpu.queue.write_buffer(buffer, 0, content)

    def _upload_params(self, steps: Sequence[Step]) -> list[int]:
        """Puts the numbers of all steps into one buffer; where those of each begin."""
        gpu, usage = self._gpu, self._gpu.wgpu.BufferUsage
        align = gpu.handle.limits["min-uniform-buffer-offset-alignment"]
        offsets, words = [], array("I")
        for step in steps:
            offsets.append(4 * len(words))
            words.extend(step.kernel.get("params", ()))
            words.extend([0] * (-len(words) % (align // 4)))
        if words:
            label = f"{self._plan.name} params"
            uses = usage.UNIFORM | usage.COPY_DST
            self._params = gpu.handle.create_buffer(label=label, size=4 * len(words), usage=uses)
            gpu.queue.write_buffer(self._params, 0, words)
        return offsets

    def _new_staging(self) -> Any:
        gpu, usage = self._gpu, self._gpu.wgpu.BufferUsage
        size = sum(size for _, size in self._copies)
        buffer = gpu.handle.create_buffer(
            label=f"{self._plan.name} staging",
            size=max(size, 16),
            usage=usage.MAP_READ | usage.COPY_DST,
        )
        self._staging.append(buffer)
        return buffer

    def _bind(self, step: Step, offset: int, pipeline: Any) -> Dispatch:
        params = None
        if numbers := step.kernel["params"]:
            params = {"buffer": self._params, "offset": offset, "size": 4 * len(numbers)}
        with self._gpu.checked(named(self._plan, step.name)):
            dispatch = Dispatch(self._gpu, step, pipeline, params, self._outside)
            dispatch.group(self._buffer)
        return dispatch

    def _buffer(self, slot: int) -> Any:
        """What a slot has in this run."""
        return self._over.get(slot) or self._states.get(slot) or self._slots[slot]

    def _warm_up(self, dispatches: Sequence[Dispatch]) -> None:
        """Prepares, and runs once without states: the first run of a pipeline is slower."""
        try:
            with self._gpu.checked(self._plan.name):
                commands, staging = self._record(dispatches, self._copies)
                self._gpu.queue.submit([commands])
        except DeviceError:
            for dispatch in dispatches:  # `wgpu` blames the encoder, so try them one by one
                with self._gpu.checked(named(self._plan, dispatch.name)):
                    encode(self._gpu, self._plan.name, [dispatch], self._buffer).finish()
            raise
        self._read(staging, self._plan.outputs)

    def _free_unused(self) -> None:
        """Frees the weights that only `prepare` read, and the warm-up's states; others may have the
        rest of what is common."""
        plan = self._plan
        used = {slot for step in plan.run for slot in step.bindings}
        used |= {port.slot for port in [*plan.inputs, *plan.outputs]}
        used |= {slot for copy in plan.copies for slot in (copy.source, copy.target)}
        for slot, buffer in enumerate(self._slots):
            if slot not in used or plan.slots[slot].kind == "state":
                self._free(slot, buffer)
                self._slots[slot] = None
        self._common = {slot: each for slot, each in self._common.items() if slot in used}
        for slot, each in self._common.items():
            if each.buffer is None:
                each.keep(self._slots[slot])
        if plan.states:
            for dispatch in self._dispatches:
                dispatch.forget()

    def _free(self, slot: int, buffer: Any) -> None:
        """Frees a slot's buffer; one that is common goes with the last program that has it."""
        common = self._common.get(slot)
        if buffer and (common is None or common.buffer is not buffer):
            buffer.destroy()

    # ---- running -------------------------------------------------------------------------------

    def _record(
        self,
        dispatches: Sequence[Dispatch],
        fetched: Sequence[_Copy],
        moves: Sequence[tuple[Any, Any, int]] = (),
    ) -> tuple[Any, Any]:
        """Commands to submit, and the staging buffer into which they copy parts of slots.

        moves: what they copy from one buffer to another after that, and how many bytes.
        """
        encoder = encode(self._gpu, self._plan.name, dispatches, self._buffer)
        staging = self._idle.pop() if self._idle else self._new_staging()
        try:
            at = 0
            for slot, size in fetched:
                encoder.copy_buffer_to_buffer(self._buffer(slot), 0, staging, at, size)
                at += size
            for source, target, size in moves:
                encoder.copy_buffer_to_buffer(source, 0, target, 0, size)
            return encoder.finish(), staging
        except BaseException:
            self._give_back(staging)
            raise

    def use_states(self, states: Sequence[Buffer]) -> None:
        ports = self._plan.states
        with self._lock:
            self._check_open()
            self._states = {p.slot: each.handle for p, each in zip(ports, states, strict=True)}

    def run(
        self, inputs: Sequence[Feed], fetch: Sequence[bool] | None = None
    ) -> Steps[list[Result]]:
        """Runs on inputs in the plan's order; any contiguous buffer of the right size serves.
        Awaited, what waits for the device is in a thread, which holds no buffer of a caller.

        Raises DeviceError if one does not fit or the program is closed, DeviceLostError if the
        device is gone.
        """
        submitted = self._submit(inputs, fetch or [True] * len(self._plan.outputs))
        return submitted.results((yield InThread(self._read, submitted.staging, submitted.ports)))

    def start(self, inputs: Sequence[Feed]) -> list[Buffer]:
        """As `run`, without waiting."""
        submitted = self._submit(inputs, [False] * len(self._plan.outputs))
        self._read(submitted.staging, ())
        return submitted.kept

    def _submit(self, inputs: Sequence[Feed], wanted: Sequence[bool]) -> _Submitted:
        plan, contents = self._plan, self._contents(inputs)
        copies = [copy for copy, want in zip(self._copies, wanted, strict=True) if want]
        ports = [port for port, want in zip(plan.outputs, wanted, strict=True) if want]
        with self._lock:
            self._check_open()
            try:
                with self._gpu.checked(plan.name):
                    self._feed(contents)
                    kept, moves = self._keep([not want for want in wanted])
                    moves += [
                        (self._buffer(copy.source), self._buffer(copy.target), _words(copy.bytes))
                        for copy in plan.copies
                    ]
                    commands, staging = self._record(self._dispatches, copies, moves)
                    self._gpu.queue.submit([commands])
            finally:
                self._over = {}
            self._runs += 1
        return _Submitted(wanted, kept, staging, ports)

    def _feed(self, contents: Sequence[Feed]) -> None:
        """Uploads inputs from the host; inputs that are buffers replace their slots."""
        plan = self._plan
        for port, content in zip(plan.inputs, contents, strict=True):
            if isinstance(content, Buffer):
                self._over[port.slot] = content.handle
            elif content.nbytes:
                self._gpu.queue.write_buffer(self._slots[port.slot], 0, content)

    def _keep(self, kept: Sequence[bool]) -> tuple[list[Buffer], list[tuple[Any, Any, int]]]:
        """Buffers for outputs that stay, and what must be copied into them: others replace their
        slots in this run."""
        plan, memory = self._plan, self._gpu.memory
        buffers, moves = [], []
        for port, keep in zip(plan.outputs, kept, strict=True):
            if not keep:
                continue
            slot = plan.slots[port.slot]
            size = max(16, -(-port.bytes // 16) * 16)
            handle = memory.take(size)
            if slot.kind == "output" and slot.bytes == size and port.slot not in self._over:
                self._over[port.slot] = handle
            else:
                moves.append((self._buffer(port.slot), handle, _words(port.bytes)))
            buffers.append(memory.buffer(handle, BY_NAME[port.dtype], port.shape))
        return buffers, moves

    def _contents(self, inputs: Sequence[Feed]) -> list[Feed]:
        """The bytes of the inputs, in whole words, checked against their slots."""
        plan = self._plan
        if len(inputs) != len(plan.inputs):
            count = len(plan.inputs)
            raise DeviceError(f"{plan.name}: got {len(inputs)} inputs instead of {count}")
        contents: list[Feed] = []
        for port, value in zip(plan.inputs, inputs, strict=True):
            if isinstance(value, Buffer):
                contents.append(value)
                continue
            content = memoryview(value)
            if content.nbytes % 4:
                content = memoryview(content.tobytes() + bytes(-content.nbytes % 4))
            if content.nbytes != _words(port.bytes):
                raise DeviceError(
                    f"{plan.name}: the input {port.name} has {content.nbytes} bytes instead of "
                    f"{port.bytes}"
                )
            contents.append(content)
        return contents

    def _check_open(self) -> None:
        if self._closed:
            raise DeviceError(f"{self._plan.name}: the program is closed")

    def _read(self, staging: GpuBuffer, ports: Sequence[Port]) -> list[HostArray]:
        """The outputs in a staging buffer; waits for it, unless there are none."""
        results, at = [], 0
        try:
            if not ports:
                return []
            with self._gpu.checked(self._plan.name):
                staging.map_sync(self._gpu.wgpu.MapMode.READ)
                content = staging.read_mapped(copy=False)
            for port in ports:
                size = _words(port.bytes)
                mine = memoryview(bytearray(content[at : at + size]))
                results.append(from_device(mine, BY_NAME[port.dtype], port.shape))
                at += size
        finally:
            with self._lock:
                self._give_back(staging)
        return results

    def _give_back(self, staging: GpuBuffer) -> None:
        """Keeps one idle staging buffer; runs that overlap are the exception."""
        if staging.map_state == "mapped":
            staging.unmap()
        if self._closed or self._idle or staging.map_state != "unmapped":
            staging.destroy()
            self._staging.remove(staging)
        else:
            self._idle.append(staging)

    def seconds(self, repeats: int) -> float:
        """How long a run takes on the device alone: `repeats` of them in one submit, divided.

        By the clock on the wall: `wgpu` does not tell how long a tick of timestamp-query is.
        """
        return self._seconds(self._dispatches, repeats, [])

    def _seconds(
        self, dispatches: Sequence[Dispatch], repeats: int, contents: Sequence[Feed]
    ) -> float:
        slot, _ = self._copies[0]
        with self._lock:
            self._check_open()
            try:
                with self._gpu.checked(self._plan.name):
                    if contents:
                        self._feed(contents)
                    commands, staging = self._record([*dispatches] * repeats, [(slot, 4)])
                    began = time.perf_counter()
                    self._gpu.queue.submit([commands])
            finally:
                self._over = {}
        try:
            with self._gpu.checked(self._plan.name):
                staging.map_sync(self._gpu.wgpu.MapMode.READ)
            return (time.perf_counter() - began) / repeats
        finally:
            with self._lock:
                self._give_back(staging)

    def profile(self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS) -> Steps[Timing]:
        """Runs, then each step by itself, often enough that its submit does not count; awaited, in
        a thread."""
        timing: Timing = yield InThread(self._profiled, inputs, seconds)
        return timing

    def _profiled(self, inputs: Sequence[Feed], seconds: float) -> Timing:
        run_sync(self.run(inputs))
        contents = self._contents(inputs)

        def measure(dispatch: Dispatch, repeats: int) -> float:
            return self._seconds([dispatch], repeats, contents)

        return timing_of(self._plan.run, self._dispatches, measure, seconds)

    # ---- the rest ------------------------------------------------------------------------------

    @property
    def stats(self) -> dict[str, Any]:
        """Counts, and the bytes that are held now."""
        held = [buffer for buffer in [*self._slots, self._params, *self._staging] if buffer]
        return {
            "kernels": self._kernels,
            "dispatches": len(self._dispatches),
            "slots": len(self._plan.slots),
            "bytes": sum(buffer.size for buffer in held),
            "runs": self._runs,
            "adapter": self._gpu.adapter.name,
        }

    def close(self) -> None:
        """Frees all that the program holds; runs that are under way end well."""
        with self._lock:
            self._closed = True
            for slot, buffer in enumerate(self._slots):
                self._free(slot, buffer)
            for buffer in [self._params, *self._idle]:
                if buffer:
                    buffer.destroy()
            self._staging = [buffer for buffer in self._staging if buffer not in self._idle]
            self._slots, self._params, self._idle, self._dispatches = [], None, [], []
            self._common = {}


def _words(size: int) -> int:
    """A size in bytes, rounded up to whole words, which is what copies need."""
    return -(-size // 4) * 4
