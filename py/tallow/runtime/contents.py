"""What of a program's memory others may have, too: weights, and what plans compute from them at
their start.

A language model runs as several plans: one for a token, others for the parts of a prompt. Each of
them alone would hold all weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ..compile.plan import Plan, Step
from ..core.hostarray import HostArray

_LEAST = 1 << 12
"""Bytes of what is shared; less is not worth a part of its own."""

_WORTH = 1 << 20
"""Bytes of a program's weights from which on they are shared."""

Content: TypeAlias = tuple[Any, tuple[object, ...]]
"""What is in a slot: a key, equal for what is the same, and the arrays by whose identity that is
known (`HostArray.origin`). While these are held, no other array has their identity."""


def contents(
    plan: Plan, weights: Mapping[int, HostArray], kernel: Callable[[Step], object] = lambda step: ""
) -> dict[int, Content]:
    """What of a plan's slots can be shared, by slots; nothing if that is little.

    weights: by their slots. kernel: what of a step's kernel decides how exact its result is, where
    settings choose among kernels.
    """
    known = _known(plan, weights, kernel)
    found = {slot: content for slot, content in known if _size(plan, slot) >= _LEAST}
    return found if sum(_size(plan, slot) for slot in found) >= _WORTH else {}


def _size(plan: Plan, slot: int) -> int:
    return plan.slots[slot].bytes


def _known(
    plan: Plan, weights: Mapping[int, HostArray], kernel: Callable[[Step], object]
) -> Iterator[tuple[int, Content]]:
    written = Counter(step.bindings[-1] for step in (*plan.prepare, *plan.run))
    known: dict[int, Content] = {}
    for slot, data in weights.items():
        origin = data.origin
        if origin is not None and not written[slot]:
            # Devices store bytes as they are, but some of them bools as words.
            known[slot] = (id(origin), data.dtype.kind == "b"), (origin,)
    for step in plan.prepare:
        *reads, slot = step.bindings
        if written[slot] == 1 and step.region is None and all(read in known for read in reads):
            of = [known[read] for read in reads]
            computed = repr((step.reads, step.write, step.host)), kernel(step)
            origins = tuple(origin for _, several in of for origin in several)
            known[slot] = (computed, *(key for key, _ in of)), origins
    yield from known.items()


def needed(plan: Plan, ready: set[int]) -> tuple[set[int], list[Step]]:
    """The slots that a program has to have, and the steps of `prepare` that it has to run, if some
    slots are ready."""
    wanted = used_slots(plan)
    prepare: list[Step] = []
    for step in reversed(plan.prepare):
        if step.bindings[-1] in wanted - ready:
            wanted.update(step.bindings)
            prepare.insert(0, step)
    return wanted, prepare


def used_slots(plan: Plan) -> set[int]:
    """The slots that the runs of a plan use."""
    steps: Sequence[Step] = plan.run
    slots = {slot for step in steps for slot in step.bindings}
    ports = (*plan.inputs, *plan.outputs, *plan.states)
    return slots | {port.slot for port in ports} | {copy.source for copy in plan.copies}
