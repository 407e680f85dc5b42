"""Gathers: elements at indices that an operand gives."""

from __future__ import annotations

import numpy as np

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.functions.indexing import checked_indices, position

from .case import case, normal, rng

table = normal(6, 8)
case("take", (table, np.array([[0, 5], [-1, 2]], np.int32)), lambda x, i: tl.take(x, i, axis=0),
     lambda x, i: np.take(x, i, 0))  # fmt: skip
case("take-last", (table, np.array([1, 1, 7], np.int32)), lambda x, i: tl.take(x, i, axis=1),
     lambda x, i: np.take(x, i, 1))  # fmt: skip
case("take-of-one", (normal(6, 1), np.array([0, 0, 0], np.int32)),
     lambda x, i: tl.take(x, i, axis=1), lambda x, i: np.take(x, i, 1))  # fmt: skip
case("take-int64", (table, np.array([3, -6], np.int64)), lambda x, i: tl.take(x, i, axis=0) + 1.0,
     lambda x, i: np.take(x, i, 0) + 1)  # fmt: skip
case("take-computed", (table, np.array([1, 2], np.int32)),
     lambda x, i: tl.take(tl.exp(x), i + 1, axis=0), lambda x, i: np.exp(x)[i + 1])  # fmt: skip
along = rng.integers(0, 6, (4, 8)).astype(np.int32)
case("take_along_axis", (table, along), lambda x, i: tl.take_along_axis(x, i, axis=0),
     lambda x, i: np.take_along_axis(x, i, 0))  # fmt: skip
one = np.array([[0, -1, 0]], np.int32)
case("take-of-one-negative", (normal(2, 1, 4), one), lambda x, i: tl.take(x, i, axis=1),
     lambda x, i: np.take(x, i, 1))  # fmt: skip
case("take_along_axis-of-one", (normal(1, 3), one),
     lambda x, i: tl.take_along_axis(x, i, axis=0) * 2,
     lambda x, i: np.take_along_axis(x, i, 0) * 2)  # fmt: skip
case("position", np.array([[0, -1, 3], [-4, 2, 1]], np.int32), lambda i: position(i, 4),
     lambda i: i % 4)  # fmt: skip
case("position-uint8", np.array([0, 255, 200], np.uint8), lambda i: position(i, 300),
     lambda i: i.astype(np.int32))  # fmt: skip
case("checked", np.array([[0, 3], [-7, 2]], np.int32),
     lambda i: checked_indices(i, 4, "the index", ignored=-7) + 1, lambda i: i + 1)  # fmt: skip
case("concat-empty", (normal(2, 0), normal(2, 3), normal(2, 4)),
     lambda *x: tl.concat(x, axis=1) * 2.0, lambda *x: np.concatenate(x, 1) * 2)  # fmt: skip
case("embedding", np.array([[1, 0], [5, 5]], np.int32), lambda i: F.embedding(i, tl.asarray(table)),
     lambda i: table[i])  # fmt: skip
