"""torch.nn.init: Tallow's initialisers, and their older names without an underscore."""

from __future__ import annotations

from typing import Any, TypeVar

from tallow.nn import init as _init
from tallow.nn.init import *  # noqa: F403

from ...tensor import Tensor
from ..rooms import missing

_V = TypeVar("_V", bound=Tensor)


def _no_grad_uniform_(tensor: _V, a: float, b: float) -> _V:
    """`uniform_`."""
    return _init.uniform_(tensor, a, b)


def _no_grad_normal_(tensor: _V, mean: float, std: float) -> _V:
    """`normal_`."""
    return _init.normal_(tensor, mean, std)


def _no_grad_trunc_normal_(tensor: _V, mean: float, std: float, a: float, b: float) -> _V:
    """`trunc_normal_`."""
    return _init.trunc_normal_(tensor, mean, std, a, b)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """How many inputs or outputs an element of a layer has."""
    fans = _init._calculate_fan_in_and_fan_out(tensor)
    return fans[0] if mode.lower() == "fan_in" else fans[1]


def __getattr__(name: str) -> Any:
    for each in (name, f"{name}_"):  # xavier_uniform is xavier_uniform_
        if hasattr(_init, each):
            return getattr(_init, each)
    raise missing("torch.nn.init", name)
