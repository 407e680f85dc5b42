"""Sessions: a graph, compiled and loaded on a device, ready to run many times."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..compile import Compiled, Plan
from ..compile.indices import Indexed, by_input, check_ranges
from ..compile.plan import Port
from ..core import watching
from ..core.drivers import Steps, run_async, run_sync
from ..core.dtype import BY_NAME, DType, word_type
from ..core.hostarray import HostArray, from_array, from_python, from_words
from ..core.shape import size_of
from ..errors import FeedError, TallowError
from ..graph import Graph, Node, constant
from ..tensor import Tensor
from .base import Backend, Program
from .buffer import Buffer
from .capture import own
from .device import backend
from .hosted import load
from .profile import Profile
from .states import BoundStates, State, compile_with_states
from .transfer import for_device

if TYPE_CHECKING:
    from ..core.watchers import Seen

Feeds = Mapping[str, Any]


class Session:
    """Runs one graph on one device.

    `run` and `run_async` take {input name: array} and give {output name: NumPy array}. Arrays are
    NumPy arrays, nested lists, or anything with the buffer protocol; they must have exactly the
    shape of the input, and its type (Python lists are converted; types that NumPy lacks are those
    of ml_dtypes, or unsigned integers that hold their codes). "webgpu" computes float64 in
    float32. Usable in a `with` statement.
    """

    def __init__(
        self,
        compiled: Compiled,
        program: Program,
        used: Backend,
        captured: Sequence[Node] = (),
        states: Mapping[str, State] = {},
    ) -> None:
        self._plan, self._coded = compiled.plan, compiled.coded  # the weights are the program's
        self._indexed = by_input(compiled.indexed)
        self._program = program
        self._backend = used
        self._memory = used.memory
        self._captured = captured
        self._states = states
        written = self._plan.written
        self._bound = BoundStates(
            [(state, port.slot in written)
             for port, state in zip(self._plan.states, states.values(), strict=True)]
        )  # fmt: skip
        self._ports = self._plan.inputs[: len(self._plan.inputs) - len(captured)]

    @classmethod
    def load(
        cls,
        compiled: Compiled,
        used: Backend,
        captured: Sequence[Node] = (),
        states: Mapping[str, State] = {},
    ) -> Session:
        """A plan, loaded on a device; blocks.

        compiled: the plan and its weights.
        used: the device that loads it.
        captured: nodes whose buffers the plan reads beside its inputs.
        states: a `Variable` for each of the plan's states, by name.
        Returns: the session.
        """
        return run_sync(cls.loading(compiled, used, captured, states))

    @classmethod
    async def load_async(
        cls,
        compiled: Compiled,
        used: Backend,
        captured: Sequence[Node] = (),
        states: Mapping[str, State] = {},
    ) -> Session:
        """A plan, loaded without blocking the event loop.

        compiled: the plan and its weights.
        used: the device that loads it.
        captured: nodes whose buffers the plan reads beside its inputs.
        states: a `Variable` for each of the plan's states, by name.
        Returns: the session.
        """
        return await run_async(cls.loading(compiled, used, captured, states))

    @classmethod
    def loading(
        cls,
        compiled: Compiled,
        used: Backend,
        captured: Sequence[Node] = (),
        states: Mapping[str, State] = {},
    ) -> Steps[Session]:
        """The steps of `load`."""
        return cls(compiled, (yield from load(used, compiled)), used, captured, states)

    @property
    def plan(self) -> Plan:
        """The plan that runs."""
        return self._plan

    @property
    def device(self) -> str:
        """The name of the device: "webgpu", "wasm" or "numpy"."""
        return self._backend.info.device

    @property
    def adapter(self) -> str:
        """The real name of what computes."""
        return self._backend.info.adapter

    @property
    def stats(self) -> dict[str, Any]:
        """kernels, dispatches (of one run), slots, bytes, weights (the bytes of those among them),
        runs, adapter."""
        return {**self._program.stats, "weights": self.plan.weight_bytes}

    def run(self, feeds: Feeds, fetch: Collection[str] | None = None) -> dict[str, Any]:
        """Runs, and blocks until the outputs that are fetched are there.

        feeds: an array for each input, by name; or a tensor, which is not copied if it is on the
          session's device.
        fetch: the outputs that come to the host as NumPy arrays; None means all. The others are
          tensors that stay on the device; where none is fetched, nothing waits.
        Returns: the outputs by name.
        Raises: FeedError for feeds that do not fit, naming them, and for unknown names in `fetch`;
          IndexRangeError for indices that are out of range, among the feeds from the host.
        """
        return run_sync(self.running(feeds, fetch))

    async def run_async(self, feeds: Feeds, fetch: Collection[str] | None = None) -> dict[str, Any]:
        """Runs like `run`, without blocking the event loop.

        feeds: an array or a tensor for each input, by name.
        fetch: the outputs that come to the host as NumPy arrays; None means all.
        Returns: the outputs by name.
        Raises: FeedError and IndexRangeError, as `run`.
        """
        return await run_async(self.running(feeds, fetch))

    def running(self, feeds: Feeds, fetch: Collection[str] | None = None) -> Steps[dict[str, Any]]:
        """The steps of `run`."""
        wanted = self._wanted(fetch)
        with self._watched(feeds) as seen:
            values = yield from self._program.run(self._ready(feeds), wanted)
            results = self._results(values, fetch)
            seen(results)
            return results

    def _watched(self, feeds: Mapping[str, Any]) -> AbstractContextManager[Seen]:
        """A with block of a run, of which telemetry is told, if there is any."""
        if watching.watcher is None:
            return watching.NOTHING
        shapes = {port.name: port.shape for port in self._ports}
        return watching.watcher.inference(self.plan.name, self.device, shapes, feeds)

    def _wanted(self, fetch: Collection[str] | None) -> list[bool] | None:
        """Which outputs are fetched, in the plan's order; None if all are."""
        if fetch is None:
            return None
        names = [port.name for port in self.plan.outputs]
        unknown = [str(name) for name in fetch if name not in names]
        if unknown:
            raise FeedError(
                f"{self.plan.name}: fetch names {', '.join(unknown)} (outputs are "
                f"{', '.join(names)})"
            )
        return [name in fetch or name in self._coded for name in names]

    def _results(self, values: Sequence[Any], fetch: Collection[str] | None) -> dict[str, Any]:
        """Arrays of what was fetched, and tensors of what was not. What is of few bits came to the
        host in any case."""
        results: dict[str, Any] = {}
        for name, value in self._named(values).items():
            if isinstance(value, Buffer):
                results[name] = Tensor(value.node)
            elif fetch is None or name in fetch:
                results[name] = value.numpy()
            else:
                results[name] = Tensor(constant(value))
        return results

    def run_host(self, feeds: Feeds) -> dict[str, HostArray]:
        """Runs and gives HostArrays, for which no NumPy is needed."""
        return run_sync(self.running_host(feeds))

    async def run_host_async(self, feeds: Feeds) -> dict[str, HostArray]:
        """As `run_async`, with HostArrays, for which no NumPy is needed."""
        return await run_async(self.running_host(feeds))

    def running_host(self, feeds: Feeds) -> Steps[dict[str, HostArray]]:
        """The steps of `run_host`."""
        with self._watched(feeds) as seen:
            results = self._named((yield from self._program.run(self._ready(feeds))))
            seen(results)
            return results

    async def run_ordered(self, inputs: Sequence[Any]) -> list[HostArray]:
        """Runs with inputs in the device's form, the fast path of `run_host_async`.

        inputs: buffers in the order of the plan's inputs, whose elements are in the device's form.
        Returns: the outputs, in the plan's order.
        Raises: FeedError for a buffer of the wrong length.
        """
        for port, value in zip(self.plan.inputs, inputs, strict=True):
            length = memoryview(value).nbytes
            expected = BY_NAME[port.dtype].size * size_of(port.shape)
            if length != expected:
                raise FeedError(
                    f"the input {port.name!r} expects {expected} bytes ({port.dtype} "
                    f"{port.shape}), got {length}"
                )
        with self._watched({}):
            return await run_async(self._program.run(inputs))

    def profile(self, feeds: Feeds) -> Profile:
        """How long each kernel takes on these feeds; runs some times, and blocks.

        Runs that are not profiled are none the slower for it. The states stay as they are: it runs
        on copies of them.

        feeds: an array or a tensor for each input, by name.
        Returns: the times, which print as a table.
        Raises: FeedError for feeds that do not fit.
        """
        return run_sync(self.profiling(feeds))

    async def profile_async(self, feeds: Feeds) -> Profile:
        """Profiles like `profile`, without blocking the event loop."""
        return await run_async(self.profiling(feeds))

    def profiling(self, feeds: Feeds) -> Steps[Profile]:
        """The steps of `profile`."""
        inputs = self._inputs(feeds)
        copies = self._bound.bind_copies(self._program, self._memory)
        timing = yield from self._program.profile(inputs)
        del copies
        return Profile(self.plan, timing, self._backend.info)

    # ---- state ---------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The values of the states by name, as NumPy arrays; blocks."""
        return run_sync(self._reading_states())

    async def state_dict_async(self) -> dict[str, Any]:
        """Reads the states without blocking the event loop."""
        return await run_async(self._reading_states())

    def _reading_states(self) -> Steps[dict[str, Any]]:
        names = list(self._states)
        if not names:
            return {}
        buffers = [self._states[name].buffer(self._memory) for name in names]
        values = yield from self._memory.read(buffers)
        return {name: value.numpy() for name, value in zip(names, values, strict=True)}

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Sets every state to the array of its name; other sessions that share it see that.

        values: an array for each state, by name.
        Raises: FeedError where names are missing or unknown, ShapeError or DTypeError where an
          array does not fit; then nothing is changed.
        """
        missing = [name for name in self._states if name not in values]
        unknown = [str(name) for name in values if name not in self._states]
        if missing or unknown:
            wrong = [f"missing {', '.join(missing)}"] if missing else []
            wrong += [f"unknown {', '.join(unknown)}"] if unknown else []
            raise FeedError(
                f"{self.plan.name}: {'; '.join(wrong)} (states are "
                f"{', '.join(self._states) or 'none'})"
            )
        fitting = {name: state.fitting(values[name]) for name, state in self._states.items()}
        for name, value in fitting.items():
            self._states[name].assign(value)

    def close(self) -> None:
        """Frees the memory on the device."""
        self._program.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ---- feeds ---------------------------------------------------------------------------------

    def _ready(self, feeds: Feeds) -> list[Any]:
        """What the program takes; it has the states of now."""
        inputs = self._inputs(feeds)
        self._bound.bind(self._program, self._memory)
        return inputs

    def _inputs(self, feeds: Feeds) -> list[Any]:
        """What the program takes: feeds and captured buffers."""
        ports = self._ports
        names = [port.name for port in ports]
        missing = [name for name in names if name not in feeds]
        known = set(names)
        extra = [str(name) for name in feeds if name not in known]
        if missing or extra:
            wrong = [f"missing {', '.join(missing)}"] if missing else []
            wrong += [f"unknown {', '.join(extra)}"] if extra else []
            raise FeedError(
                f"{self.plan.name}: {'; '.join(wrong)} (inputs are {', '.join(names) or 'none'})"
            )
        coded = self._coded
        inputs: list[Any] = []
        for port in ports:
            value, dtype = feeds[port.name], coded.get(port.name) or BY_NAME[port.dtype]
            indexed = self._indexed.get(port.name, ())
            if isinstance(value, Tensor):
                value = self._on_device(port, value, dtype, bool(indexed))
                if isinstance(value, Buffer):
                    inputs.append(value)
                    continue
            inputs.append(
                _feed(port.name, value, dtype, port.shape, self._memory.is_host, port.most, indexed)
            )
        return [*inputs, *(node.attrs["buffer"] for node in self._captured)]

    def _on_device(self, port: Port, value: Tensor, dtype: DType, indexed: bool) -> Any:
        """A tensor's buffer if the plan can read it, else its elements, which come from the host.

        A GPU has results of narrow types in whole words, where the plan reads packed ones; and what
        64-bit integers are, the host must see.
        """
        if value.dtype != dtype or value.shape != port.shape:
            raise FeedError(
                f"the input {port.name!r} expects {dtype.name} {port.shape}, got "
                f"{value.dtype.name} {value.shape}"
            )
        node = value.node
        if node.is_constant:
            return node.attrs["data"]
        fits = dtype.size >= 4 or dtype.kind == "b" or self._memory.is_host
        if port.most is not None or not fits or dtype.coded:
            return value._host(self.device)
        return own(value.realize(self.device).node.attrs["buffer"], self._memory)

    def _named(self, values: Sequence[Any]) -> dict[str, Any]:
        named = {port.name: v for port, v in zip(self.plan.outputs, values, strict=True)}
        for name in named.keys() & self._coded.keys():
            words = named[name]
            named[name] = from_words(words.data, words.shape, self._coded[name])
        return named


def _feed(
    name: str,
    value: Any,
    dtype: DType,
    shape: tuple[int, ...],
    is_host: bool,
    most: int | None,
    indexed: Sequence[Indexed],
) -> Any:
    """The bytes of one input as the device takes them; FeedError if the value does not fit."""
    expected = f"{dtype.name} {shape}"
    try:
        if isinstance(value, (bool, int, float, list, tuple)):
            data = from_python(value, dtype)
        else:
            data = from_array(value)
    except (TallowError, TypeError, ValueError) as error:
        raise FeedError(f"the input {name!r} expects {expected}: {error}") from error
    if dtype.coded and data.dtype == word_type(dtype):  # codes, where there is no ml_dtypes
        data = from_words(data.data, data.shape, dtype)
    if data.dtype != dtype or data.shape != shape:
        raise FeedError(
            f"the input {name!r} expects {expected}, got {data.dtype.name} {data.shape}"
        )
    check_ranges(data, indexed)
    return data.words() if is_host else for_device(data, name, most)


def compile_session(
    graph: Graph, device: str | None = None, states: Mapping[str, State] = {}
) -> Session:
    """Compiles a graph and loads it on a device; blocks.

    graph: the graph to run.
    device: "webgpu", "wasm" or "numpy"; None is the default device.
    states: a `Variable` for each of the graph's states, by name; sessions that are given the same
      one share it.
    Returns: the session.
    Raises: DeviceUnavailableError with the reason, DeviceMemoryError before anything is allocated,
      GraphError for states that do not fit, RealizeError where blocking is impossible
      (`compile_session_async` never blocks).
    """
    return run_sync(compiling(graph, device, states))


async def compile_session_async(
    graph: Graph, device: str | None = None, states: Mapping[str, State] = {}
) -> Session:
    """Compiles a graph and loads it on a device, without blocking the event loop.

    graph: the graph to run.
    device: "webgpu", "wasm" or "numpy"; None is the default device.
    states: a `Variable` for each of the graph's states, by name; sessions that are given the same
      one share it.
    Returns: the session.
    Raises: DeviceUnavailableError with the reason, DeviceMemoryError before anything is allocated,
      GraphError for states that do not fit.
    """
    return await run_async(compiling(graph, device, states))


def compiling(
    graph: Graph, device: str | None = None, states: Mapping[str, State] = {}
) -> Steps[Session]:
    """The steps of `compile_session`."""
    used = backend(device)
    compiled, captured = compile_with_states(graph, used, states)
    return (yield from Session.loading(compiled, used, captured, states))
