"""What a run did: the compiled stages, the host's steps and their bytes, the turns of loops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ....errors import RealizeError
from ....runtime.session import Session
from ..records import NodeRecord
from ..values import Value, check_memory, size_in_bytes
from .builder import describe
from .hosting import HostStep
from .stages import Stage

MAX_PARTS = 1000
"""Parts of one run that are reported. Only loops whose shapes change every turn exceed it; their
last parts are reported."""

MAX_TURNS = 100_000
"""Loop iterations in one run, unless a session allows more: a few seconds of a small body, so that
runaway loops terminate."""


@dataclass(slots=True)
class Part:
    """A compiled stage. numpy_session runs the stage's `numpy_part`. why: why NumPy also runs the
    rest, though another device was requested."""

    stage: Stage
    numpy_session: Session | None = None
    session: Session | None = None
    why: str = ""


@dataclass(slots=True)
class Trace:
    """What a run did: the parts that the device ran; how often each host step was computed, with
    the bytes it read and wrote; and the number of loop turns, at most `most_turns`."""

    most_turns: int = MAX_TURNS
    turns: int = 0
    parts: dict[int, Part] = field(default_factory=dict)
    steps: dict[int, tuple[HostStep, int, int, int]] = field(default_factory=dict)

    def reset(self) -> None:
        """Clears the record of the previous run."""
        self.turns = 0
        self.parts.clear()
        self.steps.clear()

    def add_turn(self, node: NodeRecord, inputs: Iterable[Value]) -> None:
        """Counts a turn of a loop. Raises RealizeError if there are too many and DeviceMemoryError
        for sequences that do not fit in memory. A hundred members of a sequence count as another
        turn, since they are passed on one by one."""
        sequences = [value for value in inputs if isinstance(value, list)]
        self.turns += 1 + sum(map(len, sequences)) // 100
        check_memory(sum(map(size_in_bytes, sequences)), "its sequences")
        if self.turns > self.most_turns:
            raise RealizeError(
                f"{describe(node)}: the loops of this run have not ended after {self.most_turns:,} "
                "turns; session(most_turns=...) raises the limit"
            )

    def add_part(self, part: Part) -> None:
        """Keeps a part that ran; of too many, the first goes."""
        self.parts[id(part)] = part
        if len(self.parts) > MAX_PARTS:
            del self.parts[next(iter(self.parts))]

    def add_step(self, step: HostStep, bytes_in: int, bytes_out: int) -> None:
        """Counts a run of a node on the host, and its bytes."""
        _, times, total_in, total_out = self.steps.get(id(step), (step, 0, 0, 0))
        self.steps[id(step)] = (step, times + 1, total_in + bytes_in, total_out + bytes_out)
