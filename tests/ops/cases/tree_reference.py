"""Random trees, and what a walk of them finds, row by row."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import tallow as tl
from tallow.graph import make
from tallow.ops.trees import MISSING, walk_trees
from tallow.tensor import Tensor

_COMPARES = (operator.le, operator.lt, operator.ge, operator.gt, operator.eq, operator.ne)


def random_trees(
    rng: np.random.Generator, trees: int, depth: int, features: int, dtype: str = "float32"
) -> tuple[np.ndarray, ...]:
    """Tables of nodes, splits and roots; halves as splits, so that features may be equal to them.
    Some trees are a leaf alone."""
    nodes: list[list[int]] = []
    leaves = 0

    def grown(left: int, root: bool) -> int:
        """A node, or ~leaf."""
        nonlocal leaves
        if not left or rng.random() < (0.1 if root else 0.25):
            leaves += 1
            return -leaves
        at = len(nodes)
        mode = int(rng.integers(6)) + MISSING * int(rng.random() < 0.3)
        nodes.append([int(rng.integers(features)), mode, 0, 0])
        nodes[at][2:] = grown(left - 1, False), grown(left - 1, False)
        return at

    roots = [grown(depth, True) for _ in range(trees)]
    if not nodes:
        nodes.append([0, 0, -1, -1])
        leaves = max(leaves, 1)
    table = np.array(nodes, np.int32)
    count = len(table)
    final = [root if root >= 0 else count + ~root for root in roots]
    table[:, 2:] = np.where(table[:, 2:] < 0, count + ~table[:, 2:], table[:, 2:])
    splits = (rng.integers(-4, 5, count) / 2).astype(dtype)
    return table, splits, np.array(final, np.int32)


def features_of(
    rng: np.random.Generator, rows: int, count: int, dtype: str = "float32"
) -> np.ndarray:
    """Halves, and some NaN."""
    x = (rng.integers(-4, 5, (rows, count)) / 2).astype(dtype)
    return np.where(rng.random(x.shape) < 0.1, np.nan, x).astype(dtype)


def walked(x: Any, nodes: Any, splits: Any, roots: Any, depth: int) -> Tensor:
    """The op, for trees that may have any mode."""
    operands = [tl.asarray(each).node for each in (x, nodes, splits, roots)]
    return Tensor(make(walk_trees, *operands, depth=depth, modes=tuple(range(6)), missing=True))


def walk_reference(x: Any, nodes: Any, splits: Any, roots: Any) -> np.ndarray:
    found = np.zeros((len(roots), len(x)), np.int32)
    for tree, root in enumerate(roots):
        for number, row in enumerate(x):
            at = root
            while at < len(nodes):
                feature, code, yes, no = nodes[at]
                value = row[feature]
                tracks = code >= MISSING and np.isnan(value)
                at = yes if tracks or _COMPARES[code % MISSING](value, splits[at]) else no
            found[tree, number] = at - len(nodes)
    return found
