"""What `@tl.jit` is tracing, visible to variables and to tensors without a value."""

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
        """The variable's current value in the trace."""

    def replace(self, variable: Any, node: Node) -> Node:
        """Replaces the node of a variable's current value in the trace, and returns the new one."""

    def write(self, variable: Any, node: Node) -> None:
        """Sets the variable's value for the rest of the trace."""

    def gradient(self, variable: Any) -> Tensor | None:
        """The gradient that the trace has accumulated for a variable."""

    def set_gradient(self, variable: Any, gradient: Tensor | None) -> None:
        """Sets the variable's gradient for the rest of the trace."""


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
