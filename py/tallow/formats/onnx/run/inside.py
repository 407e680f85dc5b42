"""Control flow as part of the graph around it: an If that chooses between the results of both
branches, and a Loop or Scan of few turns that are known, one turn after the other.

Such a graph is one plan. Otherwise the host decides, between two plans, and each turn is a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from .... import functions as f
from ....compile.count import multiply_adds_of
from ....compile.indices import index_sources
from ....compile.passes.fold import host_value
from ....core.dtype import bool_, int64
from ....core.hostarray import from_values
from ....errors import TallowError
from ....graph import Node, constant
from ....tensor import Tensor
from ..call import Call
from ..records import GraphRecord, NodeRecord

MOST_NODES = 128
"""Nodes of the file that one such node may become. More of them take longer to compile than they
save."""

_MOST_WORK = 1 << 19
"""The multiply-adds of an If's branches of which one is computed in vain: about what another plan
costs. An element of any result counts as one."""


class Around(Protocol):
    """The graph around a node, being built (builder.py)."""

    def value(self, name: str) -> Tensor:
        """The value of a name."""

    def built(self, graph: GraphRecord, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The outputs of a graph on these inputs."""


# Why: docs/decisions/onnx.md, "A small If computes both branches and chooses; a loop of few known
# turns is written out"
def joined(around: Around, node: NodeRecord, most_turns: int) -> list[Tensor] | None:
    """The outputs of a node with graphs, as part of the graph around it; None if the host has to
    run them. It also does if anything is wrong with them, and says what."""
    make = _FORMS.get(node.op_type) if not node.domain else None
    if make is None:
        return None
    try:
        made = make(around, node, most_turns)
    except (TallowError, ValueError, KeyError):
        return None
    return made if made is not None and len(made) >= len(node.outputs) else None


def _if(around: Around, node: NodeRecord, most_turns: int) -> list[Tensor] | None:
    (name,) = node.inputs
    condition = around.value(name)
    branches = [node.attributes[side] for side in ("then_branch", "else_branch")]
    if condition.size != 1 or any(
        not isinstance(branch, GraphRecord) or branch.inputs or len(branch.nodes) > MOST_NODES
        for branch in branches
    ):
        return None
    truth = host_value(condition.node)
    if truth is not None:
        return around.built(branches[0 if truth.item() else 1], ())
    if condition.dtype != bool_:
        return None
    sides = [around.built(branch, ()) for branch in branches]
    for one, other in zip(*sides, strict=True):
        if (one.shape, one.dtype) != (other.shape, other.dtype) or one.dtype.coded:
            return None
    captured = [around.value(name).node for branch in branches for name in branch.captures]
    if not _cheap(_between([tensor.node for side in sides for tensor in side], captured)):
        return None
    chosen = f.reshape(condition, ())
    return [f.where(chosen, one, other) for one, other in zip(*sides, strict=True)]


def _between(outputs: Iterable[Node], inputs: Iterable[Node]) -> list[Node]:
    """The nodes that compute the outputs from the inputs and from constants."""
    seen, todo = set(inputs), list(outputs)
    found = []
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            found.append(node)
            todo.extend(node.inputs)
    return found


def _cheap(nodes: Sequence[Node]) -> bool:
    """Whether nodes may be computed in vain: they are little work, and stop at no index, which the
    branch that is not taken may have out of range."""
    if any(not source.is_constant for source, _ in index_sources(nodes)):
        return False
    made = sum(node.size for node in nodes if node.inputs)
    return multiply_adds_of(nodes) + made <= _MOST_WORK


def _loop(around: Around, node: NodeRecord, most_turns: int) -> list[Tensor] | None:
    body: GraphRecord = node.attributes["body"]
    count, goes_on, *names = node.inputs
    turns = host_value(around.value(count).node) if count else None
    first = host_value(around.value(goes_on).node) if goes_on else from_values([True], (), bool_)
    if first is None or (count and turns is None) or len(body.inputs) != 2 + len(names):
        return None
    most = min(MOST_NODES // max(len(body.nodes), 1), most_turns)
    end = None if turns is None else int(turns.item())
    carried = [around.value(name) for name in names]
    condition = Tensor(constant(first))
    rows: list[list[Tensor]] = []
    while bool(first.item()) and (end is None or len(rows) < end):
        if len(rows) == most:
            return None
        turn = Tensor(constant(from_values([len(rows)], (), int64)))
        results = around.built(body, [turn, condition, *carried])
        last, condition = condition, results[0]
        first = host_value(condition.node) if condition.size == 1 else None
        if first is None or (condition.node is last.node and (end is None or end > most)):
            return None
        carried = results[1 : 1 + len(carried)]
        rows.append(results[1 + len(carried) :])
    stacked = len(body.outputs) - 1 - len(carried)
    if stacked and not rows:
        return None  # a trial turn shows their types
    return [*carried, *(f.stack(list(column)) for column in zip(*rows, strict=True) if stacked)]


def _scan(around: Around, node: NodeRecord, most_turns: int) -> list[Tensor] | None:
    if node.opset is None or node.opset < 9:
        return None
    call = Call(node, node.opset)
    body = call.get("body", GraphRecord)
    values = [around.value(name) for name in node.inputs]
    count = call.get("num_scan_inputs", int)
    states, scanned = values[: len(values) - count], values[len(values) - count :]
    nothing = (0,) * count
    lanes = [
        f.flip(moved, axis=0) if backward else moved
        for moved, backward in zip(
            (
                f.moveaxis(x, axis, 0)
                for x, axis in zip(scanned, call.ints("scan_input_axes", nothing), strict=True)
            ),
            call.ints("scan_input_directions", nothing),
            strict=True,
        )
    ]
    lengths = {lane.shape[0] for lane in lanes}
    if len(lengths) != 1:
        return None
    (length,) = lengths
    if not 0 < length <= min(MOST_NODES // max(len(body.nodes), 1), most_turns):
        return None
    rows: list[list[Tensor]] = []
    for turn in range(length):
        results = around.built(body, [*states, *(lane[turn] for lane in lanes)])
        states = results[: len(states)]
        rows.append(results[len(states) :])
    columns = [list(column) for column in zip(*rows, strict=True)]
    nothing = (0,) * len(columns)
    axes = call.ints("scan_output_axes", nothing)
    directions = call.ints("scan_output_directions", nothing)
    return [
        *states,
        *(
            f.stack(column[::-1] if backward else column, axis=axis)
            for column, axis, backward in zip(columns, axes, directions, strict=True)
        ),
    ]


_FORMS: Mapping[str, Callable[[Around, NodeRecord, int], list[Tensor] | None]] = {
    "If": _if,
    "Loop": _loop,
    "Scan": _scan,
}
