"""Plans on plain Python lists: a slot is a list."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from tests.ops.toy.lists import Array, compute
from tests.ops.toy.target import TARGET

from tallow.compile import Compiled
from tallow.compile.limits import host_limits
from tallow.compile.plan import Step
from tallow.core.drivers import at_once
from tallow.core.dtype import BY_NAME
from tallow.core.hostarray import HostArray, from_python, from_values
from tallow.ops.kinds import REGISTRY
from tallow.runtime.base import DeviceInfo


def _array(data: HostArray) -> Array:
    return Array(data.flat(), data.shape, data.dtype)


class ToyProgram:
    """A plan whose slots are lists."""

    def __init__(self, compiled: Compiled) -> None:
        self.plan = compiled.plan
        self.stats: dict[str, Any] = {
            "dispatches": len(self.plan.run),
            "runs": 0,
            "adapter": "lists",
        }
        weights = dict(compiled.weights)
        kept = [n for n, slot in enumerate(self.plan.slots) if slot.kind == "weight"]
        self.slots = {n: weights[self.plan.slots[n].offset].flat() for n in kept}
        for step in self.plan.prepare:
            self._take(step)

    def _take(self, step: Step) -> None:
        *slots, target = step.bindings
        reads = [
            Array(self.slots[slot], shape, BY_NAME[dtype])
            for slot, (shape, dtype) in zip(slots, step.reads, strict=True)
        ]
        results: list[Array] = []
        known = {"read": reads, "op": results}
        for op in step.host:
            arrays = [
                known[kind][value]
                if kind in known
                else _array(from_python(value, BY_NAME[dtype[0]]))
                for kind, value, *dtype in op.operands
            ]
            results.append(compute(REGISTRY[op.op], arrays, op.attrs))
        self.slots[target] = results[-1].values

    @at_once
    def run(self, inputs: Sequence[Any], fetch: Any = None) -> list[HostArray]:
        for port, given in zip(self.plan.inputs, inputs, strict=True):
            data = HostArray(memoryview(given).cast("B"), port.shape, BY_NAME[port.dtype])
            self.slots[port.slot] = data.flat()
        for step in self.plan.run:
            self._take(step)
        self.stats["runs"] += 1
        return [
            from_values(self.slots[port.slot], port.shape, BY_NAME[port.dtype])
            for port in self.plan.outputs
        ]

    def close(self) -> None:
        pass


class ToyDevice:
    """The entry of the registry, and what loads plans."""

    target = TARGET
    memory = SimpleNamespace(name="toy", is_host=True, programs={})
    info = DeviceInfo("toy", "lists")
    limits = host_limits()

    def backend(self) -> Any:
        return self

    def tuning_record(self) -> None:
        """Nothing is chosen."""

    @at_once
    def load(self, compiled: Compiled) -> ToyProgram:
        return ToyProgram(compiled)


DEVICE = ToyDevice()
