"""torch.mps, torch.xpu, torch.accelerator: names that ask for a device,
from tallow/accelerators/."""

from __future__ import annotations

from ..accelerators import accelerator as _accelerator
from ..accelerators.absent import device_count as device_count
from ..accelerators.absent import empty_cache as empty_cache
from ..accelerators.absent import is_available as is_available
from ..accelerators.absent import manual_seed as manual_seed
from ..accelerators.absent import manual_seed_all as manual_seed_all
from ..accelerators.absent import memory_allocated as current_allocated_memory
from ..accelerators.absent import synchronize as synchronize

current_accelerator = _accelerator.current_accelerator

__all__ = ["current_allocated_memory", "device_count", "empty_cache", "is_available", "manual_seed"]
