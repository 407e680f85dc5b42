"""The cases of every operator, a file per family."""

from . import (
    convolution,
    elementwise,
    movement,
    pooling,
    rearrangement,
    reductions,
    resampling,
    sampling,
    transposed,
)

CASES = [
    *elementwise.CASES,
    *reductions.CASES,
    *movement.CASES,
    *convolution.CASES,
    *transposed.CASES,
    *pooling.CASES,
    *resampling.CASES,
    *sampling.CASES,
    *rearrangement.CASES,
]
