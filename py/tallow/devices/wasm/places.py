"""Where the elements of states and of large outputs are between runs."""

from __future__ import annotations

from threading import RLock
from weakref import ref

from ...compile.plan import Port
from ...core.dtype import BY_NAME
from ...core.hostarray import HostArray
from ...core.shape import size_of
from ...runtime.buffer import Buffer, state_moved
from .arena import Block
from .engine import Instance


class Place:
    """Room for a state or an output in a memory, and the handle of the buffer whose elements are
    there. They stay until something else asks for them, or another buffer takes the place.

    offset: its address in the instance's memory. lock: of the programs that have it, since one may
    run at a time. block: where it is, if others may have it too.
    """

    # Why: docs/decisions/webassembly.md, "Programs in one memory have their states in common"
    def __init__(
        self, port: Port, offset: int, instance: Instance, lock: RLock, block: Block | None = None
    ) -> None:
        self.shape, self.dtype = port.shape, BY_NAME[port.dtype]
        self.nbytes = size_of(self.shape) * self.dtype.size
        self.offset, self.lock, self.block = offset, lock, block
        self._instance = instance
        self._holder: ref[Buffer] | None = None

    @property
    def data(self) -> memoryview:
        """A copy of the elements."""
        with self.lock:
            return memoryview(self._instance.read(self.offset, self.nbytes))

    def serves(self, other: Place) -> bool:
        """Whether a program in the same block may have it instead of another place."""
        return self.block is not None and (self.block, self.nbytes) == (other.block, other.nbytes)

    def hold(self, buffer: Buffer) -> None:
        """Says that the elements that are here now are this buffer's."""
        self._holder, buffer.handle = ref(buffer), self

    def take(self, state: Buffer) -> None:
        """Brings a state's elements here, if they are elsewhere."""
        if state.handle is not self:
            self.leave()
            self._instance.write(self.offset, state.handle.data)
            self.hold(state)
            state_moved()

    def leave(self) -> None:
        """Copies the elements into the buffer itself, if anything still holds it."""
        buffer = self._holder() if self._holder else None
        self._holder = None
        if buffer is not None and buffer.handle is self:
            buffer.handle = HostArray(self.data, self.shape, self.dtype)
