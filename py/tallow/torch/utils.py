"""torch.utils: data, checkpoint, tensorboard and other rooms, which names.py lists."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .rooms import missing

__path__: list[str] = []

_ROOMS = ("_pytree", "checkpoint", "data", "hooks", "model_zoo", "tensorboard")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    raise missing("torch.utils", name)
