"""The op records, a file per family. Importing this package fills the registry."""

from . import (
    arrange,
    contract,
    division,
    elementwise,
    gather,
    integer,
    logic,
    movement,
    panels,
    recurrence,
    recurrence_gradient,
    reduce,
    source,
    window,
    winograd,
    winograd4,
)

__all__ = [
    "arrange",
    "contract",
    "division",
    "elementwise",
    "gather",
    "integer",
    "logic",
    "movement",
    "panels",
    "recurrence",
    "recurrence_gradient",
    "reduce",
    "source",
    "window",
    "winograd",
    "winograd4",
]
