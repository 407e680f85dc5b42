"""The operators, a file per family; importing a file enters its operators into the registry."""

from . import (
    activations,
    constants,
    contraction,
    convolution,
    elementwise,
    gathering,
    movement,
    normalization,
    pooling,
    rearrangement,
    reductions,
    regions,
    resampling,
    sampling,
    slicing,
    transposed,
)

__all__ = [
    "activations",
    "constants",
    "contraction",
    "convolution",
    "elementwise",
    "gathering",
    "movement",
    "normalization",
    "pooling",
    "rearrangement",
    "reductions",
    "regions",
    "resampling",
    "sampling",
    "slicing",
    "transposed",
]
