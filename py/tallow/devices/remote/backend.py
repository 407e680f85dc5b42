"""Plans on another machine: they are made here, for its kind of device and its limits, and sent.

Buffers have numbers that are given out here, so that nothing waits for an answer but a read, a run
whose outputs are fetched, and a load that blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from itertools import count
from typing import Any

from ...compile import TARGETS, Compiled, Plan, Target
from ...compile.limits import Limits
from ...core.drivers import IfAwaited, Steps
from ...core.dtype import BY_NAME, DType
from ...core.hostarray import HostArray
from ...core.shape import Shape, size_of
from ...errors import DeviceError, DeviceLostError, DeviceUnavailableError, StorageError
from ...runtime.base import PROFILE_SECONDS, DeviceInfo, Feed, Result, Timing
from ...runtime.buffer import Buffer
from .connection import Connection
from .wire import Message


class RemoteMemory:
    """The buffers of a connection; a buffer's handle is its number there."""

    is_host = False

    def __init__(self, connection: Connection, held: dict[str, str]) -> None:
        self.name = connection.address
        self.programs: dict[Any, Any] = {}
        self.connection = connection
        self._held = held
        self._numbers = count(1)

    def held_type(self, dtype: DType) -> DType:
        return BY_NAME[self._held[dtype.name]]

    def new(self, dtype: DType, shape: Shape) -> Buffer:
        """A buffer that the next message makes there."""
        held = self.held_type(dtype)
        return Buffer(self, next(self._numbers), dtype, shape, held, size_of(shape) * held.size)

    def upload(self, data: HostArray) -> Buffer:
        buffer = self.new(data.dtype, data.shape)
        self.connection.tell("upload", [data.data], buffer=buffer.handle, array=_kind(data))
        return buffer

    def clone(self, buffer: Buffer) -> Buffer:
        copy = self.new(buffer.dtype, buffer.shape)
        self.connection.tell("clone", buffer=copy.handle, of=buffer.handle)
        return copy

    def read(self, buffers: Sequence[Buffer]) -> Steps[list[HostArray]]:
        handles = [each.handle for each in buffers]
        return _arrays((yield from self.connection.ask("read", buffers=handles)))

    def release(self, handle: int) -> None:
        self.connection.free(handle)


def _kind(data: HostArray) -> list[Any]:
    return [data.dtype.name, list(data.shape)]


def _arrays(message: Message) -> list[HostArray]:
    return [
        HostArray(content, tuple(shape), BY_NAME[dtype])
        for content, (dtype, shape) in zip(message.parts, message.header["arrays"], strict=True)
    ]


class RemoteProgram:
    """A plan on the other machine."""

    def __init__(self, plan: Plan, number: int, memory: RemoteMemory, adapter: str) -> None:
        self._plan, self._number, self._memory, self._adapter = plan, number, memory, adapter
        self._connection = memory.connection
        self._outputs = [(BY_NAME[port.dtype], tuple(port.shape)) for port in plan.outputs]
        self._runs = 0
        self._closed = False

    def use_states(self, states: Sequence[Buffer]) -> None:
        given = [[state.handle, state.updated] for state in states]
        self._tell("states", states=given)

    def run(
        self, inputs: Sequence[Feed], fetch: Sequence[bool] | None = None
    ) -> Steps[list[Result]]:
        if fetch is not None and not any(fetch):
            return self.start(inputs)
        kept, header, parts = self._prepared(inputs, fetch or [True] * len(self._outputs))
        return self._results(kept, (yield from self._connection.ask("run", parts, **header)))

    def start(self, inputs: Sequence[Feed]) -> list[Buffer]:
        kept, header, parts = self._prepared(inputs, [False] * len(self._outputs))
        self._connection.tell("run", parts, **header)
        return [buffer for buffer in kept if buffer is not None]

    def _prepared(
        self, inputs: Sequence[Feed], wanted: Sequence[bool]
    ) -> tuple[list[Buffer | None], dict[str, Any], list[Any]]:
        """The buffers of outputs that stay there, and what to send."""
        self._check_open()
        self._runs += 1
        kept = [
            None if want else self._memory.new(*layout)
            for want, layout in zip(wanted, self._outputs, strict=True)
        ]
        numbers, parts = _fed(inputs)
        keep = [None if each is None else each.handle for each in kept]
        return kept, {"program": self._number, "inputs": numbers, "keep": keep}, parts

    def _results(self, kept: list[Buffer | None], message: Message) -> list[Result]:
        fetched = iter(_arrays(message))
        return [next(fetched) if each is None else each for each in kept]

    def profile(self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS) -> Steps[Timing]:
        numbers, parts = _fed(inputs)
        about = {"program": self._number, "inputs": numbers, "seconds": seconds}
        found = yield from self._connection.ask("profile", parts, **about)
        return Timing(**found.header["timing"])

    @property
    def stats(self) -> dict[str, Any]:
        """As the plan says: to ask the other machine would block."""
        plan = self._plan
        return {
            "kernels": len(plan.prepare) + len(plan.run),
            "dispatches": len(plan.run),
            "slots": len(plan.slots),
            "bytes": sum(slot.bytes for slot in plan.slots),
            "runs": self._runs,
            "adapter": self._adapter,
        }

    def close(self) -> None:
        if not self._closed and self._connection.lost is None:
            with suppress(DeviceLostError):  # then the other machine has closed it
                self._tell("close")
        self._closed = True

    def _tell(self, do: str, **header: Any) -> None:
        self._check_open()
        self._connection.tell(do, program=self._number, **header)

    def _check_open(self) -> None:
        if self._closed:
            raise DeviceError(f"{self._plan.name}: the program is closed")


