"""The states of a graph: what a session needs of variables, and the plan that reads and writes
their buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from ..compile import Compiled
from ..core.dtype import DType
from ..core.shape import Shape
from ..errors import GraphError
from ..graph import Graph, Node, make
from ..ops.elementwise import cast
from ..tensor import Tensor
from .base import Backend, Program
from .buffer import Buffer, Memory, state_moves
from .capture import capture, held_input, replaced
from .compiling import compile_for


class State(Protocol):
    """What a session has of a variable (variable.py)."""

    @property
    def shape(self) -> Shape:
        """The shape, which stays."""

    @property
    def dtype(self) -> DType:
        """The element type, which stays."""

    def buffer(self, memory: Memory | None = None) -> Buffer:
        """The buffer of its value, in a memory."""

    def as_input(self, memory: Memory, written: bool) -> Buffer:
        """Its buffer for a run. written: whether the run updates it."""

    def settle(self, buffer: Buffer) -> None:
        """Stores its value in this buffer."""

    def fitting(self, value: object) -> Tensor:
        """A value that can be assigned, as a tensor."""

    def assign(self, value: object) -> object:
        """Replaces the value."""


class BoundStates:
    """The states of a program, each with whether its plan writes it."""

    def __init__(self, states: Sequence[tuple[State, bool]]) -> None:
        self.all = states
        self._since = -1  # what `state_moves` was when the program got them

    def bind(self, program: Program, memory: Memory) -> None:
        """Gives the program the buffers that the states have now; if none has moved since it got
        them, that takes no time."""
        if self.all and self._since != state_moves():
            program.use_states([state.as_input(memory, written) for state, written in self.all])
            self._since = state_moves()

    def bind_copies(self, program: Program, memory: Memory) -> list[Buffer]:
        """Gives the program copies, which the caller keeps until it has run."""
        copies = [memory.clone(state.buffer(memory)) for state, _ in self.all]
        if copies:
            program.use_states(copies)
            self._since = -1
        return copies


def compile_with_states(
    graph: Graph, used: Backend, states: Mapping[str, State]
) -> tuple[Compiled, list[Node]]:
    """The plan of a graph with its states, and the nodes of the buffers that it reads."""
    memory = used.memory
    _check_states(graph, states)
    names = {node.attrs["name"]: node for node in graph.inputs}
    new, given = {}, {}
    for name in states:
        node = names[name]
        given[node], new[node] = held_input(name, node.shape, node.dtype, memory)
    outputs = replaced(graph.outputs, new) if new else dict(graph.outputs)
    for name, following in graph.states.items():
        held = given[names[name]].dtype
        if following is not None and outputs[following].dtype != held:
            outputs[following] = make(cast, outputs[following], dtype=held)
    inputs = [node for node in graph.inputs if node not in given]
    whole, captured = capture(replace(graph, inputs=tuple(inputs), outputs=outputs), memory)
    whole = replace(whole, inputs=(*whole.inputs, *given.values()))
    whole = replace(whole, states={name: graph.states[name] for name in states})
    return compile_for(used, whole), captured


def _check_states(graph: Graph, states: Mapping[str, State]) -> None:
    if set(states) != set(graph.states):
        raise GraphError(
            f"{graph.name}: its states are {', '.join(graph.states) or 'none'}, given are "
            f"{', '.join(states) or 'none'}"
        )
    declared = {node.attrs["name"]: node for node in graph.inputs}
    for name, following in graph.states.items():
        node, state = declared.get(name), states[name]
        if node is None or (node.shape, node.dtype) != (state.shape, state.dtype):
            raise GraphError(f"{graph.name}: the state {name!r} is {node}, given is {state!r}")
        new = graph.outputs.get(following) if following is not None else node
        if new is None or (new.shape, new.dtype) != (node.shape, node.dtype):
            raise GraphError(f"{graph.name}: the next value of {name!r}, {following!r}, is {new}")
