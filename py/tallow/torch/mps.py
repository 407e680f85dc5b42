"""torch.mps, torch.xpu, torch.accelerator: names that ask for a device; see cuda.py."""

from __future__ import annotations

from ..accelerators import accelerator as _accelerator
from .cuda import device_count as device_count
from .cuda import empty_cache as empty_cache
from .cuda import is_available as is_available
from .cuda import manual_seed as manual_seed
from .cuda import manual_seed_all as manual_seed_all
from .cuda import memory_allocated as current_allocated_memory
from .cuda import synchronize as synchronize

current_accelerator = _accelerator.current_accelerator

__all__ = ["current_allocated_memory", "device_count", "empty_cache", "is_available", "manual_seed"]
