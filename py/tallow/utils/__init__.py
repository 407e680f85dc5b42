"""torch.utils' names: `data`, batches of samples for training."""

from . import data as data

__all__ = ["data"]
