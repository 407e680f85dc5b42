"""The transducer's loss, beside a sum over all alignments, and differences."""

from __future__ import annotations

from functools import cache
from math import exp, log
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import DTypeError, ShapeError

F = nn.functional

RNG = np.random.default_rng(5)
LOGITS = RNG.normal(size=(3, 4, 4, 5)).astype(np.float32)
TARGETS = RNG.integers(0, 4, (3, 3))
TIMES, LENGTHS = np.array([4, 3, 2]), np.array([3, 1, 0])


def by_hand(logits: np.ndarray, labels: np.ndarray, blank: int) -> float:
    """-log of the sum of the probabilities of all ways through (time, labels + 1)."""
    shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    time, states = shares.shape[:2]

    @cache
    def ways(t: int, u: int) -> float:
        if t == time:
            return float(u == states - 1)
        silent = float(shares[t, u, blank]) * ways(t + 1, u)
        return silent + (float(shares[t, u, labels[u]]) * ways(t, u + 1) if u < states - 1 else 0)

    return -log(ways(0, 0))


def expected(logits: np.ndarray, blank: int = -1) -> list[float]:
    return [
        by_hand(each[:time, : length + 1].astype(np.float64), labels, blank)
        for each, labels, time, length in zip(logits, TARGETS, TIMES, LENGTHS, strict=True)
    ]


def loss(logits: tl.Tensor, **options: Any) -> tl.Tensor:
    given = (tl.tensor(TARGETS), tl.tensor(TIMES), tl.tensor(LENGTHS))
    return F.rnnt_loss(logits, *given, **options)


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_all_alignments(device: str) -> None:
    before = tl.default_device()
    tl.set_default_device(device)
    try:
        for blank in (-1, 4):
            got = loss(tl.tensor(LOGITS), blank=blank, reduction="none").numpy()
            np.testing.assert_allclose(got, expected(LOGITS, blank), rtol=1e-5)
        total = loss(tl.tensor(LOGITS), reduction="sum").item()
        np.testing.assert_allclose(total, sum(expected(LOGITS)), rtol=1e-5)
        module = nn.RNNTLoss()
        mean = module(tl.tensor(LOGITS), *map(tl.tensor, (TARGETS, TIMES, LENGTHS))).item()
        np.testing.assert_allclose(mean, np.mean(expected(LOGITS)), rtol=1e-5)
        scores = F.log_softmax(tl.tensor(LOGITS), -1)
        known = loss(scores, fused_log_softmax=False, reduction="none").numpy()
        np.testing.assert_allclose(known, expected(LOGITS), rtol=1e-5)
    finally:
        tl.set_default_device(before)


def test_gradients_are_those_of_differences() -> None:
    logits = tl.tensor(LOGITS, requires_grad=True)
    loss(logits).backward()
    assert logits.grad is not None
    got = logits.grad.numpy()
    assert not got[1, 3:].any() and not got[2, :, 1:].any()  # beyond the lengths
    for place in [(0, 0, 0, 4), (0, 2, 1, 3), (1, 1, 0, 2), (1, 2, 1, 4), (2, 1, 0, 4)]:
        ends = []
        for step in (1e-4, -1e-4):
            moved = LOGITS.astype(np.float64)
            moved[place] += step
            ends.append(float(np.mean(expected(moved))))
        np.testing.assert_allclose(got[place], (ends[0] - ends[1]) / 2e-4, atol=2e-5)


def test_a_clamped_gradient() -> None:
    logits = tl.tensor(LOGITS, requires_grad=True)
    loss(logits, clamp=0.05, reduction="sum").backward()
    assert logits.grad is not None
    assert abs(logits.grad.numpy()).max() <= np.float32(0.05)


def test_what_does_not_fit() -> None:
    loss_of: Any = F.rnnt_loss
    logits, labels = tl.zeros((2, 4, 3, 5)), tl.zeros((2, 2), "int32")
    times, lengths = tl.tensor([4, 4]), tl.tensor([2, 2])
    good = (logits, labels, times, lengths)
    assert exp(-loss_of(*good, reduction="none").numpy()[0]) > 0
    with pytest.raises(ShapeError, match=r"targets \(2, 3\)"):
        loss_of(logits, tl.zeros((2, 3), "int32"), times, lengths)
    with pytest.raises(ShapeError, match="logit_lengths"):
        loss_of(logits, labels, tl.tensor([4]), lengths)
    with pytest.raises(DTypeError, match="float32"):
        loss_of(logits, tl.zeros((2, 2)), times, lengths)
    with pytest.raises(ShapeError, match="blank 5"):
        loss_of(*good, blank=5)
