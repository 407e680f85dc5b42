"""WebGPU outside a browser: runs plans with the `wgpu` package, as web/gpu/runner.js does inside.

Loading creates every pipeline, uploads the weights, builds all bind groups and runs `prepare`. A
run is one upload per input, one submit and one map; it creates no buffer.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
import time
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..compile import Compiled, Limits
from ..compile.plan import Step
from ..dtype import BY_NAME
from ..errors import DeviceError
from ..hostarray import HostArray
from .base import PROFILE_REPEATS, PROFILE_SECONDS, DeviceInfo, Timing, typical
from .native_device import NativeDevice, open_device
from .transfer import from_device

# The compiler in `wgpu` has subgroups, but refuses the directive that WGSL asks for.
_SUBGROUPS = ("enable subgroups;", "")

# Seconds for which a step is repeated when it is profiled: a submit costs about 0.1 ms.
_PROFILE_STEP = 0.005
_PROFILE_RUNS = 3

_Key = tuple[int, tuple[tuple[str, Any], ...]]  # module and constants
_Copy = tuple[int, int]  # slot, bytes


@dataclass(frozen=True)
class _Dispatch:
    """A step, ready to encode."""

    name: str
    pipeline: Any
    group: Any
    workgroups: tuple[int, int, int]


class NativeProgram:
    """A plan on the machine's GPU. Runs may overlap, from any thread."""

    def __init__(self, gpu: NativeDevice, compiled: Compiled) -> None:
        self._gpu = gpu
        self._plan = plan = compiled.plan
        self._copies = [(port.slot, -(-port.bytes // 4) * 4) for port in plan.outputs]
        self._slots: list[Any] = []  # a buffer each, None once it is freed
        self._params: Any = None  # of all steps, each at an offset of its own
        self._staging: list[Any] = []  # one for every run that is under way at a time
        self._idle: list[Any] = []  # those of them that no run uses
        self._dispatches: list[_Dispatch] = []
        self._kernels = 0
        self._runs = 0
        self._closed = False
        # Guards the fields above, and that a run's uploads are followed by its own dispatches.
        # Once submitted, runs do not disturb each other: the GPU keeps to their order.
        self._lock = threading.Lock()
        try:
            self._load(compiled.device_weights())
        except BaseException:
            self.close()
            raise

    # ---- loading -------------------------------------------------------------------------------

    def _load(self, weights: list[memoryview]) -> None:
        plan, gpu = self._plan, self._gpu
        steps = [*plan.prepare, *plan.run]
        pipelines = self._compile(steps)
        with gpu.checked(f"{plan.name}: allocating"):
            self._allocate(weights)
            offsets = self._upload_params(steps)
        dispatches = [
            self._bind(step, offset, pipelines[_key(step)])
            for step, offset in zip(steps, offsets, strict=True)
            if step.module >= 0
        ]
        self._warm_up(dispatches)
        prepared = sum(step.module >= 0 for step in plan.prepare)
        self._dispatches = dispatches[prepared:]
        self._free_unused()

    def _compile(self, steps: Sequence[Step]) -> dict[_Key, Any]:
        """Every pipeline of the plan, by module and constants."""
        plan, device = self._plan, self._gpu.handle
        users = {step.module: step for step in reversed(steps) if step.module >= 0}
        wanted = {_key(step): step for step in reversed(steps) if step.module >= 0}

        def module(step: Step) -> Any:
            with self._gpu.checked(self._named(step)):
                label = f"{plan.name} module {step.module}"
                code = plan.modules[step.module].replace(*_SUBGROUPS)
                return device.create_shader_module(code=code, label=label)

        def pipeline(step: Step) -> Any:
            stage = {"module": modules[step.module], "entry_point": "main"}
            with self._gpu.checked(self._named(step)):
                return device.create_compute_pipeline(
                    label=step.name, layout="auto", compute=stage | {"constants": step.constants}
                )

        with ThreadPoolExecutor() as threads:  # the compiler works outside Python's lock
            modules = dict(zip(users, threads.map(module, users.values()), strict=True))
            pipelines = dict(zip(wanted, threads.map(pipeline, wanted.values()), strict=True))
        self._kernels = len(pipelines)
        return pipelines

    def _named(self, step: Step) -> str:
        return f"{self._plan.name}: the step {step.name}"

    def _allocate(self, weights: list[memoryview]) -> None:
        gpu, usage = self._gpu, self._gpu.wgpu.BufferUsage
        left = iter(weights)
        for number, slot in enumerate(self._plan.slots):
            buffer = gpu.handle.create_buffer(
                label=f"{self._plan.name} slot {number} ({slot.kind})",
                size=slot.bytes,
                usage=usage.STORAGE | usage.COPY_DST | usage.COPY_SRC,
            )
            self._slots.append(buffer)
            if slot.kind == "weight":
                content: Any = next(left)
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
            words.extend(step.params)
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

    def _bind(self, step: Step, offset: int, pipeline: Any) -> _Dispatch:
        with self._gpu.checked(self._named(step)):
            resources = [{"buffer": self._slots[slot]} for slot in step.bound]
            if step.params:
                size = 4 * len(step.params)
                resources.append({"buffer": self._params, "offset": offset, "size": size})
            entries = [{"binding": n, "resource": resource} for n, resource in enumerate(resources)]
            group = self._gpu.handle.create_bind_group(
                label=step.name, layout=pipeline.get_bind_group_layout(0), entries=entries
            )
        return _Dispatch(step.name, pipeline, group, step.workgroups)

    def _warm_up(self, dispatches: Sequence[_Dispatch]) -> None:
        """Prepares, and runs once: the first run of a pipeline is slower."""
        try:
            with self._gpu.checked(self._plan.name):
                commands, staging = self._record(dispatches, self._copies)
                self._gpu.queue.submit([commands])
        except DeviceError:
            for dispatch in dispatches:  # `wgpu` blames the encoder, so try them one by one
                with self._gpu.checked(f"{self._plan.name}: the step {dispatch.name}"):
                    self._encode([dispatch]).finish()
            raise
        self._read(staging)

    def _free_unused(self) -> None:
        """Weights that only `prepare` read are not needed any more."""
        used = {slot for step in self._plan.run for slot in step.bindings}
        used |= {port.slot for port in [*self._plan.inputs, *self._plan.outputs]}
        for slot, buffer in enumerate(self._slots):
            if slot not in used:
                buffer.destroy()
                self._slots[slot] = None

    # ---- running -------------------------------------------------------------------------------

    def _encode(self, dispatches: Sequence[_Dispatch]) -> Any:
        encoder = self._gpu.handle.create_command_encoder(label=self._plan.name)
        compute = encoder.begin_compute_pass()
        pipeline = None
        for dispatch in dispatches:
            if dispatch.pipeline is not pipeline:
                pipeline = dispatch.pipeline
                compute.set_pipeline(pipeline)
            compute.set_bind_group(0, dispatch.group)
            compute.dispatch_workgroups(*dispatch.workgroups)
        compute.end()
        return encoder

    def _record(self, dispatches: Sequence[_Dispatch], copies: Sequence[_Copy]) -> tuple[Any, Any]:
        """Commands to submit, and the staging buffer into which they copy parts of slots."""
        encoder = self._encode(dispatches)
        staging = self._idle.pop() if self._idle else self._new_staging()
        try:
            at = 0
            for slot, size in copies:
                encoder.copy_buffer_to_buffer(self._slots[slot], 0, staging, at, size)
                at += size
            return encoder.finish(), staging
        except BaseException:
            self._give_back(staging)
            raise

    def run(self, inputs: Sequence[Any]) -> list[HostArray]:
        """Runs on inputs in the plan's order; any contiguous buffer of the right size serves.

        Raises DeviceError if one does not fit or the program is closed, DeviceLostError if the
        device is gone.
        """
        plan, contents = self._plan, self._contents(inputs)
        with self._lock:
            self._check_open()
            with self._gpu.checked(plan.name):
                self._upload(contents)
                commands, staging = self._record(self._dispatches, self._copies)
                self._gpu.queue.submit([commands])
        results = self._read(staging)
        self._runs += 1
        return results

    def _upload(self, contents: Sequence[memoryview]) -> None:
        for port, content in zip(self._plan.inputs, contents, strict=True):
            if content.nbytes:
                self._gpu.queue.write_buffer(self._slots[port.slot], 0, content)

    async def run_async(self, inputs: Sequence[Any]) -> list[HostArray]:
        """As `run`, in a thread."""
        return await asyncio.to_thread(self.run, inputs)

    def _contents(self, inputs: Sequence[Any]) -> list[memoryview]:
        """The bytes of the inputs, in whole words, checked against their slots."""
        plan = self._plan
        if len(inputs) != len(plan.inputs):
            raise DeviceError(f"{plan.name}: {len(inputs)} inputs for {len(plan.inputs)}")
        contents = []
        for port, value in zip(plan.inputs, inputs, strict=True):
            content = memoryview(value)
            if content.nbytes % 4:
                content = memoryview(content.tobytes() + bytes(-content.nbytes % 4))
            if content.nbytes != -(-port.bytes // 4) * 4:
                raise DeviceError(
                    f"{plan.name}: the input {port.name} has {content.nbytes} bytes instead of "
                    f"{port.bytes}"
                )
            contents.append(content)
        return contents

    def _check_open(self) -> None:
        if self._closed:
            raise DeviceError(f"{self._plan.name}: the program is closed")

    def _read(self, staging: Any) -> list[HostArray]:
        """Waits for a staging buffer and gives the outputs in it."""
        results, at = [], 0
        try:
            with self._gpu.checked(self._plan.name):
                staging.map_sync(self._gpu.wgpu.MapMode.READ)
                content = staging.read_mapped(copy=False)
            for port, (_, size) in zip(self._plan.outputs, self._copies, strict=True):
                mine = memoryview(bytearray(content[at : at + size]))
                results.append(from_device(mine, BY_NAME[port.dtype], port.shape))
                at += size
        finally:
            with self._lock:
                self._give_back(staging)
        return results

    def _give_back(self, staging: Any) -> None:
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
        return self._seconds(self._dispatches, repeats)

    def _seconds(self, dispatches: Sequence[_Dispatch], repeats: int) -> float:
        slot, _ = self._copies[0]
        with self._lock:
            self._check_open()
            with self._gpu.checked(self._plan.name):
                commands, staging = self._record([*dispatches] * repeats, [(slot, 4)])
                began = time.perf_counter()
                self._gpu.queue.submit([commands])
        try:
            with self._gpu.checked(self._plan.name):
                staging.map_sync(self._gpu.wgpu.MapMode.READ)
            return (time.perf_counter() - began) / repeats
        finally:
            with self._lock:
                self._give_back(staging)

    def profile(self, inputs: Sequence[Any], seconds: float = PROFILE_SECONDS) -> Timing:
        """Runs, then each step by itself, often enough that its submit does not count."""
        self.run(inputs)
        runs: list[list[float]] = []
        until = time.perf_counter() + seconds
        while not runs or (len(runs) < _PROFILE_RUNS and time.perf_counter() < until):
            runs.append([self._step_seconds(dispatch) for dispatch in self._dispatches])
        found = iter(typical(runs, 0))
        times = [next(found) if step.module >= 0 else 0.0 for step in self._plan.run]
        return Timing("clock", times, sum(times), len(runs))

    def _step_seconds(self, dispatch: _Dispatch) -> float:
        once = self._seconds([dispatch], 1)
        repeats = min(PROFILE_REPEATS, int(_PROFILE_STEP / once))
        return self._seconds([dispatch], repeats) if repeats > 1 else once

    async def profile_async(
        self, inputs: Sequence[Any], seconds: float = PROFILE_SECONDS
    ) -> Timing:
        """As `profile`, in a thread."""
        return await asyncio.to_thread(self.profile, inputs, seconds)

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
            for buffer in [*self._slots, self._params, *self._idle]:
                if buffer:
                    buffer.destroy()
            self._staging = [buffer for buffer in self._staging if buffer not in self._idle]
            self._slots, self._params, self._idle, self._dispatches = [], None, [], []


def _key(step: Step) -> _Key:
    """Steps of one key share a pipeline."""
    return step.module, tuple(sorted(step.constants.items()))


class NativeBackend:
    """The GPU of this machine."""

    def __init__(self) -> None:
        self._gpu = open_device()

    @property
    def info(self) -> DeviceInfo:
        adapter = self._gpu.adapter
        return DeviceInfo("webgpu", adapter.name, adapter.features)

    @property
    def limits(self) -> Limits:
        return self._gpu.adapter.limits

    def _record_path(self) -> Path:
        """$XDG_CACHE_HOME/tallow/tuning-HASH.json, HASH being that of the adapter's name."""
        folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        digest = hashlib.sha256(self.info.adapter.encode()).hexdigest()[:16]
        return Path(folder) / "tallow" / f"tuning-{digest}.json"

    def tuning_record(self) -> str | None:
        """The text of a file in the user's cache folder. Raises OSError if it cannot be read."""
        try:
            return self._record_path().read_text("utf-8", errors="replace")
        except FileNotFoundError:
            return None

    async def keep_tuning_record(self, text: str) -> None:
        """Writes aside and renames, so that no reader sees half a record."""
        path = self._record_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(f".{os.getpid()}")
        aside.write_text(text, "utf-8")
        aside.replace(path)

    def load(self, compiled: Compiled) -> NativeProgram:
        """Uploads weights, compiles every pipeline, runs `prepare`."""
        return NativeProgram(self._gpu, compiled)

    async def load_async(self, compiled: Compiled) -> NativeProgram:
        """As `load`, in a thread."""
        return await asyncio.to_thread(self.load, compiled)
