"""The switches that decide what is built and compiled: whether gradients are tracked, the types of
autocast, the precision of products, the default device, and what watches.

Each switch is a `Field` with two levels. A plain call, such as `set_default_device`, sets the
process's value, which every thread, task and notebook cell sees. A `with` block overrides it in a
context variable, so that other threads and tasks do not see it (JAX has the same two levels).
The exception is gradient tracking: `set_grad_enabled` holds for its thread, as in PyTorch.

A plan under `@tl.jit` is for the values of the fields that are marked `in_key`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from contextlib import ContextDecorator
from contextvars import ContextVar
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")

_overrides: ContextVar[Mapping[Field[Any], Any]] = ContextVar("overrides", default={})  # noqa: B039
"""What `with` blocks have set. A mapping is never changed: each block makes another one."""

FIELDS: dict[str, Field[Any]] = {}
"""All fields, by name."""


class Field(Generic[T]):
    """A switch. name: what messages and tests call it. value: the process's value.

    in_key: whether what a traced function builds, or what is compiled of it, depends on the value.
    used: whether the value has ever been another than the first, for code that runs for every op.
    """

    def __init__(self, name: str, value: T, *, in_key: bool) -> None:
        self.name = name
        self.in_key = in_key
        self.used = False
        self._value = value
        FIELDS[name] = self

    def __repr__(self) -> str:
        return f"<switch {self.name}: {self.get()!r}>"

    def get(self) -> T:
        """The value here: that of the innermost `with` block, else the process's."""
        found = _overrides.get()
        return cast("T", found[self]) if self in found else self._value

    def set(self, value: T) -> None:
        """Sets the process's value; within a `with` block of this field, the block's, until it
        ends."""
        self.used = True
        found = _overrides.get()
        if self in found:
            _overrides.set({**found, self: value})
        else:
            self._set_outside(value)

    def _set_outside(self, value: T) -> None:
        self._value = value

    def override(self, value: T) -> Override:
        """Within it, the value is another one: in this thread and task only. Also a decorator."""
        return Override(self, value)


class Override(ContextDecorator):
    """A `with` block of one field. It may be entered again within itself."""

    def __init__(self, field: Field[Any], value: Any) -> None:
        self._field, self._value = field, value
        self._before: list[tuple[Any, ...]] = []

    def _recreate_cm(self) -> Override:
        """Each call of a decorated function enters a block of its own."""
        return Override(self._field, self._value)

    def __enter__(self) -> None:
        field, found = self._field, _overrides.get()
        field.used = True
        self._before.append((found[field],) if field in found else ())
        _overrides.set({**found, field: self._value})

    def __exit__(self, *error: object) -> None:
        """Restores this field alone: blocks of other fields may end in any order."""
        field, before = self._field, self._before.pop()
        found = {each: value for each, value in _overrides.get().items() if each is not field}
        if before:
            found[field] = before[0]
        _overrides.set(found)


# Why: docs/decisions/eager.md, "Switches have two levels"
class _ThreadField(Field[T]):
    """A field whose outer level is the thread's instead of the process's."""

    def __init__(self, name: str, value: T, *, in_key: bool) -> None:
        super().__init__(name, value, in_key=in_key)
        self._own = threading.local()

    def get(self) -> T:
        found = _overrides.get()
        if self in found:
            return cast("T", found[self])
        return cast("T", getattr(self._own, "value", self._value))

    def _set_outside(self, value: T) -> None:
        self._own.value = value


gradients: Field[bool] = _ThreadField("gradients", True, in_key=True)
"""Whether gradients are tracked for what is built (grad_mode.py)."""

autocast: Field[bool] = Field("autocast", False, in_key=True)
"""Whether functions compute in the types of `tl.amp.autocast` (casting.py)."""

matmul_precision: Field[str] = Field("matmul_precision", "highest", in_key=True)
"""How precise products of float32 tensors are (runtime/device.py)."""

function_precision: Field[str] = Field("function_precision", "highest", in_key=True)
"""How precise functions of float32 tensors such as the sine are (runtime/device.py)."""

debug_nans: Field[bool] = Field("debug_nans", False, in_key=True)
"""Whether every floating result is checked (runtime/debug.py)."""

default_device: Field[str | None] = Field("default_device", None, in_key=False)
"""The device for work that names none. Not in the key: a plan belongs to one device's memory, which
each call looks up."""

recorder: Field[Callable[[Any], None] | None] = Field("recorder", None, in_key=False)
"""Is called with every node that is made. Not in the key: it changes no node."""

trace: Field[Any] = Field("trace", None, in_key=False)
"""The function that `@tl.jit` is tracing (runtime/trace.py). Not in the key: a call within a trace
looks for no plan."""

pytorch: Field[bool] = Field("pytorch", False, in_key=True)
"""Whether PyTorch's habits hold where the array API leaves the choice open: integers are int64,
sums of integers too, and shapes, types and elements are printed as PyTorch prints them. Importing
`tallow.torch` sets the process's value."""

floating: Field[Any] = Field("floating", None, in_key=True)
"""The element type of floating numbers that are given none; None is float32 (dtype.py)."""

draws: Field[Callable[[], Any] | None] = Field("draws", None, in_key=False)
"""Returns the stream of a random draw within a trace (random.py). Not in the key, as `trace`."""

_KEYED = [field for field in FIELDS.values() if field.in_key]


def key() -> Hashable:
    """The values that a plan depends on."""
    return tuple([field.get() for field in _KEYED])
