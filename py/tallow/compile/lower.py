"""Lowering: groups of nodes as the steps, slots and modules of a Plan."""

from __future__ import annotations

from typing import Any

from ..backends.choice import Traits
from ..backends.storage import stored_bytes
from ..backends.wgsl import Kernel, kernel_for
from ..graph import Graph, Node
from ..hostarray import HostArray
from .fuse import Fusion, Group
from .memory import share_slots
from .plan import HostOp, Plan, Port, Slot, Step

Weights = list[tuple[int, HostArray]]  # where each constant begins in the weights block


def lower(
    graph: Graph,
    fusion: Fusion,
    static: set[Node],
    device: str,
    types: dict[str, str],
    traits: Traits,
) -> tuple[Plan, Weights]:
    """The plan of a fused graph, and the constants with their places in the weights block.

    types: the element types that the user sees, by the name of the input or output.
    """
    return _Lowering(fusion, static, device, traits).plan(graph, types)


class _Lowering:
    def __init__(self, fusion: Fusion, static: set[Node], device: str, traits: Traits) -> None:
        self.fusion = fusion
        self.static = static
        self.device = device
        self.traits = traits
        self.slots: list[Slot] = []
        self.slot_of: dict[Node, int] = {}
        self.weights: Weights = []
        self.weight_bytes = 0
        self.modules: dict[str, int] = {}

    def plan(self, graph: Graph, types: dict[str, str]) -> tuple[Plan, Weights]:
        for node in graph.inputs:
            self._new_slot(node, "input")
        prepare = [group for group in self.fusion.groups if group.root in self.static]
        run = [group for group in self.fusion.groups if group.root not in self.static]
        outputs = {self.fusion.memory_of(node) for node in graph.outputs.values()}
        for node in (*(n for group in self.fusion.groups for n in group.reads), *outputs):
            memory = self.fusion.memory_of(node)
            if memory.is_constant and memory not in self.slot_of:
                self._weight_slot(memory)
        crossing = {self.fusion.memory_of(node) for group in run for node in group.reads} | outputs
        kept = [group.root for group in prepare if group.root in crossing]
        self._share(prepare, kept, "prepared")
        self._share(run, [g.root for g in run if g.root in outputs], "output")
        steps = [self._step(group) for group in prepare], [self._step(group) for group in run]
        plan = Plan(
            graph.name,
            self.device,
            self.slots,
            [self._port(node.attrs["name"], node, types) for node in graph.inputs],
            [self._port(name, node, types) for name, node in graph.outputs.items()],
            list(self.modules),
            *steps,
        )
        return plan, self.weights

    # ---- slots ---------------------------------------------------------------------------------

    def _bytes(self, node: Node) -> int:
        return stored_bytes(node.dtype, node.size)

    def _new_slot(self, node: Node, kind: str) -> None:
        self.slot_of[node] = len(self.slots)
        self.slots.append(Slot(self._bytes(node), kind))

    def _weight_slot(self, node: Node) -> None:
        size = self._bytes(node)
        self.slot_of[node] = len(self.slots)
        self.slots.append(Slot(size, "weight", self.weight_bytes))
        self.weights.append((self.weight_bytes, node.attrs["data"]))
        self.weight_bytes += size

    def _share(self, groups: list[Group], kept: list[Node], kept_kind: str) -> None:
        sizes = {group.root: self._bytes(group.root) for group in groups}
        slot_of, slot_bytes = share_slots(self.fusion, groups, sizes, kept)
        first = len(self.slots)
        kept_slots = {slot_of[node] for node in kept}
        for slot, size in enumerate(slot_bytes):
            self.slots.append(Slot(size, kept_kind if slot in kept_slots else "scratch"))
        self.slot_of.update({node: first + slot for node, slot in slot_of.items()})

    def _port(self, name: str, node: Node, types: dict[str, str]) -> Port:
        slot = self.slot_of[self.fusion.memory_of(node)]
        return Port(name, slot, types[name], node.shape)

    # ---- steps ---------------------------------------------------------------------------------

    def _step(self, group: Group) -> Step:
        kernel = Kernel("", (0, 0, 0))
        module = -1
        if self.device == "webgpu" and group.root.size:
            kernel = kernel_for(group.root, group.members, group.reads, group.row, self.traits)
            module = self.modules.setdefault(kernel.text, len(self.modules))
        slots = [self.slot_of[self.fusion.memory_of(node)] for node in group.reads]
        return Step(
            "+".join(_names(group)),
            module,
            kernel.constants,
            [*slots, self.slot_of[group.root]],
            kernel.params,
            kernel.workgroups,
            [(node.shape, node.dtype.name) for node in group.reads],
            (group.root.shape, group.root.dtype.name),
            _host_program(group),
        )


def _names(group: Group) -> list[str]:
    """The ops that compute something; all of them if none does."""
    named = [node.op.name for node in group.members]
    telling = [node.op.name for node in group.members if not getattr(node.op, "view", False)]
    return telling or named


def _host_program(group: Group) -> list[HostOp]:
    reads = {node: ["read", index] for index, node in enumerate(group.reads)}
    places: dict[Node, list[Any]] = dict(reads)
    program = []
    for index, node in enumerate(group.members):
        operands = [
            places.get(child)
            or ["number", child.attrs["data"].tolist(), child.dtype.name, list(child.shape)]
            for child in node.inputs
        ]
        program.append(HostOp(node.op.name, operands, dict(node.attrs)))
        places[node] = ["op", index]
    return program
