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

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.functional.recurrent import DEFAULTS
from tallow.graph import make
from tallow.ops.dynamic_recurrence import round_states, word_rows, word_step, words


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
        dynamic_recurrence(3, 1, 250, False),
    ]


def _single(batch: int, size: int, directions: int) -> list[np.ndarray]:
    """Operands of a single step as WebGPU's kernels have them, but for the rounded states: one
    sequence is over, one has been for long."""
    x, hidden, zero, scale, states, extra, _ = dynamic_operands(1, batch, size, directions)
    packed = words(np, hidden.astype(np.int32), zero.astype(np.int32)).astype(np.int32)
    return [x, packed, scale, states, extra, np.arange(1, 1 - batch, -1, dtype=np.int32)]


def dynamic_step(batch: int, size: int, *backward: bool, **options: Any) -> Case:
    """A step with rounded states, with an activation behind."""
    x, packed, scale, states, extra, lengths = _single(batch, size, len(backward))
    rounded = round_states.numpy(np, states[0], lengths)
    attrs = {"activations": DEFAULTS["lstm"], "clip": 0.0, "input_forget": False, **options}
    attrs["backward"] = backward
    operands = x, packed, rounded, scale, states, extra, lengths

    def expected(*arrays: np.ndarray) -> np.ndarray:
        _, hidden, zero, *_ = dynamic_operands(1, batch, size, len(backward))
        reference = dynamic_reference(
            x, hidden, zero, scale, states, extra, lengths, **options, backward=backward
        )
        return np.asarray(np.maximum(reference, 0))

    return Case(
        f"a step of 8 bits: {batch, size} {options}",
        operands,
        lambda *t: F.relu(tl.Tensor(make(word_step, *(each.node for each in t), **attrs))),
        expected,
    )


def dynamic_steps_one_by_one() -> list[Case]:
    return [
        dynamic_step(1, 1, False),
        dynamic_step(3, 17, True, clip=0.5),
        dynamic_step(2, 33, False, True, input_forget=True),
        dynamic_step(1, 300, False),
    ]


def dynamic_round(batch: int, size: int, directions: int) -> Case:
    """Rounded states, byte by byte."""
    _, _, _, states, _, lengths = _single(batch, size, directions)

    def built(states: tl.Tensor, lengths: tl.Tensor) -> tl.Tensor:
        rounded = tl.Tensor(make(round_states, states.node, lengths.node))
        parts = [(rounded[..., :-3] >> 8 * part) & 255 for part in range(4)]
        return tl.concat([*parts, rounded[..., -3:-1], rounded[..., -1:] >> 4], axis=-1)

    def expected(states: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        result = []
        for h in states:
            seen = h[lengths >= 0]
            low, high = min(0.0, seen.min()), max(0.0, seen.max())
            scale = (high - low) / 255
            zero = np.rint(-low / scale)
            bytes_ = np.zeros((batch, word_rows(size)), int)
            bytes_[:, :size] = np.clip(np.rint(h / scale) + zero, 0, 255) - 128
            rest = [
                bytes_.sum(1),
                np.full(batch, zero),
                np.full(batch, np.float32(scale).view(np.int32) >> 4),
            ]
            quads = (bytes_ & 255).reshape(batch, -1, 4).transpose(0, 2, 1).reshape(batch, -1)
            result.append(np.concatenate([quads, np.stack(rest, 1)], 1))
        return np.stack(result).astype(float)

    return Case(f"rounded states: {batch, size, directions}", (states[0], lengths), built, expected)


def dynamic_rounds() -> list[Case]:
    return [dynamic_round(1, 1, 1), dynamic_round(4, 17, 2), dynamic_round(2, 64, 1)]
