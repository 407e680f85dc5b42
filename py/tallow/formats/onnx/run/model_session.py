"""ModelSession: a model on a device, compiled for the shapes that it is fed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from ....compile.plan import Plan
from ....errors import FeedError, GraphError, OnnxFormatError, ShapeError
from ....hostarray import HostArray
from ....runtime.device import backend
from ....runtime.profile import Profile
from ....runtime.session import Session
from ..dimensions import Shapes, concrete_shapes, guessed
from ..records import ModelRecord, shown
from ..values import Value, fed, to_numpy
from .execution import Execution, Part, PlanCache, Steps, Trace, now, soon
from .report import Report
from .stages import Spec

Feeds = Mapping[str, Any]


class ModelSession:
    """Runs one model on one device.

    `run` and `run_async` take {input name: array} and give {output name: NumPy array}; sequences
    are lists, texts NumPy arrays of objects, an empty optional is None. Arrays are NumPy arrays,
    nested lists, or anything with the buffer protocol. The model is compiled for the shapes that it
    is fed, when it is fed them first; the last few are kept. `report()` says what runs where.
    Usable in a `with` statement.
    """

    def __init__(
        self,
        record: ModelRecord,
        device: str | None,
        most_turns: int,
        plan_cache: PlanCache | None = None,
    ) -> None:
        self._record = record
        self._backend = backend(device)
        self._trace = Trace(most_turns)
        used = self._backend.info.device
        self._execution = Execution(record.graph, used, {}, self._trace, plan_cache)

    # ---- running -------------------------------------------------------------------------------

    def run(self, feeds: Feeds) -> dict[str, Any]:
        """Runs and blocks; raises FeedError for feeds that do not fit, naming them."""
        return _for_users(now(self._steps(feeds)))

    async def run_async(self, feeds: Feeds) -> dict[str, Any]:
        """Runs; raises FeedError for feeds that do not fit, naming them."""
        return _for_users(await soon(self._steps(feeds)))

    def run_host(self, feeds: Feeds) -> dict[str, Value]:
        """As `run`, with HostArrays, for which no NumPy is needed."""
        results: dict[str, Value] = now(self._steps(feeds))
        return results

    async def run_host_async(self, feeds: Feeds) -> dict[str, Value]:
        """As `run_async`, with HostArrays, for which no NumPy is needed."""
        results: dict[str, Value] = await soon(self._steps(feeds))
        return results

    def prepare(self, shapes: Shapes | None) -> Steps:
        """Compiles what can be compiled for these shapes, where the file and they say all."""
        graph = self._record.graph
        tensors = [info for info in graph.inputs if info.dtype is not None]
        try:
            by_name = concrete_shapes(tensors, shapes)
        except ShapeError:
            if shapes:
                raise
            return  # what it is fed will tell
        if len(tensors) < len(graph.inputs):
            return
        specs = {info.name: Spec(by_name[info.name], info.dtype) for info in tensors if info.dtype}
        try:
            yield from self._execution.prepare(specs)
        except OnnxFormatError:
            if not guessed(tensors, shapes):
                raise  # else a length of 1 may be what does not fit: what it is fed will tell

    def _steps(self, feeds: Feeds) -> Steps:
        values = self._fed(feeds)
        self._trace.begin()
        return (yield from self._execution.run(values))

    def _fed(self, feeds: Feeds) -> dict[str, Value]:
        graph = self._record.graph
        if not isinstance(feeds, Mapping):
            raise FeedError(f"feeds must be {{input name: array}}, not {type(feeds).__name__}")
        names = [info.name for info in graph.inputs]
        missing = [info.name for info in graph.inputs
                   if info.name not in feeds and info.kind != "optional"]  # fmt: skip
        known = set(names)
        extra = [str(name) for name in feeds if name not in known]
        if missing or extra:
            wrong = [f"missing {_listed(missing)}"] if missing else []
            wrong += [f"unknown {_listed(extra)}"] if extra else []
            raise FeedError(
                f"{shown(graph.name)}: {'; '.join(wrong)} (inputs are {_listed(names) or 'none'})"
            )
        return {info.name: fed(info, feeds.get(info.name)) for info in graph.inputs}

    # ---- what there is to know -----------------------------------------------------------------

    @property
    def device(self) -> str:
        """ "webgpu" or "numpy"."""
        return self._backend.info.device

    @property
    def adapter(self) -> str:
        """The real name of what computes."""
        return self._backend.info.adapter

    @property
    def plans(self) -> Sequence[Plan]:
        """The plans that the device ran last, or that are ready to be run."""
        return [session.plan for session in self._sessions()]

    @property
    def plan(self) -> Plan:
        """The plan of a model that is one; GraphError for others, which have `plans`."""
        return self._only().plan

    @property
    def stats(self) -> dict[str, Any]:
        """kernels, dispatches, slots, bytes, weights, runs of the plans together; adapter."""
        total: dict[str, Any] = dict.fromkeys(
            ("kernels", "dispatches", "slots", "bytes", "weights", "runs"), 0
        )
        for session in self._sessions():
            for name, value in session.stats.items():
                total[name] = total.get(name, 0) + value if isinstance(value, int) else value
        return {**total, "adapter": self.adapter}

    def report(self) -> Report:
        """Which nodes the host computed in the last run, why, and how many bytes crossed."""
        parts: list[Part] = list(self._trace.parts.values())
        return Report.of(self.device, parts, list(self._trace.steps.values()))

    def profile(self, feeds: Feeds) -> Profile:
        """How long each kernel of a model that is one plan takes on these feeds; see Session."""
        now(self._steps(feeds))
        return self._only().profile(feeds)

    async def profile_async(self, feeds: Feeds) -> Profile:
        """As `profile`."""
        await soon(self._steps(feeds))
        return await self._only().profile_async(feeds)

    async def run_ordered(self, inputs: Sequence[Any]) -> list[HostArray]:
        """The short road of a model that is one plan, and prepared; see Session."""
        return await self._only().run_ordered(inputs)

    def _sessions(self) -> list[Session]:
        return [part.session for part in self._trace.parts.values() if part.session]

    def _only(self) -> Session:
        sessions = self._sessions()
        if len(sessions) != 1 or self._trace.steps:
            raise GraphError(
                f"{self._record.graph.name}: runs as {len(sessions)} plans and "
                f"{len(self._trace.steps)} steps on the host, or has not run yet: see report()"
            )
        return sessions[0]

    # ---- the end -------------------------------------------------------------------------------

    def close(self) -> None:
        """Frees the memory on the device."""
        self._execution.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names))


def _for_users(values: Mapping[str, Value]) -> dict[str, Any]:
    return {name: to_numpy(value) for name, value in values.items()}
