"""Variables: arrays that stay on a device and change, by assignment or by a compiled step."""

from __future__ import annotations

from itertools import count
from typing import Any, Self

from ..dtype import DType
from ..errors import DTypeError, ShapeError
from ..graph import Node
from ..shape import Shape
from ..tensor import Tensor, asarray
from . import eager, trace
from .buffer import Buffer, Memory
from .capture import host_data, lost
from .device import backend

_numbers = count()


class Variable(Tensor):
    """A tensor with a value that can be replaced; its shape and element type stay.

    initial: what `asarray` takes, or a tensor. dtype: as for `asarray`. name: its name in a
    session's `state_dict`. device: where it is stored; the default device if None.

    Whoever reads a variable reads the value of that moment: a later `assign` does not change what
    was built from it. A function under `@tl.jit` reads and assigns it as ever, and its value then
    never leaves the device; it is updated in place where nothing needs the old value any more.

        count = tl.Variable(0)
        count.assign(count + 1)

    Raises DTypeError for types that are kept in few bits (bfloat16, int4 and the like).
    """

    __slots__ = (
        "__weakref__",
        "_buffer",
        "_device",
        "_dtype",
        "_initial",
        "_shape",
        "name",
        "number",
    )

    def __init__(
        self,
        initial: Any,
        dtype: DType | str | None = None,
        *,
        name: str | None = None,
        device: str | None = None,
    ) -> None:
        value = asarray(initial, dtype)
        if value.dtype.coded:
            raise DTypeError(f"a variable cannot be {value.dtype.name}; cast it to float32 or int8")
        self.number = next(_numbers)  # distinguishes it in keys, where == would make a tensor
        self.name = name or f"variable {self.number}"
        self._dtype, self._shape = value.dtype, value.shape
        self._device = device
        self._buffer: Buffer | None = None
        self._initial: Tensor | None = value

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, shape={self.shape}, dtype={self.dtype.name})"

    @property
    def shape(self) -> Shape:
        return self._shape

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of its value now, or in the function that is being traced."""
        tracing = trace.current.get()
        return tracing.read(self) if tracing else self.buffer().node

    @property
    def device(self) -> str:
        """The name of the device that stores it."""
        return self.buffer().memory.name

    # ---- the value -----------------------------------------------------------------------------

    def assign(self, value: Any) -> Self:
        """Replaces the value, by a tensor or what `asarray` takes; gives the variable itself.

        Raises ShapeError or DTypeError if shape or element type differ.
        """
        new = self.fitting(value)
        tracing = trace.current.get()
        if tracing:
            tracing.write(self, new.node)
        else:
            self._buffer = self._computed(new)
            self._initial = None
        return self

    def fitting(self, value: Any) -> Tensor:
        """A value that can be assigned, as a tensor. Raises ShapeError or DTypeError."""
        dtype = None if isinstance(value, Tensor) or hasattr(value, "dtype") else self.dtype
        new = asarray(value, dtype)
        if new.shape != self.shape:
            raise ShapeError(f"{self.name}: has the shape {self.shape}, assigned {new.shape}")
        if new.dtype != self.dtype:
            raise DTypeError(
                f"{self.name}: has the type {self.dtype.name}, assigned {new.dtype.name}; "
                f"cast it with .astype({self.dtype.name!r})"
            )
        return new

    def _computed(self, value: Tensor) -> Buffer:
        """A tensor's value in a buffer of its own."""
        used = backend(self._device or (self._buffer.memory.name if self._buffer else None))
        node = value.node
        if node.is_constant:
            return used.memory.upload(node.attrs["data"])
        if not node.is_buffer:
            return eager.compute(eager.work([node], used.info.device))[0]
        return moved(node.attrs["buffer"], used.memory)

    def buffer(self, memory: Memory | None = None) -> Buffer:
        """The buffer of its value: in this memory, or else where it is, or on its device.

        Raises DeviceLostError if it was lost with its device.
        """
        if self._buffer is None:
            assert self._initial is not None
            self._buffer = self._computed(self._initial)
            self._initial = None
        has = self._buffer.memory
        wanted = backend(has.name).memory if memory is None else memory
        if has is not wanted:
            if has.name == wanted.name:
                raise lost(f"the variable {self.name!r}")
            self._buffer = moved(self._buffer, wanted)
        return self._buffer

    def own_buffer(self, memory: Memory) -> Buffer:
        """As `buffer`, but one that may be overwritten, since nothing else reads it."""
        buffer = self.buffer(memory)
        if buffer.is_read:
            buffer = self._buffer = memory.clone(buffer)
        return buffer


def moved(buffer: Buffer, memory: Memory) -> Buffer:
    """The same values in a buffer of its own in this memory; blocks if it was another device's."""
    return memory.clone(buffer) if buffer.memory is memory else memory.upload(host_data(buffer))
