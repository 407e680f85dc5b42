"""torch.profiler and torch.autograd.profiler: contexts that measure nothing; `tallow.bench` and the
browser's tools do."""

from __future__ import annotations

from contextlib import nullcontext
from enum import Enum
from typing import Any


class ProfilerActivity(Enum):
    """What PyTorch's profiler looks at."""

    CPU = 0
    CUDA = 1
    XPU = 2


class EventList(list[Any]):
    """What a profile has measured: nothing."""


class profile(nullcontext[Any]):  # noqa: N801 - PyTorch's name
    """Measures nothing within it."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(self)

    def step(self) -> None:
        """Changes nothing."""

    def key_averages(self, *args: object, **options: object) -> profile:
        """The profile itself."""
        return self

    def table(self, *args: object, **options: object) -> str:
        """A text that says that nothing was measured."""
        return "torch.profiler measures nothing here"

    def export_chrome_trace(self, path: str) -> None:
        """Writes nothing."""


class record_function(nullcontext[None]):  # noqa: N801 - PyTorch's name
    """Measures nothing within it."""

    def __init__(self, name: str, args: str | None = None) -> None:
        super().__init__()


def schedule(*args: object, **options: object) -> None:
    """None."""


def tensorboard_trace_handler(*args: object, **options: object) -> None:
    """None."""


emit_nvtx = record_function


def range_push(msg: str) -> int:
    """0: measures nothing."""
    return 0


def range_pop() -> int:
    """0: measures nothing."""
    return 0


def mark(msg: str) -> None:
    """Notes nothing."""
