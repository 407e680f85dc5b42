"""torch.utils: data, checkpoint, tensorboard and other rooms, which names.py lists."""

from __future__ import annotations

from typing import Any

from ..binding import imported
from .rooms import missing

__path__: list[str] = []

_ROOMS = ("_pytree", "checkpoint", "data", "dlpack", "hooks", "model_zoo", "tensorboard")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return imported(f"{__name__}.{name}")
    raise missing("torch.utils", name)
