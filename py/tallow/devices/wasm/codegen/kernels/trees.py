"""Decision trees (ops/trees.py): a row walks a tree, node by node."""

from __future__ import annotations

from functools import partial

from .....codegen.index import Coord, Coords
from .....graph import Node
from .....ops.trees import FEATURE, MISSING, MODE, NO, YES
from ..expression import Expression
from ..values import kind_of
from .rows import linear_of
from .unpacked import Store

_COMPARISONS = ("le", "lt", "ge", "gt", "eq", "ne")


def walk(body: Expression, node: Node, store: Store) -> None:
    """Writes a walk_trees, and what is fused behind it, as `product` does (products.py). All rows
    walk a tree before the next one, which then stays in the cache."""
    body.parallel(node.shape, partial(_one, body, node, store))


def _one(body: Expression, node: Node, store: Store, coords: Coords) -> None:
    emit, (_, nodes, _, roots) = body.emit, node.inputs
    tree, row = coords
    count = nodes.shape[0]
    at, left = (body.function.local("i32") for _ in range(2))
    emit("local.get", body.value(roots, (tree,)))
    emit("local.set", at)
    emit("i32.const", node.attrs["depth"])
    emit("local.set", left)
    emit("loop")
    body.apply("i32.lt_u", at, number=count)
    body.apply("i32.ne", left, number=0)
    emit("i32.and")
    emit("if")
    body.scope(lambda: _step(body, node, row, at))
    body.apply("i32.sub", left, number=1, into=left)
    emit("br", 1)
    emit("end")
    emit("end")
    body.apply("i32.sub", at, number=count)
    emit("i32.const", 0)
    body.apply("i32.ge_u", at, number=count)
    emit("select")
    body.give(node, body.keep("i32"))
    body.scope(partial(store, node.shape, coords, linear_of(node.shape, coords), 1))


def _step(body: Expression, node: Node, row: Coord, at: int) -> None:
    """Sets `at` to the next node."""
    emit, (x, nodes, splits, _) = body.emit, node.inputs
    here, modes = body.coordinate(at, nodes.shape[0]), node.attrs["modes"]
    feature = body.coordinate(body.value(nodes, (here, FEATURE)), x.shape[1])
    value, split = body.value(x, (row, feature)), body.value(splits, (here,))
    kind = kind_of(x.dtype)
    yes, no = (body.value(nodes, (here, column)) for column in (YES, NO))
    code = -1
    if node.attrs["missing"] or len(modes) > 1:
        code = body.value(nodes, (here, MODE))
    emit("local.get", yes)
    emit("local.get", no)
    for number, mode in enumerate(modes):
        body.apply(f"{kind}.{_COMPARISONS[mode]}", value, split)
        if len(modes) > 1:
            body.apply("i32.and", code, number=MISSING - 1)
            body.apply("i32.eq", number=mode)
            emit("i32.and")
        if number:
            emit("i32.or")
    if node.attrs["missing"]:
        body.apply(f"{kind}.ne", value, value)
        body.apply("i32.ge_u", code, number=MISSING)
        emit("i32.and")
        emit("i32.or")
    body.apply("select", into=at)
