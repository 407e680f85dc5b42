"""Small training programs for PyTorch and Tallow alike; see program.py."""

from . import agents, by_hand, generative, graphs, images, networks, sequences, transformers
from .program import PROGRAMS as PROGRAMS

__all__ = [
    "PROGRAMS",
    "agents",
    "by_hand",
    "generative",
    "graphs",
    "images",
    "networks",
    "sequences",
    "transformers",
]
