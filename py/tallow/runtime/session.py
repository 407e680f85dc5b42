"""Sessions: a graph, compiled and loaded on a device, ready to run many times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from ..compile import Compiled, Plan, compile_graph
from ..compile.indices import Indexed
from ..dtype import BY_NAME, DType, word_type
from ..errors import FeedError, TallowError
from ..graph import Graph
from ..hostarray import HostArray, from_buffer, from_python, from_words
from ..shape import size_of
from .base import Backend, Program
from .device import backend
from .profile import Profile
from .transfer import for_device
from .tuning import limits_of

Feeds = Mapping[str, Any]


class Session:
    """Runs one graph on one device.

    `run` and `run_async` take {input name: array} and give {output name: NumPy array}. Arrays are
    NumPy arrays, nested lists, or anything with the buffer protocol; they must have exactly the
    shape of the input, and its type (Python lists are converted; types that NumPy lacks are those
    of ml_dtypes, or unsigned integers that hold their codes). "webgpu" computes float64 in
    float32. Usable in a `with` statement.
    """

    def __init__(self, compiled: Compiled, program: Program, used: Backend) -> None:
        self._plan, self._coded = compiled.plan, compiled.coded  # the weights are the program's
        self._indexed = compiled.indexed
        self._program = program
        self._backend = used

    @property
    def plan(self) -> Plan:
        """The plan that runs."""
        return self._plan

    @property
    def device(self) -> str:
        """ "webgpu" or "numpy"."""
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

    def run(self, feeds: Feeds) -> dict[str, Any]:
        """Runs and blocks; raises FeedError for feeds that do not fit, naming them, and
        IndexRangeError for indices among them that are out of range."""
        return {name: value.numpy() for name, value in self.run_host(feeds).items()}

    async def run_async(self, feeds: Feeds) -> dict[str, Any]:
        """Runs; raises FeedError for feeds that do not fit, naming them."""
        return {name: value.numpy() for name, value in (await self.run_host_async(feeds)).items()}

    def run_host(self, feeds: Feeds) -> dict[str, HostArray]:
        """As `run`, with HostArrays, for which no NumPy is needed."""
        return self._named(self._program.run(self._inputs(feeds)))

    async def run_host_async(self, feeds: Feeds) -> dict[str, HostArray]:
        """As `run_async`, with HostArrays, for which no NumPy is needed."""
        return self._named(await self._program.run_async(self._inputs(feeds)))

    async def run_ordered(self, inputs: Sequence[Any]) -> list[HostArray]:
        """The short road of `run_host_async`: buffers in the order of the plan's inputs, whose
        elements lie as on the device; outputs in its order.

        Raises FeedError for a buffer of the wrong length.
        """
        for port, value in zip(self.plan.inputs, inputs, strict=True):
            length = memoryview(value).nbytes
            expected = BY_NAME[port.dtype].size * size_of(port.shape)
            if length != expected:
                raise FeedError(
                    f"the input {port.name!r} expects {expected} bytes ({port.dtype} "
                    f"{port.shape}), got {length}"
                )
        return await self._program.run_async(inputs)

    def profile(self, feeds: Feeds) -> Profile:
        """How long each kernel takes on these feeds; runs some times, and blocks.

        Prints as a table. Runs that are not profiled are none the slower for it.
        """
        timing = self._program.profile(self._inputs(feeds))
        return Profile(self.plan, timing, self._backend.info)

    async def profile_async(self, feeds: Feeds) -> Profile:
        """As `profile`."""
        timing = await self._program.profile_async(self._inputs(feeds))
        return Profile(self.plan, timing, self._backend.info)

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

    def _inputs(self, feeds: Feeds) -> list[Any]:
        ports = self.plan.inputs
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
        return [
            _feed(
                port.name,
                feeds[port.name],
                coded.get(port.name) or BY_NAME[port.dtype],
                port.shape,
                self.device,
                port.most,
                [each for each in self._indexed if each.name == port.name],
            )
            for port in ports
        ]

    def _named(self, values: list[HostArray]) -> dict[str, HostArray]:
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
    device: str,
    most: int | None,
    indexed: Sequence[Indexed],
) -> Any:
    """The bytes of one input as the device takes them; FeedError if the value does not fit."""
    expected = f"{dtype.name} {shape}"
    try:
        if isinstance(value, HostArray):
            data = value
        elif isinstance(value, (bool, int, float, list, tuple)):
            data = from_python(value, dtype)
        else:
            data = from_buffer(value.__array__() if hasattr(value, "__array__") else value)
    except (TallowError, TypeError, ValueError) as error:
        raise FeedError(f"the input {name!r} expects {expected}: {error}") from error
    if dtype.coded and data.dtype == word_type(dtype):  # codes, where there is no ml_dtypes
        data = from_words(data.data, data.shape, dtype)
    if data.dtype != dtype or data.shape != shape:
        raise FeedError(
            f"the input {name!r} expects {expected}, got {data.dtype.name} {data.shape}"
        )
    for each in indexed:
        each.check(data)
    return for_device(data, name, most) if device == "webgpu" else data.words()


def compile_session(graph: Graph, device: str | None = None) -> Session:
    """Compiles a graph and loads it on a device; blocks.

    device: "webgpu", "numpy", or None for the default. Raises DeviceUnavailableError with the
    reason, DeviceMemoryError before anything is allocated, RealizeError where blocking is
    impossible (`compile_session_async` is not).
    """
    used = backend(device)
    compiled = compile_graph(graph, used.info.device, limits_of(used))
    return Session(compiled, used.load(compiled), used)


async def compile_session_async(graph: Graph, device: str | None = None) -> Session:
    """Compiles a graph and loads it on a device; see `compile_session`."""
    used = backend(device)
    compiled = compile_graph(graph, used.info.device, limits_of(used))
    return Session(compiled, await used.load_async(compiled), used)
