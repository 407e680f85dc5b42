"""Variables: arrays that stay on a device and change, by assignment or by a compiled step."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from itertools import count
from threading import RLock, local
from typing import Any, Self
from weakref import WeakValueDictionary

from ..core import context
from ..core.device_name import DeviceName, placed_on, resolved
from ..core.drivers import run_sync
from ..core.dtype import DType, float32, in_pytorch
from ..core.hostarray import HostArray, from_values
from ..core.shape import Count, Shape, size_of
from ..errors import DeviceUnavailableError, DTypeError, GradientError, ShapeError
from ..facts import Fact, ReadOnly, Table
from ..grad_mode import is_grad_enabled
from ..graph import Node, alias, seams
from ..ops.movement import expand, reshape
from ..tensor import Tensor, asarray, check_floating, check_gradient
from . import eager
from .base import Backend
from .buffer import Buffer, Memory, state_moved
from .capture import host_data, lost
from .device import backend

_numbers = count()


class _Pending(local):
    """The variables whose value is yet to be computed, by their numbers: of each thread those that
    it has assigned. What a thread computes next takes these along, and nobody else's."""

    def __init__(self) -> None:
        self.variables: WeakValueDictionary[int, Variable] = WeakValueDictionary()


_PENDING = _Pending()

_SETTLING = RLock()
"""Held while a value is stored."""


