"""torch.distributed.rpc: calls of other processes, of which there are none."""

from __future__ import annotations

from typing import Any

from .rooms import missing


def is_available() -> bool:
    """Whether functions of other processes can be called.

    Returns: False.
    """
    return False


def __getattr__(name: str) -> Any:
    raise missing("torch.distributed.rpc", name)


__all__ = ["is_available"]
