"""The cases of every operator, a file per family."""

from . import (
    elementwise,
    gathering,
    learning,
    movement,
    quantization,
    reductions,
    texts,
    types,
    windows,
)

CASES = [
    *elementwise.CASES,
    *reductions.CASES,
    *movement.CASES,
    *windows.CASES,
    *gathering.CASES,
    *types.CASES,
    *learning.CASES,
    *quantization.CASES,
]

ON_HOST = [*gathering.ON_HOST, *texts.ON_HOST, *learning.ON_HOST]
"""Cases of operators that are computed on the host."""
