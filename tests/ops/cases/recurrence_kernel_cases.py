"""Cases for the hand-written kernels of recurrences."""

from __future__ import annotations

from typing import Any

import numpy as np
from dynamic_reference import dynamic_built, dynamic_operands, dynamic_reference
from kernel_case import Case
from recurrence_reference import (
    back,
    back_operands,
    back_reference,
    step_operands,
    steps,
    steps_reference,
)

from tallow import functional as F  # noqa: N812 - the customary name


def recurrence(
    cell: str, shape: tuple[int, int, int], start: int, count: int, **options: Any
) -> Case:
    """Some steps, with an activation behind."""
    ways = len(options.get("backward", " "))
    options |= {"start": start, "steps": count}
    return Case(
        f"{cell} {shape} {options}",
        step_operands(cell, *shape, ways),
        lambda *t: F.relu(steps(cell, *t, **options)),
        lambda *a: np.maximum(steps_reference(cell, *a, **options), 0),
    )


def recurrences() -> list[Case]:
    both = (False, True)
    return [
        recurrence("rnn", (1, 1, 1), 0, 1),
        recurrence("rnn", (9, 3, 17), 4, 5, backward=(True,)),
        recurrence("gru", (8, 2, 33), 3, 4, backward=both),
        recurrence("gru", (5, 1, 12), 0, 5, linear_before_reset=True, backward=both),
        recurrence("lstm", (9, 2, 7), 2, 6, backward=both, clip=0.5),
        recurrence("lstm", (3, 1, 513), 1, 2),
        recurrence("lstm", (40, 1, 64), 0, 40, input_forget=True),
    ]


def recurrence_back(
    cell: str, shape: tuple[int, int, int], start: int, count: int, **options: Any
) -> Case:
    """The way back through some steps, with an activation behind."""
    directions = len(options.get("backward", " "))
    options |= {"start": start, "steps": count}
    arrays = back_operands(cell, *shape, directions, **options)
    return Case(
        f"back: {cell} {shape} {options}",
        arrays,
        lambda *t: F.relu(back(cell, *t, **options)),
        lambda *a: np.maximum(back_reference(cell, *a, **options), 0),
    )


def recurrences_back() -> list[Case]:
    both = (False, True)
    return [
        recurrence_back("rnn", (1, 1, 1), 0, 1),
        recurrence_back("rnn", (9, 3, 17), 4, 5, backward=(True,)),
        recurrence_back("gru", (8, 2, 33), 3, 4, backward=both),
        recurrence_back("gru", (5, 1, 12), 0, 5, linear_before_reset=True, backward=both),
        recurrence_back("lstm", (9, 2, 7), 2, 6, backward=both),
        recurrence_back("lstm", (3, 1, 513), 1, 2),
        recurrence_back("lstm", (40, 1, 64), 0, 40, input_forget=True),
    ]


def dynamic_recurrence(time: int, batch: int, size: int, *backward: bool, **options: Any) -> Case:
    """Steps with 8-bit weights, with an activation behind."""
    options |= {"backward": backward}
    return Case(
        f"8 bits: {time, batch, size} {options}",
        dynamic_operands(time, batch, size, len(backward)),
        lambda *t: F.relu(dynamic_built(*t, **options)),
        lambda *a: np.maximum(dynamic_reference(*a, **options), 0),
    )


def dynamic_recurrences() -> list[Case]:
    return [
        dynamic_recurrence(1, 1, 1, False),
        dynamic_recurrence(5, 3, 17, True, clip=0.5),
        dynamic_recurrence(4, 2, 33, False, True, input_forget=True),
        dynamic_recurrence(3, 1, 300, False),
    ]
