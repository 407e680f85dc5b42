"""Training: a learner, its callbacks and its checkpoints."""

from .callbacks import Callback, CSVLogger, EarlyStopping, JSONLogger, ProgressLines
from .learner import Learner
from .lr_find import LearningRates
from .run import Run

__all__ = [
    "CSVLogger", "Callback", "EarlyStopping", "JSONLogger", "Learner", "LearningRates",
    "ProgressLines", "Run",
]  # fmt: skip
