"""torch.utils' names: `data`, batches of samples for training; `checkpoint`."""

from . import checkpoint as checkpoint
from . import data as data

__all__ = ["checkpoint", "data"]
