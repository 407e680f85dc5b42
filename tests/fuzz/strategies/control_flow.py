"""If, Loop, Scan and SequenceMap, with bodies that also read outer values."""

from __future__ import annotations

import numpy as np

from ..case import Case, Graph, Kind, Node
from ..draft import Draft, Shape
from .registry import draws

_UNARY = ("Neg", "Abs", "Identity", "Relu", "Sigmoid")
_BINARY = ("Add", "Sub", "Mul", "Max", "Min")


class Body:
    """A graph within the case; its names are unique in the whole case."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self.nodes: list[Node] = []
        self.inputs: dict[str, Kind] = {}

    def input(self, kind: Kind) -> str:
        """One of its own."""
        name = self._draft.name()
        self.inputs[name] = kind
        return name

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        """Adds a node of one result."""
        name = self._draft.name()
        self.nodes.append(Node(op, inputs, (name,), attributes))
        return name

    def compute(self, names: list[str], least: int = 1) -> str:
        """Something of the same shape as the named ones, which all have the same."""
        found = list(names)
        for _ in range(self._draft.integer(least, 3)):
            if self._draft.flag():
                found.append(self.node(self._draft.pick(_UNARY), self._draft.pick(found[::-1])))
            else:
                some = [self._draft.pick(found[::-1]) for _ in range(2)]
                found.append(self.node(self._draft.pick(_BINARY), *some))
        return found[-1]

    def graph(self, *outputs: str) -> Graph:
        """The whole, with these results."""
        return Graph(self.nodes, self.inputs, outputs)


def _floats(draft: Draft, shape: Shape) -> str:
    return draft.given(draft.array("float32", shape, -2, 2))


@draws("control_flow", "If")
def either(draft: Draft) -> Case:
    """The branches may give other shapes."""
    draft.opset()
    shape = draft.shape(0, 3, zeros=False, long=5)
    outside = [_floats(draft, shape) for _ in range(draft.integer(1, 2))]
    condition = draft.given(draft.array("bool", draft.pick(((), (1,)))))
    branches = {}
    for key in ("then_branch", "else_branch"):
        body = Body(draft)
        made = body.compute(outside)
        if draft.seldom():
            made = body.node("Concat", made, made, axis=0) if shape else made
        branches[key] = body.graph(made)
    return draft.result(condition, **branches, scaled=True)


@draws("control_flow", "Loop")
def loop(draft: Draft) -> Case:
    """A number of turns, or while a sum is small; carried and collected values."""
    draft.opset()
    shape = draft.shape(0, 2, zeros=False, long=4)
    outside, first = _floats(draft, shape), _floats(draft, shape)
    body = Body(draft)
    number = body.input(Kind("int64", ()))
    going = body.input(Kind("bool", ()))
    carried = body.input(Kind("float32", shape))
    as_float = body.node("Cast", number, to=1)
    after = body.compute([carried, outside])
    after = body.node("Add", after, as_float) if draft.flag() else after
    if draft.flag():
        limit = draft.given(np.array(draft.real(0, 8), np.float32))
        total = body.node("ReduceMax", after, keepdims=0)
        ends = body.node("Less", total, limit)
    else:
        ends = body.node("Identity", going)
    collected = [body.node("Identity", after)] if draft.flag() else []
    rounds = draft.given(np.array(draft.integer(0, 4), np.int64))
    begin = draft.given(np.array(not draft.seldom(), bool)) if draft.flag() else ""
    return draft.result(
        rounds, begin, first, outputs=1 + len(collected),
        body=body.graph(ends, after, *collected), scaled=True,
    )  # fmt: skip


@draws("control_flow", "Scan")
def scan(draft: Draft) -> Case:
    """Since set 9, along any axis, either way."""
    draft.opset(9)
    shape = draft.shape(1, 2, zeros=False, long=4)
    state = _floats(draft, shape)
    count, length = draft.integer(1, 2), draft.integer(1, 4)
    body = Body(draft)
    carried = body.input(Kind("float32", shape))
    axes, scanned, inner = [], [], []
    for _ in range(count):
        axis = draft.integer(0, len(shape))
        axes.append(axis)
        scanned.append(_floats(draft, (*shape[:axis], length, *shape[axis:])))
        inner.append(body.input(Kind("float32", shape)))
    after = body.compute([carried, *inner])
    out = body.compute([after, *inner])
    known = {
        "scan_input_axes": axes if any(axes) or draft.flag() else None,
        "scan_input_directions": [draft.integer(0, 1) for _ in axes] if draft.flag() else None,
        "scan_output_axes": [draft.integer(0, len(shape))] if draft.flag() else None,
        "scan_output_directions": [draft.integer(0, 1)] if draft.flag() else None,
    }
    return draft.result(
        state, *scanned, outputs=2, body=body.graph(after, out), num_scan_inputs=count, **known,
        scaled=True,
    )  # fmt: skip


@draws("control_flow", "SequenceMap")
def mapped(draft: Draft) -> Case:
    """Over one sequence, with an additional tensor or sequence."""
    draft.opset(17)
    shape = draft.shape(0, 2, zeros=False, long=4)
    items = [draft.array("float32", shape, -2, 2) for _ in range(draft.integer(1, 3))]
    names = [draft.given(items)]
    body = Body(draft)
    inner = [body.input(Kind("float32", shape))]
    if draft.flag():
        other = draft.array("float32", shape, -2, 2)
        names.append(draft.given(other) if draft.flag() else draft.given([other] * len(items)))
        inner.append(body.input(Kind("float32", shape)))
    return draft.result(*names, body=body.graph(body.compute(inner)), scaled=True)
