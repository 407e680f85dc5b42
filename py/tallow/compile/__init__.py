"""From a graph to a plan, pass by pass.

    decode        types of few bits that no device has become others (decode.py)
    compose       what only NumPy has whole is composed (compose.py; on "webgpu" alone)
    narrow        only types that the GPU computes (narrow.py; on "webgpu" alone)
    widen         float16 is computed in float32 (widen.py; on "numpy" alone)
    fold          what is known and small becomes a constant (fold.py)
    simplify      algebra and common subexpressions (simplify.py)
    layout        regions become channels-last (layout.py)
    fold_scales   factors per channel move into convolutions (scale.py)
    keep_packed   packed weights lie as they are read (packed.py; on "webgpu" alone)
    use_winograd  3x3 convolutions in Winograd's form (winograd.py; on "webgpu" alone)
    split_long    long reductions to few results become two (split.py; on "webgpu" alone)
    split_wide    joins of many operands fit a kernel's bindings (fuse.py)
    static_nodes  what depends on weights alone (partition.py)
    fuse          nodes into kernels (fuse.py)
    join_in_place parts of a concatenation are computed in their places (join.py; on "webgpu")
    lower         kernels into steps, results into slots (lower.py, memory.py)

Each pass up to fuse takes a graph and gives a graph, which is checked; most lie in passes/.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..codegen.wgsl.choice import Traits
from ..dtype import DType, word_type
from ..errors import DeviceMemoryError
from ..graph import Graph
from ..hostarray import HostArray
from ..streamed_weights import StreamedArray
from .count import scratch_bytes
from .fuse import fuse, split_wide
from .indices import Indexed, indexed_inputs
from .join import join_in_place
from .lower import Weights, lower
from .partition import static_nodes
from .passes.compose import compose
from .passes.decode import decode
from .passes.fold import fold
from .passes.layout import layout
from .passes.narrow import narrow
from .passes.packed import keep_packed, packed_nodes
from .passes.scale import fold_scales
from .passes.simplify import simplify
from .passes.split import split_long
from .passes.widen import widen
from .passes.winograd import use_winograd
from .plan import Plan

__all__ = ["Compiled", "Limits", "Plan", "compile_graph", "optimise"]

GraphPass = Callable[[Graph], Graph]


@dataclass(frozen=True)
class Limits:
    """What a device can hold and do. The defaults are those that every WebGPU device has."""

    storage_buffers: int = 8  # bound in one kernel, the result counted
    binding_bytes: int = 128 << 20  # of one buffer in a kernel
    buffer_bytes: int = 256 << 20
    traits: Traits = field(default_factory=Traits)
    total_bytes: int = 1 << 62  # of a plan; what a GPU has in all is not to be learnt


def host_memory() -> int:
    """Bytes of memory that this process could have at most."""
    if sys.platform == "emscripten":
        return 4 << 30
    most = 1 << 46
    with suppress(AttributeError, OSError, ValueError):  # no sysconf there, or it does not know
        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(ImportError):  # only Unix has it
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        most = min(most, soft) if soft != resource.RLIM_INFINITY else most
    return most


def host_limits() -> Limits:
    """What NumPy can hold here."""
    most = host_memory()
    return Limits(64, binding_bytes=most, buffer_bytes=most, total_bytes=most)


@dataclass(frozen=True)
class Compiled:
    """A plan and its weights: a constant for each slot of that kind, in their order, with its place
    among them.

    coded: the types of the inputs and outputs that travel as words (passes/decode.py), by name.
    loaded: what the device already has of it, if it has it; then there need be no weights.
    indexed: the inputs that are indices (compile/indices.py), where a graph is there to tell.
    """

    plan: Plan
    weights: Weights
    coded: Mapping[str, DType] = field(default_factory=dict)
    loaded: Any = None
    indexed: Sequence[Indexed] = ()

    async def arrive(self) -> None:
        """Has all weights here."""
        for _, data in self.weights:
            if isinstance(data, StreamedArray):
                await data.arrive()

    def device_weights(self) -> list[memoryview]:
        """The bytes of each constant as they lie on a GPU; the slot may be longer."""
        return [device_bytes(data) for _, data in self.weights]


def uploaded(data: HostArray) -> Any:
    """What a device in a browser uploads: the bytes as they lie there, or the part of a file that
    brings them (streamed_weights.py)."""
    if isinstance(data, StreamedArray) and data.part:
        return data.part.handle
    return device_bytes(data)


def device_bytes(data: HostArray) -> memoryview:
    """The elements as they lie on the device: bool as 32-bit words, the rest as they are."""
    if data.dtype.kind != "b":
        return data.data
    words = bytearray(4 * data.size)
    words[::4] = data.data
    return memoryview(words)


def optimise(graph: Graph, device: str, limits: Limits) -> Graph:
    """The graph after every pass that rewrites graphs."""
    passes: list[GraphPass] = [lambda g: decode(g, device)]
    passes += [compose, narrow] if device == "webgpu" else [widen]
    passes += [fold, simplify, layout, simplify, fold_scales, fold, simplify]
    if device == "webgpu":
        passes.append(keep_packed)
        passes.append(lambda g: use_winograd(g, limits.traits, limits.binding_bytes))
        passes.append(lambda g: split_long(g, limits.traits))
    passes.append(lambda g: split_wide(g, limits.storage_buffers))
    for rewrite in passes:
        graph = rewrite(graph).check()
    return graph


def compile_graph(graph: Graph, device: str = "webgpu", limits: Limits = Limits()) -> Compiled:
    """The plan of a graph for a device ("webgpu" or "numpy").

    Raises DTypeError for constants that the device cannot represent, and DeviceMemoryError,
    before anything is allocated, if the plan cannot fit.
    """
    seen = {node.attrs["name"]: node.dtype for node in graph.inputs}
    seen |= {name: node.dtype for name, node in graph.outputs.items()}
    types = {name: word_type(dtype).name for name, dtype in seen.items()}
    indexed = indexed_inputs(graph)
    if device == "numpy":
        limits = host_limits()
    graph = optimise(graph.check(), device, limits)
    static = static_nodes(graph)
    packed = packed_nodes(graph, static) if device == "webgpu" else set()
    fusion = fuse(graph, static, packed, limits.storage_buffers)
    if device == "webgpu":
        fusion = join_in_place(graph, fusion)
    plan, weights = lower(graph, fusion, static, device, types, limits.traits)
    check_fits(plan, limits)
    coded = {name: dtype for name, dtype in seen.items() if dtype.coded}
    return Compiled(plan, weights, coded, indexed=indexed)


def check_fits(plan: Plan, limits: Limits) -> None:
    """DeviceMemoryError, with what is needed and what there is, if a slot is too large, or all
    of them with the outputs, which a run hands out in memory of their own, and with what NumPy
    takes within a step."""
    most = min(limits.binding_bytes, limits.buffer_bytes)
    needed = sum(slot.bytes for slot in plan.slots) + sum(port.bytes for port in plan.outputs)
    if plan.device == "numpy":
        needed += max(map(scratch_bytes, (*plan.prepare, *plan.run)), default=0)
    if needed > limits.total_bytes:
        raise DeviceMemoryError(
            f"{plan.name} cannot fit: it needs {needed:,} bytes, and there are "
            f"{limits.total_bytes:,} at most; use a smaller input or batch"
        )
    for number, slot in enumerate(plan.slots):
        if slot.bytes > most:
            total = sum(other.bytes for other in plan.slots)
            raise DeviceMemoryError(
                f"{plan.name} cannot fit: slot {number} ({slot.kind}) needs {slot.bytes:,} bytes "
                f"in one buffer, the device allows {most:,} (the whole plan needs {total:,}); "
                "use a smaller input or batch, or device='numpy'"
            )
