"""Ensembles of decision trees (domain ai.onnx.ml): tables for the op that walks them.

Nodes are numbers. A branch to a leaf is ~leaf until all nodes are known; in the op's table leaves
follow the nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..... import functions as f
from .....core import dtype as dt
from .....core.dtype import DType
from .....core.hostarray import HostArray, from_values
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....graph import make
from .....ops.trees import MISSING, walk_trees
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import operator
from .learning import DOMAIN, TRANSFORMS, transformed

_MAX_ELEMENTS = 1 << 26  # of the table of leaf values
_MODES = (
    "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
    "BRANCH_MEMBER",
)  # fmt: skip
_LT, _EQ, _MEMBER = 1, 4, 6
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


@dataclass(frozen=True, slots=True)
class Trees:
    """Lists by node, and for each leaf pairs of a target and the amount that the leaf adds to it.

    members: the set of values that a BRANCH_MEMBER node tests for.
    """

    roots: list[int]
    features: list[int]
    splits: list[float]
    modes: list[int]
    yes: list[int]
    no: list[int]
    missing: list[int]
    dtype: DType
    weights: Sequence[Sequence[tuple[int, float]]]
    members: dict[int, list[float]] = field(default_factory=dict)

    def check(self, features: int) -> None:
        """Raises OnnxFormatError for what is no ensemble of trees over so many features."""
        count = len(self.features)
        for table in (self.splits, self.modes, self.yes, self.no, self.missing):
            if len(table) != count:
                raise OnnxFormatError(f"its lists have {count} and {len(table)} nodes")
        if not self.roots:
            raise OnnxFormatError("it has no trees")
        lowest = -len(self.weights)
        for table in (self.roots, self.yes, self.no):
            if table and not (lowest <= min(table) and max(table) < count):
                raise OnnxFormatError("a branch leads nowhere")
        for feature in (min(self.features, default=0), max(self.features, default=0)):
            if count and not 0 <= feature < features:
                raise OnnxFormatError(
                    f"a node tests feature {feature}, a feature beyond the {features} of the input"
                )

    def depth(self) -> int:
        """Steps from the roots to the deepest leaf; OnnxFormatError for a cycle."""
        count = len(self.features)
        led = [0] * count
        for table in (self.yes, self.no):
            for after in table:
                if after >= 0:
                    led[after] += 1
        levels, deepest, seen = [1] * count, 0, 0
        todo = [at for at in range(count) if not led[at]]
        while todo:
            at = todo.pop()
            seen += 1
            level = levels[at]
            deepest = max(deepest, level)
            for after in (self.yes[at], self.no[at]):
                if after >= 0:
                    levels[after] = max(levels[after], level + 1)
                    led[after] -= 1
                    if not led[after]:
                        todo.append(after)
        if seen < count:
            raise OnnxFormatError("a tree with a cycle: a branch leads back to a node before it")
        return deepest

    def expand_members(self) -> None:
        """Nodes that halve the set and then compare with one value, instead of BRANCH_MEMBER."""
        for at, members in self.members.items():
            feature, yes, no = self.features[at], self.yes[at], self.no[at]
            missing = self.missing[at]
            values = sorted({*members}) or [math.nan]
            todo = [(at, 0, len(values))]
            while todo:
                node, begin, end = todo.pop()
                if end - begin == 1:
                    self._set(node, feature, values[begin], _EQ, yes, no, missing)
                    continue
                middle, first = (begin + end) // 2, len(self.features)
                for table in (
                    self.features, self.splits, self.modes, self.yes, self.no, self.missing
                ):  # fmt: skip
                    table.extend([0, 0])
                self._set(node, feature, values[middle], _LT, first, first + 1, 0)
                todo += [(first, begin, middle), (first + 1, middle, end)]

    def _set(
        self, at: int, feature: int, split: float, mode: int, yes: int, no: int, missing: int
    ) -> None:
        self.features[at], self.splits[at], self.modes[at] = feature, split, mode
        self.yes[at], self.no[at], self.missing[at] = yes, no, missing


def _leaves(trees: Trees, x: Tensor) -> tuple[Tensor, DType]:
    """Which leaf of each tree the rows of x reach (trees, n), and the type of the sums."""
    if x.ndim != 2:
        raise OnnxFormatError(f"an input {x.shape}, not rows of features")
    trees.check(x.shape[1])
    trees.expand_members()
    wide = dt.float64 in (x.dtype, trees.dtype)
    dtype, count = dt.float64 if wide else dt.float32, len(trees.features)
    depth = trees.depth()
    roots = from_values(
        [_final(root, count) for root in trees.roots], (len(trees.roots),), dt.int32
    )
    if not count:
        shape = (len(trees.roots), x.shape[0])
        return f.broadcast_to(f.expand_dims(asarray(roots), 1), shape), dtype
    table = [
        number
        for feature, mode, missing, yes, no in zip(
            trees.features, trees.modes, trees.missing, trees.yes, trees.no, strict=True
        )
        for number in (
            feature, mode + MISSING * bool(missing), _final(yes, count), _final(no, count)
        )
    ]  # fmt: skip
    node = make(
        walk_trees,
        x.astype(dtype).node,
        asarray(from_values(table, (count, 4), dt.int32)).node,
        asarray(from_values(trees.splits, (count,), dtype)).node,
        asarray(roots).node,
        depth=depth,
        modes=tuple(sorted({*trees.modes})),
        missing=any(trees.missing),
    )
    return Tensor(node), dtype


def _final(branch: int, count: int) -> int:
    return branch if branch >= 0 else count + ~branch


def tree_scores(trees: Trees, x: Tensor, targets: int, aggregate: str) -> Tensor:
    """The sum per target (n, targets) of the leaves that the rows of x (n, features) reach."""
    if targets < 1:
        raise OnnxFormatError(f"{targets} targets")
    if any(not 0 <= target < targets for row in trees.weights for target, _ in row):
        raise OnnxFormatError(f"a leaf adds to a target beyond the {targets}")
    count = len(trees.weights)
    if count * targets > _MAX_ELEMENTS:
        raise OnnxUnsupportedError(
            f"{targets} targets in trees of {len(trees.features) + count} nodes are too many"
        )
    leaves, dtype = _leaves(trees, x)
    absent = {"MIN": math.inf, "MAX": -math.inf}.get(aggregate, 0.0)
    flat = [absent] * (count * targets)
    for at, row in enumerate(trees.weights):
        for target, weight in row:
            flat[at * targets + target] = weight if absent else flat[at * targets + target] + weight
    reached = f.take(asarray(from_values(flat, (count, targets), dtype)), leaves)
    if absent:
        total = (f.min if aggregate == "MIN" else f.max)(reached, 0)
        return f.where(f.isinf(total), f.zeros((), dtype), total)
    total = f.sum(reached, 0)
    return total * (1.0 / len(trees.roots)) if aggregate == "AVERAGE" else total


def _tensor(call: Call, name: str) -> HostArray:
    return call.get(name, HostArray)


@operator("TreeEnsemble", since=5, domain=DOMAIN)
def tree_ensemble(call: Call, x: Tensor) -> Tensor:
    """Since set 5: nodes and leaves are in separate lists."""
    call.ignore("nodes_hitrates")
    splits, weights = _tensor(call, "nodes_splits"), _tensor(call, "leaf_weights")
    modes = [int(mode) for mode in _tensor(call, "nodes_modes").flat()]
    nodes, leaves = splits.size, weights.size
    targets = call.ints("leaf_targetids")
    missing = call.ints("nodes_missing_value_tracks_true", ()) or (0,) * nodes
    branches: list[list[int]] = []
    for side in ("true", "false"):
        after, is_leaf = call.ints(f"nodes_{side}nodeids"), call.ints(f"nodes_{side}leafs")
        if len(after) != nodes or len(is_leaf) != nodes or any(index < 0 for index in after):
            raise OnnxFormatError(f"{len(after)} {side} branches do not fit {nodes} nodes")
        branches.append([~p if leaf else p for p, leaf in zip(after, is_leaf, strict=True)])
    if len(targets) != leaves or not all(0 <= mode <= _MEMBER for mode in modes):
        raise OnnxFormatError(
            f"invalid leaves or modes: {len(targets)} targets of {leaves} leaves, {set(modes)}"
        )
    roots = list(call.ints("tree_roots"))
    if any(root < 0 for root in roots):
        raise OnnxFormatError("a branch leads nowhere")
    trees = Trees(
        roots,
        list(call.ints("nodes_featureids")),
        list(splits.flat()),
        modes,
        branches[0],
        branches[1],
        list(missing),
        splits.dtype,
        [((t, w),) for t, w in zip(targets, weights.flat(), strict=True)],
        _members(call, modes),
    )
    aggregate, transform = (
        call.get("aggregate_function", int, 1),
        call.get("post_transform", int, 0),
    )
    if not 0 <= aggregate < len(_AGGREGATES) or not 0 <= transform < len(TRANSFORMS):
        raise OnnxFormatError(
            f"invalid aggregate_function {aggregate} or post_transform {transform}"
        )
    scores = tree_scores(trees, x, call.get("n_targets", int, 1), _AGGREGATES[aggregate])
    return transformed(scores, TRANSFORMS[transform]).astype(x.dtype)


def _members(call: Call, modes: Sequence[int]) -> dict[int, list[float]]:
    """The set of each BRANCH_MEMBER node: the next values of a list, up to NaN."""
    given = call.get("membership_values", HostArray, None)
    values = iter([] if given is None else given.flat())
    sets: dict[int, list[float]] = {}
    for at, mode in enumerate(modes):
        if mode == _MEMBER:
            row = sets.setdefault(at, [])
            for value in values:
                if value != value:
                    break
                row.append(value)
    return sets


@operator("TreeEnsembleRegressor", domain=DOMAIN)
def tree_ensemble_regressor(call: Call, x: Tensor) -> Tensor:
    """Before set 5: leaves are nodes too, and weights refer to them."""
    targets = call.get("n_targets", int, 1)
    name, aggregate = (
        call.choice("post_transform", *TRANSFORMS),
        call.choice("aggregate_function", "SUM", "AVERAGE", "MIN", "MAX"),
    )
    scores = tree_scores(named_trees(call, "target"), x, targets, aggregate)
    base = float_list(call, "base_values")[0]
    if base:
        if len(base) != targets:
            raise OnnxFormatError(f"{len(base)} base_values for {targets} targets")
        scores = scores + asarray(from_values(base, (targets,), scores.dtype))
    return transformed(scores, name).astype(dt.float32)


def float_list(call: Call, name: str) -> tuple[list[float], DType]:
    """A list of numbers, in an attribute of that name or in a tensor, and their type."""
    tensor = call.get(f"{name}_as_tensor", HostArray, None)
    listed = call.get(name, tuple, ())
    return (list(listed), dt.float32) if tensor is None else (tensor.flat(), tensor.dtype)


def named_trees(call: Call, what: str) -> Trees:
    """Trees whose leaves are nodes. what: how the names of
    their weights begin, "target" or "class"."""
    call.ignore("nodes_hitrates", "nodes_hitrates_as_tensor")
    trees, ids = call.ints("nodes_treeids"), call.ints("nodes_nodeids")
    count = len(ids)
    index_of = {key: at for at, key in enumerate(zip(trees, ids, strict=False))}
    modes = call.get("nodes_modes", tuple)
    splits, dtype = float_list(call, "nodes_values")
    features = call.ints("nodes_featureids")
    yes, no = call.ints("nodes_truenodeids"), call.ints("nodes_falsenodeids")
    missing = call.ints("nodes_missing_value_tracks_true", ()) or (0,) * count
    sizes = {len(part) for part in (trees, ids, modes, splits, yes, no, features, missing)}
    if sizes != {count}:
        raise OnnxFormatError(f"invalid nodes: its lists have {sorted(sizes)} nodes")
    if len(index_of) != count:
        raise OnnxFormatError("invalid nodes: two nodes of a tree have one number")
    unknown = {*modes} - {*_MODES[:_MEMBER], "LEAF"}
    if unknown:
        raise OnnxFormatError(f"invalid nodes: the modes {sorted(map(str, unknown))}")
    inner = [at for at in range(count) if modes[at] != "LEAF"]
    leaves = [at for at in range(count) if modes[at] == "LEAF"]
    number = {at: index for index, at in enumerate(inner)}
    number.update((at, ~index) for index, at in enumerate(leaves))

    def after(side: Sequence[int]) -> list[int]:
        found = []
        for at in inner:
            to = index_of.get((trees[at], side[at]))
            if to is None:
                raise OnnxFormatError(
                    f"a branch leads nowhere: from node {ids[at]} of tree {trees[at]} to node "
                    f"{side[at]}, which does not exist"
                )
            found.append(number[to])
        return found

    weights: list[list[tuple[int, float]]] = [[] for _ in leaves]
    names = [call.ints(f"{what}_{part}") for part in ("treeids", "nodeids", "ids")]
    amounts = float_list(call, f"{what}_weights")[0]
    if {len(part) for part in names} != {len(amounts)}:
        raise OnnxFormatError(
            f"{len(amounts)} weights do not fit {[len(part) for part in names]} leaves"
        )
    for tree, node, target, amount in zip(*names, amounts, strict=True):
        if (tree, node) not in index_of:
            raise OnnxFormatError(
                f"a weight refers to node {node} of tree {tree}, which does not exist"
            )
        leaf = number[index_of[tree, node]]
        if leaf < 0:  # others are never reached as leaves
            weights[~leaf].append((target, amount))
    branches = after(yes), after(no)
    led_to = {*branches[0], *branches[1]}
    first: dict[int, int | None] = dict.fromkeys(trees)
    for at in range(count):
        if first[trees[at]] is None and number[at] not in led_to:
            first[trees[at]] = number[at]
    roots = [root for root in first.values() if root is not None]
    if len(roots) < len(first):
        raise OnnxFormatError("a tree with a cycle: none of its nodes is a root")
    return Trees(
        roots,
        [features[at] for at in inner],
        [splits[at] for at in inner],
        [_MODES.index(modes[at]) for at in inner],
        *branches,
        [missing[at] for at in inner],
        dtype,
        weights,
    )
