"""Plan: what a compiled graph is. Plain data that every runner executes.

A plan can be printed, compared, kept as JSON and sent to another process. Weights travel beside
it, a buffer for each slot that holds one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ..codegen.layout import Region
from ..core.dtype import BY_NAME, DType

VERSION = 5


@dataclass(frozen=True)
class Slot:
    """A buffer. kind: weight (its bytes begin at `offset` in the weights block), prepared (filled
    once by `prepare`), input, state, output or scratch.

    The buffer of an input may be the feed's own, that of a state always is the state's, and that of
    an output may be handed out.
    """

    bytes: int
    kind: str
    offset: int = 0


@dataclass(frozen=True)
class Port:
    """A named input or output: its slot, the element type the user sees, and its shape.

    bytes: of its elements in the slot, which may be larger. most: a bound of 64-bit integers that
    are fed: from -most to most - 1, 32 bits hold everything that the plan computes of them.
    """

    name: str
    slot: int
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    most: int | None = None


@dataclass(frozen=True)
class Copy:
    """What a run copies after its last step, from the start of one slot to that of another."""

    source: int
    target: int
    bytes: int


@dataclass(frozen=True)
class HostOp:
    """An op for the NumPy runner. Operands: ["read", i], ["op", j] or a constant of
    one element, ["number", value, dtype, shape], nested in lists if it has axes."""

    op: str
    operands: list[list[Any]]
    attrs: dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One result, which the device computes at once.

    name: the ops in it. bindings: the slots of what it reads, then that of its result; a read in
    the result's slot is read there and written over. reads: shape and element type of each binding
    but the last. write: those of the result. host: the computation, as operations of which the last
    gives the result. kernel: what the target's runner needs (`Kernels` in target.py), empty where
    nothing runs or where the runner computes `host`. region: where in its slot the result is, if it
    is a part of what is stored there.
    """

    name: str
    bindings: list[int]
    reads: list[tuple[tuple[int, ...], str]]
    write: tuple[tuple[int, ...], str]
    host: list[HostOp]
    kernel: dict[str, Any] = field(default_factory=dict)
    region: Region | None = None

    @property
    def bound(self) -> list[int]:
        """The slots that a kernel binds: each read that is not in place, then the result."""
        *reads, write = self.bindings
        return [*(slot for slot in reads if slot != write), write]


@dataclass(frozen=True)
class Plan:
    """Slots, modules, and the two programs: `prepare` runs once, `run` at every call.

    states: what stays from run to run, in the order in which its buffers are given. copies: in this
    order, after `run`: the next values of states that it could not compute in their slots.
    """

    name: str
    device: str
    slots: list[Slot]
    inputs: list[Port]
    outputs: list[Port]
    modules: list[str]
    prepare: list[Step]
    run: list[Step]
    states: list[Port] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    version: int = field(default=VERSION)

    def to_json(self, host: bool = True) -> str:
        """The plan as JSON; `from_json` reads it.

        host: with what the NumPy runner needs. Without it the text is strict JSON: numbers that
        are not finite stand in the host operations alone.
        """

        def encode(value: Any) -> Any:
            if isinstance(value, DType):
                return {"dtype": value.name}
            if isinstance(value, Step) and not host:
                return {**vars(value), "host": []}
            if isinstance(value, (Slot, Port, Step, HostOp, Region, Copy)):
                return vars(value)
            raise TypeError(f"{value!r} cannot be part of a plan")

        return json.dumps(vars(self), separators=(",", ":"), default=encode, allow_nan=host)

    @staticmethod
    def from_json(text: str) -> Plan:
        """A plan from `to_json`."""
        return Plan.from_raw(json.loads(text))

    @staticmethod
    def from_raw(raw: dict[str, Any]) -> Plan:
        """A plan from what that JSON says."""
        return Plan(
            raw["name"],
            raw["device"],
            [Slot(**slot) for slot in raw["slots"]],
            [_port(port) for port in raw["inputs"]],
            [_port(port) for port in raw["outputs"]],
            raw["modules"],
            [_step(step) for step in raw["prepare"]],
            [_step(step) for step in raw["run"]],
            [_port(port) for port in raw["states"]],
            [Copy(**copy) for copy in raw["copies"]],
            raw["version"],
        )

    @property
    def written(self) -> set[int]:
        """The slots to which a run writes."""
        slots = {step.bindings[-1] for step in self.run}
        return slots | {copy.target for copy in self.copies}

    @property
    def weight_bytes(self) -> int:
        """Bytes of the weights that a device keeps: those that `run` reads, or gives."""
        used = {slot for step in self.run for slot in step.bindings}
        used |= {port.slot for port in self.outputs}
        slots = [self.slots[number] for number in used]
        return sum(slot.bytes for slot in slots if slot.kind in ("weight", "prepared"))

    def __str__(self) -> str:
        lines = [f"plan {self.name} for {self.device}"]
        for number, slot in enumerate(self.slots):
            lines.append(f"  slot {number}: {slot.kind}, {slot.bytes} bytes")
        groups = (("input", self.inputs), ("state", self.states), ("output", self.outputs))
        for title, ports in groups:
            for port in ports:
                shape = list(port.shape)
                lines.append(f"  {title} {port.name}: slot {port.slot}, {port.dtype}{shape}")
        for title, steps in (("prepare", self.prepare), ("run", self.run)):
            lines.append(f"  {title}:")
            for step in steps:
                *reads, write = step.bindings
                result = f"{step.write[1]}{list(step.write[0])}"
                at = f" from {step.region.start}" if step.region else ""
                kernel = step.kernel
                size = f", workgroups {kernel['workgroups']}" if "workgroups" in kernel else ""
                size += f", function {kernel['function']}" if "function" in kernel else ""
                lines.append(f"    {step.name}: {reads} -> {write}{at} {result}{size}")
        for copy in self.copies:
            lines.append(f"  copy: {copy.source} -> {copy.target}, {copy.bytes} bytes")
        return "\n".join(lines)


def decode_attr(value: Any) -> Any:
    """An attribute as it was before JSON: tuples for lists, element types for their names."""
    if isinstance(value, list):
        return tuple(decode_attr(item) for item in value)
    if isinstance(value, dict) and "dtype" in value:
        return BY_NAME[value["dtype"]]
    return value


def _port(raw: dict[str, Any]) -> Port:
    return Port(
        raw["name"], raw["slot"], raw["dtype"], tuple(raw["shape"]), raw["bytes"], raw["most"]
    )


def _step(raw: dict[str, Any]) -> Step:
    return Step(
        raw["name"],
        raw["bindings"],
        [(tuple(shape), dtype) for shape, dtype in raw["reads"]],
        (tuple(raw["write"][0]), raw["write"][1]),
        [
            HostOp(
                op["op"],
                op["operands"],
                {name: decode_attr(value) for name, value in op["attrs"].items()},
            )
            for op in raw["host"]
        ],
        raw["kernel"],
        Region(**raw["region"]) if raw["region"] else None,
    )
