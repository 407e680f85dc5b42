"""Operators that create tensors; chapter "generator"."""

from . import constants, randomness

__all__ = ["constants", "randomness"]
