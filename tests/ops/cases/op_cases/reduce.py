"""Reductions."""

from __future__ import annotations

import numpy as np

import tallow as tl

from .case import booleans, case, integers, normal
from .elementwise import bits, positive

cube = normal(3, 5, 8)
for name in ("sum", "max", "min", "mean", "prod"):
    for axes in (None, 0, 1, -1, (0, 1), (1, 2), (0, 2)):
        label = str(axes).replace(" ", "")
        case(f"{name}-{label}", cube, lambda x, n=name, a=axes: getattr(tl, n)(x, axis=a),
             lambda x, n=name, a=axes: getattr(np, n)(x, axis=a), rtol=1e-4, atol=1e-5)  # fmt: skip
case("sum-keepdims", cube, lambda x: tl.sum(x, axis=1, keepdims=True),
     lambda x: x.sum(1, keepdims=True))  # fmt: skip
case("sum-odd", normal(7, 33), lambda x: tl.sum(x, axis=1), lambda x: x.sum(1), rtol=1e-4)
case("sum-int32", integers(4, 9), lambda x: tl.sum(x, axis=0), lambda x: x.sum(0, dtype=np.int32))
case("sum-fused", cube, lambda x: tl.sqrt(tl.sum(x * x + 1.0, axis=2)) * 2.0,
     lambda x: np.sqrt((x * x + 1).sum(2)) * 2)  # fmt: skip
case("max-negative", -positive, lambda x: tl.max(x, axis=0), lambda x: x.max(0))
case("max-infinite", np.full((2, 4), -np.inf, np.float32), lambda x: tl.max(x, axis=1),
     lambda x: x.max(1))  # fmt: skip
case("max-uint32", bits[0], tl.max, np.max)
case("min-int32", integers(4, 8), lambda x: tl.min(x, axis=1), lambda x: x.min(1))
case("argmax", cube, lambda x: tl.argmax(x, axis=1), lambda x: x.argmax(1).astype(np.int32))
case("argmax-last", cube, lambda x: tl.argmax(x, axis=-1), lambda x: x.argmax(-1).astype(np.int32))
case("argmax-all", cube, tl.argmax, lambda x: np.int32(x.argmax()))
case("argmax-tie", np.zeros((4, 4), np.float32), lambda x: tl.argmax(x, axis=1),
     lambda x: np.zeros(4, np.int32))  # fmt: skip
case("argmin", cube, lambda x: tl.argmin(x, axis=0), lambda x: x.argmin(0).astype(np.int32))
case("var", cube, lambda x: tl.var(x, axis=2), lambda x: x.var(2), rtol=1e-4)
case("std", cube, lambda x: tl.std(x, axis=0, correction=1), lambda x: x.std(0, ddof=1), rtol=1e-4)
case("any", booleans(4, 5), lambda x: tl.any(x, axis=1), lambda x: x.any(1))
case("all", booleans(4, 2), lambda x: tl.all(x, axis=1), lambda x: x.all(1))
