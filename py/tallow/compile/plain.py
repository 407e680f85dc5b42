"""Plans whose nodes are computed one by one, as their records say: what a graph is worth that is
computed once. No pass runs; a full plan takes longer to make than such a graph to compute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.dtype import word_type
from ..core.hostarray import HostArray
from ..core.shape import Shape
from ..graph import Node
from ..ops import contract, movement
from ..ops.kinds import Elementwise, Op
from .limits import Limits
from .plan import Plan, Port
from .target import Quick, is_simple


@dataclass(slots=True)
class PlainStep:
    """A node. operands, result: numbers of values; gone: those that nothing needs afterwards.

    broadcasts: whether an operand may be smaller than the shape says, as NumPy's functions take it.
    over: an operand that goes, and that the result may be written over; -1 if there is none.
    """

    op: Op
    operands: list[int]
    attrs: Mapping[str, Any]
    shape: Shape
    dtype: str
    result: int
    broadcasts: bool
    gone: list[int]
    over: int = -1


@dataclass(slots=True)
class Plain:
    """steps: in their order. constants: by the numbers of their values. outputs: numbers of values;
    those of the inputs are 0, 1, 2 ... size: how many values there are."""

    steps: list[PlainStep]
    constants: list[tuple[int, HostArray]]
    outputs: list[int]
    size: int


def plain_plan(
    order: Sequence[Node],
    inputs: Mapping[str, Node],
    outputs: Mapping[str, Node],
    limits: Limits,
) -> Quick | None:
    """A plan that has no steps of its own, and what takes their place: see QuickPlan."""
    if not is_simple(order) or any(map(_is_integer_product, order)):
        return None
    number: dict[Node, int] = {node: index for index, node in enumerate(inputs.values())}
    whole = _read_as_they_are(order, outputs.values())
    constants: list[tuple[int, HostArray]] = []
    steps: list[PlainStep] = []
    last: dict[int, PlainStep] = {}
    smaller: set[int] = set()
    count = len(number)
    for node in order:
        if node in number:
            continue
        op, value = node.op, count
        if op is movement.after or (op is movement.expand and node not in whole):
            value = number[node] = number[node.inputs[0]]
            if op is movement.expand:
                smaller.add(value)
            continue
        number[node] = value
        count += 1
        if node.is_constant:
            constants.append((value, node.attrs["data"]))
            continue
        operands = [number[child] for child in node.inputs]
        step = PlainStep(
            op,
            operands,
            dict(node.attrs.items()),
            node.shape,
            node.dtype.name,
            value,
            bool(smaller) and not smaller.isdisjoint(operands),
            [],
        )
        steps.append(step)
        for operand in operands:
            last[operand] = step
    kept = {number[node] for node in outputs.values()}
    made = {step.result: step for step in steps}
    for operand, step in last.items():
        if operand in kept:
            continue
        step.gone.append(operand)
        before = made.get(operand)
        if before and _is_ufunc(step.op) and before.dtype == step.dtype:
            step.over = operand if before.shape == step.shape else step.over
    plain = Plain(steps, constants, [number[node] for node in outputs.values()], count)
    given, found = ([_port(*item) for item in each.items()] for each in (inputs, outputs))
    return Quick(Plan("quick", "numpy", [], given, found, [], [], []), [], plain)


def _is_integer_product(node: Node) -> bool:
    """Whether passes/exact.py may have a faster way."""
    return node.op is contract.matmul and node.dtype.is_integer


def _is_ufunc(op: Op) -> bool:
    return isinstance(op, Elementwise) and op.ufunc


def _read_as_they_are(order: Sequence[Node], outputs: Iterable[Node]) -> set[Node]:
    """The nodes that something reads that does not broadcast."""
    found = set(outputs)
    for node in order:
        if not _is_ufunc(node.op):
            found.update(node.inputs)
    return found


def _port(name: str, node: Node) -> Port:
    dtype = word_type(node.dtype)
    return Port(name, 0, dtype.name, node.shape, node.size * dtype.size)
