"""Strategies that draw cases, a file per family of operators."""

from . import (
    casting,
    convolution,
    elementwise,
    indexing,
    movement,
    normalization,
    pooling,
    products,
    reductions,
)
from .registry import FAMILIES, cases

__all__ = [
    "FAMILIES",
    "cases",
    "casting",
    "convolution",
    "elementwise",
    "indexing",
    "movement",
    "normalization",
    "pooling",
    "products",
    "reductions",
]
