"""torch.backends: its settings are in accelerators/switches.py."""

from __future__ import annotations

from typing import Any

from ..binding import imported
from .rooms import missing

__path__: list[str] = []  # its rooms are in names.py

_ROOMS = ("cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return imported(f"{__name__}.{name}")
    raise missing("torch.backends", name)
