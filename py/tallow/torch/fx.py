"""torch.fx, as far as imports need it: nothing is traced to a graph of PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tallow.nn as _nn

from ..errors import MissingNameError
from .rooms import missing

__path__: list[str] = []


class Graph:
    """A graph of PyTorch's; there is none here."""


class Node:
    """A node of such a graph."""


class Proxy:
    """A value of such a graph; no tensor is one."""


class GraphModule(_nn.Module):
    """A module made of such a graph. Raises MissingNameError."""

    def __init__(self, *args: object, **options: object) -> None:
        raise _untraced("GraphModule")


class Tracer:
    """Raises MissingNameError where it would trace."""

    def __init__(self, *args: object, **options: object) -> None:
        pass

    def trace(self, *args: object, **options: object) -> Any:
        """Raises MissingNameError: modules are not traced into graphs of Python."""
        raise _untraced("Tracer.trace")

    def is_leaf_module(self, m: object, module_qualified_name: str) -> bool:
        """Whether a module is one of Tallow's."""
        return type(m).__module__.startswith("tallow.")


def _untraced(what: str) -> MissingNameError:
    return MissingNameError(
        f"torch.fx.{what}: programs are not traced to PyTorch's graphs; tallow.onnx.save writes "
        "the graph of a module as ONNX"
    )


def symbolic_trace(*args: object, **options: object) -> Any:
    """Raises MissingNameError: modules are not traced into graphs of Python."""
    raise _untraced("symbolic_trace")


def wrap(fn_or_name: str | Callable[..., Any]) -> Any:
    """The function or name itself."""
    return fn_or_name


def __getattr__(name: str) -> Any:
    raise missing("torch.fx", name)
