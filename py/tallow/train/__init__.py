"""Training: a learner, its callbacks and its checkpoints."""

from .callbacks import Callback, CSVLogger, EarlyStopping, JSONLogger, ProgressLines
from .learner import Learner

__all__ = ["CSVLogger", "Callback", "EarlyStopping", "JSONLogger", "Learner", "ProgressLines"]
