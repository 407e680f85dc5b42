"""Attention whose scores are not kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from attention_reference import attended, attention_reference

from .case import case

draws = np.random.default_rng(43)  # its own, so that the other families draw what they drew


def one(name: str, q: tuple[int, ...], k: tuple[int, ...], wide: int, reach: Any, causal: bool,
        window: int = 0) -> None:  # fmt: skip
    arrays = [draws.normal(size=shape).astype(np.float32) for shape in (q, k, (*k[:3], wide))]
    attrs = {"scale": 0.3, "causal": causal, "window": window}
    case(f"attention-{name}", (*arrays, np.array(reach, np.int32)),
         lambda *x: attended(*x, **attrs), lambda *x: attention_reference(*x, **attrs),
         rtol=1e-4, atol=1e-5)  # fmt: skip


one("all", (2, 3, 5, 8), (2, 3, 7, 8), 8, [7, 7], False)
one("causal", (1, 2, 70, 16), (1, 2, 70, 16), 16, [1], True)
one("groups", (2, 6, 9, 12), (2, 2, 130, 12), 20, [3, 121], True)
one("window", (1, 4, 40, 8), (1, 1, 200, 8), 12, [150], True, 7)
one("wide-window", (1, 1, 33, 4), (1, 1, 99, 4), 4, [60], True, 70)
one("length", (3, 2, 4, 8), (3, 1, 64, 8), 4, [0, 40, 64], False)
one("beyond", (2, 1, 12, 8), (2, 1, 10, 8), 8, [-5, 30], True)
