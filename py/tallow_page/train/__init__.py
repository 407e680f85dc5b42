"""The Train view's Python: data, networks as tables of layers, runs, and what is seen of them."""

from .layers import layer_table
from .learning import pause_training, run_training
from .runs import packed_run, unpack_run
from .takeaway import take_home

__all__ = [
    "layer_table", "packed_run", "pause_training", "run_training", "take_home", "unpack_run",
]  # fmt: skip
