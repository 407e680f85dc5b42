"""torch.utils.tensorboard, where the package tensorboardX is installed, which writes the files."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """SummaryWriter. Raises ModuleNotFoundError where tensorboardX is missing."""
    if name != "SummaryWriter":
        raise AttributeError(f"torch.utils.tensorboard has no {name}")
    try:
        return import_module("tensorboardX").SummaryWriter
    except ImportError as error:
        raise ModuleNotFoundError(
            "torch.utils.tensorboard: the files are written by tensorboardX, which is not "
            "installed; pip install tensorboardX",
            name="tensorboardX",
        ) from error
