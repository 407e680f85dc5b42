"""Plans with an op for which a GPU has no code, run by NumPy for it.

A custom op without a kernel (custom.py) is one, and so are factorisations of matrices
(ops/linalg.py). The whole plan runs on the host: what it reads comes from the device, and what
stays goes back, so that its tensors meet others of that device. A NoKernelWarning says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..compile import Compiled
from ..compile.plan import Port
from ..core.devices import EXACT
from ..core.drivers import Steps, run_async, run_sync
from ..core.dtype import BY_NAME, float64
from ..core.hostarray import HostArray
from ..errors import WideIntegerError
from ..graph import Graph
from .base import PROFILE_SECONDS, Backend, Feed, Program, Result, Timing
from .buffer import Buffer, Memory, state_moved
from .device import backend
from .transfer import from_device

if TYPE_CHECKING:
    from ..arrays import Array


class NoKernelWarning(UserWarning):
    """A plan runs on NumPy, since the device that was asked for has no code for one of its ops."""


def has_code(used: Backend, graph: Graph) -> bool:
    """Whether a device computes all nodes of a graph; warns of those that it does not."""
    lacking = {node.op for node in graph.nodes() if not used.target.computes(node.op)}
    if lacking:
        names, device = ", ".join(sorted(op.name for op in lacking)), used.info.device
        hint = "give it a kernel where it is declared (tl.custom_op)"
        if not any(op.declared for op in lacking):
            hint = "what comes before runs on the device if it is realized first"
        warnings.warn(
            f"{graph.name} runs on NumPy: {device!r} has no code for {names}; {hint}",
            NoKernelWarning,
            stacklevel=4,
        )
    return not lacking


class NarrowFloatWarning(UserWarning):
    """float64 is computed in float32, on a device that has no wider type."""


def warn_of_float64(used: Backend, graph: Graph) -> None:
    """Warns if a graph takes or gives float64, which a device computes in float32."""
    ends = [*graph.inputs, *graph.outputs.values()]
    if any(node.dtype is float64 for node in ends):
        device = used.info.device
        warnings.warn(
            f"{device!r} computes float64 in float32; choose another device, or float32",
            NarrowFloatWarning,
            stacklevel=4,
        )


def warn_of_wide(graph: Graph, error: WideIntegerError) -> None:
    """Warns that a plan runs on NumPy, since the device has no integers of 64 bits."""
    warnings.warn(f"{graph.name} runs on NumPy: {error}", NoKernelWarning, stacklevel=4)


def load(used: Backend, compiled: Compiled) -> Steps[Program]:
    """A plan, loaded on a device or for it."""
    return _hosted(used, compiled) or (yield from used.load(compiled))


def load_now(used: Backend, compiled: Compiled) -> Program:
    """A plan, loaded without waiting for the device."""
    return _hosted(used, compiled) or used.load_now(compiled)


class LoadSoon:
    """Requests a plan's program. Code that blocks gets it without waiting for the device; code that
    awaits, once the device has compiled all its kernels, while others run."""

    __slots__ = ("_compiled", "_used")

    def __init__(self, used: Backend, compiled: Compiled) -> None:
        self._used, self._compiled = used, compiled

    def run_sync(self) -> Program:
        """The program, which needs not be ready."""
        return load_now(self._used, self._compiled)

    async def run_async(self) -> Program:
        """The program, ready."""
        return await run_async(load(self._used, self._compiled))


# Why: docs/decisions/devices.md, "A plan with an op for which a GPU has no code runs on NumPy, all
# of it"
def _hosted(used: Backend, compiled: Compiled) -> Program | None:
    if compiled.plan.device == used.target.name:
        return None
    return HostedProgram(compiled, used.memory)


class HostedProgram:
    """A plan of NumPy's whose buffers are another device's."""

    def __init__(self, compiled: Compiled, memory: Memory) -> None:
        exact = backend(EXACT)
        self._host: Any = exact.memory  # which makes a buffer of an array
        self._program: Any = exact.load_now(compiled)
        self._plan = compiled.plan
        self._memory = memory
        self._states: Sequence[Buffer] = ()
        self._held: list[Buffer] = []  # the states as NumPy has them in a run

    def use_states(self, states: Sequence[Buffer]) -> None:
        self._states = states

    def run(
        self, inputs: Sequence[Feed], fetch: Sequence[bool] | None = None
    ) -> Steps[list[Result]]:
        """Runs; waits while buffers are read from the device, in any case."""
        feeds = yield from self._feeds(inputs)
        return self._finished((yield from self._program.run(feeds)), fetch)

    def start(self, inputs: Sequence[Feed]) -> list[Buffer]:
        """Runs; blocks while buffers are read from the device."""
        return run_sync(self.run(inputs, [False] * len(self._plan.outputs)))

    def profile(self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS) -> Steps[Timing]:
        """The steps on NumPy, without what is read and uploaded."""
        feeds = yield from self._feeds(inputs)
        timing: Timing = yield from self._program.profile(feeds, seconds)
        return timing

    def _feeds(self, inputs: Sequence[Feed]) -> Steps[list[Feed]]:
        """What NumPy takes: bytes of the plan's types. Its program gets arrays for the states."""
        buffers = [*(each for each in inputs if isinstance(each, Buffer)), *self._states]
        contents = iter((yield from self._memory.read(buffers)) if buffers else ())
        arrays = [
            _as(next(contents), port) if isinstance(given, Buffer) else _fed(given, port)
            for port, given in zip(self._plan.inputs, inputs, strict=True)
        ]
        self._held = [
            self._host.buffer(_as(next(contents), port), BY_NAME[port.dtype])
            for port in self._plan.states
        ]
        if self._held:
            self._program.use_states(self._held)
        return [memoryview(each).cast("B") if each.size else b"" for each in arrays]

    def _finished(self, results: Sequence[HostArray], fetch: Sequence[bool] | None) -> list[Result]:
        """The results, those that stay on the device; the states get their new values."""
        upload = self._memory.upload
        for state, new in zip(self._states, self._held, strict=True):
            fresh = upload(run_sync(self._host.read([new]))[0])
            state.handle, fresh.handle = fresh.handle, state.handle  # which is freed with `fresh`
            state_moved()
        wanted = fetch or [True] * len(results)
        return [
            result if want else upload(result) for result, want in zip(results, wanted, strict=True)
        ]

    @property
    def stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = self._program.stats
        return stats

    def close(self) -> None:
        self._program.close()


def _as(data: HostArray, port: Port) -> Array:
    """Elements in a port's type, in an array of its own."""
    array: Array = data.numpy()
    return array.reshape(port.shape).astype(port.dtype)


def _fed(content: Feed, port: Port) -> Array:
    """The array of what a GPU is fed: bools and 64-bit numbers come as words of 32 bits."""
    dtype = BY_NAME[port.dtype]
    raw = memoryview(content).cast("B") if memoryview(content).nbytes else memoryview(b"")
    in_words = dtype.size == 8 or dtype.kind == "b"
    data = from_device(raw, dtype, port.shape) if in_words else HostArray(raw, port.shape, dtype)
    return _as(data, port)
