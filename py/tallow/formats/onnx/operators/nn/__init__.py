"""Neural network layers; chapters "nn" and "rnn"."""

from . import (
    attention,
    convolution,
    linear_attention,
    normalization,
    pooling,
    recurrent,
    spatial,
    transposed,
)

__all__ = [
    "attention",
    "convolution",
    "linear_attention",
    "normalization",
    "pooling",
    "recurrent",
    "spatial",
    "transposed",
]
