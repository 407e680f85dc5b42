"""What the networks of `bench --training` begin with and see, in Pyodide, for Tallow and for borch.

Weights, inputs and labels follow from formulas that training.js has too, so that all libraries
compute the same losses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

BATCH, HEADS, LAYERS, WIDTH, CONTEXT, VOCABULARY = 64, 4, 4, 128, 128, 256
SEQUENCES = 8
LINES = 16
"""Sequences in a batch of the LSTM, of CONTEXT steps."""


def numbers(count: int, seed: int, scale: float) -> np.ndarray:
    """Numbers between -scale and scale that follow from a formula; float32."""
    index = np.arange(count, dtype=np.float64)
    return (np.sin(index * 12.9898 + seed * 78.233) * scale).astype(np.float32)


SHAPES = {
    "mlp": (BATCH, 784), "lenet": (BATCH, 1, 28, 28), "resnet": (BATCH, 3, 32, 32),
    "lstm": (LINES, CONTEXT, WIDTH),
}  # fmt: skip


def batches(network: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Inputs and labels, a batch for each step."""
    for number in range(1 << 30):
        if network == "transformer":
            line = np.arange(SEQUENCES * CONTEXT + 1, dtype=np.int64)
            text = ((line * 7 + number * 13) % 61 * 4).astype(np.int32)
            yield text[:-1].reshape(SEQUENCES, CONTEXT), text[1:]
        else:
            shape = SHAPES[network]
            labels = ((np.arange(shape[0]) * 7 + number) % 10).astype(np.int32)
            x = numbers(math.prod(shape), number + 1000, 1.0).reshape(shape)
            tints = labels.reshape(-1, *(1,) * (len(shape) - 1)).astype(np.float32)
            yield x + tints * np.float32(0.2), labels
