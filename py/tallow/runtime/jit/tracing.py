"""What a function under `@tl.jit` does while it is traced: variables, gradients, draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.dtype import uint32
from ...core.hostarray import from_values
from ...facts import Notes
from ...graph import Node, input_node, make
from ...ops.elementwise import cast
from ...tensor import Tensor, asarray
from ..buffer import Buffer, Memory
from ..capture import held_input
from ..variable import Variable


@dataclass
class State:
    """A variable in a trace. given: the input that is its value before the run. value: what it is
    at this point of the function."""

    variable: Variable
    given: Node
    value: Node
    written: bool = False

    def next(self) -> Node:
        """The new value in the type that the device holds."""
        held = self.given.dtype
        return self.value if self.value.dtype == held else make(cast, self.value, dtype=held)


@dataclass
class Gradient:
    """What a variable's `grad` is in a trace. given: the input that it is before the run, if it is
    there then. value: what it is at this point of the function. looked: whether the function asked
    for it before it set it. left: whether the function leaves one of its own."""

    variable: Variable
    given: Node | None = None
    value: Tensor | None = None
    written: bool = False
    looked: bool = False
    left: bool = False

    def ended(self) -> Tensor | None:
        """The value at the end of the trace, of which only whether there is one is remembered."""
        value, self.value = self.value if self.written else None, None
        self.left = value is not None
        return value

    def matches(self) -> bool:
        """Whether the variable has a gradient, or has none, as it was when this was traced."""
        if not self.looked:
            return True
        return self.variable.has_gradient == (self.given is not None)


class Gradients:
    """The gradients that a function touched, as calls of its plan need them."""

    def __init__(self, touched: Sequence[Gradient]) -> None:
        written = [each for each in touched if each.written]
        self._looked = [each for each in touched if each.looked]
        self._given = [each.variable for each in touched if each.given is not None]
        self._replaced = [each.variable for each in written if not each.looked]
        self._ended = [each.variable for each in written if each.looked and not each.left]
        self._left = [each.variable for each in written if each.left]

    def match(self) -> bool:
        """Whether the gradients that the function looked at exist or not, as when it was traced."""
        return all(each.matches() for each in self._looked)

    def given(self) -> list[Tensor]:
        """Those that are inputs."""
        return [found for each in self._given if (found := each.gradient) is not None]

    @property
    def kept(self) -> int:
        """How many of the outputs are gradients."""
        return len(self._left)

    def free(self) -> None:
        """Drops those that the function replaces, so that the new ones can have their memory."""
        for variable in self._replaced:
            variable.gradient = None

    def keep(self, buffers: Sequence[Buffer]) -> None:
        """Variables have what the function left, which is the last of its outputs."""
        for variable in self._ended:
            variable.gradient = None
        first = len(buffers) - len(self._left)
        for variable, buffer in zip(self._left, buffers[first:], strict=True):
            variable.gradient = buffer


class Trace:
    """The variables of a function that is being traced, and the values that they have there."""

    def __init__(self, name: str, memory: Memory) -> None:
        self.name = name
        self.facts = Notes(name)
        self._memory = memory
        self.states: dict[int, State] = {}  # by the variables' numbers
        self.gradients: dict[int, Gradient] = {}
        self.stream: Node | None = None
        self.draws = 0
        self.once = False  # whether what is traced serves for this call alone

    def read(self, variable: Variable) -> Node:
        state = self.states.get(variable.number)
        if state is None:
            name = f"state {len(self.states)}"
            given, value = held_input(name, variable.shape, variable.dtype, self._memory)
            state = self.states[variable.number] = State(variable, given, value)
        return state.value

    def replace(self, variable: Variable, node: Node) -> Node:
        self.states[variable.number].value = node
        return node

    def write(self, variable: Variable, node: Node) -> None:
        self.read(variable)  # so that it is a state, though nothing reads it before
        state = self.states[variable.number]
        state.value, state.written = node, True

    def split(self, pairs: Sequence[tuple[Variable, Variable]]) -> None:
        """Variables have copies from here on. If the function has written one, only this call may
        compute from it what it should compute from the copy: it is the last one in which the two
        are equal at the beginning."""
        for variable, copy in pairs:
            own = self.states.get(variable.number)
            if own is not None and own.written:
                self.write(copy, own.value)
                self.once = True

    def draw(self) -> Tensor:
        """The stream of the next draw of random numbers: that of the call, so many draws on."""
        if self.stream is None:
            self.stream = input_node("stream", (3,), uint32)
        on = asarray(from_values([0, 0, self.draws], (3,), uint32))
        self.draws += 1
        return Tensor(self.stream) + on

    def gradient(self, variable: Variable) -> Tensor | None:
        found = self.gradients.get(variable.number)
        if found is None:
            found = self.gradients[variable.number] = Gradient(variable, looked=True)
            if variable.has_gradient:
                name = f"gradient {len(self.gradients)}"
                held = held_input(name, variable.shape, variable.dtype, self._memory)
                found.given, found.value = held[0], Tensor(held[1])
        return found.value

    def set_gradient(self, variable: Variable, gradient: Tensor | None) -> None:
        found = self.gradients.setdefault(variable.number, Gradient(variable))
        found.value, found.written = gradient, True
