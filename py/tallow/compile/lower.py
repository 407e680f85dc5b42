"""Lowering: groups of nodes as the steps, slots and modules of a Plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..codegen.layout import element_bytes, stored_bytes
from ..core.hostarray import HostArray
from ..graph import Graph, Node
from .fuse import Fusion, Group
from .limits import Limits
from .memory import share_slots
from .plan import Copy, HostOp, Plan, Port, Slot, Step
from .target import Begin, Target

Weights = list[tuple[int, HostArray]]  # where each constant begins in the weights block


def lower(
    graph: Graph,
    fusion: Fusion,
    static: set[Node],
    target: Target,
    types: dict[str, str],
    limits: Limits,
    begin: Begin | None = None,
) -> tuple[Plan, Weights]:
    """The plan of a fused graph, and the constants with their offsets in the weights block.

    types: the element types that the user sees, by the name of the input or output.
    """
    return _Lowering(fusion, static, target, limits, begin).plan(graph, types)


class _Lowering:
    def __init__(
        self,
        fusion: Fusion,
        static: set[Node],
        target: Target,
        limits: Limits,
        begin: Begin | None,
    ) -> None:
        self.fusion = fusion
        self.static = static
        self.target = target
        self.kernels = target.kernels(limits, begin) if target.kernels else None
        self.slots: list[Slot] = []
        self.slot_of: dict[Node, int] = {}
        self.weights: Weights = []
        self.weight_bytes = 0

    def plan(self, graph: Graph, types: dict[str, str]) -> tuple[Plan, Weights]:
        prepare = [group for group in self.fusion.groups if group.root in self.static]
        run = [group for group in self.fusion.groups if group.root not in self.static]
        outputs = {self.fusion.memory_of(node) for node in graph.outputs.values()}
        reads = (node for group in self.fusion.groups for node in group.reads)
        for node in (*reads, *graph.outputs.values()):
            memory = self.fusion.memory_of(node)
            if memory.is_constant and memory not in self.slot_of:
                self._weight_slot(memory)
        crossing = {self.fusion.memory_of(node) for group in run for node in group.reads} | outputs
        self._share(prepare, [], crossing, "prepared", {})
        named = {node.attrs["name"]: node for node in graph.inputs}
        states = {named[name]: graph.outputs[new] for name, new in graph.states.items() if new}
        over = {self.fusion.memory_of(new): node for node, new in states.items()}
        self._share(run, graph.inputs, outputs, "output", over)
        for name in graph.states:
            number = self._slot(named[name])
            self.slots[number] = replace(self.slots[number], kind="state")
        steps = [self._step(group) for group in prepare], [self._step(group) for group in run]
        nexts = set(graph.states.values())
        plan = Plan(
            graph.name,
            self.target.name,
            self.slots,
            [self._port(n, node, types) for n, node in named.items() if n not in graph.states],
            [self._port(n, node, types) for n, node in graph.outputs.items() if n not in nexts],
            self.kernels.modules if self.kernels else [],
            *steps,
            [self._port(name, named[name], types) for name in graph.states],
            self._copies(states),
        )
        return plan, self.weights

    def _copies(self, states: dict[Node, Node]) -> list[Copy]:
        """What brings next values to their states. One that is the old value of another state is
        set aside first, since that may be overwritten."""
        aside, home = [], []
        for node, new in states.items():
            source, target = self._slot(new), self._slot(node)
            if source == target:
                continue
            size = element_bytes(node.dtype, node.size)
            if self.slots[source].kind == "state":
                self.slots.append(Slot(self.slots[target].bytes, "scratch"))
                aside.append(Copy(source, len(self.slots) - 1, size))
                source = len(self.slots) - 1
            home.append(Copy(source, target, size))
        return aside + home

    # ---- slots ---------------------------------------------------------------------------------

    def _weight_slot(self, node: Node) -> None:
        size = stored_bytes(node.dtype, node.size)
        self.slot_of[node] = len(self.slots)
        self.slots.append(Slot(size, "weight", self.weight_bytes))
        self.weights.append((self.weight_bytes, node.attrs["data"]))
        self.weight_bytes += size

    def _share(
        self,
        groups: list[Group],
        given: Sequence[Node],
        wanted: set[Node],
        wanted_kind: str,
        states: Mapping[Node, Node],
    ) -> None:
        results = dict.fromkeys(self.fusion.memory_of(group.root) for group in groups)
        sizes = {node: stored_bytes(node.dtype, node.size) for node in (*given, *results)}
        kept = [node for node in sizes if node in wanted]
        slot_of, slot_bytes = share_slots(
            self.fusion, groups, sizes, given, kept, self.target.in_place, states
        )
        kinds = {slot_of[node]: wanted_kind for node in kept}
        kinds |= {slot_of[node]: "input" for node in given}
        first = len(self.slots)
        for slot, size in enumerate(slot_bytes):
            self.slots.append(Slot(size, kinds.get(slot, "scratch")))
        self.slot_of.update({node: first + slot for node, slot in slot_of.items()})

    def _slot(self, node: Node) -> int:
        return self.slot_of[self.fusion.memory_of(node)]

    def _port(self, name: str, node: Node, types: dict[str, str]) -> Port:
        size = element_bytes(node.dtype, node.size)
        most = node.attrs.get("most") if node.is_input else None
        return Port(name, self._slot(node), types[name], node.shape, size, most)

    # ---- steps ---------------------------------------------------------------------------------

    def _step(self, group: Group) -> Step:
        region = self.fusion.regions.get(group.root)
        slot = self._slot(group.root)
        over = {node for node in group.reads if self._slot(node) == slot}
        return Step(
            "+".join(_names(group)),
            [self._slot(node) for node in (*group.reads, group.root)],
            [(node.shape, node.dtype.name) for node in group.reads],
            (group.root.shape, group.root.dtype.name),
            _host_program(group),
            self.kernels.kernel(group, region, over) if self.kernels else {},
            region,
        )


def _names(group: Group) -> list[str]:
    """The ops that compute something; all of them if none does."""
    named = [node.op.name for node in group.members]
    telling = [node.op.name for node in group.members if not getattr(node.op, "view", False)]
    return telling or named


def _host_program(group: Group) -> list[HostOp]:
    reads = {node: ["read", index] for index, node in enumerate(group.reads)}
    operand_of: dict[Node, list[Any]] = dict(reads)
    program = []
    for index, node in enumerate(group.members):
        operands = [
            operand_of.get(child)
            or ["number", child.attrs["data"].tolist(), child.dtype.name, list(child.shape)]
            for child in node.inputs
        ]
        program.append(HostOp(node.op.name, operands, dict(node.attrs)))
        operand_of[node] = ["op", index]
    return program
