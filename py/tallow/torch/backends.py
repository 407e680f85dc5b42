"""torch.backends: its settings are in accelerators/switches.py."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .rooms import missing

__path__: list[str] = []  # its rooms are in names.py

_ROOMS = ("cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum", "quantized")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    raise missing("torch.backends", name)
