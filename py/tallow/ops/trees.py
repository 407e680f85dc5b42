"""Decision trees: every row walks every tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core import dtype as dt
from ..errors import DTypeError, ShapeError
from .kinds import Attrs, Composite, Spec

if TYPE_CHECKING:
    from ..arrays import Array, NumPy

COMPARISONS = ("less_equal", "less", "greater_equal", "greater", "equal", "not_equal")
"""NumPy's functions, by the number of a node's mode."""

MISSING = 8
"""Added to the mode of a node that NaN leaves by its true branch."""

FEATURE, MODE, YES, NO = range(4)
"""The columns of a table of nodes."""


def _rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (x, dtype), (nodes, kind), (splits, other), (roots, of_roots) = operands
    if dtype not in (dt.float32, dt.float64) or other != dtype:
        raise DTypeError(f"walk_trees: features {dtype.name} and splits {other.name}")
    if (kind, of_roots) != (dt.int32, dt.int32):
        raise DTypeError(f"walk_trees: nodes {kind.name} and roots {of_roots.name}, not int32")
    fits = len(x) == 2 and len(nodes) == 2 and nodes[1:] == (4,) and len(roots) == 1
    if not fits or splits != nodes[:1] or not nodes[0]:
        raise ShapeError(f"walk_trees: nodes {nodes}, splits {splits}, roots {roots} for {x}")
    return (roots[0], x[0]), dt.int32


def _walk(
    np: NumPy,
    x: Array,
    nodes: Array,
    splits: Array,
    roots: Array,
    depth: int,
    modes: tuple[int, ...],
    missing: bool,
) -> Array:
    """A pair of a tree and a row leaves the loop when it reaches its leaf."""
    count, rows = len(nodes), len(x)
    result = np.repeat(roots, rows)
    features, kinds, yes, no = (np.ascontiguousarray(nodes[:, column]) for column in range(4))
    active = np.flatnonzero(result < count)
    at, flat = result[active], np.ascontiguousarray(x).reshape(-1)
    start = active % max(rows, 1) * x.shape[1]
    for _ in range(depth):
        if not len(active):
            break
        value, split = flat.take(start + features.take(at)), splits.take(at)
        code = kinds.take(at) if missing or len(modes) > 1 else 0
        truth = getattr(np, COMPARISONS[modes[0]])(value, split)
        for mode in modes[1:]:
            other = getattr(np, COMPARISONS[mode])(value, split)
            truth = np.where(code % MISSING == mode, other, truth)
        if missing:
            truth |= (code >= MISSING) & np.isnan(value)
        at = np.where(truth, yes.take(at), no.take(at))
        result[active] = at
        inside = np.flatnonzero(at < count)
        if len(inside) < len(at):
            active, at, start = active[inside], at[inside], start[inside]
    return np.maximum(result - np.int32(count), 0).reshape(len(roots), rows)


walk_trees = Composite("walk_trees", _walk, _rule)
"""Which leaf of each tree the rows of x (n, features) reach: (trees, n).

nodes (count, 4), int32: the feature that a node tests, its mode (plus MISSING), and the nodes to
which it leads, if the test is true and if not. From `count` on these are leaves: count + 2 is leaf
2. splits (count,): what features are compared with. roots (trees,): where the trees begin.
Attributes: `depth`, the most steps; `modes`, those that the nodes have, in order; `missing`,
whether NaN leaves any node by its true branch.
"""
