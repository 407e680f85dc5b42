"""torch.amp and torch.cuda.amp: Tallow's, with the defaults of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import amp as _amp
from ..core import context
from ..core.dtype import DType, as_dtype, float32

__path__: list[str] = []  # its rooms are in names.py

GradScaler = _amp.GradScaler
is_autocast_available = _amp.is_autocast_available


class autocast(_amp.autocast):  # noqa: N801 - PyTorch's name
    """Products in float16 within it, on the default device unless one is named: see
    `tallow.amp.autocast`."""

    def __init__(
        self,
        device_type: str | bool = "cuda",
        dtype: DType | str | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if isinstance(device_type, bool):  # torch.cuda.amp.autocast(enabled)
            enabled, device_type = device_type, "cuda"
        if dtype is not None and as_dtype(dtype) == float32:  # the type that everything has
            dtype, enabled = None, False
        super().__init__(str(device_type), dtype=dtype, enabled=enabled)


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether products are computed in float16 here."""
    return context.autocast.get()


def custom_fwd(fwd: Callable[..., Any] | None = None, **options: object) -> Any:
    """The function itself."""
    return (lambda function: function) if fwd is None else fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, **options: object) -> Any:
    """The function itself."""
    return (lambda function: function) if bwd is None else bwd


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
