"""WebGPU in a browser: hands plans to the JavaScript runner (web/gpu/runner.js).

The only file that imports `js`. The worker opens the adapter and puts `tallowGpu` into its global
scope: {info, reason, load(plan, ...weights), ...}; another one only between two jobs of Python's.
Buffers that are handed over are read where they lie, before the promise of the call settles.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

import js  # type: ignore[import-not-found]
from pyodide.ffi import JsException, run_sync  # type: ignore[import-not-found]

from ..codegen.wgsl.choice import Traits
from ..compile import Compiled, Limits, Plan, uploaded
from ..dtype import BY_NAME
from ..errors import (
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    RealizeError,
    StorageError,
)
from ..hostarray import HostArray
from .base import PROFILE_SECONDS, DeviceInfo, Timing
from .transfer import from_device

_ERRORS = {
    "DeviceLostError": DeviceLostError,
    "OutOfMemoryError": DeviceMemoryError,
    "GPUOutOfMemoryError": DeviceMemoryError,
}


def problem() -> str | None:
    """Why there is no WebGPU, or None if there is."""
    gpu = getattr(js, "tallowGpu", None)
    if gpu is None:
        return "this page's worker opened no adapter"
    return None if gpu.info else str(gpu.reason)


def _raise(error: JsException) -> None:
    kind = _ERRORS.get(str(error.name), DeviceError)
    raise kind(str(error.message)) from error


def _blocking(promise: Awaitable[Any], what: str) -> Any:
    try:
        return run_sync(promise)
    except RuntimeError as error:
        raise RealizeError(
            f"{what} cannot block here: this browser has no JavaScript Promise Integration, or "
            "the code was not started asynchronously; use the async form (`await ..._async()`)"
        ) from error


class WebGpuProgram:
    """A plan in the JavaScript runner."""

    def __init__(self, plan: Plan, handle: Any) -> None:
        self._plan = plan
        self._handle = handle

    async def run_async(self, inputs: Sequence[Any]) -> list[HostArray]:
        """Runs: one upload per input, one submit, one map."""
        try:
            buffers = await self._handle.run(*(memoryview(value) for value in inputs))
        except JsException as error:
            _raise(error)
        results = []
        for port, buffer in zip(self._plan.outputs, buffers, strict=True):
            dtype, content = BY_NAME[port.dtype], buffer.to_memoryview()
            results.append(from_device(content, dtype, port.shape))
        return results

    def run(self, inputs: Sequence[Any]) -> list[HostArray]:
        """As `run_async`, blocking; RealizeError where the browser cannot."""
        result: list[HostArray] = _blocking(self.run_async(inputs), "running on WebGPU")
        return result

    async def profile_async(
        self, inputs: Sequence[Any], seconds: float = PROFILE_SECONDS
    ) -> Timing:
        """Runs some times, each step in a compute pass with timestamps of its own."""
        try:
            told = await self._handle.profile(
                1000 * seconds, *(memoryview(value) for value in inputs)
            )
        except JsException as error:
            _raise(error)
        found = told.to_py()
        measured = found["source"] == "timestamp"
        times = [ns * 1e-9 for ns in found["steps"]] if measured else None
        total, tick = found["total"] * 1e-9, found["resolution"] * 1e-9
        return Timing(found["source"], times, total, found["repeats"], tick)

    def profile(self, inputs: Sequence[Any], seconds: float = PROFILE_SECONDS) -> Timing:
        """As `profile_async`, blocking; RealizeError where the browser cannot."""
        result: Timing = _blocking(self.profile_async(inputs, seconds), "profiling on WebGPU")
        return result

    @property
    def stats(self) -> dict[str, Any]:
        result: dict[str, Any] = self._handle.stats.to_py()
        return result

    def close(self) -> None:
        self._handle.close()


class WebGpuBackend:
    """The adapter that the worker has opened."""

    @property
    def info(self) -> DeviceInfo:
        info = js.tallowGpu.info
        return DeviceInfo("webgpu", str(info.name), tuple(info.features))

    @property
    def limits(self) -> Limits:
        info, limits = js.tallowGpu.info, js.tallowGpu.info.limits
        return Limits(
            storage_buffers=int(limits.maxStorageBuffersPerShaderStage),
            binding_bytes=int(limits.maxStorageBufferBindingSize),
            buffer_bytes=int(limits.maxBufferSize),
            traits=Traits(
                software=bool(info.software),
                subgroups="subgroups" in info.features,
                float16="shader-f16" in info.features,
            ),
        )

    def tuning_record(self) -> str | None:
        """What the worker found in IndexedDB when it opened the adapter; StorageError where the
        browser refused to look."""
        if js.tallowGpu.tuningRefused:
            raise StorageError(str(js.tallowGpu.tuningRefused))
        record = js.tallowGpu.tuning
        return str(record) if record else None  # JavaScript's null is not None

    async def keep_tuning_record(self, text: str) -> None:
        """Puts it into IndexedDB; StorageError where the browser refuses storage."""
        try:
            await js.tallowGpu.keepTuning(text)
        except JsException as error:
            raise StorageError(str(error.message)) from error

    async def load_async(self, compiled: Compiled) -> WebGpuProgram:
        """Uploads weights as they arrive, compiles every pipeline at once, runs `prepare`; unless
        the worker has done so before Python was there."""
        if compiled.loaded is not None:
            return WebGpuProgram(compiled.plan, compiled.loaded)
        plan = compiled.plan.to_json(host=False)
        try:
            weights = [uploaded(data) for _, data in compiled.weights]
            handle = await js.tallowGpu.load(plan, *weights)
        except JsException as error:
            _raise(error)
        return WebGpuProgram(compiled.plan, handle)

    def load(self, compiled: Compiled) -> WebGpuProgram:
        """As `load_async`, blocking; RealizeError where the browser cannot."""
        program: WebGpuProgram = _blocking(self.load_async(compiled), "loading on WebGPU")
        return program
