"""Strategies that draw cases, a file per family of operators."""

# ruff: noqa: F401 - a family enters itself
from . import (
    attention,
    casting,
    control_flow,
    convolution,
    elementwise,
    indexing,
    learning,
    movement,
    normalization,
    pooling,
    products,
    quantization,
    recurrent,
    reductions,
    resampling,
    sequences,
    signal,
    texts,
)
from .registry import FAMILIES, cases

__all__ = ["FAMILIES", "cases"]
