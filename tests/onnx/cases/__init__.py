"""The cases of every operator, a file per family."""

from . import (
    convolution,
    elementwise,
    gathering,
    movement,
    pooling,
    quantization,
    rearrangement,
    reductions,
    resampling,
    sampling,
    texts,
    transposed,
    types,
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
    *gathering.CASES,
    *types.CASES,
    *quantization.CASES,
]

ON_HOST = [*gathering.ON_HOST, *texts.ON_HOST]
"""Cases of operators that are computed on the host."""
