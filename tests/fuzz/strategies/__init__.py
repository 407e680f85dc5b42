"""Strategies that draw cases, a file per family of operators."""

# ruff: noqa: F401 - a family registers itself
from . import (
    attention,
    casting,
    control_flow,
    convolution,
    elementwise,
    fed_indices,
    graphs,
    indexing,
    learning,
    movement,
    normalization,
    pooling,
    products,
    programs,
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
