"""Movement: shapes, axes, slices, and parts put together."""

from __future__ import annotations

import numpy as np

import tallow as tl

from .case import case, normal

block = normal(2, 3, 4, 8)
case("reshape", block, lambda x: tl.reshape(x, (6, 32)) + 1.0, lambda x: x.reshape(6, 32) + 1)
case("reshape-odd", normal(6, 5), lambda x: tl.reshape(x, (3, 10)) * 2.0,
     lambda x: x.reshape(3, 10) * 2)  # fmt: skip
case("reshape-permuted", block, lambda x: tl.reshape(tl.permute_dims(x, (0, 2, 3, 1)), (8, -1)),
     lambda x: x.transpose(0, 2, 3, 1).reshape(8, -1))  # fmt: skip
for order in ((0, 2, 3, 1), (3, 2, 1, 0), (1, 0, 2, 3), (0, 1, 3, 2)):
    case(f"permute-{''.join(map(str, order))}", block, lambda x, a=order: tl.permute_dims(x, a),
         lambda x, a=order: x.transpose(a))  # fmt: skip
case("expand", normal(3, 1, 8), lambda x: tl.broadcast_to(x, (2, 3, 4, 8)),
     lambda x: np.broadcast_to(x, (2, 3, 4, 8)))  # fmt: skip
case("expand-last", normal(3, 1), lambda x: tl.broadcast_to(x, (3, 8)),
     lambda x: np.broadcast_to(x, (3, 8)))  # fmt: skip
case("slice", block, lambda x: x[:, 1:, ::2, 2:7], lambda x: x[:, 1:, ::2, 2:7])
case("slice-negative", block, lambda x: x[:, ::-1, 3:0:-2, ::-3],
     lambda x: x[:, ::-1, 3:0:-2, ::-3])  # fmt: skip
case("slice-aligned", block, lambda x: x[..., 4:8] * 2.0, lambda x: x[..., 4:8] * 2)
case("index", block, lambda x: x[1, None, ..., -1], lambda x: x[1, None, ..., -1])
case("flip", block, lambda x: tl.flip(x, axis=(1, 3)), lambda x: np.flip(x, (1, 3)))
case("pad", normal(3, 5), lambda x: tl.pad(x, [(1, 2), (0, 3)], 7.0),
     lambda x: np.pad(x, [(1, 2), (0, 3)], constant_values=7))  # fmt: skip
case("pad-aligned", normal(2, 8), lambda x: tl.pad(x, [(1, 0), (4, 4)]) + 1.0,
     lambda x: np.pad(x, [(1, 0), (4, 4)]) + 1)  # fmt: skip
case("pad-crop", normal(4, 6), lambda x: tl.pad(x, [(-1, 1), (2, -3)]),
     lambda x: np.pad(x[1:, :-3], [(0, 1), (2, 0)]))  # fmt: skip
parts = (normal(2, 3, 4), normal(2, 5, 4), normal(2, 1, 4))
case("concat", parts, lambda *x: tl.concat(x, axis=1), lambda *x: np.concatenate(x, 1))
lasts = (normal(3, 4), normal(3, 8), normal(3, 4))
case("concat-last", lasts, lambda *x: tl.concat(x, axis=-1), lambda *x: np.concatenate(x, -1))
uneven = (normal(3, 3), normal(3, 5))
case("concat-uneven", uneven, lambda *x: tl.concat(x, axis=1) * 2.0,
     lambda *x: np.concatenate(x, 1) * 2)  # fmt: skip
many = tuple(normal(2, 2) for _ in range(13))
case("concat-many", many, lambda *x: tl.concat(x, axis=0), lambda *x: np.concatenate(x, 0))
pairs = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
case("concat-four", pairs, lambda *x: tl.concat(x, axis=0), lambda *x: np.concatenate(x, 0))
case("concat-computed", (normal(2, 4), normal(2, 4)),
     lambda x, y: tl.concat([tl.exp(x), x + y], axis=1),
     lambda x, y: np.concatenate([np.exp(x), x + y], 1))  # fmt: skip
case("stack", (normal(3, 4), normal(3, 4)), lambda *x: tl.stack(x, axis=1),
     lambda *x: np.stack(x, 1))  # fmt: skip
case("split", normal(4, 9), lambda x: tl.split(x, [2, 3, 4], axis=1)[1] + 1.0,
     lambda x: x[:, 2:5] + 1)  # fmt: skip
case("squeeze", normal(3, 1, 4), lambda x: tl.squeeze(x, 1) * 2.0, lambda x: x[:, 0] * 2)
case("moveaxis", block, lambda x: tl.moveaxis(x, 1, -1), lambda x: np.moveaxis(x, 1, -1))
case("tile", normal(2, 3), lambda x: tl.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3)))
case("repeat", normal(2, 3), lambda x: tl.repeat(x, 3, axis=1), lambda x: np.repeat(x, 3, 1))
case("tril", normal(5, 5), lambda x: tl.tril(x, 1), lambda x: np.tril(x, 1))
case("triu", normal(2, 4, 6), tl.triu, np.triu)
case("arange", normal(8), lambda x: x + tl.arange(0, 16, 2), lambda x: x + np.arange(0, 16, 2))
case("eye", normal(4, 4), lambda x: x + tl.eye(4, k=1), lambda x: x + np.eye(4, k=1))
case("linspace", normal(5), lambda x: x + tl.linspace(0.0, 1.0, 5),
     lambda x: x + np.linspace(0, 1, 5, dtype=np.float32))  # fmt: skip
