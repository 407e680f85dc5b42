"""What a device can hold."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Limits:
    """What a device can hold. The defaults are those of the smallest kind of device.

    total_bytes: of a plan; a GPU does not say how much memory it has. traits: what else its kind of
    device knows of it, an object of the target's own (`Target.traits`), which nobody else reads.
    """

    storage_buffers: int = 8  # bound in one kernel, the result counted
    binding_bytes: int = 128 << 20  # of one buffer in a kernel
    buffer_bytes: int = 256 << 20
    total_bytes: int = 1 << 62
    traits: Any = None


def host_memory() -> int:
    """Bytes of memory that this process could have at most."""
    if sys.platform == "emscripten":
        return 4 << 30
    most = 1 << 46
    with suppress(AttributeError, OSError, ValueError):  # no sysconf there, or it does not know
        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(ImportError):  # only Unix has it
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        most = min(most, soft) if soft != resource.RLIM_INFINITY else most
    return most


def host_limits() -> Limits:
    """What this process can hold in its own memory."""
    most = host_memory()
    return Limits(64, binding_bytes=most, buffer_bytes=most, total_bytes=most)
