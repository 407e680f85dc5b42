"""Buffers: arrays that stay on a device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from sys import is_finalizing
from typing import Any, NamedTuple, Protocol
from weakref import WeakSet, ref

from ..core.drivers import Steps, run_sync
from ..core.dtype import DType
from ..core.hostarray import HostArray
from ..core.shape import Shape
from ..graph import Node
from ..ops.kinds import Frozen
from ..ops.source import buffer as buffer_op


class Live(NamedTuple):
    """How many buffers are held, and their bytes."""

    count: int  # type: ignore[assignment]  # which hides tuple's method
    bytes: int


class _Count:
    """What `Live` says of one device."""

    __slots__ = ("bytes", "count")

    def __init__(self) -> None:
        self.count = self.bytes = 0


_live: defaultdict[str, _Count] = defaultdict(_Count)


def live_buffers(device: str | None = None) -> Live:
    """The buffers that tensors, variables and sessions' states hold now, on one device or on all.

    What a session needs for itself, such as weights and scratch memory, is not among them: see
    `Session.stats`. Neither are buffers that were freed and wait to be used again.

    device: the name of a device; None counts all.
    Returns: (count, bytes).
    """
    chosen = [_live[device]] if device else _live.values()
    return Live(sum(each.count for each in chosen), sum(each.bytes for each in chosen))


_moves = [0]


# Why: docs/decisions/jit.md, "A program keeps its states between runs"
def state_moved() -> None:
    """Says that a state has another buffer, that something reads the buffer of one, or that the
    elements of one went to another program."""
    _moves[0] += 1


def state_moves() -> int:
    """How often that was said: if it was not since a program got its states, it has them still."""
    return _moves[0]


class Memory(Protocol):
    """The owner of a device's buffers. After a loss, the device has a new one."""

    name: str
    is_host: bool  # whether the host reads and writes it directly
    programs: dict[Any, Any]  # what is compiled for it, by structure: see eager.py

    def held_type(self, dtype: DType) -> DType:
        """The type in which the device keeps what it computed of a type."""

    def upload(self, data: HostArray) -> Buffer:
        """The elements in a new buffer; does not wait."""

    def read(self, buffers: Sequence[Buffer]) -> Steps[list[HostArray]]:
        """The elements of buffers, once they are computed."""

    def clone(self, buffer: Buffer) -> Buffer:
        """A new buffer with the same elements; does not wait."""

    def release(self, handle: Any) -> None:
        """Frees a buffer, once what was submitted before has used it."""


class Buffer:
    """An array on a device: an element type and a shape, and the device's own handle.

    `held` is the type in which the device has the elements: kernels on a GPU write whole words, so
    that there an int8 takes 32 bits. Only a state's update writes to its buffer; any other never
    changes. `updated`: it is such a state's. Freed when nothing refers to it. `uploaded` has the
    elements of integers that came from the host, so that they can be checked as indices. `node_ref`
    refers to the first of its nodes that is alive.
    """

    __slots__ = (
        "__weakref__",
        "_freed",
        "_live",
        "_twins",
        "dtype",
        "handle",
        "held",
        "memory",
        "nbytes",
        "node_ref",
        "shape",
        "updated",
        "uploaded",
    )

    def __init__(
        self,
        memory: Memory,
        handle: Any,
        dtype: DType,
        shape: Shape,
        held: DType,
        nbytes: int,
    ) -> None:
        self.memory = memory
        self.handle = handle
        self.dtype = dtype
        self.shape = shape
        self.held = held
        self.nbytes = nbytes
        self._freed = False
        self.node_ref: ref[Node] | None = None
        self._twins: WeakSet[Node] | None = None
        self.updated = False
        self.uploaded: HostArray | None = None
        live = self._live = _live[memory.name]
        live.count += 1
        live.bytes += nbytes

    def __repr__(self) -> str:
        return f"<buffer {self.dtype.name}{list(self.shape)} on {self.memory.name}>"

    @property
    def node(self) -> Node:
        """The node of a graph that is this buffer; always the same one while somebody has it."""
        node = self.node_ref() if self.node_ref else None
        if node is None:
            node = Node(buffer_op, (), self._attrs, self.shape, self.dtype)
            self._is_node(node)
        return node

    def node_of(self, past: object) -> Node:
        """A node of this value with this past (autodiff/past.py): `node` itself, if nobody has it
        yet."""
        node = self.node_ref() if self.node_ref else None
        return node if node is not None and node.past is past else self.twin(past)

    def twin(self, past: object) -> Node:
        """Another node of this value."""
        node = Node(buffer_op, (), self._attrs, self.shape, self.dtype, past)
        self._is_node(node)
        return node

    def settle(self, node: Node) -> None:
        """Turns a node that was computed into one of this buffer."""
        node.become(buffer_op, self._attrs)
        self._is_node(node)

    @property
    def _attrs(self) -> Frozen:
        return Frozen((("buffer", self), ("dtype", self.dtype), ("shape", self.shape)))

    def _is_node(self, node: Node) -> None:
        if not self.is_read:
            self.node_ref = ref(node)
        else:
            self._twins = WeakSet() if self._twins is None else self._twins
            self._twins.add(node)
        if self.updated:
            state_moved()

    @property
    def known(self) -> HostArray | None:
        """The elements, if the host has them without waiting for the device."""
        if self.uploaded is None and self.memory.is_host:
            return run_sync(self.memory.read([self]))[0]
        return self.uploaded

    def leave(self, to: Buffer) -> None:
        """Hands all nodes of this buffer to another one with the same elements, before this one is
        overwritten."""
        nodes = [self.node_ref and self.node_ref(), *(self._twins or ())]
        self.node_ref = self._twins = None
        for node in nodes:
            if node is not None:
                node.attrs = to._attrs
                to._is_node(node)

    @property
    def is_read(self) -> bool:
        """Whether a tensor or an expression still needs its present content."""
        first = self.node_ref is not None and self.node_ref() is not None
        return first or bool(self._twins)

    def free(self) -> None:
        """Frees it now; it must not be used afterwards."""
        if self._freed:
            return
        self._freed = True
        self._live.count -= 1
        self._live.bytes -= self.nbytes
        self.memory.release(self.handle)

    def __del__(self, ends: Callable[[], bool] = is_finalizing) -> None:
        if getattr(self, "_freed", True) is False and not ends():  # its device may be gone by then
            self.free()
