"""Ensembles of decision trees (domain ai.onnx.ml): all trees are walked for all rows at once.

Nodes are indices into tables. Every walk takes as many steps as the deepest tree has levels; a leaf
leads to itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..... import dtype as dt
from ..... import functions as f
from .....dtype import DType
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....hostarray import HostArray, from_values
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import operator
from .learning import DOMAIN, transformed

_MAX_DEPTH = 256
_MAX_ELEMENTS = 1 << 26  # of the table of leaf values
_MODES = (
    "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
    "BRANCH_MEMBER",
)  # fmt: skip
_MEMBER = 6
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


@dataclass(frozen=True, slots=True)
class _Trees:
    """Tables by index: nodes first, then leaves, which are their own successors.

    members: the set of values that a BRANCH_MEMBER node tests for. weights: for each leaf, pairs of
    a target and the amount that the leaf adds to it.
    """

    roots: Sequence[int]
    features: Sequence[int]
    splits: Sequence[float]
    modes: Sequence[int]
    yes: Sequence[int]
    no: Sequence[int]
    missing: Sequence[int]
    members: Sequence[Sequence[float]]
    weights: Sequence[Sequence[tuple[int, float]]]
    dtype: DType


def _depth(trees: _Trees, features: int) -> int:
    """Steps from the roots to the deepest leaf; OnnxFormatError for invalid trees."""
    count = len(trees.features)
    for table in (trees.splits, trees.modes, trees.yes, trees.no, trees.missing, trees.members):
        if len(table) != count:
            raise OnnxFormatError(f"its lists have {count} and {len(table)} nodes")
    if any(
        not 0 <= index < count for table in (trees.roots, trees.yes, trees.no) for index in table
    ):
        raise OnnxFormatError("a branch leads nowhere")
    if any(not 0 <= feature < features for feature in trees.features):
        raise OnnxFormatError(f"a node tests a feature beyond the {features} of the input")
    if any((trees.yes[at] == at) != (trees.no[at] == at) for at in range(count)):
        raise OnnxFormatError("a branch leads back to its node")
    level, depth = set(trees.roots), 0
    while level := {
        after for index in level for after in (trees.yes[index], trees.no[index]) if after != index
    }:
        depth += 1
        if depth > _MAX_DEPTH:
            raise OnnxUnsupportedError(f"trees deeper than {_MAX_DEPTH} steps, or with a cycle")
    return depth


def _scores(trees: _Trees, x: Tensor, targets: int, aggregate: str) -> Tensor:
    """The sum per target (n, targets) of the leaves that the rows of x (n, features) reach."""
    if x.ndim != 2 or targets < 1 or not trees.roots:
        raise OnnxFormatError(
            f"{len(trees.roots)} trees with {targets} targets do not fit an input {x.shape}"
        )
    if any(not 0 <= target < targets for row in trees.weights for target, _ in row):
        raise OnnxFormatError(f"a leaf adds to a target beyond the {targets}")
    if len(trees.features) * targets > _MAX_ELEMENTS:
        raise OnnxUnsupportedError(
            f"{targets} targets in trees of {len(trees.features)} nodes are too many"
        )
    rows, count = x.shape[0], len(trees.features)

    def table(values: Sequence[float], dtype: DType = dt.int32) -> Tensor:
        return asarray(from_values(values, (len(values),), dtype))

    depth = _depth(trees, x.shape[1])
    node = f.broadcast_to(table(trees.roots), (rows, len(trees.roots)))
    features, splits, modes = (
        table(trees.features),
        table(trees.splits, trees.dtype),
        table(trees.modes),
    )
    yes, no = table(trees.yes), table(trees.no)
    used = sorted({mode for i, mode in enumerate(trees.modes) if trees.yes[i] != i})
    for _ in range(depth):
        value = f.take_along_axis(x.astype(trees.dtype), f.take(features, node), 1)
        split, truth = f.take(splits, node), f.zeros(node.shape, dt.bool_)
        for mode in used:
            found = _found(mode, value, split, node, trees)
            here = f.equal(f.take(modes, node), mode)
            truth = found if len(used) == 1 else f.where(here, found, truth)
        if any(trees.missing):
            tracks = f.equal(f.take(table(trees.missing), node), 1)
            truth = f.logical_or(truth, f.logical_and(tracks, f.isnan(value)))
        node = f.where(truth, f.take(yes, node), f.take(no, node))
    absent = {"MIN": math.inf, "MAX": -math.inf}.get(aggregate, 0.0)
    flat = [absent] * (count * targets)
    for at, row in enumerate(trees.weights):
        for target, weight in row:
            flat[at * targets + target] = weight if absent else flat[at * targets + target] + weight
    reached = f.take(asarray(from_values(flat, (count, targets), trees.dtype)), node)
    if absent:
        total = (f.min if aggregate == "MIN" else f.max)(reached, 1)
        return f.where(f.isinf(total), f.zeros((), trees.dtype), total)
    total = f.sum(reached, 1)
    return total * (1.0 / len(trees.roots)) if aggregate == "AVERAGE" else total


def _found(mode: int, value: Tensor, split: Tensor, node: Tensor, trees: _Trees) -> Tensor:
    if mode != _MEMBER:
        compare = (f.less_equal, f.less, f.greater_equal, f.greater, f.equal, f.not_equal)[mode]
        return compare(value, split)
    width = max(1, max(map(len, trees.members)))
    nan = math.nan
    flat = [item for row in trees.members for item in (*row, *[nan] * (width - len(row)))]
    sets = asarray(from_values(flat, (len(trees.members), width), trees.dtype))
    return f.any(f.equal(f.take(sets, node), f.expand_dims(value, 2)), 2)


def _tensor(call: Call, name: str) -> HostArray:
    return call.get(name, HostArray)


@operator("TreeEnsemble", since=5, domain=DOMAIN)
def tree_ensemble(call: Call, x: Tensor) -> Tensor:
    """Since set 5: nodes and leaves are in separate lists."""
    call.ignore("nodes_hitrates")
    splits, weights = _tensor(call, "nodes_splits"), _tensor(call, "leaf_weights")
    modes, roots = _tensor(call, "nodes_modes").flat(), call.ints("tree_roots")
    nodes, leaves = splits.size, weights.size
    features = call.ints("nodes_featureids")
    targets = call.ints("leaf_targetids")
    missing = call.ints("nodes_missing_value_tracks_true", ()) or (0,) * nodes
    branches = []
    for side in ("true", "false"):
        after, is_leaf = call.ints(f"nodes_{side}nodeids"), call.ints(f"nodes_{side}leafs")
        if len(after) != nodes or len(is_leaf) != nodes or any(index < 0 for index in after):
            raise OnnxFormatError(f"{len(after)} {side} branches do not fit {nodes} nodes")
        branches.append([p + nodes if leaf else p for p, leaf in zip(after, is_leaf, strict=True)])
    if len(targets) != leaves or not all(0 <= mode <= _MEMBER for mode in modes):
        raise OnnxFormatError(
            f"invalid leaves or modes: {len(targets)} targets of {leaves} leaves, {set(modes)}"
        )
    ends, idle = list(range(nodes, nodes + leaves)), [0] * leaves
    trees = _Trees(
        roots,
        [*features, *idle],
        [*splits.flat(), *[0.0] * leaves],
        [*modes, *idle],
        [*branches[0], *ends],
        [*branches[1], *ends],
        [*missing, *idle],
        [*_members(call, modes), *[()] * leaves],
        [*[()] * nodes, *[((t, w),) for t, w in zip(targets, weights.flat(), strict=True)]],
        splits.dtype,
    )
    aggregate, transform = (
        call.get("aggregate_function", int, 1),
        call.get("post_transform", int, 0),
    )
    if not 0 <= aggregate < len(_AGGREGATES) or not 0 <= transform < len(_TRANSFORMS):
        raise OnnxFormatError(
            f"invalid aggregate_function {aggregate} or post_transform {transform}"
        )
    scores = _scores(trees, x, call.get("n_targets", int, 1), _AGGREGATES[aggregate])
    return transformed(scores, _TRANSFORMS[transform]).astype(x.dtype)


def _members(call: Call, modes: Sequence[int]) -> list[Sequence[float]]:
    """The set of each BRANCH_MEMBER node: the next values of a list, up to NaN."""
    given = call.get("membership_values", HostArray, None)
    values = iter([] if given is None else given.flat())
    sets: list[Sequence[float]] = []
    for mode in modes:
        row: list[float] = []
        if mode == _MEMBER:
            for value in values:
                if value != value:
                    break
                row.append(value)
        sets.append(row)
    return sets


@operator("TreeEnsembleRegressor", domain=DOMAIN)
def tree_ensemble_regressor(call: Call, x: Tensor) -> Tensor:
    """Before set 5: leaves are nodes too, and weights refer to them."""
    targets = call.get("n_targets", int, 1)
    name, aggregate = (
        call.choice("post_transform", *_TRANSFORMS),
        call.choice("aggregate_function", "SUM", "AVERAGE", "MIN", "MAX"),
    )
    scores = _scores(_named_trees(call, "target"), x, targets, aggregate)
    base = _floats(call, "base_values")[0]
    if base:
        if len(base) != targets:
            raise OnnxFormatError(f"{len(base)} base_values for {targets} targets")
        scores = scores + asarray(from_values(base, (targets,), scores.dtype))
    return transformed(scores, name).astype(dt.float32)


def _floats(call: Call, name: str) -> tuple[list[float], DType]:
    tensor = call.get(f"{name}_as_tensor", HostArray, None)
    listed = call.get(name, tuple, ())
    return (list(listed), dt.float32) if tensor is None else (tensor.flat(), tensor.dtype)


def _named_trees(call: Call, what: str) -> _Trees:
    call.ignore("nodes_hitrates", "nodes_hitrates_as_tensor")
    trees, ids = call.ints("nodes_treeids"), call.ints("nodes_nodeids")
    count = len(ids)
    index_of = {key: at for at, key in enumerate(zip(trees, ids, strict=False))}
    modes = call.get("nodes_modes", tuple)
    splits, dtype = _floats(call, "nodes_values")
    yes, no = call.ints("nodes_truenodeids"), call.ints("nodes_falsenodeids")
    sizes = {len(part) for part in (trees, ids, modes, splits, yes, no)}
    if sizes != {count} or len(index_of) != count or {*modes} - {*_MODES, "LEAF"}:
        raise OnnxFormatError(
            f"invalid nodes: lists of {sorted(sizes)}, with the modes {sorted({*modes})}"
        )
    leaf = [mode == "LEAF" for mode in modes]

    def after(side: Sequence[int]) -> list[int]:
        return [at if leaf[at] else index_of.get((trees[at], side[at]), -1) for at in range(count)]

    weights: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    names = [call.ints(f"{what}_{part}") for part in ("treeids", "nodeids", "ids")]
    amounts = _floats(call, f"{what}_weights")[0]
    if {len(part) for part in names} != {len(amounts)}:
        raise OnnxFormatError(
            f"{len(amounts)} weights do not fit {[len(part) for part in names]} leaves"
        )
    for tree, node, target, amount in zip(*names, amounts, strict=True):
        if (tree, node) not in index_of:
            raise OnnxFormatError(
                f"a weight refers to node {node} of tree {tree}, which does not exist"
            )
        weights[index_of[tree, node]].append((target, amount))
    branches = after(yes), after(no)
    led_to = {p for side in branches for at, p in enumerate(side) if p != at}
    roots = [at for at in range(count) if at not in led_to]
    return _Trees(
        roots,
        [0 if leaf[at] else feature for at, feature in enumerate(call.ints("nodes_featureids"))],
        splits,
        [0 if leaf[at] else _MODES.index(mode) for at, mode in enumerate(modes)],
        *branches,
        call.ints("nodes_missing_value_tracks_true", ()) or (0,) * count,
        [()] * count,
        weights,
        dtype,
    )
