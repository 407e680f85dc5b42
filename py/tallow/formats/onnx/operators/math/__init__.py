"""Arithmetic: elementwise, products, reductions, Fourier; chapters "math" and "reduction"."""

from . import (
    accumulation,
    activations,
    contraction,
    elementwise,
    fourier,
    losses,
    reductions,
    signal,
)

__all__ = [
    "accumulation",
    "activations",
    "contraction",
    "elementwise",
    "fourier",
    "losses",
    "reductions",
    "signal",
]
