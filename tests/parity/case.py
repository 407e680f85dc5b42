"""Cases that PyTorch and Tallow run alike: the same code, given one library or the other.

A case builds a module or a function from the library `t` that it is given (torch, or tallow under
the same names) and says what it is fed. Parameters and inputs get values that follow from names, so
that both libraries compute with equal numbers; what they draw themselves is tested elsewhere.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Build = Callable[[Any], Any]


@dataclass(frozen=True)
class Case:
    """build(t): a module, or a function of tensors. inputs: arrays; those that are floating get
    gradients too. mode: of a module, "train" or "eval". rtol, atol: as in numpy.allclose, relative
    to the largest value. gradients: whether derivatives are compared. constant:
    the inputs by which they are not."""

    name: str
    build: Build
    inputs: tuple[np.ndarray, ...]
    mode: str = "train"
    rtol: float = 2e-5
    atol: float = 2e-5
    gradients: bool = True
    constant: tuple[int, ...] = ()


CASES: dict[str, Case] = {}


def case(name: str, build: Build, *inputs: Any, **options: Any) -> None:
    """Registers a case. An input is an array, or a shape, of which the numbers are drawn."""
    assert name not in CASES, name
    arrays = tuple(
        drawn(f"{name} input {n}", x) if isinstance(x, tuple) else x for n, x in enumerate(inputs)
    )
    CASES[name] = Case(name, build, arrays, **options)


def drawn(name: str, shape: tuple[int, ...], scale: float = 1.0) -> np.ndarray:
    """float32 numbers that follow from a name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return (rng.normal(size=shape) * scale).astype(np.float32)


def classes(name: str, shape: tuple[int, ...], count: int) -> np.ndarray:
    """int64 labels below `count` that follow from a name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return rng.integers(0, count, shape)


def value_of(name: str, array: np.ndarray) -> np.ndarray:
    """The value that a parameter or a buffer gets: of variances and the like, positive numbers."""
    if array.dtype.kind != "f":
        return array
    found = drawn(name, array.shape, 0.5)
    return np.abs(found) + 0.5 if "var" in name.rpartition(".")[2] else found


def flat(result: Any) -> list[Any]:
    """The tensors of a result, in order."""
    if isinstance(result, dict):
        return [x for name in sorted(result) for x in flat(result[name])]
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in flat(each)]
    return [] if result is None else [result]
