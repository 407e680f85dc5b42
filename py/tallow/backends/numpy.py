"""The NumPy runner: executes plans on any host. The fallback, and the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..compile import HOST, Compiled, Limits
from ..compile.plan import HostOp, Step
from ..dtype import BY_NAME
from ..errors import DeviceError, DeviceMemoryError, FeedError
from ..hostarray import HostArray, from_buffer
from ..op import REGISTRY
from .base import DeviceInfo

Slots = list[Any]


class NumpyProgram:
    """A plan on NumPy arrays. Slots hold arrays in place of buffers."""

    def __init__(self, compiled: Compiled) -> None:
        import numpy as np

        self._np = np
        self._plan = plan = compiled.plan
        self._slots: Slots = [None] * len(plan.slots)
        by_offset = dict(compiled.weights)
        for number, slot in enumerate(plan.slots):
            if slot.kind == "weight":
                self._slots[number] = by_offset[slot.offset].numpy()
        self._steps = [self._compile(step) for step in plan.run]
        self._runs = 0
        self._closed = False
        self._execute([self._compile(step) for step in plan.prepare], self._slots)
        self._drop_unused()

    def _drop_unused(self) -> None:
        """Forgets weights that only `prepare` needed."""
        used = {slot for step in self._plan.run for slot in step.bindings}
        used |= {port.slot for port in self._plan.outputs}
        self._slots = [value if n in used else None for n, value in enumerate(self._slots)]

    def _compile(self, step: Step) -> Callable[[Slots], None]:
        np = self._np
        operations = [self._operation(op) for op in step.host]
        *read_slots, target = step.bindings
        shapes = [shape for shape, _ in step.reads]
        sources = list(zip(read_slots, shapes, strict=True))
        result_shape = step.write[0]

        def run(slots: Slots) -> None:
            reads = [slots[slot].reshape(shape) for slot, shape in sources]
            results: list[Any] = []
            for operation in operations:
                results.append(operation(reads, results))
            slots[target] = np.ascontiguousarray(results[-1]).reshape(result_shape)

        return run

    def _operation(self, op: HostOp) -> Callable[[list[Any], list[Any]], Any]:
        np, evaluate = self._np, REGISTRY[op.op].numpy
        getters = [self._getter(operand) for operand in op.operands]
        attrs = op.attrs

        def operate(reads: list[Any], results: list[Any]) -> Any:
            return evaluate(np, *[get(reads, results) for get in getters], **attrs)

        return operate

    def _getter(self, operand: list[Any]) -> Callable[[list[Any], list[Any]], Any]:
        kind, value = operand[0], operand[1]
        if kind == "read":
            return lambda reads, results: reads[value]
        if kind == "op":
            return lambda reads, results: results[value]
        number = self._np.array(value, dtype=operand[2]).reshape(operand[3])
        return lambda reads, results: number

    def _execute(self, steps: list[Callable[[Slots], None]], slots: Slots) -> None:
        try:
            with self._np.errstate(all="ignore"):
                for step in steps:
                    step(slots)
        except MemoryError as error:
            raise DeviceMemoryError(f"{self._plan.name}: {error or 'out of memory'}") from error
        except IndexError as error:
            raise FeedError(f"{self._plan.name}: an index is out of range: {error}") from error

    def run(self, inputs: Sequence[Any]) -> list[HostArray]:
        """Runs on inputs in the plan's order; any buffer of the right size serves."""
        if self._closed:
            raise DeviceError(f"{self._plan.name}: the program is closed")
        slots = list(self._slots)
        for port, value in zip(self._plan.inputs, inputs, strict=True):
            flat = self._np.frombuffer(value, dtype=port.dtype)
            slots[port.slot] = flat.reshape(port.shape)
        self._execute(self._steps, slots)
        self._runs += 1
        return [
            self._output(slots[port.slot], port.dtype, port.shape) for port in self._plan.outputs
        ]

    def _output(self, value: Any, dtype: str, shape: tuple[int, ...]) -> HostArray:
        array = self._np.ascontiguousarray(value).astype(dtype, copy=False)
        return HostArray(from_buffer(array).data, shape, BY_NAME[dtype])

    async def run_async(self, inputs: Sequence[Any]) -> list[HostArray]:
        """As `run`; the computation itself does not yield."""
        return self.run(inputs)

    @property
    def stats(self) -> dict[str, Any]:
        plan = self._plan
        return {
            "kernels": len(plan.prepare) + len(plan.run),
            "dispatches": len(plan.run),
            "slots": len(plan.slots),
            "bytes": sum(value.nbytes for value in self._slots if value is not None),
            "runs": self._runs,
            "adapter": NumpyBackend().info.adapter,
        }

    def close(self) -> None:
        self._slots = []
        self._closed = True


class NumpyBackend:
    """The host itself."""

    @property
    def info(self) -> DeviceInfo:
        import numpy as np

        return DeviceInfo("numpy", f"NumPy {np.__version__}")

    @property
    def limits(self) -> Limits:
        return HOST

    def load(self, compiled: Compiled) -> NumpyProgram:
        return NumpyProgram(compiled)

    async def load_async(self, compiled: Compiled) -> NumpyProgram:
        return NumpyProgram(compiled)
