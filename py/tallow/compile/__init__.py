"""From a graph to a plan, pass by pass.

    on_codes      the target's: products by weights in blocks (blocks.py)
    decode        types of few bits that no device has become others (decode.py)
    fit_types     the target's: only types that it computes (compose.py, exact.py, narrow.py;
                  widen.py)
    fold          what is known and small becomes a constant (fold.py)
    simplify      algebra and common subexpressions (simplify.py)
    layout        regions become channels-last (layout.py)
    fold_scales   factors per channel move into convolutions (scale.py)
    end_products  products of what is filled with 0 end there (lengths.py)
    specialize    the target's: packed weights stay packed, quantised operands are multiplied as
                  integers, 3x3 convolutions take Winograd's form, long reductions to few results
                  become two (packed.py, dots.py, winograd.py, panels.py, split.py)
    split_wide    joins of many operands fit a kernel's bindings (fuse.py)
    static_nodes  what depends on weights alone (partition.py)
    fuse          nodes into kernels (fuse.py)
    join_in_place parts of a concatenation are computed directly in its result, where the target can
                  (join.py)
    ordered       in a step of training, kernels in the order that takes less memory (order.py)
    regions_last  updates of a region behind those that read what they update (order.py)
    lower         kernels into steps, results into slots (lower.py, memory.py)

Each pass up to fuse takes a graph and gives a graph, which is checked; most are in passes/. What
differs between devices is in target.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.dtype import DType, word_type
from ..core.hostarray import HostArray
from ..core.streamed_weights import StreamedArray
from ..errors import DeviceMemoryError
from ..graph import Graph
from ..ops.positions import fill_from
from .count import scratch_bytes
from .fuse import fuse, split_wide
from .indices import Indexed, indexed_inputs
from .join import join_in_place
from .limits import Limits
from .lower import Weights, lower
from .order import ordered, regions_last, without_barriers
from .partition import static_nodes
from .passes.decode import decode
from .passes.fold import fold
from .passes.layout import layout
from .passes.scale import fold_scales
from .passes.simplify import simplify
from .plain import Plain
from .plan import Plan
from .target import TARGETS, Begin, GraphPass, Target

__all__ = ["TARGETS", "Begin", "Compiled", "Limits", "Plan", "Target", "compile_graph", "optimise"]


@dataclass(frozen=True)
class Compiled:
    """A plan and its weights: a constant for each slot of that kind, in their order, with its
    offset in the weights block.

    coded: the types of the inputs and outputs that travel as words (passes/decode.py), by name.
    loaded: what the device already has of it, if it has it; then there need be no weights.
    indexed: the inputs that are indices (compile/indices.py), where a graph is there to tell.
    plain: what takes the place of steps, if the nodes are computed one by one (plain.py).
    brief: whether its program is one of many that come and go, and may share memory with them.
    family: what graphs have in common whose shapes alone differ, for a plan that was made for one
    of many shapes (runtime/eager.py).
    """

    plan: Plan
    weights: Weights
    coded: Mapping[str, DType] = field(default_factory=dict)
    loaded: Any = None
    indexed: Sequence[Indexed] = ()
    plain: Plain | None = None
    brief: bool = False
    family: int | None = None

    async def download(self) -> None:
        """Waits until the files that bring weights have done so; the bytes stay there."""
        for _, data in self.weights:
            if isinstance(data, StreamedArray) and data.part:
                await data.part.ready()

    async def arrive(self) -> None:
        """Waits until all weights have arrived."""
        for _, data in self.weights:
            if isinstance(data, StreamedArray):
                await data.arrive()

    @property
    def target(self) -> Target:
        """What the plan is for."""
        return TARGETS[self.plan.device]

    def stored_weights(self) -> Iterator[memoryview]:
        """The bytes of each constant as the device stores it; the slot may be longer."""
        return (self.target.stored(data) for _, data in self.weights)

    def uploads(self) -> list[Any]:
        """Of each constant what a device in a browser uploads: the bytes as it stores them, or the
        part of a file that brings them (core/streamed_weights.py)."""
        return [self.upload(data) for _, data in self.weights]

    def upload(self, data: HostArray) -> Any:
        """What a device in a browser uploads for a constant."""
        if isinstance(data, StreamedArray) and data.part:
            return data.part.handle
        return self.target.stored(data)


_LEAST = Limits()


def optimise(graph: Graph, target: Target, limits: Limits) -> Graph:
    """The graph after every pass that rewrites graphs."""
    passes: list[GraphPass] = [
        *target.on_codes(limits),
        lambda g: decode(g, target.reads_packed),
        *target.fit_types,
        *(fold, simplify, layout, simplify, fold_scales, fold, simplify, _end_products),
        *target.specialize(limits),
        lambda g: split_wide(g, limits.storage_buffers),
    ]
    for rewrite in passes:
        graph = rewrite(graph)
    return graph.check()


def _end_products(graph: Graph) -> Graph:
    if not any(node.op is fill_from for node in graph.nodes()):
        return graph
    from .passes.lengths import end_products  # which most pages do not need

    return end_products(graph)


def compile_graph(
    graph: Graph, device: str, limits: Limits = _LEAST, begin: Begin | None = None
) -> Compiled:
    """The plan of a graph for a device, one of `TARGETS`. begin: see target.py.

    Raises DTypeError for constants that the device cannot represent, and DeviceMemoryError,
    before anything is allocated, if the plan cannot fit.
    """
    seen = {node.attrs["name"]: node.dtype for node in graph.inputs}
    seen |= {name: node.dtype for name, node in graph.outputs.items()}
    types = {name: word_type(dtype).name for name, dtype in seen.items()}
    indexed = indexed_inputs(graph)
    target = TARGETS[device]
    limits = target.limits(limits)
    graph, waits = without_barriers(optimise(graph.check(), target, limits))
    static = static_nodes(graph)
    packed = target.packed_nodes(graph, static)
    buffers, alone = limits.storage_buffers, target.alone(limits)
    fusion = fuse(graph, static, packed, buffers, target.any_order, alone)
    if target.joins:
        fusion = join_in_place(graph, fusion)
    fusion = ordered(graph, fusion, waits)
    if not waits:
        fusion = regions_last(fusion)
    plan, weights = lower(graph, fusion, static, target, types, limits, begin)
    check_fits(plan, target, limits)
    coded = {name: dtype for name, dtype in seen.items() if dtype.coded}
    return Compiled(plan, weights, coded, indexed=indexed)


def check_fits(plan: Plan, target: Target, limits: Limits) -> None:
    """DeviceMemoryError, with what is needed and what there is, if a slot is too large, or all
    of them with the outputs, which a run hands out in memory of their own, and with what a runner
    without kernels takes within a step."""
    most = min(limits.binding_bytes, limits.buffer_bytes)
    needed = sum(slot.bytes for slot in plan.slots) + sum(port.bytes for port in plan.outputs)
    if target.kernels is None:
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
