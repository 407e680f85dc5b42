"""torch.nn.attention: the choice of a kernel for attention, which changes nothing here."""

from __future__ import annotations

from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


__path__: list[str] = []  # flex_attention is in names.py


class SDPBackend(IntEnum):
    """PyTorch's kernels of attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: object, set_priority: bool = False) -> Iterator[None]:
    """Changes nothing within it: Tallow generates the kernel of attention."""
    yield


__all__ = ["SDPBackend", "sdpa_kernel"]
