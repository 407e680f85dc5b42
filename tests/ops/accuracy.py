"""Measures every elementwise function in units in the last place, and writes docs/accuracy.md.

    PYTHONPATH=py python -m tests.ops.accuracy

Each function gets every 8,191st float32, over the whole range, and is compared with float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tallow as tl

PAGE = Path(__file__).resolve().parents[2] / "docs" / "accuracy.md"
DEVICES = ("numpy", "wasm", "webgpu")
_STEP = 8191
_LEAST, _MOST = 2.0**-126, float(np.finfo(np.float32).max)

Function = Callable[[Any], Any]


def _each(function: Callable[[float], float], pole: float = math.nan) -> Function:
    """A function of Python's numbers, for arrays: `pole` without a value, inf if too large."""

    def one(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return pole

    return np.vectorize(one, otypes=[np.float64])


def _sigmoid(x: Any) -> Any:
    return np.exp(-np.logaddexp(0, -x))


FUNCTIONS: dict[str, Function] = {
    **{
        name: getattr(np, name)
        for name in (
            *("sqrt", "square", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos"),
            *("tan", "sinh", "cosh", "tanh", "reciprocal"),
        )
    },
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "rsqrt": lambda x: 1 / np.sqrt(x), "exp2": np.exp2,
    "erf": _each(math.erf), "erfc": _each(math.erfc), "lgamma": _each(math.lgamma, math.inf),
    "sigmoid": _sigmoid, "silu": lambda x: x * _sigmoid(x),
    "softplus": lambda x: np.logaddexp(0, x), "logsigmoid": lambda x: -np.logaddexp(0, -x),
}  # fmt: skip
"""Each function in float64."""


_HEAD = """\
# Accuracy

The largest error of each elementwise function in float32, in units in the last place of the right
answer, and the operand that has it, among {count:,} numbers over the whole range of both signs.
Answers below the smallest normal number (which devices may flush) and above the largest number are
left out; inf is a number where none should be, or the reverse. `python -m tests.ops.accuracy` makes
this page. WebGPU is the software adapter of the machine that made it; other adapters differ. With
`tl.set_float32_function_precision("medium")` its exp, sin, cos, tan, asin, acos, atan, sinh, cosh
and atanh are WGSL's own, which promise less.

| function | NumPy | WebAssembly | WebGPU |
| --- | --- | --- | --- |
"""


def operands() -> np.ndarray:
    """Numbers over the whole range of float32, of both signs, without subnormal ones."""
    first, last = np.array([_LEAST, _MOST], np.float32).view(np.uint32)
    size = np.arange(first, last, _STEP, dtype=np.uint32).view(np.float32)
    return np.concatenate([size, -size])


def found(name: str) -> Any:
    """The function of Tallow with that name; None if there is none."""
    return getattr(tl, name, None) or getattr(tl.functional, name, None)


def measure(name: str, device: str, x: np.ndarray) -> tuple[float, float]:
    """The largest error in units in the last place, and where it is. Answers that are no normal
    numbers are left out; a finite answer that should not be finite, or the reverse, is infinite."""
    with np.errstate(all="ignore"):
        right = FUNCTIONS[name](x.astype(np.float64))
    keep = (abs(right) >= _LEAST) & (abs(right) <= _MOST * (1 - 2**-20)) | np.isnan(right)
    x, right = x[keep], right[keep]
    got = tl.jit(found(name), device=device)(tl.asarray(x)).numpy().astype(np.float64)
    known = ~np.isnan(right)
    unit = np.spacing(abs(right[known]).astype(np.float32)).astype(np.float64)
    error = np.full(x.shape, 0.0)
    error[known] = abs(got[known] - right[known]) / unit
    error[np.isnan(got) != np.isnan(right)] = math.inf
    place = int(error.argmax())
    return float(error[place]), float(x[place])


def _shown(error: float, place: float) -> str:
    if error < 1:
        return f"{error:.1f}"
    return f"{error:,.1f} at {place:.4g}" if error < 100 else f"{error:,.3g} at {place:.4g}"


def page() -> str:
    """The text of docs/accuracy.md."""
    x = operands()
    rows = []
    for name in sorted(filter(found, FUNCTIONS)):
        cells = [_shown(*measure(name, device, x)) for device in DEVICES]
        rows.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return _HEAD.format(count=len(x)) + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
