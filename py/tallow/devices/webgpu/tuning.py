"""Autotuning: the candidates for each heavy op, timed on the user's own device.

Opt-in: nothing is measured unless `tune` is called. What won is kept per adapter, per version of
the kernels and per precision of products (runtime/device.py), and every session that is made
afterwards on that adapter uses it. A record that is damaged, or of another version, is discarded
with a warning; the rule of codegen/choice.py then serves until something is tuned again.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt
from typing import Any

from ...compile import compile_graph, optimise
from ...compile.limits import Limits
from ...compile.partition import static_nodes
from ...core.drivers import run_async
from ...core.shape import size_of
from ...errors import DeviceLostError, StorageError, TallowError
from ...graph import Graph, Node, input_node, make
from ...ops.kinds import Contraction
from ...runtime.base import Backend, Timing
from ...runtime.device import (
    backend,
    get_float32_function_precision,
    get_float32_matmul_precision,
)
from .codegen.choice import candidates, signature, traits_of
from .codegen.kernels import SCHEDULES
from .codegen.schedule import Schedule, sources

GAIN = 0.95  # a candidate must take at most this share of the default's time to replace it
SECONDS = 0.05  # of runs of each candidate, so that a network takes seconds, not minutes
AGAIN = 0.2  # of runs of the one that seems to win and of the default, before it is believed

# A kernel that was this many times slower than the best one, for this many ops, is not tried
# again: compiling it would cost more than it can gain.
HOPELESS = 2.0
TRIALS = 2

Choices = dict[str, str]  # the file of a schedule by the signature of an op


class TuningWarning(UserWarning):
    """A tuning record could not be read or kept; answers are the same, only slower.

    kind: "unread", "damaged" or "unkept", of the record, or "leftOut", of one kernel.
    why: the reason alone, of an error or in words.
    kernel: the file that was left out, else "".
    """

    def __init__(self, message: str, kind: str, why: object, kernel: str = "") -> None:
        super().__init__(message)
        self.kind, self.kernel = kind, kernel
        self.why = why.why if isinstance(why, StorageError) else str(why)


@dataclass(frozen=True)
class Tuned:
    """What was measured for one op.

    op, shape: its name and the shape of its result.
    default: the kernel that the rule prefers.
    chosen: the kernel that is kept.
    seconds: of each kernel that can compute it.
    clock: whose time that is, "timestamp" for the GPU's own clock, "clock" or "counted" for that of
      the host.
    """

    signature: str
    op: str
    shape: tuple[int, ...]
    default: str
    chosen: str
    seconds: dict[str, float]
    clock: str

    @property
    def gain(self) -> float:
        """How many times as fast the chosen kernel is as the default; 1 if it is that one, or if
        this adapter refuses the default."""
        if self.default not in self.seconds or self.chosen == self.default:
            return 1.0
        return self.seconds[self.default] / self.seconds[self.chosen]


@dataclass(frozen=True)
class TuningStep:
    """How far tuning is: ops done, ops in all, and what was measured for the last one, if any."""

    done: int
    total: int
    result: Tuned | None


async def tune(
    graph: Graph, device: str | None = None, progress: Callable[[int, int], object] | None = None
) -> list[Tuned]:
    """Times every candidate for every heavy op of a graph, and keeps what won.

    A TuningWarning says what could not be measured or kept.

    graph: the graph whose ops are measured.
    device: the name of the device; None is the default device.
    progress: called with (ops done, ops in all); if it returns False, no further op is measured,
      and what was measured so far is kept.
    Returns: what was measured; empty on a device that has no choice of kernels.
    Raises: DeviceLostError, and what compiling the graph raises.
    """
    results: list[Tuned] = []
    async with aclosing(tuning_steps(graph, device)) as steps:
        async for step in steps:
            if step.result:
                results.append(step.result)
            if progress and progress(step.done, step.total) is False:
                break
    return results


async def tuning_steps(graph: Graph, device: str | None = None) -> AsyncGenerator[TuningStep, None]:
    """`tune` step by step, so that its caller may do something else in between, or stop.

    Yields: a step before the first op and one after each; none on a device that has no choice of
      kernels. Once it ends or is closed, what was measured is kept.
    Raises: as `tune`.
    """
    used = backend(device)
    if not used.target.chooses_kernels:
        return
    limits = limits_of(used)
    nodes = _heavy_ops(optimise(graph, used.target, limits), limits)
    chosen: Choices = {}
    lost: Counter[str] = Counter()
    try:
        yield TuningStep(0, len(nodes), None)
        for name, node in nodes.items():
            tuned = await _measure(name, node, used, limits, lost)
            slow = HOPELESS * min(tuned.seconds.values(), default=0.0)
            lost.update(file for file, seconds in tuned.seconds.items() if seconds > slow)
            chosen[tuned.signature] = tuned.chosen
            yield TuningStep(len(chosen), len(nodes), tuned)
    finally:
        if chosen:
            await _keep(used, chosen, traits_of(limits).half)


def _heavy_ops(graph: Graph, limits: Limits) -> dict[str, Node]:
    """The ops of a run that more than one schedule computes, once each."""
    found: dict[str, Node] = {}
    static = static_nodes(graph)
    for node in graph.nodes():
        if node in static or not isinstance(node.op, Contraction):
            continue
        if len(candidates(node, traits_of(limits))) > 1:
            found.setdefault(signature(node), node)
    return found


async def _measure(
    name: str, node: Node, used: Backend, limits: Limits, lost: Mapping[str, int]
) -> Tuned:
    """Times what can compute one op, but for what has lost too often."""
    first, *others = candidates(node, traits_of(limits))
    timings: dict[str, Timing] = {}
    for schedule in [first, *(s for s in others if lost.get(s.name, 0) < TRIALS)]:
        try:
            timings[schedule.name] = await _time(node, name, schedule, used, limits, SECONDS)
        except DeviceLostError:
            raise
        except TallowError as error:  # this adapter refuses that kernel
            words = f"{schedule.name} was left out: {error}"
            warnings.warn(TuningWarning(words, "leftOut", error, schedule.name), stacklevel=2)
    default = first.name
    best = _best(timings, default)
    if best != default and default in timings:
        # Of many that are about as fast, chance makes one the fastest: it has to win once more.
        for schedule in [first, *(s for s in others if s.name == best)]:
            timings[schedule.name] = await _time(node, name, schedule, used, limits, AGAIN)
        best = _best({file: timings[file] for file in (default, best)}, default)
    seconds = {file: timing.total for file, timing in timings.items()}
    clock = next((timing.source for timing in timings.values()), "clock")
    return Tuned(name, node.op.name, node.shape, default, best, seconds, clock)


def _best(timings: dict[str, Timing], default: str) -> str:
    """The fastest, where it beats the default by more than the clock may err."""
    best = min(timings, key=lambda file: timings[file].total, default=default)
    if default not in timings:
        return best
    ours, theirs = timings[best], timings[default]
    if ours.source != theirs.source:  # a clock that is too coarse for one of them
        return default
    # A stamp errs by up to a tick, the mean of n differences by about tick / sqrt(2 n).
    error = 2 * ours.resolution / sqrt(min(ours.repeats, theirs.repeats))
    return best if ours.total < GAIN * theirs.total - error else default


async def _time(
    node: Node, name: str, schedule: Schedule, used: Backend, limits: Limits, seconds: float
) -> Timing:
    """The time of one op alone, by the GPU's clock where there is one."""
    inputs = tuple(
        input_node(f"x{index}", child.shape, child.dtype) for index, child in enumerate(node.inputs)
    )
    graph = Graph(inputs, {"y": make(node.op, *inputs, **node.attrs)}, schedule.name)
    traits = replace(traits_of(limits), choices={name: schedule.name})
    compiled = compile_graph(graph, used.target.name, replace(limits, traits=traits))
    program = await run_async(used.load(compiled))
    try:
        feeds = [_noise(size_of(child.shape)) for child in node.inputs]
        return await run_async(program.profile(feeds, seconds))
    finally:
        program.close()


