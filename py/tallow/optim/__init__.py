"""Optimisers and schedules of their settings, under PyTorch's names."""

from . import lr_scheduler
from .adaptive import Adagrad, Adam, Adamax, AdamW, Adan, RMSprop
from .lbfgs import LBFGS
from .momentum import SGD, Lion
from .muon import Muon
from .optimizer import Optimizer

__all__ = [
    "LBFGS", "SGD", "Adagrad", "Adam", "AdamW", "Adamax", "Adan", "Lion", "Muon", "Optimizer",
    "RMSprop", "lr_scheduler",
]  # fmt: skip