def _fed(inputs: Sequence[Feed]) -> tuple[list[int | None], list[Any]]:
    """The numbers of inputs that are there, None for one whose bytes follow; and these."""
    numbers = [each.handle if isinstance(each, Buffer) else None for each in inputs]
    return numbers, [each for each in inputs if not isinstance(each, Buffer)]


class RemoteBackend:
    """An open connection, as a device."""

    begin = None

    def __init__(self, connection: Connection, about: dict[str, Any]) -> None:
        self.connection = connection
        try:
            # What a quick plan of NumPy's has instead of steps are nodes, which stay here.
            self.target = replace(TARGETS[about["device"]], quick=None)
            self.limits = limits_of_json(about["limits"], self.target)
            self.memory = RemoteMemory(connection, about["held"])
            adapter, features = str(about["adapter"]), tuple(about["features"])
        except (KeyError, TypeError, ValueError) as error:
            raise DeviceUnavailableError(
                f"the other machine does not describe a device: {error!r}"
            ) from error
        self.info = DeviceInfo(connection.address, adapter, features)
        self._record = about.get("tuning")
        self._numbers = count(1)

    def tuning_record(self) -> str | None:
        """What the other machine has of its own."""
        return self._record

    async def keep_tuning_record(self, text: str) -> None:
        """Is refused: a visitor doesn't decide for others."""
        raise StorageError("a machine that is borrowed keeps no tuning record of a visitor's")

    def load(self, compiled: Compiled) -> Steps[RemoteProgram]:
        yield IfAwaited(compiled.arrive)
        program, header, parts = self._prepared(compiled)
        yield from self.connection.ask("load", parts, **header)
        return program

    def load_now(self, compiled: Compiled) -> RemoteProgram:
        program, header, parts = self._prepared(compiled)
        self.connection.tell("load", parts, **header)
        return program

    def _prepared(self, compiled: Compiled) -> tuple[RemoteProgram, dict[str, Any], list[Any]]:
        number, plan = next(self._numbers), compiled.plan
        header = {
            "program": number,
            "weights": [[offset, *_kind(data)] for offset, data in compiled.weights],
        }
        parts = [plan.to_json().encode(), *(data.data for _, data in compiled.weights)]
        return RemoteProgram(plan, number, self.memory, self.info.adapter), header, parts


# ---- limits in a header ------------------------------------------------------------------------


def limits_as_json(limits: Limits) -> dict[str, Any]:
    """Limits as plain data."""
    plain = _as_json(limits)
    return {**plain, "traits": None if limits.traits is None else _as_json(limits.traits)}


def _as_json(record: Any) -> dict[str, Any]:
    found = {each.name: getattr(record, each.name) for each in fields(record)}
    return {k: dict(v) if isinstance(v, Mapping) else v for k, v in found.items()}


def limits_of_json(found: dict[str, Any], target: Target) -> Limits:
    """The limits that `limits_as_json` gave of a device of this kind."""
    given = found["traits"]
    traits = target.traits(**given) if target.traits and given is not None else None
    return Limits(**{**found, "traits": traits})
