"""The steps of an LSTM with 8-bit weights by their definition, in 64 bits but for the rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

import tallow as tl
from tallow.functional.recurrent import DEFAULTS
from tallow.graph import make
from tallow.ops.dynamic_recurrence import dynamic_steps


def dynamic_operands(
    time: int, batch: int, size: int, directions: int = 1, kind: str = "int8"
) -> tuple[np.ndarray, ...]:
    """Arrays for the operands of `dynamic_steps`."""
    rng = np.random.default_rng(7 + size)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    return (
        rng.uniform(-1, 1, (time, batch, directions, 4 * size)).astype(np.float32),
        rng.integers(low, high + 1, (directions, size, 4 * size)).astype(kind),
        rng.integers(low // 8, high // 8, (directions, 4 * size)).astype(kind),
        rng.uniform(0.001, 0.004, (directions, 4 * size)).astype(np.float32),
        rng.uniform(-1, 1, (2, directions, batch, size)).astype(np.float32),
        rng.uniform(-1, 1, (directions, 4 * size)).astype(np.float32),
        rng.integers(0, time + 1, batch).astype(np.int32),
    )


def dynamic_built(*tensors: Any, **options: Any) -> Any:
    """The op."""
    attrs = {"activations": DEFAULTS["lstm"], "clip": 0.0, "input_forget": False, **options}
    return tl.Tensor(make(dynamic_steps, *(tensor.node for tensor in tensors), **attrs))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def dynamic_reference(
    x: np.ndarray,
    hidden: np.ndarray,
    zero: np.ndarray,
    scale: np.ndarray,
    states: np.ndarray,
    extra: np.ndarray,
    lengths: np.ndarray,
    backward: tuple[bool, ...],
    clip: float = 0.0,
    input_forget: bool = False,
) -> np.ndarray:
    """With the usual activations."""
    time, batch, directions, width = x.shape
    result = np.zeros((time + 2, directions, batch, width // 4), np.float32)
    for d, back in enumerate(backward):
        weights = hidden[d].astype(np.int64) - zero[d].astype(np.int64)
        peeps = np.split(extra[d].astype(np.float64), 4)
        h, c = states[0, d].copy(), states[1, d].copy()
        for turn in range(time):
            seen = [h[b] for b in range(batch) if turn <= lengths[b]]
            low, high = min(np.min(seen, initial=0), 0), max(np.max(seen, initial=0), 0)
            step = np.float32(1 if low == high else (high - low) / np.float32(255))
            middle = np.clip(np.rint(-low / step), 0, 255)
            at = time - 1 - turn if back else turn
            for b in range(batch):
                if turn >= lengths[b]:
                    continue
                whole = np.clip(np.rint(h[b] / step) + middle, 0, 255) - middle
                sums = (whole.astype(np.int64) @ weights) * np.float64(step * scale[d])
                gates = np.split(x[at, b, d] + sums, 4)
                bounds = (-clip, clip) if clip else (-np.inf, np.inf)
                enter = _sigmoid(np.clip(gates[0] + peeps[0] * c[b], *bounds))
                kept = _sigmoid(np.clip(gates[2] + peeps[2] * c[b], *bounds))
                new = np.tanh(np.clip(gates[3], *bounds))
                c[b] = (1 - enter if input_forget else kept) * c[b] + enter * new
                h[b] = np.tanh(c[b]) * _sigmoid(np.clip(gates[1] + peeps[1] * c[b], *bounds))
                result[at, d, b] = h[b]
        result[time, d], result[time + 1, d] = h, c
    return result
