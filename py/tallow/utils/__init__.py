"""torch.utils' names: `data`, batches of samples for training; `checkpoint`."""

from .. import data as data
from . import checkpoint as checkpoint

__all__ = ["checkpoint", "data"]
