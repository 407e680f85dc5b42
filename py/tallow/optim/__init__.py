"""Optimisers and schedules of their settings, under PyTorch's names."""

from ..autodiff import everything as everything  # now, so that no first step waits for it
from . import lr_scheduler, swa_utils
from .adam import Adam, Adamax, AdamW
from .adam_variants import Adan, NAdam, RAdam
from .adaptive import Adadelta, Adagrad, RMSprop
from .factored import Adafactor, SparseAdam
from .lbfgs import LBFGS
from .momentum import ASGD, SGD, Lion
from .muon import Muon
from .optimizer import Optimizer
from .rprop import Rprop

__all__ = [
    "ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Adan",
    "Lion", "Muon", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SparseAdam", "lr_scheduler",
    "swa_utils",
]  # fmt: skip
