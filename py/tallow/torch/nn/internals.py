"""What programs take from torch.nn.modules that PyTorch does not list: base classes, helpers."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import tallow.nn as _nn
from tallow import functional

from ...errors import MissingError
from ...nn.convolution import _Conv as _ConvNd
from ...nn.loss import _Loss as _Loss
from ...nn.normalization import _BatchNorm as _BatchNorm
from ...nn.normalization import _RunningNorm as _NormBase
from ...nn.parameter import Parameter
from ...nn.recurrent import _Cell as RNNCellBase
from ...nn.recurrent import _Recurrent as RNNBase
from .tuples import _ntuple as _ntuple
from .tuples import _pair as _pair
from .tuples import _single as _single
from .tuples import _triple as _triple

_WeightedLoss = _Loss
_InstanceNorm = _NormBase
NonDynamicallyQuantizableLinear = _nn.Linear
_size_1_t = _size_2_t = _size_3_t = _size_any_t = Any  # for annotations


def _get_clones(module: _nn.Module, N: int) -> _nn.ModuleList:
    """N copies of a module."""
    return _nn.ModuleList([deepcopy(module) for _ in range(N)])


def _get_activation_fn(activation: str) -> Callable[..., Any]:
    """The function "relu" or "gelu"."""
    found: Callable[..., Any] = getattr(functional, activation)
    return found


def _addindent(s_: str, numSpaces: int) -> str:
    """A text whose lines but the first are moved to the right."""
    first, *others = s_.split("\n")
    return "\n".join([first, *(" " * numSpaces + line for line in others)])


class UninitializedParameter(Parameter):
    """A parameter without a shape. None is one: lazy layers have no parameters before their first
    input. Raises MissingError when one is made."""

    def __init__(self, *args: object, **options: object) -> None:
        raise MissingError(
            "UninitializedParameter: parameters have a shape from the beginning; lazy layers, such "
            "as nn.LazyLinear, make theirs when they see their first input"
        )


class UninitializedBuffer(UninitializedParameter):
    """A buffer without a shape. None is one, as of `UninitializedParameter`."""


def is_lazy(param: object) -> bool:
    """Whether a parameter has no shape yet.

    param: a parameter.
    Returns: False.
    """
    return False


__all__ = [
    "NonDynamicallyQuantizableLinear",
    "RNNBase",
    "RNNCellBase",
    "UninitializedBuffer",
    "UninitializedParameter",
    "_ConvNd",
    "is_lazy",
]
