"""What `@tl.jit` is tracing, so that variables, and tensors without a value, know of it."""

from __future__ import annotations

from typing import Any, Protocol

from ..core import context
from ..errors import TracingError, line_of_user
from ..facts import Notes
from ..graph import Node
from ..tensor import Tensor


class Trace(Protocol):
    """A function that is being traced."""

    name: str
    facts: Notes

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
