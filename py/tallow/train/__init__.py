"""Training: a learner, its callbacks and its checkpoints."""

from . import distributed
from .callbacks import (
    Callback,
    CSVLogger,
    Dashboard,
    EarlyStopping,
    JSONLogger,
    MLflow,
    ProgressLines,
    TensorBoard,
    WandB,
)
from .learner import Learner
from .lr_find import LearningRates
from .run import Run

__all__ = [
    "CSVLogger", "Callback", "Dashboard", "EarlyStopping", "JSONLogger", "Learner",
    "LearningRates", "MLflow", "ProgressLines", "Run", "TensorBoard", "WandB", "distributed",
]  # fmt: skip
