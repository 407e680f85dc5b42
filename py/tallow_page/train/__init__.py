"""The Train view's Python: data, networks as tables of layers, runs, and what is seen of them."""

from .learning import pause_training, run_training

__all__ = ["pause_training", "run_training"]
