"""How much memory a plan uses for activations, and the minimum that its steps need."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tallow.codegen.layout import stored_bytes
from tallow.compile import Plan
from tallow.core.dtype import BY_NAME

ACTIVATIONS = ("input", "output", "scratch")


@dataclass
class _Value:
    """A value that occupies a slot from one step to another."""

    first: int
    last: int
    bytes: int


def largest_live(plan: Plan) -> int:
    """Bytes of the largest set of values that must be in memory together.

    At each step of a run, these are the values that it writes, and those that are still to be read.
    No memory plan for these steps can use less. Weights do not count.
    """
    activations = {n for n, slot in enumerate(plan.slots) if slot.kind in ACTIVATIONS}
    end = len(plan.run)
    values = [_Value(0, 0, port.bytes) for port in plan.inputs]
    value_in = {port.slot: value for port, value in zip(plan.inputs, values, strict=True)}
    missing: dict[int, int] = {}  # elements still to come of values that are written in parts
    for number, step in enumerate(plan.run):
        *reads, write = step.bindings
        for slot in activations.intersection(reads):
            value_in[slot].last = number
        shape, name = step.write
        size = math.prod(shape)
        if write in reads:  # in place
            continue
        if missing.get(write):
            missing[write] -= size
            continue
        if step.region:
            whole = size // step.region.length * step.region.stride
            missing[write] = whole - size
            size = whole
        value_in[write] = _Value(number, number, stored_bytes(BY_NAME[name], size))
        values.append(value_in[write])
    for port in plan.outputs:
        if port.slot in value_in:
            value_in[port.slot].last = end
    return max(sum(v.bytes for v in values if v.first <= at <= v.last) for at in range(end + 1))


def activation_bytes(plan: Plan) -> int:
    """Bytes of the slots that a run uses in addition to weights."""
    used = {slot for step in plan.run for slot in step.bindings}
    used |= {port.slot for port in (*plan.inputs, *plan.outputs)}
    return sum(plan.slots[slot].bytes for slot in used if plan.slots[slot].kind in ACTIVATIONS)
