"""torch.nn.utils: Tallow's, and older names."""

from __future__ import annotations

from typing import Any

import tallow.nn.utils as _utils
from tallow.nn.utils import *  # noqa: F403

from ...binding import imported
from ..rooms import missing

__path__: list[str] = []  # its rooms, such as rnn, are in names.py

clip_grad_norm = _utils.clip_grad_norm_

_ROOMS = ("clip_grad", "convert_parameters", "fusion", "parametrizations", "parametrize", "prune",
          "rnn",
          "stateless")  # fmt: skip


def skip_init(module_cls: type, *args: object, **kwargs: object) -> Any:
    """A module of that class; its parameters are initialised all the same."""
    return module_cls(*args, **kwargs)


def __getattr__(name: str) -> Any:
    if hasattr(_utils, name):
        return getattr(_utils, name)
    if name in _ROOMS:
        return imported(f"{__name__}.{name}")
    raise missing("torch.nn.utils", name)
