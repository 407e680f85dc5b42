"""Buffers that stay on the machine's GPU, and how they are read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ....core.drivers import InThread, Steps
from ....core.dtype import DType, device_type
from ....core.hostarray import HostArray
from ....core.shape import Shape, size_of
from ....runtime.buffer import Buffer
from ....runtime.transfer import from_device, to_device

# Free buffers that are kept for later, of one size and in all: what runs in a loop needs the same
# ones again.
_MAX_IDLE = 4
_MAX_IDLE_BYTES = 256 << 20


class GpuBuffer(Protocol):
    """A buffer of the package `wgpu`."""

    size: int
    map_state: str
    destroy: Callable[[], None]
    unmap: Callable[[], None]
    map_sync: Callable[[object], None]
    read_mapped: Callable[..., memoryview]


class Gpu(Protocol):
    """What is needed of an open device: see NativeDevice."""

    handle: Any
    queue: Any
    wgpu: Any

    def storage(self, size: int, label: str) -> GpuBuffer:
        """A new buffer of this many bytes."""

    def checked(self, what: str) -> AbstractContextManager[None]:
        """Raises the device's errors as Tallow's. what: is being done."""


class NativeMemory:
    """The buffers of one open device."""

    name = "webgpu"
    is_host = False

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self.programs: dict[Any, Any] = {}
        self._idle: dict[
            int, deque[GpuBuffer]
        ] = {}  # by size; a collector may add to it at any time
        self._idle_bytes = 0
        # All that are in use: a handle in a cycle would be finalised before the Buffer that gives
        # it back here.
        self._used: set[GpuBuffer] = set()

    def held_type(self, dtype: DType) -> DType:
        return device_type(dtype)

    def take(self, size: int) -> GpuBuffer:
        """A buffer of this many bytes, with anything in it."""
        try:
            found = self._idle[size].popleft()
            self._idle_bytes -= size
        except (KeyError, IndexError):
            found = self._gpu.storage(size, "array")
        self._used.add(found)
        return found

    def release(self, handle: GpuBuffer) -> None:
        self._used.discard(handle)
        idle = self._idle.setdefault(handle.size, deque())
        if len(idle) < _MAX_IDLE and self._idle_bytes + handle.size <= _MAX_IDLE_BYTES:
            self._idle_bytes += handle.size
            idle.append(handle)
        else:
            handle.destroy()

    def buffer(self, handle: GpuBuffer, dtype: DType, shape: Shape) -> Buffer:
        """The array in a buffer from `take`."""
        return Buffer(self, handle, dtype, shape, device_type(dtype), handle.size)

    def upload(self, data: HostArray) -> Buffer:
        content = to_device(data)
        with self._gpu.checked("uploading"):
            handle = self.take(max(16, -(-content.nbytes // 16) * 16))
            if content.nbytes:
                self._gpu.queue.write_buffer(handle, 0, content)
        return self.buffer(handle, data.dtype, data.shape)

    def clone(self, buffer: Buffer) -> Buffer:
        with self._gpu.checked("copying"):
            handle = self.take(buffer.handle.size)
            encoder = self._gpu.handle.create_command_encoder(label="clone")
            encoder.copy_buffer_to_buffer(buffer.handle, 0, handle, 0, handle.size)
            self._gpu.queue.submit([encoder.finish()])
        return self.buffer(handle, buffer.dtype, buffer.shape)

    def read(self, buffers: Sequence[Buffer]) -> Steps[list[HostArray]]:
        """Awaited, what waits for the device is in a thread, which holds no buffer."""
        staging = self._staged(buffers)
        kinds = [(each.dtype, each.shape) for each in buffers]
        found: list[HostArray] = yield InThread(self._mapped, staging, kinds)
        return found

    def _staged(self, buffers: Sequence[Buffer]) -> GpuBuffer:
        """A buffer that the host can map, into which others are copied one behind the other."""
        usage = self._gpu.wgpu.BufferUsage
        sizes = [4 * size_of(each.shape) for each in buffers]
        with self._gpu.checked("reading"):
            staging: GpuBuffer = self._gpu.handle.create_buffer(
                label="reading",
                size=max(16, sum(sizes)),
                usage=usage.MAP_READ | usage.COPY_DST,
            )
            encoder = self._gpu.handle.create_command_encoder(label="reading")
            at = 0
            for buffer, size in zip(buffers, sizes, strict=True):
                if size:
                    encoder.copy_buffer_to_buffer(buffer.handle, 0, staging, at, size)
                at += size
            self._gpu.queue.submit([encoder.finish()])
        return staging

    def _mapped(self, staging: GpuBuffer, kinds: Sequence[tuple[DType, Shape]]) -> list[HostArray]:
        """Waits for what `_staged` gave, and frees it."""
        with self._gpu.checked("reading"):
            staging.map_sync(self._gpu.wgpu.MapMode.READ)
            content = staging.read_mapped(copy=True)
            staging.destroy()
        results, at = [], 0
        for dtype, shape in kinds:
            size = 4 * size_of(shape)
            mine = memoryview(bytearray(content[at : at + size]))
            results.append(from_device(mine, dtype, shape))
            at += size
        return results