class Variable(Tensor):
    """A tensor with a value that can be replaced; its shape and element type stay.

    An expression reads the value of the moment in which it is built: a later `assign` does not
    change that. A function under `@tl.jit` reads and assigns it too, and its value then never
    leaves the device; it is updated in place where nothing needs the old value any more.

        count = tl.Variable(0)
        count.assign(count + 1)

    initial: what `asarray` takes, or a tensor.
    dtype: the element type; None is as for `asarray`.
    name: its name in a session's `state_dict`; None numbers it.
    device: where it is stored; None is the default device.
    requires_grad: `backward` gives it a gradient.
    Raises: DTypeError for types that are kept in few bits (bfloat16, int4 and the like),
      GradientError for requires_grad of a type that is not floating.
    """

    __slots__ = (
        "_buffer",
        "_device",
        "_dtype",
        "_history",
        "_initial",
        "_leaf",
        "_receives",
        "_shape",
        "name",
        "number",
    )

    def __init__(
        self,
        initial: object,
        dtype: DType | str | None = None,
        *,
        name: str | None = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> None:
        value = asarray(initial, dtype)
        value = value.astype(stored_type(value.dtype))
        self.number = next(_numbers)  # distinguishes it in keys, where == would make a tensor
        self.name = name or f"variable {self.number}"
        self._dtype, self._shape = value.dtype, value.shape
        self._device = resolved(device)
        self._buffer: Buffer | None = None
        self._initial: Tensor | None = value.detach()
        self._history: object = (
            None  # the past of what it is read as, if gradients go on from there
        )
        self._leaf: object = None  # the same, once it has received gradients
        self._receives = requires_grad
        self.requires_grad = requires_grad

    def described(self) -> str:
        """A description that needs no elements."""
        kind = type(self).__name__
        return f"{kind}({self.name!r}, shape={self.shape}, dtype={self.dtype.name})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Another variable with the same value, without the gradient."""
        copied = type(self).__new__(type(self))
        named = None if self.name == f"variable {self.number}" else self.name
        Variable.__init__(
            copied, self.detach(), name=named, device=self._device, requires_grad=self._receives
        )
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        """To be pickled: the value, which is read, and the name if it was given one. Blocks."""
        named = None if self.name == f"variable {self.number}" else self.name
        return _unpickled, (type(self), Tensor(self.node).detach(), named, self._receives)

    shape = ReadOnly[Shape]("_shape")
    dtype = ReadOnly[DType]("_dtype")
    receives = Fact[bool]("_receives", "requires_grad")
    """`requires_grad`, without what it does besides."""

    fact_lasts = True

    def fact_identity(self) -> Hashable:
        """A variable is compared by which one it is: its value is a state."""
        return "variable", self.number

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Count:
        """The number of elements; `size()` is the shape, as in PyTorch."""
        return Count(size_of(self.shape), self.shape)

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of its value now, or in the function that is being traced."""
        receives = self.requires_grad
        tracing = context.trace.get()
        if not tracing:
            return self.buffer().node_of(self._past() if receives else self._history)
        node: Node = tracing.read(self)
        past = self._past() if receives else None
        # What the function wrote keeps its own past, unless that is the one of a leaf.
        if (receives and node.past is not past) or (not receives and node.past is self._leaf):
            node = node if node.past is past else tracing.replace(self, alias(node, past))
        return node

    def _past(self) -> Any:
        """The past of what it is read as while it receives gradients; always the same record."""
        if self._leaf is None:
            self._leaf = seams.derivatives.leaf(self)
        return self._leaf

    @property
    def device(self) -> DeviceName:
        """The name of the device that stores it: a text."""
        return placed_on(self.buffer().memory.name)

    # ---- derivatives ---------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether `backward` gives it a gradient."""
        return self.receives

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if wanted:
            check_floating(self, "requires_grad")
        self.receives = wanted

    @property
    def own_hooks(self) -> dict[int, Any]:
        if not hasattr(self, "_hooks"):
            self._hooks: Table[int, Any] = Table(type(self).__name__, "hooks of its gradient")
        return self._hooks

    @property
    def gradient_hooks(self) -> Mapping[int, Any]:
        """`own_hooks`; in a function that is being traced, a table, which notes that it is read."""
        return self.own_hooks if context.trace.get() else getattr(self, "_hooks", {})

    @property
    def own_added_hooks(self) -> dict[int, Any]:
        if not hasattr(self, "_added"):
            self._added: Table[int, Any] = Table(type(self).__name__, "hooks of its added gradient")
        return self._added

    @property
    def added_hooks(self) -> Mapping[int, Any]:
        """As `gradient_hooks`."""
        return self.own_added_hooks if context.trace.get() else getattr(self, "_added", {})

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward` has accumulated; None if there is none."""
        tracing = context.trace.get()
        return tracing.gradient(self) if tracing else self.gradient

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        check_gradient(self, gradient)
        tracing = context.trace.get()
        if tracing:
            tracing.set_gradient(self, gradient)
        else:
            self.gradient = gradient

    @property
    def gradient(self) -> Tensor | None:
        """`grad` outside of functions that are being traced."""
        found: Tensor | Buffer | None = getattr(self, "_gradient", None)
        if isinstance(found, Buffer):
            found = self._gradient = Tensor(found.node)
        return found

    @gradient.setter
    def gradient(self, gradient: Tensor | Buffer | None) -> None:
        """A buffer becomes a tensor when it is read: few programs read gradients after a step."""
        self._gradient: Any = gradient

    @property
    def has_gradient(self) -> bool:
        """Whether `gradient` is not None."""
        return getattr(self, "_gradient", None) is not None

    def become(self, value: object, free: bool = False) -> Self:
        """As `Tensor.become`; the value is computed when something next is.

        value: a tensor, or what `asarray` takes, in the shape of this one and in a type that it can
          become.
        free: allows it outside of `no_grad` too.
        Returns: the variable itself.
        Raises: ShapeError for another shape, DTypeError if integers would have to become floating,
          GradientError outside of `no_grad`, if the variable receives a gradient.
        """
        if self._receives and is_grad_enabled() and not free:
            raise GradientError(
                f"{self.name}: a parameter is changed in place within `with tl.no_grad():`"
            )
        return self.assign_later(self._fitting(value))

    def _changed(self, new: Tensor) -> Tensor:
        """+= and the like change a parameter within `no_grad`, and any other variable."""
        return new if self._receives and is_grad_enabled() else self.become(new)

    # ---- the value -----------------------------------------------------------------------------

    def assign(self, value: object) -> Self:
        """Replaces the value.

        value: a tensor, or what `asarray` takes, of the same shape and element type.
        Returns: the variable itself.
        Raises: ShapeError or DTypeError if shape or element type differ.
        """
        new = self.fitting(value)
        tracing = context.trace.get()
        if tracing:
            tracing.write(self, alias(new.node, self._past()) if self.requires_grad else new.node)
        else:
            self.settle(self._computed(new))
            self.track(new)
        return self

    def assign_later(self, value: object) -> Self:
        """As `assign`, but the value is computed when something next is: together with that, or
        when the variable is read.

        value: a tensor, or what `asarray` takes, of the same shape and element type.
        Returns: the variable itself.
        Raises: ShapeError or DTypeError if shape or element type differ.
        """
        new = self.fitting(value)
        if context.trace.get():
            return self.assign(new)
        state_moved()
        self.track(new)
        self._initial = new.detach()  # which does not need the old value: reading computes it
        _PENDING.variables[self.number] = self
        return self

    def track(self, value: Tensor) -> None:
        """Lets gradients of what reads it from now on pass through what its value is computed by,
        as in PyTorch after a change in place. A parameter's end here."""
        kept = not self._receives and is_grad_enabled() and seams.derivatives.tracked(value.node)
        self._history = seams.derivatives.history(value.node) if kept else None

    def fitting(self, value: object) -> Tensor:
        """A value that can be assigned, as a tensor.

        value: a tensor, or what `asarray` takes.
        Returns: a tensor of the variable's shape and type.
        Raises: ShapeError or DTypeError if shape or element type differ.
        """
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

    def move(self, device: str | None = None, dtype: DType | None = None) -> None:
        """Stores it on another device, or a floating one in another floating type.

        device: the name of the device; None leaves it where it is.
        dtype: the floating type; None leaves it, and so does a variable of integers.
        Raises: DTypeError for types that are kept in few bits, DeviceUnavailableError for a device
          that cannot be used here.
        """
        dtype = None if dtype is None else stored_type(dtype)
        if dtype is not None and self._dtype.is_floating and dtype != self._dtype:
            value = Tensor(self.buffer().node).astype(dtype).detach()
            Variable.dtype.put(self, dtype)
            self._initial = value
            self.settle(self._computed(value))
        if device is not None:
            used = backend(device)
            self._device = device
            self.buffer(used.memory)

    @property
    def waits_for(self) -> Node | None:
        """The node of a value that is yet to be computed."""
        return None if self._initial is None else self._initial.node

    @property
    def stored_on(self) -> str | None:
        """The name of its device, if that is known already."""
        return self._device or (self._buffer.memory.name if self._buffer else None)

    def settle(self, buffer: Buffer) -> None:
        """Stores its value in this buffer, which nothing else writes."""
        with _SETTLING:
            if self._initial is None:  # else it is the value that was waited for
                self._history = None
            self._buffer, self._initial = buffer, None
            state_moved()
            _PENDING.variables.pop(self.number, None)

    def settle_waiting(self, node: Node, buffer: Buffer) -> None:
        """As `settle`, of the value that it waits for; nothing if another thread or task has stored
        this meanwhile, or assigned another one."""
        with _SETTLING:
            if self.waits_for is node:
                self.settle(buffer)

    def set_number(self, number: float) -> None:
        """Sets the value of a variable of one element without building a graph, as `assign` would.
        Schedules call this at every step."""
        data = from_values([number], self.shape, self.dtype)
        self._initial = None
        self.settle(self._used.memory.upload(data))

    @property
    def _used(self) -> Backend:
        """Its device. If that is no longer available, and nobody asked for it by name, the default
        device."""
        try:
            return backend(self.stored_on)
        except DeviceUnavailableError:
            if self._device is not None:
                raise
            return backend()

    def _computed(self, value: Tensor) -> Buffer:
        """A tensor's value in a buffer of its own."""
        used, node = self._used, value.node
        known = _known(node)
        if known is not None:
            return used.memory.upload(known)
        if node.is_buffer and node.attrs["buffer"].memory is used.memory:
            cloned: Buffer = used.memory.clone(node.attrs["buffer"])
            return cloned
        return run_sync(eager.compute(eager.work([node], used.info.device)))[0]

    def buffer(self, memory: Memory | None = None) -> Buffer:
        """The buffer of its value: in this memory, or else where it is, or on its device.

        Raises DeviceLostError if it was lost with its device.
        """
        while (waited := self._initial) is not None:
            computed = self._computed(waited)
            with _SETTLING:
                if self._initial is waited:
                    self.settle(computed)
        assert self._buffer is not None
        has = self._buffer.memory
        try:
            wanted = backend(has.name).memory if memory is None else memory
        except DeviceUnavailableError as error:
            raise lost(f"the variable {self.name!r}") from error
        if has is not wanted:
            if has.name == wanted.name:
                raise lost(f"the variable {self.name!r}")
            self._buffer = moved(self._buffer, wanted)
            state_moved()
        return self._buffer

    # Why: docs/decisions/jit.md, "A variable is copied on write"
    def as_input(self, memory: Memory, written: bool) -> Buffer:
        """The buffer for a run.

        memory: where the run is.
        written: the run overwrites the buffer, so that it must be one that nothing else reads.
        Returns: the buffer, in this memory.
        """
        buffer = self._buffer
        if buffer is None or buffer.memory is not memory or self._initial is not None:
            buffer = self.buffer(memory)
        if written and buffer.node_ref is not None and buffer.is_read:
            buffer.leave(memory.clone(buffer))
        if written:
            self._history = None
            if not buffer.updated:  # a program may have a copy of what only the host has changed
                buffer.updated = True
                state_moved()
        return buffer


_told: list[bool] = []


def stored_type(dtype: DType) -> DType:
    """The type in which a variable is stored.

    With PyTorch's habits, bfloat16 is stored and computed wider, in float32, and a warning says so
    once.

    dtype: the type that is asked for.
    Returns: the type.
    Raises: DTypeError for other types that are kept in few bits.
    """
    if not dtype.coded:
        return dtype
    if dtype.name != "bfloat16" or not in_pytorch():
        raise DTypeError(f"a variable cannot be {dtype.name}; cast it to float32 or int8")
    if not _told:
        _told.append(True)
        warnings.warn(
            "parameters and buffers of bfloat16 are stored and computed in float32", stacklevel=4
        )
    return float32


_FILL_BYTES = 1 << 22
"""Above this size, a kernel that fills a buffer costs less than an upload."""


def _known(node: Node) -> HostArray | None:
    """The elements of a node for which nothing needs to be compiled: a constant, or one number
    everywhere."""
    shape, repeated = node.shape, False
    while node.op in (reshape, expand):
        repeated = repeated or node.op is expand
        (node,) = node.inputs
    if not node.is_constant:
        return None
    data: HostArray = node.attrs["data"]
    if not repeated:
        return HostArray(data.data, shape, data.dtype)
    if data.size != 1 or size_of(shape) * data.nbytes > _FILL_BYTES:
        return None
    return HostArray(memoryview(bytes(data.data) * size_of(shape)), shape, data.dtype)


def _unpickled(kind: type[Variable], value: Tensor, name: str | None, receives: bool) -> Variable:
    made = kind.__new__(kind)
    Variable.__init__(made, value, name=name, requires_grad=receives)
    return made


def assign_together(pairs: Sequence[tuple[Variable, Any]]) -> None:
    """Assigns values to variables; what has to be computed for that is computed together, with the
    values of all variables that wait for theirs.

    pairs: (variable, value) of each.
    Returns: nothing.
    Raises: ShapeError or DTypeError as `Variable.assign`.
    """
    if context.trace.get():
        for variable, value in pairs:
            variable.assign(value)
        return
    fitting = [(variable, variable.fitting(value)) for variable, value in pairs]
    computed = []
    for variable, value in fitting:
        if value.node.is_constant or value.node.is_buffer:
            variable.assign(value)
        else:
            computed.append((variable, value.node))
    if not computed:
        return
    used = backend(computed[0][0].stored_on)
    others = waiting(used.info.device)
    nodes = [node for _, node in (*computed, *others)]
    buffers = iter(run_sync(eager.compute(eager.work(nodes, used.info.device))))
    for (variable, _), buffer in zip(computed, buffers, strict=False):
        variable.settle(buffer)
    for (variable, node), buffer in zip(others, buffers, strict=True):
        variable.settle_waiting(node, buffer)


def waiting(device: str) -> list[tuple[Variable, Node]]:
    """The variables of a device that wait for their value, and the nodes of it: those that this
    thread has assigned."""
    found = []
    for variable in list(_PENDING.variables.values()):
        node = variable.waits_for  # None if another thread has computed it
        if node is not None and variable.stored_on in (None, device):
            found.append((variable, node))
    return found


def moved(buffer: Buffer, memory: Memory) -> Buffer:
    """The same values in a buffer of its own in this memory; blocks if it was another device's."""
    return memory.clone(buffer) if buffer.memory is memory else memory.upload(host_data(buffer))
