"""Plans whose nodes NumPy computes one by one (compile/plain.py)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from sys import getrefcount
from typing import TYPE_CHECKING, Any

from ...compile.plain import Plain, PlainStep
from ...compile.plan import Plan
from ...core.drivers import at_once
from ...core.dtype import BY_NAME
from ...core.hostarray import HostArray, from_buffer
from ...ops.numpy_kernels import numpy_module
from ...runtime.base import PROFILE_SECONDS, Feed, Result, Timing
from ...runtime.buffer import Buffer
from ...runtime.immediate import ImmediateProgram, clocked
from .memory import MEMORY, explained

if TYPE_CHECKING:
    from ...arrays import Array


def _references(values: list[Any], number: int) -> int:
    """How many references there are to a value: more than `_ALONE` if something else has it, such
    as a buffer, or a view of it."""
    value = values[number]
    return getrefcount(value)


_ALONE = _references([object()], 0)


class PlainProgram(ImmediateProgram):
    """Nodes as calls of NumPy. It holds no memory between runs."""

    def __init__(self, plan: Plan, plain: Plain, adapter: str) -> None:
        self._np = np = numpy_module()
        self._plan, self._plain = plan, plain
        self._adapter = adapter
        self._types = {name: np.dtype(name) for name in {step.dtype for step in plain.steps}}
        self._runs = 0

    def use_states(self, states: Sequence[Buffer]) -> None:
        """Such a plan has none."""

    def _run(self, inputs: Sequence[Feed], fetch: Sequence[bool]) -> list[Result]:
        with explained(self._np, self._plan.name):
            values = self._values(inputs)
            others = {id(value) for value in values if value is not None}
            for step in self._plain.steps:
                self._take(step, values)
            self._runs += 1
            ports, outputs = self._plan.outputs, self._plain.outputs
            results: list[Result] = []
            for port, number, fetched in zip(ports, outputs, fetch, strict=True):
                content = self._owned(values[number], others, port.dtype)
                others.add(id(content))
                if fetched:
                    data = from_buffer(content).data
                    results.append(HostArray(data, port.shape, BY_NAME[port.dtype]))
                else:
                    results.append(MEMORY.buffer(content, BY_NAME[port.dtype]))
            return results

    def _values(self, inputs: Sequence[Feed]) -> list[Any]:
        """The inputs and constants, and an empty entry for each other value."""
        self._check_open()
        np = self._np
        values: list[Any] = [
            given.handle
            if isinstance(given, Buffer)
            else np.frombuffer(given, port.dtype).reshape(port.shape)
            for port, given in zip(self._plan.inputs, inputs, strict=True)
        ]
        values += [None] * (self._plain.size - len(values))
        for number, data in self._plain.constants:
            values[number] = data.numpy()
        return values

    def _take(self, step: PlainStep, values: list[Any]) -> None:
        np, op = self._np, step.op
        alone = step.over >= 0 and _references(values, step.over) == _ALONE
        operands = [values[number] for number in step.operands]
        try:
            if alone and values[step.over].flags.owndata:
                value = getattr(np, op.name)(*operands, out=values[step.over])
            else:
                value = op.numpy(np, *operands, **step.attrs)
        except IndexError as error:
            raise IndexError(f"{op.name}: {error}") from error
        dtype = self._types[step.dtype]
        if type(value) is not np.ndarray or value.dtype is not dtype:
            value = np.asarray(value, dtype)
        if step.broadcasts and value.shape != step.shape:
            value = np.broadcast_to(value, step.shape)
        values[step.result] = value
        for number in step.gone:
            values[number] = None

    def _owned(self, value: Array, others: set[int], dtype: str) -> Array:
        """An output in memory of its own, row by row. others: the arrays that are something else,
        which an op that changes nothing may give as they are."""
        own = value.base is None and id(value) not in others
        if own and value.flags.c_contiguous and value.dtype == dtype:
            return value
        return self._np.array(value, dtype, order="C")

    @at_once
    def profile(self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS) -> Timing:
        """Runs once, with the clock around each node."""
        with explained(self._np, self._plan.name):
            values = self._values(inputs)
            times = clocked([partial(self._take, step, values) for step in self._plain.steps])
        return Timing("clock", times, sum(times), 1)

    @property
    def stats(self) -> dict[str, Any]:
        return {
            "kernels": len(self._plain.steps),
            "dispatches": len(self._plain.steps),
            "slots": 0,
            "bytes": 0,
            "runs": self._runs,
            "adapter": self._adapter,
        }

    def close(self) -> None:
        self._closed = True
        self._plain = Plain([], [], [], 0)
