"""torch.nn: Tallow's layers, losses with PyTorch's order of arguments, and names for one process
and for older programs."""

from __future__ import annotations

from typing import Any

import tallow.nn as _nn
from tallow.nn import *  # noqa: F403

from ...binding import imported
from ...nn.normalization import _BatchNorm
from ..rooms import missing
from . import losses as _losses
from .internals import RNNBase as RNNBase
from .internals import RNNCellBase as RNNCellBase
from .internals import UninitializedBuffer as UninitializedBuffer
from .internals import UninitializedParameter as UninitializedParameter
from .internals import is_lazy as is_lazy
from .parallel import DataParallel as DataParallel

functional = imported(f"{__name__}.functional")  # these hide Tallow's of the same names
init = imported(f"{__name__}.init")
utils = imported(f"{__name__}.utils")
globals().update(_losses.MODULES)

NLLLoss2d = _losses.MODULES["NLLLoss"]
Container = _nn.Module

_ROOMS = ("attention", "modules", "parallel", "parameter")


class SyncBatchNorm(_BatchNorm):
    """Batch norm over all processes: there is one, so that it is batch norm, for any number of
    axes."""

    ranks = tuple(range(2, 9))

    @classmethod
    def convert_sync_batchnorm(cls, module: _nn.Module, process_group: object = None) -> _nn.Module:
        """The module itself."""
        return module


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return imported(f"{__name__}.{name}")
    if name.startswith("Lazy"):
        return getattr(_nn, name)
    raise missing("torch.nn", name)


__all__ = [*_nn.__all__, *_losses.MODULES, "DataParallel", "SyncBatchNorm"]
