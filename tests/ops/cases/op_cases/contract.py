"""Matrix products."""

from __future__ import annotations

import numpy as np

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name

from .case import case, integers, normal

for m, k, n in ((1, 1, 1), (3, 7, 5), (17, 33, 17), (33, 64, 40), (1, 128, 100), (2, 16, 7),
                (64, 64, 64), (5, 4, 8), (40, 3, 4)):  # fmt: skip
    case(f"matmul-{m}x{k}x{n}", (normal(m, k), normal(k, n)), tl.matmul, np.matmul,
         rtol=1e-4, atol=1e-5)  # fmt: skip
tolerance = {"rtol": 1e-4, "atol": 1e-5}
case("matmul-batched", (normal(3, 5, 8), normal(3, 8, 12)), tl.matmul, np.matmul, **tolerance)
case("matmul-broadcast", (normal(2, 1, 5, 6), normal(3, 6, 7)), tl.matmul, np.matmul, **tolerance)
case("matmul-vector", (normal(6), normal(6, 5)), tl.matmul, np.matmul, **tolerance)
case("matmul-vectors", (normal(9), normal(9)), tl.matmul, np.matmul, **tolerance)
case("matmul-transposed", (normal(9, 12), normal(8, 12)), lambda a, b: a @ b.mT,
     lambda a, b: a @ b.T, **tolerance)  # fmt: skip
case("matmul-fused", (normal(12, 8), normal(8, 12), normal(12), normal(12, 12)),
     lambda a, b, c, d: F.relu(a @ b + c) + d,
     lambda a, b, c, d: np.maximum(a @ b + c, 0) + d, **tolerance)  # fmt: skip
# Added up in float16 it would stand still at 2,048 halves.
halves = np.full((2, 9000), 0.5, np.float16), np.ones((9000, 3), np.float16)
case("matmul-float16", halves, tl.matmul, lambda a, b: np.full((2, 3), 4500, np.float16))
halves = np.full((1, 64, 9, 9), 0.5, np.float16), np.ones((2, 64, 9, 9), np.float16)
case("conv2d-float16", halves, F.conv2d,
     lambda x, w: np.full((1, 2, 1, 1), 2592, np.float16), rtol=1e-3)  # fmt: skip
case("conv2d-float16-depthwise",
     (np.full((1, 2, 65, 65), 0.5, np.float16), np.ones((2, 1, 65, 65), np.float16)),
     lambda x, w: F.conv2d(x, w, groups=2),
     lambda x, w: np.full((1, 2, 1, 1), 2112.5, np.float16), rtol=1e-3)  # fmt: skip
case("matmul-int32", (integers(3, 4), integers(4, 5)), tl.matmul, np.matmul)
case("linear", (normal(4, 6), normal(10, 6), normal(10)), F.linear,
     lambda x, w, b: x @ w.T + b, **tolerance)  # fmt: skip