def _noise(size: int) -> memoryview:
    """float32 numbers between 1 and 2: zeros would be multiplied faster than real data."""
    word = hashlib.sha256(b"tallow").digest()
    pattern = b"".join(bytes((byte, 255 - byte, 0x80 | (byte & 0x7F), 0x3F)) for byte in word)
    return memoryview((pattern * (4 * size // len(pattern) + 1))[: 4 * size])


# ---- records ----------------------------------------------------------------------------------


@cache
def kernels_version() -> str:
    """A hash of all kernels: what was measured holds for these alone."""
    digest = hashlib.sha256("".join(sources().values()).encode())
    for name in sorted(SCHEDULES):
        digest.update(f"{name} {sorted(SCHEDULES[name].facts.items())}".encode())
    return digest.hexdigest()[:16]


def limits_of(used: Backend) -> Limits:
    """What a device can hold, with the precisions of products and functions and what was tuned for
    the former."""
    half = get_float32_matmul_precision() == "medium"
    builtins = get_float32_function_precision() == "medium"
    choices = _record(used).get(_column(half), {})
    traits = replace(traits_of(used.limits), half=half, builtins=builtins, choices=choices)
    return replace(used.limits, traits=traits)


def _column(half: bool) -> str:
    """The precision under which choices are kept; "high" has the kernels of "highest"."""
    return "medium" if half else "highest"


def _record(used: Backend) -> dict[str, Choices]:
    """The choices that were kept for this adapter, by precision; none if there are none."""
    try:
        text = used.tuning_record()
    except (OSError, TallowError) as error:
        words = (
            f"the tuning record of {used.info.adapter} cannot be read: {error}; kernels are chosen "
            "by rule"
        )
        warnings.warn(TuningWarning(words, "unread", error), stacklevel=3)
        return {}
    if text is None:
        return {}
    try:
        return _read(text, used.info.adapter)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        words = (
            f"the tuning record of {used.info.adapter} is discarded: {error}; kernels are chosen "
            "by rule until it is tuned again"
        )
        warnings.warn(TuningWarning(words, "damaged", error), stacklevel=3)
        return {}


def _read(text: str, adapter: str) -> dict[str, Choices]:
    raw: dict[str, Any] = json.loads(text)
    choices: dict[str, Choices] = raw["choices"]
    if raw["checksum"] != _checksum(choices):
        raise ValueError("its checksum is wrong")
    if (raw["adapter"], raw["kernels"]) != (adapter, kernels_version()):
        return {}  # of another adapter or version: sound, but of no use
    return choices


def _checksum(choices: dict[str, Choices]) -> str:
    return hashlib.sha256(json.dumps(choices, sort_keys=True).encode()).hexdigest()


async def _keep(used: Backend, chosen: Choices, half: bool = False) -> None:
    """Adds choices to the record of an adapter, for products with or without float16."""
    choices, column = _record(used), _column(half)
    choices[column] = choices.get(column, {}) | chosen
    record = {
        "adapter": used.info.adapter,
        "kernels": kernels_version(),
        "choices": choices,
        "checksum": _checksum(choices),
    }
    try:
        await used.keep_tuning_record(json.dumps(record))
    except (OSError, TallowError) as error:
        words = f"the tuning record is not kept: {error}"
        warnings.warn(TuningWarning(words, "unkept", error), stacklevel=3)
