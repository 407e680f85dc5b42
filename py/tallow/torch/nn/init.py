"""torch.nn.init: Tallow's initialisers, and their older names without an underscore."""

from __future__ import annotations

from typing import Any

from tallow.nn import init as _init
from tallow.nn.init import *  # noqa: F403

from ..rooms import missing


def __getattr__(name: str) -> Any:
    for each in (name, f"{name}_"):  # xavier_uniform is xavier_uniform_
        if hasattr(_init, each):
            return getattr(_init, each)
    raise missing("torch.nn.init", name)
