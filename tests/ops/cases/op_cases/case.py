"""A case, the table of all, and the arrays that cases are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

rng = np.random.default_rng(20261120)


@dataclass(frozen=True)
class Case:
    """`build` on tensors must equal `expected` on arrays; rtol and atol as in numpy.allclose."""

    name: str
    inputs: tuple[np.ndarray, ...]
    build: Callable[..., Any]
    expected: Callable[..., Any]
    rtol: float = 1e-5
    atol: float = 1e-6


CASES: dict[str, Case] = {}


def case(
    name: str,
    inputs: Any,
    build: Callable[..., Any],
    expected: Callable[..., Any],
    **tolerance: float,
) -> None:
    assert name not in CASES, name
    arrays = inputs if isinstance(inputs, tuple) else (inputs,)
    CASES[name] = Case(name, arrays, build, expected, **tolerance)


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (rng.normal(size=shape) * scale).astype(np.float32)


def integers(*shape: int, low: int = -9, high: int = 10, dtype: Any = np.int32) -> np.ndarray:
    return rng.integers(low, high, shape).astype(dtype)


def booleans(*shape: int) -> np.ndarray:
    return rng.random(shape) < 0.5
