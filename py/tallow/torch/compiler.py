"""torch.compiler, as the identity: Tallow compiles whatever is computed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .settings import compile as compile


def disable(fn: object = None, recursive: bool = True, **options: object) -> Any:
    """The function itself. Also a decorator."""
    return (lambda each: each) if fn is None else fn


allow_in_graph = optimize = disable
config = SimpleNamespace()
"""Settings; none changes anything."""


def is_compiling() -> bool:
    """False."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Changes nothing."""


def cudagraph_mark_step_begin() -> None:
    """Changes nothing."""
