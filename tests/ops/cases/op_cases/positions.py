"""Regions at positions that operands give."""

from __future__ import annotations

from typing import Any

import numpy as np

import tallow as tl

from .case import booleans, case, integers, normal


def region(shape: tuple[int, ...], starts: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """The slices of a region, clamped as the device clamps it."""
    found = []
    for dim, start, size in zip(shape, starts, sizes, strict=True):
        low = min(max(start + dim if start < 0 else start, 0), dim - size)
        found.append(slice(low, low + size))
    return tuple(found)


def written(x: Any, new: Any, *starts: Any) -> Any:
    """x with a region."""
    result = np.array(x)
    result[region(x.shape, tuple(map(int, starts)), new.shape)] = new
    return result


def at(position: int, dtype: Any = np.int32) -> Any:
    return np.array(position, dtype)


table = normal(9, 8)
for position in (0, 4, 8, -2, -20, 99):
    case(f"slice_at[{position}]", (table, at(position)),
         lambda x, p: tl.slice_at(x, (p, 0), (3, 8)),
         lambda x, p: x[region(x.shape, (int(p), 0), (3, 8))])  # fmt: skip
    case(f"update_at[{position}]", (table, normal(3, 8), at(position)),
         lambda x, new, p: tl.update_at(x, (p, 0), new),
         lambda x, new, p: written(x, new, p, 0))  # fmt: skip
case("slice_at-of-computed", (table, at(5), at(3)),
     lambda x, p, q: tl.slice_at(tl.exp(x), (p + 1, q), (2, 4)) * 2.0,
     lambda x, p, q: np.exp(x)[6:8, 3:7] * 2)  # fmt: skip
case("slice_at-last", (normal(3, 4, 16), at(7, np.int64)),
     lambda x, p: tl.slice_at(x, (1, 0, p), (2, 4, 8)), lambda x, p: x[1:3, :, 7:15])  # fmt: skip
case("slice_at-uint8", (integers(7, 5, low=0, high=200).astype(np.uint8), at(3, np.uint8)),
     lambda x, p: tl.slice_at(x, p, 2), lambda x, p: x[3:5])  # fmt: skip
case("update_at-both", (table, normal(2, 4), at(-1), at(3)),
     lambda x, new, p, q: tl.update_at(x * 2.0, (p, q), new + 1.0) - 1.0,
     lambda x, new, p, q: written(x * 2, new + 1, p, q) - 1)  # fmt: skip
case("update_at-numbers", (normal(3, 4, 8), normal(1, 4, 4)),
     lambda x, new: tl.update_at(x, (2, 0, -4), new),
     lambda x, new: written(x, new, 2, 0, -4))  # fmt: skip
case("update_at-mixed", (normal(3, 6, 8), normal(1, 2, 8), at(3)),
     lambda x, new, p: tl.update_at(x, (1, p), new),
     lambda x, new, p: written(x, new, 1, p, 0))  # fmt: skip
case("update_at-bool", (booleans(5, 3), booleans(2, 3), at(1)),
     lambda x, new, p: tl.update_at(x, p, new),
     lambda x, new, p: written(x, new, p, 0))  # fmt: skip
case("update_at-float16", (normal(5, 6).astype(np.float16), normal(2, 6).astype(np.float16), at(3)),
     lambda x, new, p: tl.update_at(x, p, new),
     lambda x, new, p: written(x, new, p, 0))  # fmt: skip
case("update_at-of-zeros", (normal(2, 8), at(4)),
     lambda new, p: tl.update_at(tl.zeros((9, 8), dtype=new.dtype), p, new),
     lambda new, p: written(np.zeros((9, 8), np.float32), new, p, 0))  # fmt: skip


def filled(x: Any, start: Any, value: float, axis: int) -> Any:
    """x with a value from a position on."""
    result, dim = np.array(x), x.shape[axis]
    low = min(max(int(start) + dim if start < 0 else int(start), 0), dim)
    np.moveaxis(result, axis, 0)[low:] = value
    return result


for position in (0, 3, 8, -3, -20, 99):
    case(f"fill_from[{position}]", (table, at(position)),
         lambda x, p: tl.fill_from(x * 2.0, p, -1.5) + 1.0,
         lambda x, p: filled(x * 2, p, -1.5, 1) + 1)  # fmt: skip
    case(f"sum-to[{position}]", (table, at(position)),
         lambda x, p: tl.sum(tl.fill_from(tl.exp(x), p, 0, axis=0), axis=0),
         lambda x, p: filled(np.exp(x), p, 0, 0).sum(0))  # fmt: skip
case("max-to", (normal(3, 40), at(17)),
     lambda x, p: tl.max(tl.fill_from(x * x, p, -np.inf), axis=1),
     lambda x, p: (x * x)[:, :17].max(1))  # fmt: skip
case("sum-to-of-both", (normal(3, 5, 8), at(2)),
     lambda x, p: tl.sum(tl.fill_from(x, p, 0, axis=1), axis=(1, 2)),
     lambda x, p: x[:, :2].sum((1, 2)))  # fmt: skip
case("max-to-with-another-value", (normal(3, 40), at(17)),
     lambda x, p: tl.max(tl.fill_from(x, p, 9.0), axis=1),
     lambda x, p: np.full(3, 9.0, np.float32))  # fmt: skip
case("products-to", (normal(4, 64, 8), normal(4, 1, 8), at(5)),
     lambda k, q, p: tl.fill_from(tl.sum(k * q, axis=2), p, -9.0, axis=1),
     lambda k, q, p: filled((k * q).sum(2), p, -9, 1))  # fmt: skip


def product_to(a: Any, b: Any, p: Any) -> Any:
    """Sums that end at a position."""
    return tl.fill_from(a, p, 0, axis=-1) @ tl.fill_from(b, p, 0, axis=-2)


for position in (0, 17, 40, -1, 99):
    case(f"product-to[{position}]", (normal(2, 5, 40), normal(2, 40, 12), at(position)),
         product_to,
         lambda a, b, p: filled(a, p, 0, 2) @ filled(b, p, 0, 1),
         rtol=1e-4, atol=1e-5)  # fmt: skip
case("product-to-of-one-matrix", (normal(2, 30, 64), normal(24, 64), at(9)),
     lambda a, b, p: product_to(tl.exp(a), b.mT, p) * 2.0,
     lambda a, b, p: np.exp(a)[..., :9] @ b.T[:9] * 2,
     rtol=1e-4, atol=1e-5)  # fmt: skip
