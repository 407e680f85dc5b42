"""The cases of every operator, a file per family."""

from . import (
    attention,
    convolution,
    elementwise,
    gathering,
    learning,
    losses,
    movement,
    normalization,
    pooling,
    quantization,
    rearrangement,
    recurrent,
    reductions,
    resampling,
    sampling,
    signal,
    sums,
    texts,
    training,
    transposed,
    types,
)

CASES = [
    *attention.CASES,
    *convolution.CASES,
    *elementwise.CASES,
    *gathering.CASES,
    *learning.CASES,
    *losses.CASES,
    *movement.CASES,
    *normalization.CASES,
    *pooling.CASES,
    *quantization.CASES,
    *rearrangement.CASES,
    *recurrent.CASES,
    *reductions.CASES,
    *resampling.CASES,
    *sampling.CASES,
    *signal.CASES,
    *sums.CASES,
    *training.CASES,
    *transposed.CASES,
    *types.CASES,
]

ON_HOST = [*gathering.ON_HOST, *learning.ON_HOST, *texts.ON_HOST, *texts.MOVED]
"""Cases of host operators."""
