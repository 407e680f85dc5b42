"""torch.utils.tensorboard, where the package tensorboard is installed, which writes the files."""

from __future__ import annotations

from typing import Any

from ..core.packages import package
from ..utils.tensorboard import SummaryWriter as _SummaryWriter


def __getattr__(name: str) -> Any:
    """SummaryWriter. Raises PackageError, an ImportError, where tensorboard is missing."""
    if name != "SummaryWriter":
        raise AttributeError(f"torch.utils.tensorboard has no {name}")
    package("tensorboard", "torch.utils.tensorboard", "tensorboard")
    return _SummaryWriter
