"""Report: which nodes ran on the device or the host, why, and the bytes that crossed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..reasons import Reason
from ..records import NodeRecord
from .hosting import HostStep
from .trace import Part


@dataclass(frozen=True, slots=True)
class OnHost:
    """A node that the host computes: how often in a run, and the bytes it read and wrote."""

    node: str
    operator: str
    reason: Reason
    times: int
    bytes_in: int
    bytes_out: int


@dataclass(frozen=True, slots=True)
class Report:
    """What ran where. nodes: how many nodes the device ran, in `parts` plans; weights: the bytes of
    their weights; moved: the reasons why NumPy ran a part instead of the device; host: the nodes
    that the host computed."""

    device: str
    parts: int
    nodes: int
    weights: int
    moved: tuple[str, ...]
    host: tuple[OnHost, ...]

    @property
    def bytes(self) -> int:
        """The bytes that crossed to the host's nodes and back."""
        return sum(one.bytes_in + one.bytes_out for one in self.host)

    @classmethod
    def of(
        cls, device: str, parts: Sequence[Part], steps: Sequence[tuple[HostStep, int, int, int]]
    ) -> Report:
        """The report of a run."""
        host = [
            OnHost(step.node.label, _name(step.node), step.reason, times, bytes_in, bytes_out)
            for step, times, bytes_in, bytes_out in steps
        ]
        compiled = [part for part in parts if part.session is not None]
        return cls(
            device,
            len(compiled),
            sum(part.stage.nodes for part in compiled),
            sum(part.session.plan.weight_bytes for part in compiled if part.session),
            tuple(part.why for part in compiled if part.why),
            tuple(host),
        )

    def __str__(self) -> str:
        plans = f"{self.parts} plan{'' if self.parts == 1 else 's'}"
        lines = [f"{self.device}: {self.nodes} nodes in {plans}, {self.weights:,} bytes of weights"]
        lines += [f"numpy instead, for a plan: {reason}" for reason in self.moved]
        if self.host:
            lines.append(f"host: {len(self.host)} nodes, {self.bytes:,} bytes crossed")
        lines += [
            f"  {one.node}: {one.operator}, {one.times} x, {one.bytes_in:,} -> {one.bytes_out:,} "
            f"bytes: {one.reason}"
            for one in self.host
        ]
        return "\n".join(lines)


def _name(node: NodeRecord) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain else str(node.op_type)
