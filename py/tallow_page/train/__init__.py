"""The Train view's Python: data, networks as tables of layers, runs, and what is seen of them."""

from .elsewhere import model_facts, model_file
from .layers import layer_table
from .learning import pause_training, run_training
from .own import gather_examples, gather_text, read_examples
from .questions import (
    answer_lesson,
    first_filters,
    read_cell,
    read_insight,
    review_labels,
    sample_pictures,
    write_on,
)
from .runs import packed_run, unpack_run
from .takeaway import take_home
from .zips import open_zip, read_zip

__all__ = [
    "answer_lesson",
    "first_filters",
    "gather_examples",
    "gather_text",
    "layer_table",
    "model_facts",
    "model_file",
    "open_zip",
    "packed_run",
    "pause_training",
    "read_cell",
    "read_examples",
    "read_insight",
    "read_zip",
    "review_labels",
    "run_training",
    "sample_pictures",
    "take_home",
    "unpack_run",
    "write_on",
]
