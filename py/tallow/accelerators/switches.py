"""The settings of PyTorch's backends, `torch.backends.cudnn` and the like. They can be set and
read; none changes anything here."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

enabled = deterministic = True
benchmark = allow_tf32 = False
benchmark_limit = 10
fp32_precision = "none"
matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=False,
    allow_bf16_reduced_precision_reduction=False,
    fp32_precision="none",
)
conv = rnn = SimpleNamespace(fp32_precision="none")
cufft_plan_cache = SimpleNamespace(size=0, max_size=0, clear=lambda: None)


def is_available() -> bool:
    """False."""
    return False


def is_built() -> bool:
    """False."""
    return False


def version() -> None:
    """None: there is no such library."""


@contextmanager
def flags(**options: object) -> Iterator[None]:
    """Changes nothing within it."""
    yield


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Changes nothing within it: Tallow generates the kernel of attention."""
    yield


def _enable(enabled: bool) -> None:
    """Changes nothing."""


enable_flash_sdp = enable_mem_efficient_sdp = enable_math_sdp = enable_cudnn_sdp = _enable


def _is_enabled() -> bool:
    """True."""
    return True


flash_sdp_enabled = mem_efficient_sdp_enabled = math_sdp_enabled = cudnn_sdp_enabled = _is_enabled


def preferred_linalg_library(backend: object = None) -> None:
    """Changes nothing."""
