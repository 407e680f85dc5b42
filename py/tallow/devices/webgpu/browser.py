"""WebGPU in a browser: hands plans to the JavaScript runner (web/gpu/).

It imports `js`, which is there in a browser only. `tallowGpu` in the global scope is the GPU
(web/gpu/python.js): the app's worker puts it there, anywhere else `open_adapter` does. When another
one takes its place, between two jobs of Python's, the old one tells (`onReplaced`). Buffers that
are handed over are read in place, before the promise of the call settles.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Collection, Mapping, Sequence
from typing import Any

from pyodide.ffi import (  # type: ignore[import-not-found]
    JsException,
    create_once_callable,
)

import js  # type: ignore[import-not-found]

from ...compile import Compiled, Plan
from ...compile.limits import Limits
from ...core.drivers import Steps
from ...core.dtype import BY_NAME, DType, device_type
from ...core.hostarray import HostArray
from ...core.shape import Shape, size_of
from ...errors import (
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    DeviceUnavailableError,
    KernelError,
    StorageError,
)
from ...runtime.base import PROFILE_SECONDS, DeviceInfo, Feed, Result, Timing
from ...runtime.buffer import Buffer
from ...runtime.modules import import_module
from ...runtime.promised import Promised
from ...runtime.transfer import from_device, to_device
from .codegen.choice import Traits
from .common_weights import Common, CommonWeights, numbers_of
from .target import TARGET

_ERRORS = {
    "DeviceLostError": DeviceLostError,
    "OutOfMemoryError": DeviceMemoryError,
    "GPUOutOfMemoryError": DeviceMemoryError,
}


def open_backend() -> WebGpuBackend | str:
    """The adapter that is open in this page or worker, or why there is none. Every call of a
    compiled function asks, and a look at JavaScript would take longer than the rest of it."""
    global _current, _last
    if _current is not None:
        return _current
    gpu = getattr(js, "tallowGpu", None)
    if gpu is None:
        return "this page's worker opened no adapter"
    if not gpu.info:
        return str(gpu.reason)
    if _last is None or _last.gpu != gpu:  # another one after a loss
        _last = WebGpuBackend(gpu)
    _current = _last
    gpu.onReplaced = create_once_callable(_look_again)
    return _current


def _look_again() -> None:
    """Another adapter, or none, has taken the place of the one that was open."""
    global _current
    _current = None


async def open_adapter() -> None:
    """Opens the browser's best adapter, unless one is open: in any page or worker, with the runner
    that the wheel brings. Raises DeviceUnavailableError with the reason."""
    if not isinstance(open_backend(), str):
        return
    try:
        runner = await import_module("gpu/python.js")
        js.tallowGpu = await runner.openForPython(scope=str(js.location.href))
    except JsException as error:
        raise DeviceUnavailableError(
            f"the device 'webgpu' is unavailable: {error.message}"
        ) from error


def _raise(error: JsException) -> None:
    if str(error.name) == "KernelError":
        raise KernelError(str(error.message), str(error.op), int(error.line) or None) from error
    kind = _ERRORS.get(str(error.name), DeviceError)
    raise kind(str(error.message)) from error


def _given(feed: Feed) -> Any:
    """An input as JavaScript takes it: the number of a buffer, or bytes."""
    return feed.handle if isinstance(feed, Buffer) else memoryview(feed)


def _layout(dtype: DType, shape: Shape) -> tuple[DType, Shape, DType, int]:
    """What a buffer on the device has of an array: its type and shape, the type in which the device
    holds it, and bytes."""
    return dtype, shape, device_type(dtype), max(16, -(-4 * size_of(shape) // 16) * 16)


class WebGpuMemory:
    """The buffers of the adapter that the worker has opened; a buffer's handle is the number under
    which JavaScript has it (web/gpu/buffers.js)."""

    name = "webgpu"
    is_host = False

    def __init__(self, gpu: Any) -> None:
        self._buffers = gpu.buffers
        self._free = self._buffers.free  # a method of a proxy is looked up at a price
        self._last = 0
        self.programs: dict[Any, Any] = {}

    def held_type(self, dtype: DType) -> DType:
        return device_type(dtype)

    def new_handle(self) -> int:
        """A new number for a buffer."""
        self._last += 1
        return self._last

    def buffer(self, handle: int, dtype: DType, shape: Shape) -> Buffer:
        """The array that JavaScript has, or is about to have, under a number."""
        return Buffer(self, handle, *_layout(dtype, shape))

    def upload(self, data: HostArray) -> Buffer:
        handle = self.new_handle()
        try:
            self._buffers.upload(handle, to_device(data))
        except JsException as error:
            _raise(error)
        return self.buffer(handle, data.dtype, data.shape)

    def clone(self, buffer: Buffer) -> Buffer:
        handle = self.new_handle()
        try:
            self._buffers.clone(handle, buffer.handle)
        except JsException as error:
            _raise(error)
        return self.buffer(handle, buffer.dtype, buffer.shape)

    def read(self, buffers: Sequence[Buffer]) -> Steps[list[HostArray]]:
        """One submit, one map; RealizeError where the browser cannot block."""
        handles = [each.handle for each in buffers]
        sizes = [4 * size_of(each.shape) for each in buffers]
        try:
            found = yield Promised("reading from WebGPU", self._buffers.read, *handles, *sizes)
        except JsException as error:
            _raise(error)
        return [
            from_device(content.to_memoryview(), each.dtype, each.shape)
            for each, content in zip(buffers, found, strict=True)
        ]

    def release(self, handle: int) -> None:
        self._free(handle)


class WebGpuProgram:
    """A plan in the JavaScript runner."""

    def __init__(
        self, plan: Plan, handle: Any, memory: WebGpuMemory, common: Collection[Common] = ()
    ) -> None:
        self._plan = plan
        self._common = common  # kept, so that a number means the same to the next program
        self._handle = handle
        # A method of a proxy is looked up at a price.
        self._run, self._start = handle.run, handle.start
        self._memory = memory
        self._outputs = [_layout(BY_NAME[port.dtype], port.shape) for port in plan.outputs]

    def use_states(self, states: Sequence[Buffer]) -> None:
        try:
            self._handle.useStates(*(state.handle for state in states))
        except JsException as error:
            _raise(error)

    def run(
        self, inputs: Sequence[Feed], fetch: Sequence[bool] | None = None
    ) -> Steps[list[Result]]:
        """Runs: one upload per input from the host, one submit, one map. RealizeError where the
        browser cannot block."""
        if fetch is not None and not any(fetch):
            return self.start(inputs)
        wanted = fetch or [True] * len(self._outputs)
        handles = [0 if want else self._memory.new_handle() for want in wanted]
        kept: list[Buffer] = []

        def begin() -> Awaitable[Any]:
            running: Awaitable[Any] = self._run(*map(_given, inputs), *handles)
            kept.extend(self._kept(handles))  # owned by them, whatever happens
            return running

        try:
            contents = iter((yield Promised("running on WebGPU", begin)))
        except JsException as error:
            _raise(error)
        left = iter(kept)
        return [
            from_device(next(contents).to_memoryview(), dtype, shape) if want else next(left)
            for want, (dtype, shape, *_) in zip(wanted, self._outputs, strict=True)
        ]

    def start(self, inputs: Sequence[Feed]) -> list[Buffer]:
        """Runs, without waiting."""
        handles = [self._memory.new_handle() for _ in self._outputs]
        try:
            self._start(*map(_given, inputs), *handles)
        except JsException as error:
            _raise(error)
        return self._kept(handles)

    def _kept(self, handles: Sequence[int]) -> list[Buffer]:
        memory, pairs = self._memory, zip(handles, self._outputs, strict=True)
        return [Buffer(memory, handle, *layout) for handle, layout in pairs if handle]

    def profile(self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS) -> Steps[Timing]:
        """Runs some times, each step in a compute pass with timestamps of its own; RealizeError
        where the browser cannot block."""
        given = 1000 * seconds, *map(_given, inputs)
        try:
            answer = yield Promised("profiling on WebGPU", self._handle.profile, *given)
        except JsException as error:
            _raise(error)
        found = answer.to_py()
        measured = found["source"] == "timestamp"
        times = [ns * 1e-9 for ns in found["steps"]] if measured else None
        total, tick = found["total"] * 1e-9, found["resolution"] * 1e-9
        return Timing(found["source"], times, total, found["repeats"], tick)

    @property
    def stats(self) -> dict[str, Any]:
        result: dict[str, Any] = self._handle.stats.to_py()
        return result

    def close(self) -> None:
        self._handle.close()


class WebGpuBackend:
    """An adapter that the worker has opened. Its properties are read once, since each look at
    JavaScript costs more than a step of Python."""

    target = TARGET

    def __init__(self, gpu: Any) -> None:
        self.gpu = gpu
        self.memory = WebGpuMemory(gpu)
        self._common = CommonWeights()
        info = gpu.info
        self.info = DeviceInfo(self.target.name, str(info.name), tuple(info.features))
        self.limits = Limits(
            storage_buffers=int(info.limits.maxStorageBuffersPerShaderStage),
            binding_bytes=int(info.limits.maxStorageBufferBindingSize),
            buffer_bytes=int(info.limits.maxBufferSize),
            traits=Traits(
                software=bool(info.software),
                subgroups="subgroups" in info.features,
                float16="shader-f16" in info.features,
            ),
        )

    def tuning_record(self) -> str | None:
        """What the worker found in IndexedDB when it opened the adapter; StorageError where the
        browser refused to look."""
        if self.gpu.tuningRefused:
            raise StorageError(str(self.gpu.tuningRefused))
        record = self.gpu.tuning
        return str(record) if record else None  # JavaScript's null is not None

    async def keep_tuning_record(self, text: str) -> None:
        """Puts it into IndexedDB; StorageError where the browser refuses storage."""
        try:
            await self.gpu.keepTuning(text)
        except JsException as error:
            raise StorageError(str(error.message)) from error

    def load(self, compiled: Compiled) -> Steps[WebGpuProgram]:
        """Uploads weights as they arrive, compiles every pipeline at once, runs `prepare`; unless
        the worker has done so before Python was there. RealizeError where the browser cannot
        block."""
        memory = self.memory
        if compiled.loaded is not None:
            return WebGpuProgram(compiled.plan, compiled.loaded, memory)
        common = self._common.of(compiled)
        given = compiled.plan.to_json(host=False), numbers_of(common), *compiled.uploads()
        try:
            handle = yield Promised("loading on WebGPU", self.gpu.load, *given)
        except JsException as error:
            _raise(error)
        return WebGpuProgram(compiled.plan, handle, memory, common.values())

    def begin(self, code: str, constants: Mapping[str, Any]) -> None:
        """Makes the browser compile a kernel of the plan that `load_now` gets next."""
        self.gpu.begin(code, json.dumps(constants))

    def load_now(self, compiled: Compiled) -> WebGpuProgram:
        """Compiles the pipelines one by one, and waits for nothing."""
        common = self._common.of(compiled)
        try:
            given = compiled.plan.to_json(host=False), numbers_of(common)
            handle = self.gpu.loadNow(*given, *compiled.stored_weights())
        except JsException as error:
            _raise(error)
        return WebGpuProgram(compiled.plan, handle, self.memory, common.values())


_current: WebGpuBackend | None = None
"""The adapter that is open, as far as this module knows."""

_last: WebGpuBackend | None = None
"""The adapter that was used last: it may be given again, after another device."""
