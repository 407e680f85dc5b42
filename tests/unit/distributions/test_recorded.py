"""Densities, moments and divergences, beside what PyTorch gave for the same distributions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import distributions as d

from .cases import CASES, MATRICES, NUMBERS, PAIRED, asked, shares_for

with np.load(Path(__file__).parent / "recorded.npz") as _archive:
    RECORDED = {name: _archive[name] for name in _archive.files}

OTHERWISE = {
    "Dirichlet/mode",  # PyTorch's is the first corner where no concentration is above 1
    "Kumaraswamy/mode",  # PyTorch's is NaN
}


def made(value: Any) -> tl.Tensor:
    return tl.asarray(np.asarray(value, np.float32))


def near(found: Any, expected: np.ndarray) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", [*CASES, *MATRICES])
def test_numbers(name: str) -> None:
    build, values = {**CASES, **MATRICES}[name]
    one = build(d, made)
    array = np.asarray(values)
    given = tl.asarray(array.astype(np.float32) if array.dtype.kind == "f" else array)
    near(one.log_prob(given), RECORDED[f"{name}/log_prob"])
    for asks in NUMBERS:
        key = f"{name}/{asks}"
        if key in RECORDED and key not in OTHERWISE:
            near(asked(one, asks, given, tl.asarray(shares_for(one))), RECORDED[key])


PAIRS = [name for name in RECORDED if " from " in name]


@pytest.mark.parametrize("pair", PAIRS)
def test_divergences(pair: str) -> None:
    first, _, second = pair.partition(" from ")
    p, q = PAIRED[first][0](d, made), PAIRED[second][1](d, made)
    near(d.kl_divergence(p, q), RECORDED[pair])
