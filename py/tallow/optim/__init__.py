"""Optimisers and schedules of their settings, under PyTorch's names."""

from . import lr_scheduler
from .adaptive import Adagrad, Adam, Adamax, AdamW, Adan, RMSprop
from .momentum import SGD, Lion
from .optimizer import Optimizer

__all__ = [
    "SGD", "Adagrad", "Adam", "AdamW", "Adamax", "Adan", "Lion", "Optimizer", "RMSprop",
    "lr_scheduler",
]  # fmt: skip
