"""Training: a learner, its callbacks and its checkpoints."""

from .callbacks import (
    Callback,
    CSVLogger,
    Dashboard,
    EarlyStopping,
    JSONLogger,
    ProgressLines,
)
from .learner import Learner
from .lr_find import LearningRates
from .run import Run

__all__ = [
    "CSVLogger", "Callback", "Dashboard", "EarlyStopping", "JSONLogger", "Learner",
    "LearningRates", "ProgressLines", "Run",
]  # fmt: skip
