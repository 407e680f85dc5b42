"""The bounds of ops' results, and which 64-bit integers fit 32 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallow as tl
from tallow.compile.ranges import Ranges, largest_feed
from tallow.core.hostarray import from_values
from tallow.core.shape import size_of
from tallow.graph import Graph, Node, constant, input_node, make
from tallow.ops.kinds import REGISTRY, Elementwise, Reduce, Select

BOUNDED = [
    op.name
    for op in REGISTRY.values()
    if isinstance(op, (Elementwise, Reduce))
    and op.bounds
    and op.name not in ("cast", "bitcast", "position", "checked")  # which don't take such operands
]


def numbers(draw: Any, dtype: Any, shape: tuple[int, ...]) -> Node:
    if dtype == tl.bool_:
        one: Any = st.booleans()
    elif dtype.is_floating:
        one = st.floats(-1e6, 1e6, width=32)
    else:
        low = 0 if dtype.kind == "u" else -(2**31)
        ends = draw(st.tuples(*[st.integers(low, 2**31)] * 2))
        one = st.integers(min(ends), max(ends))
    items = draw(st.lists(one, min_size=size_of(shape), max_size=size_of(shape)))
    return constant(from_values(items, shape, dtype))


@pytest.mark.parametrize("name", BOUNDED)
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_results_lie_within_their_bounds(name: str, data: st.DataObject) -> None:
    """Except where the exact result does not fit the type: then any result is allowed."""
    op = REGISTRY[name]
    kinds = [t for t in (tl.int64, tl.uint64, tl.float32) if t.kind in op.accepts]
    dtype = data.draw(st.sampled_from(kinds))
    types = [dtype] * getattr(op, "arity", 1)
    if isinstance(op, Select):
        types[0] = tl.bool_
    attrs = {"axes": (1,)} if isinstance(op, Reduce) else {}
    node = make(op, *(numbers(data.draw, one, (2, 3)) for one in types), **attrs)
    with np.errstate(all="ignore"):
        operands = [child.attrs["data"].numpy() for child in node.inputs]
        found = np.asarray(op.numpy(np, *operands, **attrs))
    low, high = Ranges(1 << 20).of(node)
    assert all(low <= item <= high for item in found.ravel().tolist() if item == item)


def test_inputs_are_as_large_as_is_assumed() -> None:
    x = input_node("x", (3,), tl.int64)
    assert Ranges(1 << 20).of(x) == (-(2**20), 2**20 - 1)
    assert Ranges(1 << 32).of(x) == (-(2**31), 2**31 - 1)
    words = input_node("y", (3,), tl.uint64)
    assert Ranges(1 << 32).of(words) == (0, 2**32 - 1)
    ranges = Ranges(1 << 20)
    ranges.assume(x)
    assert ranges.of(x) == (-(2**63), 2**63 - 1)
    assert not ranges.fits(x)


@pytest.mark.parametrize(
    ("compute", "bits"),
    [
        (lambda x: -x, 24),
        (lambda x: x, 32),
        (lambda x: tl.where(x < 0, x + 5, x), 24),
        (lambda x: x * 100, 24),
        (lambda x: x * 1000, 20),
        (lambda x: x * x, 12),
        (lambda x: tl.sum(x * x), 12),
        (lambda x: tl.cumulative_sum(x), 24),
        (lambda x: (x.astype(tl.float32) * 2).astype(tl.int64), 24),
        (lambda x: tl.clip(x.astype(tl.float32) * 1e9, 0, 255).astype(tl.int64), 32),
        (lambda x: tl.argmax(x).astype(tl.int64) * 1000, 32),
        (lambda x: tl.take(tl.asarray(np.float32([1, 2])), x), 32),
    ],
)
def test_how_large_feeds_may_be(compute: Any, bits: int) -> None:
    x = input_node("x", (5,), tl.int64)
    graph = Graph((x,), {"y": compute(tl.Tensor(x)).node})
    assert largest_feed(graph) == 1 << bits
    (port,) = tl.compile.compile_graph(graph, "webgpu").plan.inputs
    assert port.most == 1 << bits


def test_a_graph_without_64_bit_inputs_needs_no_limit() -> None:
    x = input_node("x", (5,), tl.int32)
    assert largest_feed(Graph((x,), {"y": (tl.Tensor(x) * 2).node})) is None
    with pytest.raises(tl.DTypeError, match="cast of int64"):
        floats = tl.Tensor(input_node("f", (2,), tl.float32))
        largest_feed(Graph((floats.node,), {"y": floats.astype(tl.int64).node}))
