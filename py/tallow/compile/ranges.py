"""Ranges: which 64-bit integers of a graph 32 bits hold, which is what a GPU computes.

The range of a node's elements follows from its op's record (core/bounds.py), the constants, and
what is assumed of inputs. So shapes, indices and token ids are known to fit, and most of what is
computed of them; the rest may wrap round, and must not be computed in 32 bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..core.bounds import Range
from ..core.dtype import DType, device_type
from ..errors import WideIntegerError
from ..graph import Graph, Node

ASSUMED = 1 << 20
"""How large the 64-bit integers that a model is fed may be, unless a run shows otherwise: more
than any vocabulary has tokens."""

_STEPS = (32, 24, 20, 16, 12, 8)
"""Bits of what may be fed, the most first."""

_MAX_FLOAT16 = 65504.0


def is_wide(dtype: DType) -> bool:
    """Whether it is an integer type of 64 bits."""
    return dtype.is_integer and dtype.size == 8


def limits(dtype: DType) -> Range:
    """The lowest and the highest number of a type."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.is_floating:
        most = _MAX_FLOAT16 if dtype.name == "float16" else math.inf
        return -most, most
    bits = dtype.bits
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.kind == "i" else (0, (1 << bits) - 1)


def _holds(outer: Range, inner: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


class Ranges:
    """The ranges of nodes' elements, if those of 64-bit inputs are between -most and
    most - 1, and 32 bits hold them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: dict[Node, Range] = {}

    def assume(self, node: Node, most: int | None = None) -> None:
        """What a run makes sure of: a node's elements are between -most and most - 1, and 32 bits
        hold them. Without `most` they may be anything that their type holds."""
        low, high = limits(node.dtype if most is None else device_type(node.dtype))
        self._found[node] = (low, high) if most is None else (max(low, -most), min(high, most - 1))

    def of(self, node: Node) -> Range:
        """The lowest and the highest that an element of the node may be."""
        waiting = [node]
        while waiting:
            if waiting[-1] in self._found:
                waiting.pop()
                continue
            known = waiting[-1].op.bounds is not None
            children = waiting[-1].inputs if known else ()
            missing = [child for child in children if child not in self._found]
            if missing:
                waiting += missing
            else:
                self._find(waiting.pop())
        return self._found[node]

    def fits(self, node: Node) -> bool:
        """Whether the GPU holds every element as it is, as far as integers are concerned."""
        return not is_wide(node.dtype) or _holds(limits(device_type(node.dtype)), self.of(node))

    def _find(self, node: Node) -> None:
        if node.is_input and is_wide(node.dtype):
            self.assume(node, self._most)
            return
        found = _content(node) if node.is_constant else self._computed(node)
        every = limits(node.dtype)
        if found is not None and node.dtype.is_floating:
            slack = 2.0**-8 if node.dtype.bits < 32 else 2.0**-20  # what rounding may add
            found = found[0] - abs(found[0]) * slack, found[1] + abs(found[1]) * slack
        # What leaves its type wraps round, and may come out anywhere in it.
        self._found[node] = found if found and _holds(every, found) else every

    def _computed(self, node: Node) -> Range | None:
        if node.op.bounds is None:
            return None
        operands = [(child.shape, child.dtype) for child in node.inputs]
        try:
            return node.op.bounds(operands, node.attrs, *map(self._found.get, node.inputs))
        except OverflowError:  # a whole number that no floating one is as large as
            return None


def _content(node: Node) -> Range | None:
    data = node.attrs["data"]
    if data.dtype.coded:
        return None
    if not data.size:
        return 0, 0
    values = data.flat()
    found = min(values), max(values)
    return None if data.dtype.is_floating and any(map(math.isnan, values)) else found


def largest_feed(graph: Graph) -> int | None:
    """The number so that 32 bits hold all that the graph computes of 64-bit integers between minus
    that and one less than it, if they hold those; None if it is fed none.

    Raises WideIntegerError where 32 bits need not do, whatever it is fed.
    """
    wide = [node for node in graph.nodes() if is_wide(node.dtype)]
    fed = any(is_wide(node.dtype) for node in graph.inputs)
    for bits in _STEPS if fed else _STEPS[:1]:
        ranges = Ranges(1 << bits)
        beyond = first_beyond(wide, ranges)
        if beyond is None:
            return 1 << bits if fed else None
    assert beyond is not None
    low, high = ranges.of(beyond)
    raise WideIntegerError(
        f"{beyond.op.name} of {beyond.dtype.name} {list(beyond.shape)} may reach from {low} to "
        f"{high}; the GPU computes {device_type(beyond.dtype).name}: run this model with "
        "device='numpy', or cast to a type of 32 bits"
    )


def first_beyond(nodes: Iterable[Node], ranges: Ranges) -> Node | None:
    """The first of the nodes that 32 bits might not hold."""
    return next((node for node in nodes if not ranges.fits(node)), None)
