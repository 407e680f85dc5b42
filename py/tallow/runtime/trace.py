"""What `@tl.jit` is tracing, so that variables, and tensors without a value, know of it."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any, Protocol

from .. import context
from ..errors import TracingError
from ..graph import Node
from ..tensor import Tensor


class Trace(Protocol):
    """A function that is being traced."""

    name: str

    def read(self, variable: Any) -> Node:
        """The value that a variable has there."""

    def replace(self, variable: Any, node: Node) -> Node:
        """Has another node stand for the value that a variable has there; gives that node."""

    def write(self, variable: Any, node: Node) -> None:
        """Has a variable have this value from there on."""

    def gradient(self, variable: Any) -> Tensor | None:
        """What has been added up there as a variable's gradient."""

    def set_gradient(self, variable: Any, gradient: Tensor | None) -> None:
        """Has a variable have this gradient from there on."""

    def saw(self, owner: Any, name: str, value: Hashable) -> None:
        """The function asked for an attribute of something, and built what this value calls for."""

    def set_flag(self, owner: Any, name: str) -> None:
        """The function sets a flag itself: what it sees of it from there on is no condition."""


_changes = [0]


def changed() -> None:
    """Says that an attribute which a function may have seen (`Trace.saw`) has another value."""
    _changes[0] += 1


def changes() -> int:
    """How often that was said; what was seen is looked at again only if it was."""
    return _changes[0]


def depends(owner: Any, name: str) -> None:
    """Says that what is being traced, if anything is, depends on an attribute."""
    tracing = context.trace.get()
    if tracing:
        tracing.saw(owner, name, getattr(owner, name))


class Flag:
    """An attribute that is True or False and decides what a function builds, such as the mode of a
    module. A plan of `@tl.jit` is for the values that its function saw."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        value: bool = instance.__dict__[self._name]
        tracing = context.trace.get()
        if tracing:
            tracing.saw(instance, self._name, value)
        return value

    def __set__(self, instance: Any, value: bool) -> None:
        tracing = context.trace.get()
        if tracing:
            tracing.set_flag(instance, self._name)
        instance.__dict__[self._name] = value
        changed()


def not_known(node: Node) -> TracingError | None:
    """The error for a tensor whose value is asked for while it is traced; None outside a trace."""
    trace = context.trace.get()
    if trace is None:
        return None
    return TracingError(
        f"{line_of_user()}: the value of a tensor is asked for (by if, while, bool(), int(), "
        f"float(), item(), tolist() or numpy()) while @tl.jit traces {trace.name}(), where it has "
        "none yet. "
        "Use tl.where to choose between tensors, return the tensor and look at it outside, or make "
        "the argument that it depends on static"
    )


def line_of_user() -> str:
    """The line of the user's code that is running."""
    frame = sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("tallow."):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
