"""Pooling that is composed of other ops."""

from __future__ import annotations

from ...graph import Node, make
from ...ops import elementwise as e
from ...ops import movement


def integer_max_pool(node: Node, x: Node) -> Node:
    """The maximum of shifted slices of the padded image."""
    attrs = node.attrs
    least = 0 if x.dtype.kind == "u" else -(1 << (8 * x.dtype.size - 1))
    pads = ((0, 0), *attrs["padding"], (0, 0))
    padded = make(movement.pad, x, pads=pads, value=least)
    steps = (1, *attrs["stride"], 1)
    result: Node | None = None
    for i in range(attrs["kernel"][0]):
        for j in range(attrs["kernel"][1]):
            starts = (0, i * attrs["dilation"][0], j * attrs["dilation"][1], 0)
            part = make(movement.slice_, padded, starts=starts, steps=steps, shape=node.shape)
            result = part if result is None else make(e.maximum, result, part)
    assert result is not None
    return result
