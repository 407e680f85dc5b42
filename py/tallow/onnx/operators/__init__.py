"""The operators, a file per family; importing a file enters its operators into the registry."""

from . import (
    activations,
    constants,
    contraction,
    control,
    elementwise,
    gathering,
    movement,
    normalization,
    older,
    reductions,
    sequences,
    slicing,
    texts,
    windows,
)

__all__ = [
    "activations",
    "constants",
    "contraction",
    "control",
    "elementwise",
    "gathering",
    "movement",
    "normalization",
    "older",
    "reductions",
    "sequences",
    "slicing",
    "texts",
    "windows",
]
