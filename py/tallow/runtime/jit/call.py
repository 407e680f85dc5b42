"""A call of a function that is compiled: its arguments become the inputs of its plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakSet

from ... import random
from ...compile import Compiled
from ...compile.indices import Indexed, by_input, check_ranges
from ...core.drivers import Steps, run_sync
from ...core.hostarray import HostArray, from_python
from ...errors import NonFiniteError
from ...facts import Facts
from ...graph import Graph, Node, seams
from ...ops.source import buffer as buffer_op
from ...ops.source import constant as constant_op
from ...tensor import Tensor
from .. import eager
from ..base import Feed, Program
from ..buffer import Buffer, Memory
from ..capture import host_data, own
from ..debug import explain, suspects
from ..states import BoundStates
from ..transfer import to_device
from .arguments import Leaf, count_of, filled
from .tracing import Gradients


class Entry(NamedTuple):
    """A plan, and how a call's leaves become its inputs and its outputs a result.

    graph: what was traced, if `debug_nans` was on. states: the variables that it touches.
    gradients: those of variables that the function asked for; the last outputs are the new values
    of those that it leaves. facts: those that it read. draws: how many draws of
    random numbers a call makes. indexed: the leaves that are indices; checked: those that were
    looked at. tracked: the outputs through which gradients would have to pass. result: what the
    function returned, with numbers of outputs instead of tensors. once: whether it serves for one
    call alone.
    """

    program: Program
    graph: Graph | None
    memory: Memory
    captured: list[Node]
    states: BoundStates
    gradients: Gradients
    facts: Facts
    draws: int
    indexed: list[tuple[int, list[Indexed]]]
    checked: WeakSet[Node]
    tracked: list[int]
    result: object
    once: bool


def matching(entries: Sequence[Entry], memory: Memory) -> Entry | None:
    """The plan in this memory that matches the current variables and modules."""
    for entry in entries:
        if entry.memory is memory and entry.gradients.match() and entry.facts.match():
            return entry
    return None


def indexed_arguments(compiled: Compiled) -> list[tuple[int, list[Indexed]]]:
    """The arguments that are indices, by number: the host looks at those that it has."""
    names = [port.name for port in compiled.plan.inputs]
    found = by_input(compiled.indexed)
    return [(names.index(name), several) for name, several in found.items() if name in names]


def run(entry: Entry, leaves: Sequence[Leaf]) -> object:
    """The result of a call. leaves: its arguments, as `key_of` found them."""
    fed, inputs = _ready(entry, leaves)
    if entry.graph is not None:
        buffers = _looked_at(entry, entry.graph, fed, inputs)
    else:
        buffers = entry.program.start(inputs)
    entry.gradients.keep(buffers)
    result = filled(entry.result, buffers)
    for number in entry.tracked:
        seams.derivatives.seal(buffers[number].node)
    return result


def read(entry: Entry, leaves: Sequence[Leaf]) -> Steps[list[HostArray]]:
    """The elements of the tensors in the result of a call, which a GPU runs and reads at once."""
    fed, inputs = _ready(entry, leaves)
    count = count_of(entry.result)
    if entry.graph is not None:
        buffers = _looked_at(entry, entry.graph, fed, inputs)
        entry.gradients.keep(buffers)
        return (yield from entry.memory.read(buffers[:count]))
    fetched = [True] * count + [False] * entry.gradients.kept
    found: list[Any] = yield from entry.program.run(inputs, fetched)
    entry.gradients.keep(found)
    return found[:count]


def _ready(entry: Entry, leaves: Sequence[Leaf]) -> tuple[list[Leaf], list[Any]]:
    """What a call feeds, and the inputs of its program, whose states are bound."""
    memory = entry.memory
    fed = [*leaves, *entry.gradients.given()]
    if entry.draws:
        fed.append(random.advance(entry.draws))
    inputs = [as_input(each, memory) for each in fed]
    for number, several in entry.indexed:
        leaf = leaves[number] if number < len(leaves) else None
        if isinstance(leaf, HostArray):
            check_ranges(leaf, several)
        elif isinstance(leaf, Tensor):
            eager.check_once(leaf.node, several, entry.checked)
    entry.gradients.free()
    inputs += [node.attrs["buffer"] for node in entry.captured]
    entry.states.bind(entry.program, memory)
    return fed, inputs


def _looked_at(entry: Entry, whole: Graph, fed: Sequence[Leaf], inputs: list[Any]) -> list[Buffer]:
    """What a run gives, if all of it is finite; else NonFiniteError, and the variables are as they
    were before."""
    memory, given, states = entry.memory, whole.inputs, entry.states.all
    written = [(variable, memory.clone(variable.buffer(memory)))
               for variable, is_written in states if is_written]  # fmt: skip
    before = dict(written)
    buffers = entry.program.start(inputs)
    named = {f"output {number}": buffer for number, buffer in enumerate(buffers)}
    for (variable, _), following in zip(states, whole.states.values(), strict=True):
        if following is not None:
            named[following] = variable.buffer(memory)
    read = run_sync(memory.read(list(named.values())))
    wrong = suspects((whole.outputs[name], data) for name, data in zip(named, read, strict=True))
    if wrong:
        values = dict(zip(given, map(_elements, fed), strict=False))
        for node, (variable, _) in zip(given[len(fed) :], states, strict=True):
            values[node] = host_data(before.get(variable) or variable.buffer(memory))
        captured = (node for node in whole.nodes() if node.is_buffer)
        values |= {node: host_data(node.attrs["buffer"]) for node in captured}
        try:
            explain(wrong, values)
        except NonFiniteError:
            for variable, buffer in written:
                variable.settle(buffer)
            raise
    return buffers


def _elements(fed: Leaf) -> HostArray:
    """The elements of an argument."""
    if isinstance(fed, float):
        return from_python(fed)
    return fed if isinstance(fed, HostArray) else fed._host(None)


def as_input(leaf: Leaf, memory: Memory) -> Feed:
    """An argument as the program takes it: in the type that the device holds."""
    if isinstance(leaf, float):
        leaf = from_python(leaf)
    if isinstance(leaf, HostArray):
        return leaf.data if memory.is_host else to_device(leaf)
    node = leaf.node
    if node.op is constant_op:
        return eager.uploaded(node, memory)
    if node.op is not buffer_op:
        leaf.realize(memory.name)
        node = leaf.node
    return own(node.attrs["buffer"], memory)
