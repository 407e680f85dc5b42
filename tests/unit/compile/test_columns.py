"""Images of few channels by columns: the same convolutions and gradients of weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.compile.passes import columns
from tallow.compile.passes.compose import compose
from tallow.core import dtype as dt
from tallow.graph import Graph, Node, input_node, make
from tallow.ops import window
from tallow.ops.kinds import Op

GEOMETRIES = [  # image, kernel, filters, options
    ((2, 7, 12, 1), (5, 5), 6, {"padding": ((2, 2), (2, 2))}),
    ((2, 9, 16, 1), (3, 5), 2, {}),
    ((1, 6, 9, 1), (3, 2), 3, {"padding": ((0, 1), (0, 0)), "stride": (2, 1)}),
    ((1, 5, 17, 1), (2, 3), 3, {"stride": (1, 2)}),
    ((1, 5, 31, 1), (2, 5), 3, {"stride": (3, 4), "padding": ((1, 0), (3, 0))}),
    ((3, 8, 9, 2), (4, 3), 5, {"padding": ((1, 1), (0, 1)), "dilation": (2, 1)}),
    ((2, 6, 10, 6), (3, 5), 16, {}),
    ((2, 6, 9, 5), (3, 3), 16, {"padding": ((1, 1), (1, 1))}),
]


def attributes(**options: Any) -> dict[str, Any]:
    none = ((0, 0), (0, 0))
    plain = {"stride": (1, 1), "padding": none, "dilation": (1, 1), "groups": 1}
    return {**plain, **options}


def check_composed(node: Node) -> Graph:
    """That the composed graph gives the same; gives that graph."""
    random = np.random.default_rng(1)
    feeds = {
        each.attrs["name"]: random.normal(size=each.shape).astype("f4") for each in node.inputs
    }
    graph = Graph(node.inputs, {"y": node})
    composed = compose(graph)
    wanted, got = (computed(each, feeds) for each in (graph, composed))
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    return composed


def computed(graph: Graph, feeds: dict[str, np.ndarray]) -> np.ndarray:
    with tl.compile_session(graph, "numpy") as session:
        return session.run(feeds)["y"]


def channels_read(graph: Graph, op: Op) -> int:
    """Of the image that the only op of a kind reads."""
    (node,) = (each for each in graph.nodes() if each.op is op)
    return node.inputs[0].shape[3]


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_WORTH", 1)


@pytest.mark.parametrize(("shape", "kernel", "filters", "options"), GEOMETRIES[:6])
def test_convolutions(
    shape: tuple[int, ...], kernel: tuple[int, int], filters: int, options: dict[str, Any]
) -> None:
    weight = (*kernel, shape[3], filters)
    inputs = input_node("x", shape, dt.float32), input_node("w", weight, dt.float32)
    composed = check_composed(make(window.conv2d, *inputs, **attributes(**options)))
    assert channels_read(composed, window.conv2d) == 4


@pytest.mark.parametrize(("shape", "kernel", "filters", "options"), GEOMETRIES)
def test_gradients_of_weights(
    shape: tuple[int, ...], kernel: tuple[int, int], filters: int, options: dict[str, Any]
) -> None:
    attrs = attributes(**options)
    size = window.spatial_size(shape, kernel, attrs)
    x = input_node("x", shape, dt.float32)
    gradient = input_node("g", (shape[0], *size, filters), dt.float32)
    composed = check_composed(make(window.conv2d_weight, x, gradient, kernel=kernel, **attrs))
    few = shape[3] < 3
    op = window.patches if few else window.conv2d_weight_parts
    assert channels_read(composed, op) == (4 if few else 16 // shape[3] * shape[3])


@pytest.mark.parametrize(
    ("shape", "kernel", "options"),
    [
        ((2, 7, 12, 3), (5, 5), {}),  # as many channels as kernels read
        ((2, 7, 13, 1), (5, 5), {"padding": ((2, 2), (2, 2))}),  # 13 columns
        ((2, 7, 12, 1), (5, 1), {}),  # nothing to share
        ((2, 7, 12, 1), (1, 4), {"dilation": (1, 3)}),
        ((2, 7, 12, 2), (1, 2), {"groups": 2}),
    ],
)
def test_others_stay(
    shape: tuple[int, ...], kernel: tuple[int, int], options: dict[str, Any]
) -> None:
    attrs = attributes(**options)
    weight = (*kernel, shape[3] // attrs["groups"], 4)
    inputs = input_node("x", shape, dt.float32), input_node("w", weight, dt.float32)
    node = make(window.conv2d, *inputs, **attrs)
    composed = compose(Graph(inputs, {"y": node}))
    assert composed.outputs["y"].op is window.conv2d
    assert composed.outputs["y"].inputs[0].shape == shape


def test_small_ones_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    inputs = input_node("x", (1, 8, 8, 1), dt.float32), input_node("w", (3, 3, 1, 4), dt.float32)
    node = make(window.conv2d, *inputs, **attributes(padding=((1, 1), (1, 1))))
    assert compose(Graph(inputs, {"y": node})).outputs["y"].op is window.conv2d
