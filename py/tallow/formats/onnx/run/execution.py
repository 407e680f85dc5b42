"""Runs a graph stage by stage: a generator that asks for what may block, so that one text serves
`run` and `run_async`.

    given ─▶ stage ─▶ NumPy ─▶ device ─▶ host steps ─▶ next stage ... ─▶ outputs

Stages are kept by the shapes they were made for (and by the values, where shapes depend on values);
those used longest ago are closed. A run that meets larger 64-bit integers than a stage was made
for goes on with another stage.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from .... import random
from ....compile.targets import EXACT
from ....errors import DeviceMemoryError, DTypeError, FeedRangeError, OnnxFormatError, RealizeError
from ....graph import Graph
from ....hostarray import HostArray
from ....runtime.device import backend
from ....runtime.session import Session, compile_session, compile_session_async
from ..records import Constant, GraphRecord, NodeRecord, Unreadable, shown
from ..registry import find_control
from ..values import Value, check_memory, size_in_bytes
from .builder import describe
from .float64 import Exact
from .hosting import AT_FAULT, HostStep, compute, in_line
from .stages import Branches, Spec, Stage, ValuesNeededError, make_stage

KEPT = 8
"""Runs whose stages are kept compiled: a run of three stages makes room for 24."""

MOST_PARTS = 1000
"""Parts of one run that are reported: the last ones, of loops whose shapes change every turn."""

MOST_TURNS = 100_000
"""Turns of a run's loops, unless a session allows more: some seconds of a small body, so that a
loop that never ends does end."""

_LIMIT = "beyond what the GPU computes"


class PlanCache(Protocol):
    """Plans that need not be compiled."""

    async def session(self, graph: Graph, device: str | None) -> Session:
        """As `compile_session_async`."""


@dataclass(frozen=True, slots=True)
class Compile:
    """Asks for a graph to be compiled for a device; the answer is a Session."""

    graph: Graph
    device: str | None
    plan_cache: PlanCache | None = None  # of a graph that its file and the shapes of inputs decide

    def now(self) -> Session:
        return compile_session(self.graph, self.device)

    async def soon(self) -> Session:
        make = self.plan_cache.session if self.plan_cache else compile_session_async
        return await make(self.graph, self.device)


@dataclass(frozen=True, slots=True)
class Run:
    """Asks for a session to be run; the answer is its outputs by name."""

    session: Session
    feeds: Mapping[str, HostArray]

    def now(self) -> dict[str, HostArray]:
        return self.session.run_host(self.feeds)

    async def soon(self) -> dict[str, HostArray]:
        return await self.session.run_host_async(self.feeds)


@dataclass(frozen=True, slots=True)
class Breath:
    """Asks for nothing: a loop is about to go round, and others may come before it."""

    def now(self) -> None:
        pass

    async def soon(self) -> None:
        await asyncio.sleep(0)


Steps = Generator[Compile | Run | Breath, Any, Any]


def now(steps: Steps) -> Any:
    """Runs the generator, blocking; gives what it returns."""
    try:
        request = next(steps)
        while True:
            try:
                answer = request.now()
            except Exception as error:
                request = steps.throw(error)
            else:
                request = steps.send(answer)
    except StopIteration as end:
        return end.value


async def soon(steps: Steps) -> Any:
    """Runs the generator; gives what it returns."""
    try:
        request = next(steps)
        while True:
            try:
                answer = await request.soon()
            except Exception as error:
                request = steps.throw(error)
            else:
                request = steps.send(answer)
    except StopIteration as end:
        return end.value


@dataclass(slots=True)
class Part:
    """A stage that is compiled. exact: of what NumPy computes in it. why: why NumPy runs the rest
    as well, though another device was asked for."""

    stage: Stage
    exact: Session | None = None
    session: Session | None = None
    why: str = ""


@dataclass(slots=True)
class Trace:
    """What a run did: the parts that the device ran; how often each host step was computed, and the
    bytes that came to it and went from it; turns of loops, of which there may be `most_turns`."""

    most_turns: int = MOST_TURNS
    turns: int = 0
    parts: dict[int, Part] = field(default_factory=dict)
    steps: dict[int, tuple[HostStep, int, int, int]] = field(default_factory=dict)

    def begin(self) -> None:
        """Forgets the run before."""
        self.turns = 0
        self.parts.clear()
        self.steps.clear()

    def turn(self, node: NodeRecord, taken: Iterable[Value]) -> None:
        """Notes a turn of a loop; RealizeError if it is one too many, DeviceMemoryError for
        sequences that no memory holds. A hundred members of a sequence count as another turn,
        since they are handed on one by one."""
        sequences = [value for value in taken if isinstance(value, list)]
        self.turns += 1 + sum(map(len, sequences)) // 100
        check_memory(sum(map(size_in_bytes, sequences)), "its sequences")
        if self.turns > self.most_turns:
            raise RealizeError(
                f"{describe(node)}: the loops of this run have not ended after {self.most_turns:,} "
                "turns; if they are to go on for longer, say so: session(most_turns=...)"
            )

    def ran(self, part: Part) -> None:
        self.parts[id(part)] = part
        if len(self.parts) > MOST_PARTS:
            del self.parts[next(iter(self.parts))]

    def computed(self, step: HostStep, taken: int, given: int) -> None:
        _, times, before, after = self.steps.get(id(step), (step, 0, 0, 0))
        self.steps[id(step)] = (step, times + 1, before + taken, after + given)


Key = tuple[tuple[NodeRecord, ...], tuple[object, ...]]
"""What a stage depends on: the nodes that are left, and what is known of the values they read."""


class Execution:
    """A graph on a device. Bodies of control flow are executions of their own."""

    def __init__(
        self,
        graph: GraphRecord,
        device: str | None,
        outer: Mapping[str, Constant],
        trace: Trace,
        plan_cache: PlanCache | None = None,
    ) -> None:
        captured = {name: outer[name] for name in graph.captures if name in outer}
        self.graph = graph
        self.trace = trace
        self._device = device
        self._plan_cache = plan_cache
        self._constants = {**captured, **graph.constants}
        self._wanted = tuple(info.name for info in graph.outputs)
        self._known: set[str] = set()
        self._large: set[str] = set()  # values whose 64-bit integers were
        self._parts: OrderedDict[Key, Part] = OrderedDict()
        self._reads: dict[tuple[NodeRecord, ...], tuple[str, ...]] = {}
        self._longest = 1  # stages of a run, at most
        self._branches = Branches()
        self._bodies: dict[tuple[NodeRecord, str], Execution] = {}

    def close(self) -> None:
        """Frees the memory on the device."""
        for part in self._parts.values():
            _close(part)
        self._parts.clear()
        for body in self._bodies.values():
            body.close()

    def needs(self) -> list[str]:
        """What must be given: inputs, and values of the graphs around that are not constants."""
        captured = [name for name in self.graph.captures if name not in self._constants]
        return [*(info.name for info in self.graph.inputs), *captured]

    def prepare(self, specs: Mapping[str, Spec]) -> Steps:
        """Compiles the first stage for inputs of these shapes, if it depends on no values."""
        try:
            part = yield from self._part(self.graph.nodes, dict(specs), 1)
        except ValuesNeededError:
            return
        self.trace.ran(part)

    def run(self, given: Mapping[str, Value]) -> Steps:
        """The outputs by name, of what was given by name."""
        values: dict[str, Any] = dict(given)
        nodes = self.graph.nodes
        stages = 0
        while nodes or not values.keys() >= set(self._wanted) - self._constants.keys():
            part = yield from self._part(nodes, values, stages + 1)
            stage = part.stage
            try:
                values.update((yield from self._computed(part, values)))
            except FeedRangeError as error:
                if error.name in self._large:
                    raise
                self._large.add(error.name)
                continue  # with a stage in which NumPy computes what reads it
            stages += 1
            for step in stage.steps:
                yield from self._host_step(step, values)
            if len(stage.later) == len(nodes):
                raise OnnxFormatError(f"{describe(nodes[0])}: what it needs is never known")
            nodes = stage.later
            if nodes:
                self._forget(values, nodes)
        return {name: self._value(name, values) for name in self._wanted}

    def _forget(self, values: dict[str, Any], nodes: tuple[NodeRecord, ...]) -> None:
        needed = {*self._wanted, *(name for node in nodes for name in node.reads)}
        for name in [name for name in values if name not in needed]:
            del values[name]

    def _value(self, name: str, values: Mapping[str, Any]) -> Value:
        if name in values:
            value: Value = values[name]
            return value
        found = self._constants[name]
        if isinstance(found, Unreadable):
            raise OnnxFormatError(found.reason)
        return found

    # ---- the device ----------------------------------------------------------------------------

    def _part(self, nodes: tuple[NodeRecord, ...], values: Mapping[str, Any], number: int) -> Steps:
        """The compiled stage for these values, which is made where it is new. number: its place in
        the run, from 1."""
        while True:
            key = self._key(nodes, values)
            if key in self._parts:
                self._parts.move_to_end(key)
                return self._parts[key]
            known = {name for name in self._known if isinstance(values.get(name), HostArray)}
            drawn = random.drawn()
            try:
                stage = make_stage(
                    nodes,
                    values,
                    known,
                    self._constants,
                    self._wanted,
                    shown(self.graph.name) or "onnx",
                    backend(self._device).target.computes_64_bits,
                    self._branches,
                    self._large,
                )
            except ValuesNeededError as error:
                if any(isinstance(values[name], Spec) for name in error.names):
                    raise
                self._known |= error.names
                continue
            self._known |= stage.values.keys()
            part = Part(stage)
            if stage.exact is not None:
                part.exact = yield Compile(stage.exact.graph, EXACT)
            if stage.graph is not None:
                decided = nodes is self.graph.nodes and not known and not self._large
                decided = decided and drawn == random.drawn()
                yield from self._compile(part, self._device, self._plan_cache if decided else None)
            self._parts[key] = part
            self._longest = max(self._longest, number)
            while len(self._parts) > KEPT * self._longest:
                (left, _), oldest = self._parts.popitem(last=False)
                self._reads.pop(left, None)
                _close(oldest)
            return part

    def _key(self, nodes: tuple[NodeRecord, ...], values: Mapping[str, Any]) -> Key:
        """What a stage depends on: the nodes left, the shapes and types of values, and the values
        that it must know."""
        if nodes not in self._reads:
            read = {name for node in nodes for name in node.reads} | set(self._wanted)
            self._reads[nodes] = tuple(sorted(read - self._constants.keys()))
        marks: list[object] = [frozenset(self._large)]
        for name in self._reads[nodes]:
            value = values.get(name)
            if isinstance(value, (HostArray, Spec)):
                marks.append((name, value.shape, value.dtype))
                if name in self._known and isinstance(value, HostArray):
                    marks.append(bytes(value.data))
            elif name in values:
                marks.append((name, "host"))
        return nodes, tuple(marks)

    def _compile(self, part: Part, device: str | None, plan_cache: PlanCache | None) -> Steps:
        try:
            part.session = yield Compile(part.stage.graph, device, plan_cache)  # type: ignore[arg-type]
        except DTypeError as error:
            if backend(device).target.computes_64_bits:
                raise
            part.why = f"{_LIMIT}: {error}"
            part.session = yield Compile(part.stage.graph, EXACT)  # type: ignore[arg-type]

    def _computed(self, part: Part, values: Mapping[str, Any]) -> Steps:
        """What NumPy and the device compute of a stage. Raises FeedRangeError."""
        made = dict(part.stage.values)
        if part.exact is not None:
            made.update((yield Run(part.exact, _feeds(part.stage.exact, values))))
        if part.session is not None:
            feeds = _feeds(part.stage, {**values, **made})
            made.update((yield Run(part.session, feeds)))
            self.trace.ran(part)
        if part.stage.exact is not None:
            self._note(part.stage.exact, values, made)
        return made

    def _note(self, exact: Exact, values: Mapping[str, Any], made: Mapping[str, Any]) -> None:
        """Notes what NumPy computed; each value that crosses is counted with one node."""
        feeds = _feeds(exact, values)
        uncounted = set(feeds)
        for step in exact.steps:
            taken = uncounted.intersection(step.node.inputs)
            uncounted -= taken
            given = [made[name] for name in step.node.outputs if name in exact.graph.outputs]
            sizes = (feeds[name].data.nbytes for name in taken)
            self.trace.computed(step, sum(sizes), sum(map(size_in_bytes, given)))

    # ---- the host ------------------------------------------------------------------------------

    def _host_step(self, step: HostStep, values: dict[str, Any]) -> Steps:
        node = step.node
        taken = [self._value(name, values) if name else None for name in node.inputs]
        control: Any = find_control(node)
        if control is None:
            results = compute(node, taken)
        else:
            bodies = {
                name: self._body(node, name, value, values)
                for name, value in node.attributes.items()
                if isinstance(value, GraphRecord)
            }
            try:
                made = yield from control.function(node, taken, bodies)
            except MemoryError as error:
                raise DeviceMemoryError(f"{describe(node)}: {in_line(error)}") from error
            except AT_FAULT as error:
                raise OnnxFormatError(f"{describe(node)}: {in_line(error)}") from error
            results = {name: x for name, x in zip(node.outputs, made) if name}  # noqa: B905
        missing = [name for name in node.outputs if name and name not in results]
        if missing:
            raise OnnxFormatError(f"{describe(node)}: its output {missing[0]!r} is not computed")
        values.update(results)
        given = sum(map(size_in_bytes, results.values()))
        self.trace.computed(step, sum(map(size_in_bytes, taken)), given)

    def _body(
        self, node: NodeRecord, name: str, graph: GraphRecord, values: Mapping[str, Any]
    ) -> Any:
        """A function that runs a body on its inputs, in order, and gives its outputs, in order."""
        key = node, name
        if key not in self._bodies:
            self._bodies[key] = Execution(graph, self._device, self._constants, self.trace)
        body = self._bodies[key]
        captured = {x: values[x] for x in graph.captures if x in values}

        def run(*inputs: Value) -> Steps:
            if len(inputs) != len(graph.inputs):
                raise OnnxFormatError(
                    f"its graph {name!r} has {len(graph.inputs)} inputs, and is given {len(inputs)}"
                )
            if node.op_type != "If":
                self.trace.turn(node, inputs)
                yield Breath()
            own = {info.name: x for info, x in zip(graph.inputs, inputs, strict=True)}
            results = yield from body.run({**captured, **own})
            return [results[info.name] for info in graph.outputs]

        run.outputs = graph.outputs  # type: ignore[attr-defined]
        return run


def _feeds(part: Stage | Exact | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """What the graph of a stage, or of NumPy's part of it, is fed."""
    assert part is not None and part.graph is not None
    return {node.attrs["name"]: values[node.attrs["name"]] for node in part.graph.inputs}


def _close(part: Part) -> None:
    for session in (part.exact, part.session):
        if session is not None:
            session.close()
