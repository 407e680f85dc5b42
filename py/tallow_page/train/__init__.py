"""The Train view's Python: data, networks as tables of layers, runs, and what is seen of them."""

from .layers import layer_table
from .learning import pause_training, run_training
from .own import gather_examples, gather_text
from .runs import packed_run, unpack_run
from .takeaway import take_home
from .zips import open_zip, read_zip

__all__ = [
    "gather_examples",
    "gather_text",
    "layer_table",
    "open_zip",
    "packed_run",
    "pause_training",
    "read_zip",
    "run_training",
    "take_home",
    "unpack_run",
]
