"""Reverse mode with the rules of all ops, and the functions for users."""

from . import arrange, elementwise, linalg, movement, products, recurrence, reduce
from .tensors import ReverseMode
from .transforms import checkpoint, custom_vjp, grad, jvp, stop_gradient, value_and_grad, vjp

REVERSE = ReverseMode()

FAMILIES = (arrange, elementwise, linalg, movement, products, recurrence, reduce)
"""The modules with the rules, a file per family of ops."""

__all__ = [
    "FAMILIES", "REVERSE", "checkpoint", "custom_vjp", "grad", "jvp", "stop_gradient",
    "value_and_grad", "vjp",
]  # fmt: skip
