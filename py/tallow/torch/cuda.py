"""torch.cuda and torch.xpu, where there is none: see tallow/accelerators/absent.py."""

from __future__ import annotations

from typing import Any

from ..accelerators.absent import *  # noqa: F403
from ..binding import imported
from .rooms import missing
from .tensors import tensor_types

__path__: list[str] = []  # cuda.amp is in names.py

globals().update(tensor_types())


def __getattr__(name: str) -> Any:
    if name in ("amp", "nvtx"):
        return imported(f"{__name__}.{name}")
    raise missing("torch.cuda", name)
