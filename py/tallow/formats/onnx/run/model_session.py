"""ModelSession: a model on a device, compiled for the shapes of its inputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from ....compile.plan import Plan
from ....core.drivers import Steps, run_async, run_sync
from ....core.hostarray import HostArray
from ....errors import (
    FeedError,
    FeedRangeError,
    GraphError,
    OnnxFormatError,
    RealizeError,
    ShapeError,
)
from ....graph import constant
from ....runtime.device import backend
from ....runtime.profile import Profile
from ....runtime.session import Session
from ....tensor import Tensor, reading
from ..dimensions import Shapes, concrete_shapes, guessed
from ..records import ModelRecord, shown
from ..values import Value, checked_feed, to_numpy
from .execution import Execution
from .plan_cache import PlanCache
from .report import Report
from .stages import Spec
from .trace import Part, Trace

Feeds = Mapping[str, Any]


class ModelSession:
    """Runs one model on one device.

    `run` and `run_async` take {input name: array} and return {output name: NumPy array}; sequences
    are lists, strings are NumPy arrays of objects, an empty optional is None. Inputs are NumPy
    arrays, nested lists, or anything with the buffer protocol. The model is compiled when it first
    gets inputs of new shapes; the last few compilations are cached. `report()` tells what ran
    where. Usable in a `with` statement.
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

    def run(self, feeds: Feeds, fetch: Collection[str] | None = None) -> dict[str, Any]:
        """Runs and blocks until the outputs that are fetched are there.

        feeds: arrays, or tensors. fetch: the outputs that come to the host; None means all. The
        others are tensors. If the model runs as one plan, tensors that are on its device are read
        there and outputs that are not fetched stay there, so that nothing is copied; otherwise
        both take the way over the host.

        Raises FeedError for feeds that do not fit and for unknown names in `fetch`, naming them.
        """
        return run_sync(self._running(feeds, fetch))

    async def run_async(self, feeds: Feeds, fetch: Collection[str] | None = None) -> dict[str, Any]:
        """Like `run`."""
        return await run_async(self._running(feeds, fetch))

    def run_host(self, feeds: Feeds) -> dict[str, Value]:
        """Like `run`, but with HostArrays, which do not need NumPy."""
        return run_sync(self._steps(feeds))

    async def run_host_async(self, feeds: Feeds) -> dict[str, Value]:
        """Like `run_async`, but with HostArrays, which do not need NumPy."""
        return await run_async(self._steps(feeds))

    def _running(self, feeds: Feeds, fetch: Collection[str] | None) -> Steps[dict[str, Any]]:
        if _is_plain(feeds, fetch):
            return _for_users((yield from self._steps(feeds)))
        self._check_fetch(fetch)
        checked = self._fed(feeds)
        session = yield from self._whole(checked)
        if session is not None:
            with suppress(FeedRangeError):  # NumPy has to compute what reads that
                return (yield from session.running(checked, fetch))
        tensors = {name: value for name, value in checked.items() if isinstance(value, Tensor)}
        values = dict(zip(tensors, (yield from reading([*tensors.values()])), strict=True))
        return _left((yield from self._steps({**checked, **values})), fetch)

    def prepare(self, shapes: Shapes | None, *, guess: bool = False) -> Steps[None]:
        """Compiles the model in advance if the file and `shapes` give all input shapes.

        guess: even if a leading dimension is open, for a length of 1.
        """
        graph = self._record.graph
        tensors = [info for info in graph.inputs if info.dtype is not None]
        try:
            by_name = concrete_shapes(tensors, shapes)
        except ShapeError:
            if shapes:
                raise
            return  # the inputs of a run will give the shapes
        open_ = guessed(tensors, shapes)
        if len(tensors) < len(graph.inputs) or (open_ and not guess):
            return  # a run would probably compile it again, for another length
        specs = {info.name: Spec(by_name[info.name], info.dtype) for info in tensors if info.dtype}
        try:
            yield from self._execution.prepare(specs)
        except OnnxFormatError:
            if not open_:
                raise  # otherwise a guessed length of 1 may be the cause; a run will show

    def _check_fetch(self, fetch: Collection[str] | None) -> None:
        names = [info.name for info in self._record.graph.outputs]
        unknown = [str(name) for name in fetch or () if name not in names]
        if unknown:
            raise FeedError(
                f"{shown(self._record.graph.name)}: fetch names {_listed(unknown)} (outputs are "
                f"{_listed(names)})"
            )

    def _whole(self, values: Mapping[str, Any]) -> Steps[Session | None]:
        """The session of a model that runs as one plan for such inputs; None if it does not."""
        if not all(isinstance(value, (HostArray, Tensor)) for value in values.values()):
            return None
        self._trace.reset()
        specs = {name: Spec(value.shape, value.dtype) for name, value in values.items()}
        yield from self._execution.prepare(specs)
        parts = list(self._trace.parts.values())
        if len(parts) != 1 or parts[0].session is None:
            return None
        stage, session = parts[0].stage, parts[0].session
        if stage.steps or stage.later or stage.numpy_part is not None:
            return None
        outputs = {port.name for port in session.plan.outputs}
        return session if outputs == {info.name for info in self._record.graph.outputs} else None

    def _steps(self, feeds: Feeds) -> Steps[dict[str, Value]]:
        values = self._fed(feeds)
        self._trace.reset()
        return (yield from self._execution.run(values))

    def _fed(self, feeds: Feeds) -> dict[str, Any]:
        """The feeds as values, and tensors as they are. Raises FeedError."""
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
        return {info.name: checked_feed(info, feeds.get(info.name)) for info in graph.inputs}

    # ---- information ---------------------------------------------------------------------------

    @property
    def device(self) -> str:
        """ "webgpu" or "numpy"."""
        return self._backend.info.device

    @property
    def adapter(self) -> str:
        """The actual name of the hardware or library that computes."""
        return self._backend.info.adapter

    @property
    def plans(self) -> Sequence[Plan]:
        """The plans that the device ran last, or that are ready to run."""
        return [session.plan for session in self._sessions()]

    @property
    def plan(self) -> Plan:
        """The plan of a model that has just one; GraphError otherwise (see `plans`). Before the
        first run it is that of one item, if the length of the batch is open."""
        return self._only().plan

    @property
    def stats(self) -> dict[str, Any]:
        """Totals over all plans: kernels, dispatches, slots, bytes, weights, runs; and adapter."""
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
        """The time of each kernel on these inputs, for a model with one plan; see Session."""
        return run_sync(self._profiling(feeds))

    async def profile_async(self, feeds: Feeds) -> Profile:
        """Like `profile`."""
        return await run_async(self._profiling(feeds))

    def _profiling(self, feeds: Feeds) -> Steps[Profile]:
        yield from self._steps(feeds)
        return (yield from self._only().profiling(feeds))

    async def run_ordered(self, inputs: Sequence[Any]) -> list[HostArray]:
        """The fast path for a prepared model with one plan; see Session."""
        return await self._only().run_ordered(inputs)

    def _sessions(self) -> list[Session]:
        return [part.session for part in self._trace.parts.values() if part.session]

    def _only(self) -> Session:
        if not self._trace.parts and not self._trace.steps:
            with suppress(RealizeError):  # where blocking is impossible
                run_sync(self.prepare(None, guess=True))
        sessions = self._sessions()
        if len(sessions) != 1 or self._trace.steps:
            raise GraphError(
                f"{self._record.graph.name}: runs as {len(sessions)} plans and "
                f"{len(self._trace.steps)} steps on the host, or has not run yet: see report()"
            )
        return sessions[0]

    # ---- closing -------------------------------------------------------------------------------

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


def _is_plain(feeds: Feeds, fetch: Collection[str] | None) -> bool:
    """Whether all is on the host, and all comes to the host."""
    tensors = isinstance(feeds, Mapping) and any(isinstance(x, Tensor) for x in feeds.values())
    return fetch is None and not tensors


def _left(values: Mapping[str, Value], fetch: Collection[str] | None) -> dict[str, Any]:
    """Arrays of what is fetched, and tensors of the rest, but for texts and sequences."""
    return {
        name: to_numpy(value)
        if fetch is None or name in fetch or not isinstance(value, HostArray)
        else Tensor(constant(value))
        for name, value in values.items()
    }


def _for_users(values: Mapping[str, Value]) -> dict[str, Any]:
    return {name: to_numpy(value) for name, value in values.items()}
