"""Layers and networks, under PyTorch's names."""

from .. import functional
from . import init
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .linear import Identity, Linear
from .module import Module
from .parameter import Buffer, Parameter

__all__ = [
    "Buffer", "Identity", "Linear", "Module", "ModuleDict", "ModuleList", "Parameter",
    "ParameterDict", "ParameterList", "Sequential", "functional", "init",
]  # fmt: skip
