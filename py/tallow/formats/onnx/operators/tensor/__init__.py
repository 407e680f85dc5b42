"""Operators that move elements; chapter "tensor"."""

from . import gathering, movement, rearrangement, scattering, slicing, sorting

__all__ = ["gathering", "movement", "rearrangement", "scattering", "slicing", "sorting"]
