"""The cases of every operator, a file per family."""

from . import (
    attention,
    elementwise,
    losses,
    movement,
    normalization,
    recurrent,
    reductions,
    signal,
    sums,
    training,
    windows,
)

_FAMILIES = (
    attention, elementwise, losses, movement, normalization, recurrent, reductions, signal,
    sums, training, windows,
)  # fmt: skip
CASES = [case for family in _FAMILIES for case in family.CASES]
