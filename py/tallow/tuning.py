"""Autotuning: the candidates for each heavy op, timed on the user's own device.

Opt-in: nothing is measured unless `tune` is called. What won is kept per adapter and per version
of the kernels, and every session that is made afterwards on that adapter uses it. A record that is
damaged, or of another version, is thrown away with a warning; the rule of backends/choice.py then
serves until something is tuned again.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from .backends.base import Backend
from .backends.choice import candidates, signature
from .backends.kernels import SCHEDULES, Schedule, kernel_file
from .compile import Limits, compile_graph, optimise
from .compile.partition import static_nodes
from .device import backend
from .errors import TallowError
from .graph import Graph, Node, input_node, make
from .op import Contraction
from .shape import size_of

GAIN = 0.95  # a candidate must take at most this share of the default's time to replace it
ROUNDS = 5  # timed runs of each candidate, of which the fastest counts


class TuningWarning(UserWarning):
    """A tuning record could not be read or kept; answers are the same, only slower."""


@dataclass(frozen=True)
class Tuned:
    """What was measured for one op: seconds of each schedule that can compute it."""

    signature: str
    default: str
    chosen: str
    seconds: dict[str, float]


async def tune(
    graph: Graph, device: str | None = None, progress: Callable[[int, int], None] | None = None
) -> list[Tuned]:
    """Times every candidate for every heavy op of a graph, and keeps what won.

    progress: called with (ops done, ops in all). Returns what was measured; empty on a device
    that has no choice of kernels. Raises what compiling the graph raises.
    """
    used = backend(device)
    if used.info.device != "webgpu":
        return []
    limits = limits_of(used)
    nodes = _heavy_ops(optimise(graph, "webgpu", limits), limits)
    results = []
    for done, (name, node) in enumerate(nodes.items()):
        if progress:
            progress(done, len(nodes))
        results.append(await _measure(name, node, used, limits))
    if progress:
        progress(len(nodes), len(nodes))
    record = _record(used)
    record.update({result.signature: result.chosen for result in results})
    await _keep(used, record)
    return results


def _heavy_ops(graph: Graph, limits: Limits) -> dict[str, Node]:
    """The ops of a run that more than one schedule computes, once each."""
    found: dict[str, Node] = {}
    static = static_nodes(graph)
    for node in graph.nodes():
        if node in static or not isinstance(node.op, Contraction):
            continue
        if len(candidates(node, limits.traits)) > 1:
            found.setdefault(signature(node), node)
    return found


async def _measure(name: str, node: Node, used: Backend, limits: Limits) -> Tuned:
    possible = candidates(node, limits.traits)
    seconds: dict[str, float] = {}
    for schedule in possible:
        try:
            seconds[schedule.file] = await _time(node, name, schedule, used, limits)
        except TallowError as error:  # this adapter refuses that kernel: it is no candidate here
            warnings.warn(f"{schedule.file} was left out: {error}", TuningWarning, stacklevel=2)
    default = possible[0].file
    best = min(seconds, key=seconds.__getitem__, default=default)
    if default in seconds and seconds[best] > GAIN * seconds[default]:
        best = default
    return Tuned(name, default, best, seconds)


async def _time(node: Node, name: str, schedule: Schedule, used: Backend, limits: Limits) -> float:
    """Seconds of the fastest of some runs of one op alone, upload and readback included."""
    inputs = tuple(
        input_node(f"x{index}", child.shape, child.dtype) for index, child in enumerate(node.inputs)
    )
    graph = Graph(inputs, {"y": make(node.op, *inputs, **node.attrs)}, schedule.file)
    traits = replace(limits.traits, choices={name: schedule.file})
    compiled = compile_graph(graph, "webgpu", replace(limits, traits=traits))
    program = await used.load_async(compiled)
    try:
        feeds = [_noise(size_of(child.shape)) for child in node.inputs]
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            await program.run_async(feeds)
            times.append(time.perf_counter() - began)
    finally:
        program.close()
    return min(times)


def _noise(size: int) -> memoryview:
    """float32 numbers between 1 and 2: zeros would be multiplied faster than real data."""
    word = hashlib.sha256(b"tallow").digest()
    pattern = b"".join(bytes((byte, 255 - byte, 0x80 | (byte & 0x7F), 0x3F)) for byte in word)
    return memoryview((pattern * (4 * size // len(pattern) + 1))[: 4 * size])


# ---- records ----------------------------------------------------------------------------------


@cache
def kernels_version() -> str:
    """A hash of all kernel files: what was measured holds for these alone."""
    digest = hashlib.sha256()
    for name in sorted(SCHEDULES):
        digest.update(kernel_file(name).text.encode())
    return digest.hexdigest()[:16]


def limits_of(used: Backend) -> Limits:
    """What a device can hold, with what was tuned for it."""
    choices = _record(used)
    return replace(used.limits, traits=replace(used.limits.traits, choices=choices))


def _record(used: Backend) -> dict[str, str]:
    """The choices that were kept for this adapter, or none."""
    text = used.tuning_record()
    if text is None:
        return {}
    try:
        return _read(text, used.info.adapter)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        warnings.warn(
            f"the tuning record of {used.info.adapter} is thrown away: {error}; kernels are chosen "
            "by rule until it is tuned again",
            TuningWarning,
            stacklevel=3,
        )
        return {}


def _read(text: str, adapter: str) -> dict[str, str]:
    raw: Any = json.loads(text)
    choices: dict[str, str] = raw["choices"]
    if raw["checksum"] != _checksum(choices):
        raise ValueError("its checksum is wrong")
    if (raw["adapter"], raw["kernels"]) != (adapter, kernels_version()):
        return {}  # of another adapter or version: sound, but of no use
    return dict(choices)


def _checksum(choices: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(choices, sort_keys=True).encode()).hexdigest()


async def _keep(used: Backend, choices: dict[str, str]) -> None:
    record = {
        "adapter": used.info.adapter,
        "kernels": kernels_version(),
        "choices": choices,
        "checksum": _checksum(choices),
    }
    try:
        await used.keep_tuning_record(json.dumps(record))
    except (OSError, TallowError) as error:
        warnings.warn(f"the tuning record is not kept: {error}", TuningWarning, stacklevel=3)
