"""`Scalars`: numbers that an optimiser keeps of parameters, such as counts of steps, and which
parameters have one of them together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from ..core import context
from ..facts import Fact, became
from ..runtime.variable import Variable
from ..tensor import Tensor, asarray
from .states import States

Key = Callable[[int], Hashable]
"""What decides, for a parameter by its number, whether it can share with another one."""


# Why: docs/decisions/jit.md, "Parameters that are stepped together have one count of steps"
class Scalars:
    """Which parameters of an optimiser have one variable for a number. Those share that began in
    the same step and were stepped together since; the others have copies.

    names: of the numbers in the state of a parameter.
    """

    splits = Fact[int]()
    """How often variables were split. A compiled step serves while that is as it was."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.splits = 0
        self._new: dict[Hashable, Variable] = {}

    def begin(self, state: States, key: Key) -> list[tuple[Variable, Variable]]:
        """Begins a step, or a loading. key: parameters with equal ones do the same there; those
        with others have variables of their own from now on. Returns what was copied, and copies."""
        self._new = {}
        copies: dict[Hashable, list[tuple[Variable, Variable]]] = {}
        for name in self.names:
            for variable, numbers in self._holders(state, name):
                kept, *others = dict.fromkeys(map(key, numbers))
                for other in others:
                    copy = _copy(variable)
                    copies.setdefault((kept, other), []).append((variable, copy))
                    for number in numbers:
                        if key(number) == other:
                            state[number][name] = copy
        tracing: Any = context.trace.get()
        if copies:
            self.splits += 1
            became(self)  # a function that is traced has had the copies from its beginning on
            for pairs in copies.values() if tracing else ():
                tracing.split(pairs)
        self._depend()
        return [pair for pairs in copies.values() for pair in pairs]

    def _depend(self) -> int:
        """A function that is traced depends on which variables there are: it reads that."""
        return self.splits

    @staticmethod
    def _holders(state: States, name: str) -> Iterable[tuple[Variable, list[int]]]:
        """The variables that several parameters have, each with the numbers of these."""
        found: dict[int, tuple[Variable, list[int]]] = {}
        for number, own in state.items():
            value = own.get(name)
            if isinstance(value, Variable):
                found.setdefault(value.number, (value, []))[1].append(number)
        return [each for each in found.values() if len(each[1]) > 1]

    def new(self, key: Hashable, name: str, make: Callable[[], Variable]) -> Variable:
        """The variable of parameters that have a number from this step on. key: equal for those
        that share it."""
        found = self._new.get((key, name))
        if found is None:
            found = self._new[key, name] = make()
        return found


def _copy(variable: Variable) -> Variable:
    """Another variable with the value of before the function that is traced, if any is."""
    copied = Variable(Tensor(variable.buffer().node), device=variable.stored_on, name=variable.name)
    copied.buffer()
    return copied


def same_values(values: Mapping[str, Any], names: Iterable[str]) -> Hashable:
    """Equal for parameters whose numbers are the same in a state that is loaded. It asks no device:
    two tensors on it are the same if they are one."""
    return tuple(_identity(values.get(name)) for name in names)


def _identity(value: Any) -> Hashable:
    if value is None:
        return None
    tensor = value if isinstance(value, Tensor) else asarray(value)
    if isinstance(tensor, Variable) or not tensor.node.is_constant:
        return id(tensor.node)
    data = tensor.node.attrs["data"]
    return data.dtype.name, data.shape, bytes(data.data)
