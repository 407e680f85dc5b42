"""Runs a graph stage by stage, as a generator that requests what may block
(core/drivers.py).

    given ─▶ stage ─▶ NumPy ─▶ device ─▶ host steps ─▶ next stage ... ─▶ outputs

Stages are cached by the shapes they were built for (and by values that shapes depend on); the least
recently used are closed. A run that meets larger 64-bit integers than a stage was built for
continues with another stage.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from .... import random
from ....core.devices import EXACT
from ....core.drivers import Steps, YieldControl
from ....core.hostarray import HostArray
from ....errors import DeviceMemoryError, DTypeError, FeedRangeError, OnnxFormatError
from ....graph import Graph
from ....runtime.device import backend
from ..records import Constant, GraphRecord, NodeRecord, Unreadable, shown
from ..registry import find_control
from ..values import Value, size_in_bytes
from .builder import describe
from .float64 import NumpyPart
from .hosting import AT_FAULT, HostStep, compute, one_line
from .plan_cache import PlanCache, session_of
from .stages import Shared, Spec, Stage, ValuesNeededError, make_stage
from .trace import Part, Trace

MAX_CACHED_RUNS = 8
"""Runs whose stages stay compiled: a run with three stages makes room for 24."""

_LIMIT = "beyond what the GPU computes"

Key = tuple[tuple[NodeRecord, ...], tuple[object, ...]]
"""What a stage depends on: the remaining nodes, and what is known of the values they read."""


class Execution:
    """A graph on a device. Each control flow body has an execution of its own."""

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
        self._large: set[str] = set()  # values whose 64-bit integers exceeded 32 bits
        self._parts: OrderedDict[Key, Part] = OrderedDict()
        self._reads: dict[tuple[NodeRecord, ...], frozenset[str]] = {}
        self._longest = 1  # the most stages that a run has had
        self._shared = Shared(trace.most_turns)
        self._bodies: dict[tuple[NodeRecord, str], Execution] = {}

    def close(self) -> None:
        """Frees the memory on the device."""
        for part in self._parts.values():
            _close(part)
        self._parts.clear()
        for body in self._bodies.values():
            body.close()

    def needs(self) -> list[str]:
        """The values a run requires: inputs, and captured values that are not constants."""
        captured = [name for name in self.graph.captures if name not in self._constants]
        return [*(info.name for info in self.graph.inputs), *captured]

    def prepare(self, specs: Mapping[str, Spec]) -> Steps[None]:
        """Compiles the first stage for inputs of these shapes, unless it depends on values."""
        try:
            part = yield from self._part(self.graph.nodes, dict(specs), 1)
        except ValuesNeededError:
            return
        self.trace.add_part(part)

    def run(self, given: Mapping[str, Value]) -> Steps[dict[str, Value]]:
        """Computes the outputs by name from the given values by name."""
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
                continue  # with a stage in which NumPy computes the nodes that read it
            stages += 1
            for step in stage.steps:
                yield from self._host_step(step, values)
            if len(stage.later) == len(nodes):
                raise OnnxFormatError(f"{describe(nodes[0])}: its inputs never become known")
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

    def _part(
        self, nodes: tuple[NodeRecord, ...], values: Mapping[str, Any], number: int
    ) -> Steps[Part]:
        """The compiled stage for these values, from the cache or new. number: its position in the
        run, from 1."""
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
                    self._shared,
                    self._large,
                )
            except ValuesNeededError as error:
                if any(isinstance(values[name], Spec) for name in error.names):
                    raise
                self._known |= error.names
                continue
            self._known |= stage.values.keys()
            part = Part(stage)
            if stage.numpy_part is not None:
                part.numpy_session = yield from session_of(stage.numpy_part.graph, EXACT)
            if stage.graph is not None:
                cacheable = nodes is self.graph.nodes and not known and not self._large
                cacheable = cacheable and drawn == random.drawn() and not self._shared.seeds
                cache = self._plan_cache if cacheable else None
                yield from self._compile(part, stage.graph, self._device, cache)
            self._parts[key] = part
            self._longest = max(self._longest, number)
            while len(self._parts) > MAX_CACHED_RUNS * self._longest:
                (remaining, _), oldest = self._parts.popitem(last=False)
                self._reads.pop(remaining, None)
                _close(oldest)
            return part

    def _key(self, nodes: tuple[NodeRecord, ...], values: Mapping[str, Any]) -> Key:
        """What a stage depends on: the remaining nodes, the shapes and types of values, and the
        values that must be known."""
        reads = self._reads.get(nodes)
        if reads is None:
            read = {name for node in nodes for name in node.reads} | set(self._wanted)
            reads = self._reads[nodes] = frozenset(read - self._constants.keys())
        marks: list[object] = [frozenset(self._large)]
        for name, value in values.items():  # in the order of the inputs, then of the nodes
            if name not in reads:
                continue
            if isinstance(value, (HostArray, Spec)):
                marks.append((name, value.shape, value.dtype))
                if name in self._known and isinstance(value, HostArray):
                    marks.append(bytes(value.data))
            else:
                marks.append((name, "host"))
        return nodes, tuple(marks)

    def _compile(
        self, part: Part, graph: Graph, device: str | None, plan_cache: PlanCache | None
    ) -> Steps[None]:
        try:
            part.session = yield from session_of(graph, device, plan_cache)
        except DTypeError as error:
            if backend(device).target.computes_64_bits:
                raise
            part.why = f"{_LIMIT}: {error}"
            part.session = yield from session_of(graph, EXACT)

    def _computed(self, part: Part, values: Mapping[str, Any]) -> Steps[dict[str, Any]]:
        """The values that NumPy and the device compute in a stage. Raises FeedRangeError."""
        results = dict(part.stage.values)
        if part.numpy_session is not None:
            feeds = _feeds(part.stage.numpy_part, values)
            results.update((yield from part.numpy_session.running_host(feeds)))
        if part.session is not None:
            feeds = _feeds(part.stage, {**values, **results})
            results.update((yield from part.session.running_host(feeds)))
            self.trace.add_part(part)
        if part.stage.numpy_part is not None:
            self._trace_numpy(part.stage.numpy_part, values, results)
        return results

    def _trace_numpy(
        self, part: NumpyPart, values: Mapping[str, Any], results: Mapping[str, Any]
    ) -> None:
        """Records what NumPy computed, counting each value that crosses with one node only."""
        feeds = _feeds(part, values)
        uncounted = set(feeds)
        for step in part.steps:
            inputs = uncounted.intersection(step.node.inputs)
            uncounted -= inputs
            outputs = [results[name] for name in step.node.outputs if name in part.graph.outputs]
            sizes = (feeds[name].data.nbytes for name in inputs)
            self.trace.add_step(step, sum(sizes), sum(map(size_in_bytes, outputs)))

    # ---- the host ------------------------------------------------------------------------------

    def _host_step(self, step: HostStep, values: dict[str, Any]) -> Steps[None]:
        node = step.node
        inputs = [self._value(name, values) if name else None for name in node.inputs]
        control: Any = find_control(node)
        if control is None:
            results = compute(node, inputs)
        else:
            bodies = {
                name: self._body(node, name, value, values)
                for name, value in node.attributes.items()
                if isinstance(value, GraphRecord)
            }
            try:
                outputs = yield from control.function(node, inputs, bodies)
            except MemoryError as error:
                raise DeviceMemoryError(f"{describe(node)}: {one_line(error)}") from error
            except AT_FAULT as error:
                raise OnnxFormatError(f"{describe(node)}: {one_line(error)}") from error
            results = {name: x for name, x in zip(node.outputs, outputs) if name}  # noqa: B905
        missing = [name for name in node.outputs if name and name not in results]
        if missing:
            raise OnnxFormatError(f"{describe(node)}: its output {missing[0]!r} is not computed")
        values.update(results)
        bytes_out = sum(map(size_in_bytes, results.values()))
        self.trace.add_step(step, sum(map(size_in_bytes, inputs)), bytes_out)

    def _body(
        self, node: NodeRecord, name: str, graph: GraphRecord, values: Mapping[str, Any]
    ) -> Any:
        """A function that runs a body on a list of inputs and returns a list of outputs."""
        key = node, name
        if key not in self._bodies:
            self._bodies[key] = Execution(graph, self._device, self._constants, self.trace)
        body = self._bodies[key]
        captured = {x: values[x] for x in graph.captures if x in values}

        def run(*inputs: Value) -> Steps[list[Value]]:
            if len(inputs) != len(graph.inputs):
                raise OnnxFormatError(
                    f"its graph {name!r} has {len(graph.inputs)} inputs, but gets {len(inputs)}"
                )
            if node.op_type != "If":
                self.trace.add_turn(node, inputs)
                yield YieldControl()
            own = {info.name: x for info, x in zip(graph.inputs, inputs, strict=True)}
            results = yield from body.run({**captured, **own})
            return [results[info.name] for info in graph.outputs]

        run.outputs = graph.outputs  # type: ignore[attr-defined]
        return run


def _feeds(part: Stage | NumpyPart | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs for the graph of a stage or of its NumPy part."""
    assert part is not None and part.graph is not None
    return {node.attrs["name"]: values[node.attrs["name"]] for node in part.graph.inputs}


def _close(part: Part) -> None:
    for session in (part.numpy_session, part.session):
        if session is not None:
            session.close()
