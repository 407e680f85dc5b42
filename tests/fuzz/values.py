"""Strategies for element types, shapes and the elements of arrays.

Small arrays are drawn element by element, so that Hypothesis simplifies their values too; larger
ones come from NumPy's generator with a drawn seed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float16", "float64")
_BY_ELEMENT = 8
_SHORT = (1, 2, 3, 4, 5, 6, 8, 9)
_LONG = (16, 17, 33, 65)

_PLAIN = tuple(n / 4 for n in range(-16, 17))
_SPECIAL = (0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), 0.5, -0.5, 1.5, 2.5)
TEXTS = ("", "a", "b", "A", "aa", "ab", "é", "ß", "日本", "a b", " b ", "1", "-1.5", "a\nb", "😀")


def dtype_of(name: str) -> Any:
    """NumPy's type of that name, or ml_dtypes'."""
    return np.dtype(getattr(ml_dtypes, name, None) or name)


@cache
def dimension(zeros: bool, most: int) -> st.SearchStrategy[int]:
    """The length of an axis: mostly short, rarely 0 or longer than a GPU's workgroup."""
    short = [n for n in _SHORT if n <= most]
    options = [*short * 4, *[n for n in _LONG if n <= most], *([0] if zeros else [])]
    return st.sampled_from(options)


@cache
def ordinary(name: str, low: float | None, high: float | None) -> tuple[Any, ...]:
    """The elements of small arrays of a type, simple ones first."""
    if name == "bool":
        return (False, True)
    if name in INTEGERS or name in ("int4", "uint4"):
        options: list[float] = [*range(6), *(range(-1, -6, -1) if name[0] == "i" else ())]
    else:
        options = sorted(_PLAIN, key=lambda x: (abs(x), x < 0))
    least, most = -np.inf if low is None else low, np.inf if high is None else high
    kept = [x for x in options if least <= x <= most]
    return tuple(kept or [least])


@cache
def extremes(name: str) -> tuple[Any, ...]:
    """Elements at the limits of a type."""
    if name == "bool":
        return (False, True)
    if name in INTEGERS:
        info = np.iinfo(name)
        edges = [0, 1, -1, 2, 3, info.min, info.max, info.min + 1, info.max - 1]
        edges += [2**n + k for n in (7, 8, 15, 16, 24, 31, 32, 53) for k in (-1, 0, 1)]
        return tuple(dict.fromkeys(n for n in edges if info.min <= n <= info.max))
    limits = ml_dtypes.finfo(dtype_of(name))
    return (*_SPECIAL, float(limits.max), float(limits.min), float(limits.tiny))


def elements(
    name: str, count: int, low: float | None, high: float | None, edges: bool
) -> st.SearchStrategy[np.ndarray]:
    """`count` elements from low to high; with edges, also special ones."""
    dtype = dtype_of(name)
    pool = np.array(ordinary(name, low, high), dtype)
    if edges:
        pool = np.concatenate([pool[: len(pool) // 2 + 1], np.array(extremes(name), dtype)])
    if count <= _BY_ELEMENT:
        chosen = st.lists(st.integers(0, len(pool) - 1), min_size=count, max_size=count)
        return chosen.map(lambda indices: pool[np.array(indices, np.intp)])
    seeds = st.integers(0, 2**16)
    if edges or name in ("bool", "int4", "uint4"):
        return seeds.map(lambda seed: np.random.default_rng(seed).choice(pool, count))
    return seeds.map(lambda seed: _many(dtype, count, low, high, seed))


def _many(dtype: Any, count: int, low: float | None, high: float | None, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    whole = dtype.kind in "iu"
    least = (0 if dtype.kind == "u" else -9 if whole else -3) if low is None else low
    most = (20 if whole else 3) if high is None else high
    if whole:
        return random.integers(int(least), int(most) + 1, count).astype(dtype)
    return random.uniform(least, most, count).astype(dtype)


def texts(count: int) -> st.SearchStrategy[np.ndarray]:
    """`count` strings."""
    chosen = st.lists(st.sampled_from(TEXTS), min_size=count, max_size=count)

    def made(items: list[str]) -> np.ndarray:
        array = np.empty(count, object)
        array[:] = items
        return array

    return chosen.map(made)
