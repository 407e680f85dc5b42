"""Tensors out of nothing; chapter "generator"."""

from . import constants, randomness

__all__ = ["constants", "randomness"]
