"""The operators, a file per family; importing a file enters its operators into the registry."""

from . import (
    activations,
    constants,
    contraction,
    elementwise,
    gathering,
    movement,
    normalization,
    quantization,
    randomness,
    reductions,
    scattering,
    slicing,
    sorting,
    texts,
    windows,
)

__all__ = [
    "activations",
    "constants",
    "contraction",
    "elementwise",
    "gathering",
    "movement",
    "normalization",
    "quantization",
    "randomness",
    "reductions",
    "scattering",
    "slicing",
    "sorting",
    "texts",
    "windows",
]
