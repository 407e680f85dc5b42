"""NumPy's arrays as buffers, and its errors as Tallow's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...core.drivers import at_once
from ...core.dtype import DType
from ...core.hostarray import HostArray, from_buffer
from ...errors import DeviceMemoryError, IndexRangeError
from ...runtime.buffer import Buffer

if TYPE_CHECKING:
    from ...arrays import Array, NumPy


class NumpyMemory:
    """The host's memory: a buffer's handle is a NumPy array."""

    name = "numpy"
    is_host = True

    def __init__(self) -> None:
        self.programs: dict[Any, Any] = {}

    def held_type(self, dtype: DType) -> DType:
        return dtype

    def buffer(self, array: Array, dtype: DType) -> Buffer:
        """The buffer of an array that nothing else writes to."""
        return Buffer(self, array, dtype, array.shape, dtype, array.nbytes)

    def upload(self, data: HostArray) -> Buffer:
        return self.buffer(data.numpy().copy(), data.dtype)

    @at_once
    def read(self, buffers: Sequence[Buffer]) -> list[HostArray]:
        return [
            HostArray(from_buffer(each.handle.copy()).data, each.shape, each.dtype)
            for each in buffers
        ]

    def clone(self, buffer: Buffer) -> Buffer:
        return self.buffer(buffer.handle.copy(), buffer.dtype)

    def release(self, handle: object) -> None:
        """The array goes with the last that holds it."""


MEMORY = NumpyMemory()


@contextmanager
def explained(np: NumPy, name: str) -> Iterator[None]:
    """What NumPy raises as errors of Tallow; NumPy's own warnings are off. name: of the plan."""
    try:
        with np.errstate(all="ignore"):
            yield
    except MemoryError as error:
        raise DeviceMemoryError(f"{name}: {str(error) or 'out of memory'}") from error
    except IndexError as error:
        raise IndexRangeError(f"{name}: {error}") from error
