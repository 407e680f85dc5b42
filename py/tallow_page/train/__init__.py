"""The Train view's Python: data, networks as tables of layers, runs, and what is seen of them."""

from .learning import run_training

__all__ = ["run_training"]
