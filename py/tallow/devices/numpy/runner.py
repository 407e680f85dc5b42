"""The NumPy runner: executes plans on any host. The fallback, and the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from threading import Lock
from time import perf_counter
from typing import Any

from ...compile import Compiled
from ...compile.limits import Limits, host_limits
from ...compile.plan import Plan, Port, Step
from ...core.drivers import IfAwaited, Steps, at_once
from ...core.dtype import BY_NAME
from ...core.hostarray import HostArray, from_buffer
from ...ops.numpy_kernels import numpy_module
from ...runtime.base import PROFILE_SECONDS, DeviceInfo, Feed, Result, Timing
from ...runtime.buffer import Buffer
from ...runtime.immediate import ImmediateProgram, clocked, profiled
from .memory import MEMORY, NumpyMemory, explained
from .plain import PlainProgram
from .specialized import Workspace
from .step import BoundStep
from .target import TARGET

_SETTING_BYTES = 256
"""Up to this size a state that only the host changes is copied."""


class NumpyProgram(ImmediateProgram):
    """A plan on NumPy arrays. Each slot is a buffer that is kept between runs.

    One run at a time: calls from several threads wait for each other. The steps are bound to the
    arrays of the states.
    """

    def __init__(self, compiled: Compiled) -> None:
        self._np = numpy_module()
        self._plan = compiled.plan
        self._lock = Lock()
        self._runs = 0
        self._slots: dict[int, Any] = {}  # bytes
        self._written = compiled.plan.written
        self._settings: dict[int, Any] = {}  # copies of states that no program changes, by slot
        self._states: list[Any] = []  # the arrays that the steps are bound to
        self._known: set[int] = set()  # slots whose content never changes
        with explained(self._np, self._plan.name):
            self._load(compiled)

    def _load(self, compiled: Compiled) -> None:
        """Makes the buffers, runs `prepare`, and binds the steps of `run` to their arrays."""
        plan = self._plan
        by_offset = dict(compiled.weights)
        for number, slot in enumerate(plan.slots):
            if slot.kind == "weight":
                weight = by_offset[slot.offset].numpy().reshape(-1)
                self._slots[number] = weight.view(self._np.uint8)
        self._input_types, self._output_types = _types(plan, by_offset)
        ends = {port.slot for port in (*plan.inputs, *plan.outputs)}
        ends |= {copy.source for copy in plan.copies}
        for call in self._bind(plan.prepare, set())[0]:
            call()
        self._keep({slot for step in plan.run for slot in step.bindings} | ends)
        self._known = set(self._slots)
        for port in plan.inputs:
            self._make_buffer(port.slot, port.shape, self._input_types[port.slot])
        self._steps: list[BoundStep] = []
        self._workspace = Workspace(self._np)
        if not plan.states:
            self._steps, self._workspace, used = self._bind(plan.run, self._known)
            self._keep(used | ends)

    def use_states(self, states: Sequence[Buffer]) -> None:
        """Binds the steps to the arrays of these buffers: those steps of which one has moved."""
        with self._lock, explained(self._np, self._plan.name):
            self._check_open()
            ports = self._plan.states
            arrays = [
                self._array_of(port.slot, state) for port, state in zip(ports, states, strict=True)
            ]
            before, self._states = self._states, []  # should this fail, the next call binds all
            old = before or [None] * len(arrays)
            moved = {
                port.slot: array
                for port, array, held in zip(ports, arrays, old, strict=True)
                if array is not held
            }
            for slot, array in moved.items():
                self._slots[slot] = array.reshape(-1).view(self._np.uint8)
            if before:
                self._bind_again(set(moved))
            else:
                for copy in self._plan.copies:
                    if copy.target not in self._slots:
                        self._slots[copy.target] = self._np.empty_like(self._slots[copy.source])
                self._steps, self._workspace, _ = self._bind(self._plan.run, self._known)
            self._states = arrays

    def _bind_again(self, moved: set[int]) -> None:
        """Binds the steps that read or write these slots to the buffers that they have now."""
        for number, step in enumerate(self._plan.run):
            if not moved.isdisjoint(step.bindings):
                self._workspace.kept -= self._steps[number].kept
                self._steps[number] = self._bound(step, self._known, self._workspace)

    def _array_of(self, slot: int, state: Buffer) -> Any:
        """The array that stands for a state. For a small one that no program changes, such as a
        learning rate, that is the program's own: a schedule gives it another buffer in each turn,
        and to bind the steps takes as long as to take them."""
        given = state.handle
        if state.updated or state.nbytes > _SETTING_BYTES or slot in self._written:
            return given
        own = self._settings.get(slot)
        if own is None:
            own = self._settings[slot] = given.copy()
        self._np.copyto(own, given)
        return own

    def _bind(
        self, steps: list[Step], known: set[int]
    ) -> tuple[list[BoundStep], Workspace, set[int]]:
        """The steps as calls, the memory that they share, and the slots that they need.

        known: the slots whose content never changes.
        """
        workspace = Workspace(self._np)
        for step in steps:
            self._make_buffer(step.bindings[-1], _whole(step), step.write[1])
        calls: list[BoundStep] = []
        used: set[int] = set()
        for step in steps:
            call = self._bound(step, known, workspace)
            *slots, target = step.bindings
            used |= {slot for slot, needed in zip(slots, call.used, strict=True) if needed}
            used.add(target)
            calls.append(call)
        return calls, workspace, used

    def _bound(self, step: Step, known: set[int], workspace: Workspace) -> BoundStep:
        """A step as a call on the buffers of its slots."""
        *slots, target = step.bindings
        reads = [
            self._array(slot, shape, dtype)
            for slot, (shape, dtype) in zip(slots, step.reads, strict=True)
        ]
        result = self._array(target, _whole(step), step.write[1])
        if step.region:
            first = step.region.start
            result = result[:, first : first + step.region.length].reshape(step.write[0])
        return BoundStep(
            self._np, step, reads, [slot in known for slot in slots], result, workspace
        )

    def _make_buffer(self, slot: int, shape: Sequence[int], dtype: str) -> None:
        """Sees to it that the slot has a buffer for such an array."""
        size = prod(shape) * self._np.dtype(dtype).itemsize
        if slot not in self._slots or self._slots[slot].nbytes < size:
            self._slots[slot] = self._np.empty(size, self._np.uint8)

    def _array(self, slot: int, shape: Sequence[int], dtype: str) -> Any:
        size = prod(shape) * self._np.dtype(dtype).itemsize
        return self._slots[slot][:size].view(dtype).reshape(shape)

    def _keep(self, slots: set[int]) -> None:
        """Clears all other slots."""
        self._slots = {slot: held for slot, held in self._slots.items() if slot in slots}

    def _run(self, inputs: Sequence[Feed], fetch: Sequence[bool]) -> list[Result]:
        ports = self._plan.outputs
        with self._lock, explained(self._np, self._plan.name):
            self._feed(inputs)
            self._take_steps()
            self._runs += 1
            results = [
                self._output(port, wanted) for port, wanted in zip(ports, fetch, strict=True)
            ]
            for copy in self._plan.copies:
                source, target = self._slots[copy.source], self._slots[copy.target]
                size = min(source.nbytes, target.nbytes)
                target[:size] = source[:size]
            return results

    def _take_steps(self) -> None:
        """Raises IndexError, which names the step, for an index that is out of range."""
        name = ""
        try:
            for step, call in zip(self._plan.run, self._steps, strict=True):
                name = step.name
                call()
        except IndexError as error:
            raise IndexError(f"{name}: {error}") from error

    def _feed(self, inputs: Sequence[Feed]) -> None:
        """Copies the inputs into their slots."""
        self._check_open()
        for port, value in zip(self._plan.inputs, inputs, strict=True):
            if isinstance(value, Buffer):
                given = value.handle
            else:
                given = self._np.frombuffer(value, dtype=port.dtype).reshape(port.shape)
            held = self._array(port.slot, port.shape, self._input_types[port.slot])
            self._np.copyto(held, given, casting="unsafe")

    def _output(self, port: Port, fetch: bool) -> Result:
        """The output in memory of its own, which the next run leaves alone."""
        held = self._array(port.slot, port.shape, self._output_types[port.slot])
        content = held.astype(port.dtype)
        dtype = BY_NAME[port.dtype]
        if not fetch:
            return MEMORY.buffer(content, dtype)
        return HostArray(from_buffer(content).data, port.shape, dtype)

    @at_once
    def profile(self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS) -> Timing:
        """Runs some times, with the clock around each step."""

        def run() -> list[float]:
            with self._lock, explained(self._np, self._plan.name):
                self._feed(inputs)
                return clocked(self._steps)

        return profiled(run, seconds, _tick())

    @property
    def stats(self) -> dict[str, Any]:
        plan = self._plan
        return {
            "kernels": len(plan.prepare) + len(plan.run),
            "dispatches": len(plan.run),
            "slots": len(plan.slots),
            "bytes": self._workspace.nbytes + sum(held.nbytes for held in self._slots.values()),
            "runs": self._runs,
            "adapter": NumpyBackend().info.adapter,
        }

    def close(self) -> None:
        with self._lock:
            self._slots, self._steps = {}, []
            self._workspace = Workspace(self._np)
            self._closed = True


def _whole(step: Step) -> Sequence[int]:
    """The shape of everything in the slot that a step writes."""
    if step.region is None:
        return step.write[0]
    length, stride = step.region.length, step.region.stride
    return prod(step.write[0]) // length if length else 0, stride


def _types(plan: Plan, weights: Mapping[int, HostArray]) -> tuple[dict[int, str], dict[int, str]]:
    """The element types in the slots of the inputs before a run, and of the outputs after it.

    These differ from what the user sees where the plan computes in another type.
    """
    before: dict[int, str] = {}
    after = {
        number: weights[slot.offset].dtype.name
        for number, slot in enumerate(plan.slots)
        if slot.kind == "weight"
    }
    for step in (*plan.prepare, *plan.run):
        *reads, write = step.bindings
        for slot, (_, dtype) in zip(reads, step.reads, strict=True):
            before.setdefault(slot, dtype)
        after[write] = step.write[1]
        before.setdefault(write, "")
    for port in (*plan.inputs, *plan.states):
        before[port.slot] = before.get(port.slot) or port.dtype
    return before, before | after


def _tick() -> float:
    """A tick of the clock in seconds, 0 if it is finer than a microsecond. Browsers' are coarse."""
    began = now = perf_counter()
    while now == began:
        now = perf_counter()
    return now - began if now - began > 1e-6 else 0.0


class NumpyBackend:
    """The host itself."""

    target = TARGET
    begin = None

    @property
    def info(self) -> DeviceInfo:
        import numpy as np

        return DeviceInfo(self.target.name, f"NumPy {np.__version__}")

    @property
    def limits(self) -> Limits:
        return host_limits()

    def tuning_record(self) -> str | None:
        return None  # there are no kernels to choose from

    async def keep_tuning_record(self, text: str) -> None:
        pass

    @property
    def memory(self) -> NumpyMemory:
        return MEMORY

    def load_now(self, compiled: Compiled) -> NumpyProgram | PlainProgram:
        if compiled.plain is not None:
            return PlainProgram(compiled.plan, compiled.plain, self.info.adapter)
        return NumpyProgram(compiled)

    def load(self, compiled: Compiled) -> Steps[NumpyProgram | PlainProgram]:
        yield IfAwaited(compiled.arrive)
        return self.load_now(compiled)
