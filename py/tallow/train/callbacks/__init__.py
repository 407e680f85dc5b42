"""What a learner calls on its way: a callback for each purpose."""

from .base import Callback, Record
from .dashboard import Dashboard
from .files import CSVLogger, JSONLogger
from .lines import ProgressLines
from .stopping import EarlyStopping
from .tensorboard import TensorBoard
from .trackers import MLflow, WandB

__all__ = [
    "CSVLogger", "Callback", "Dashboard", "EarlyStopping", "JSONLogger", "MLflow",
    "ProgressLines", "Record", "TensorBoard", "WandB",
]  # fmt: skip
