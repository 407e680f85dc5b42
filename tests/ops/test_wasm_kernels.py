"""WebAssembly's kernels for products and windows, at sizes that leave something over everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from wasm_runs import fed, random, run

import tallow as tl
from tallow.compile import compile_graph
from tallow.core.drivers import run_sync
from tallow.core.hostarray import HostArray
from tallow.devices.numpy.runner import NumpyProgram
from tallow.graph import Graph, Node, constant, make
from tallow.ops import contract, elementwise, movement, panels, window, winograd


def weight(array: np.ndarray) -> Node:
    return constant(HostArray(memoryview(array.tobytes()), array.shape, tl.float32))


def check(result: Node, feeds: Mapping[Node, np.ndarray], relaxed: bool = True) -> None:
    graph = Graph(tuple(feeds), {"y": result}, "kernels")
    with tl.compile_session(graph, "numpy") as session:
        expected = session.run({node.attrs["name"]: array for node, array in feeds.items()})["y"]
    found, left = run(result, feeds, relaxed)
    assert not left
    size = float(np.abs(expected[np.isfinite(expected)]).max(initial=1))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=3e-6 * size)


@pytest.mark.parametrize("relaxed", [True, False])
@pytest.mark.parametrize("known", [True, False], ids=["weight", "fed"])
@pytest.mark.parametrize(
    ("batch", "rows", "depth", "columns"),
    [
        *((1, rows, 7, 20) for rows in range(1, 15)),
        *((1, 13, depth, 8) for depth in (1, 2, 3, 4, 5, 8, 9)),
        *((1, 13, 6, columns) for columns in range(1, 26, 3)),
        (3, 14, 5, 11),
        (2, 25, 1100, 24),  # rows in several blocks
        (1, 400, 800, 68),
        (1, 12, 4500, 9),  # sums in blocks
        (1, 1, 4500, 9),
    ],
)
def test_products(
    batch: int, rows: int, depth: int, columns: int, known: bool, relaxed: bool
) -> None:
    a, b = random(batch, rows, depth), random(batch, depth, columns)
    x, y = fed("a", a), weight(b) if known else fed("b", b)
    feeds = {x: a} if known else {x: a, y: b}
    check(make(contract.matmul, x, y), feeds, relaxed)


@pytest.mark.parametrize("known", [True, False], ids=["weight", "fed"])
def test_products_of_views(known: bool) -> None:
    a, b = random(2, 9, 26), random(2, 17, 9)
    x, y = fed("a", a), weight(b) if known else fed("b", b)
    turned = [make(movement.permute, each, axes=(0, 2, 1)) for each in (x, y)]
    check(make(contract.matmul, *turned), {x: a} if known else {x: a, y: b})


def test_the_gradient_of_filters_reads_patches_where_they_are() -> None:
    a, b = random(8, 9, 3, 5), random(1, 72, 10)
    x, y = fed("a", a), fed("b", b)
    turned = make(movement.permute, make(movement.reshape, x, shape=(72, 3, 5)), axes=(1, 2, 0))
    result = make(contract.matmul, make(movement.reshape, turned, shape=(1, 15, 72)), y)
    check(result, {x: a, y: b})
    plan = compile_graph(Graph((x, y), {"y": result}, "kernels"), "wasm").plan
    (product,) = (step for step in plan.run if step.name == "matmul")
    assert product.kernel["scratch"] < 4 * 72, "a row was copied"


def test_products_of_rows_at_different_distances() -> None:
    a, b = random(5, 4, 3, 2), random(1, 24, 16)
    x = fed("a", a)
    turned = make(movement.permute, x, axes=(3, 0, 2, 1))
    rows = make(movement.reshape, turned, shape=(1, 5, 24))
    check(make(contract.matmul, rows, weight(b)), {x: a})


def test_products_by_the_heads_of_attention() -> None:
    a, b = random(2, 15, 3, 8), random(2, 13, 3, 8)
    x, y = fed("a", a), fed("b", b)
    left = make(movement.permute, x, axes=(0, 2, 1, 3))
    right = make(movement.permute, y, axes=(0, 2, 3, 1))
    operands = [
        make(movement.reshape, left, shape=(6, 15, 8)),
        make(movement.reshape, right, shape=(6, 8, 13)),
    ]
    check(make(contract.matmul, *operands), {x: a, y: b})


@pytest.mark.parametrize("columns", [8, 10, 12])
def test_what_follows_a_product(columns: int) -> None:
    """A bias, another operand and a cast, which vectors do not have."""
    a, b, bias, more = random(1, 13, 6), random(1, 6, columns), random(columns), random(13, columns)
    x, z = fed("a", a), fed("z", more)
    y = make(movement.reshape, make(contract.matmul, x, weight(b)), shape=(13, columns))
    wide = make(movement.reshape, weight(bias), shape=(1, columns))
    y = make(elementwise.add, y, make(movement.expand, wide, shape=(13, columns)))
    y = make(elementwise.multiply, y, z)
    check(y, {x: a, z: more})
    whole = make(elementwise.cast, make(elementwise.cast, y, dtype=tl.int32), dtype=tl.float32)
    check(whole, {x: a, z: more})


def test_a_product_by_infinity_stays_in_its_row_and_column() -> None:
    a, b = random(1, 13, 9), random(1, 9, 13)
    a[0, 4, 2], b[0, 3, 12] = np.inf, np.nan
    finite = np.isfinite(a).all(-1)[:, :, None] & np.isfinite(b).all(-2)[:, None, :]
    x, y = fed("a", a), fed("b", b)
    for relaxed in (True, False):
        found, _ = run(make(contract.matmul, x, y), {x: a, y: b}, relaxed)
        np.testing.assert_array_equal(np.isfinite(found), finite)


Pads = tuple[tuple[int, int], tuple[int, int]]

# Images, height, width, channels in, kernel, channels out, groups, stride, padding, dilation.
Convolution = tuple[
    int, int, int, int, tuple[int, int], int, int, tuple[int, int], Pads, tuple[int, int]
]
NONE: Pads = ((0, 0), (0, 0))
CONVOLUTIONS: dict[str, Convolution] = {
    "pointwise": (2, 5, 7, 6, (1, 1), 20, 1, (1, 1), NONE, (1, 1)),
    "pointwise, stride": (1, 7, 5, 6, (1, 1), 9, 1, (2, 3), NONE, (1, 1)),
    "pointwise, padding": (1, 3, 4, 5, (1, 1), 8, 1, (1, 1), ((1, 0), (0, 2)), (1, 1)),
    "pointwise, groups": (1, 5, 4, 6, (1, 1), 18, 3, (1, 1), NONE, (1, 1)),
    "plain": (1, 9, 11, 5, (3, 3), 13, 1, (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "one channel": (1, 9, 11, 1, (5, 3), 4, 1, (1, 1), ((2, 2), (1, 1)), (1, 1)),
    "pictures": (3, 5, 6, 4, (3, 3), 8, 1, (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "stride": (1, 12, 9, 3, (3, 2), 8, 1, (2, 3), ((0, 1), (1, 0)), (1, 1)),
    "dilation": (1, 12, 11, 4, (3, 3), 16, 1, (1, 1), ((2, 2), (2, 2)), (2, 3)),
    "padding": (1, 3, 4, 2, (3, 3), 8, 1, (1, 1), ((5, 0), (0, 6)), (1, 1)),
    "wider than the image": (1, 4, 3, 2, (3, 5), 8, 1, (1, 1), ((1, 1), (2, 2)), (1, 1)),
    "many channels": (1, 6, 7, 150, (3, 3), 9, 1, (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "groups": (2, 6, 7, 6, (3, 3), 15, 3, (1, 1), ((1, 1), (0, 1)), (1, 1)),
    "two filters for a channel": (1, 6, 7, 3, (3, 3), 6, 3, (1, 1), ((1, 1), (0, 1)), (1, 1)),
    "depthwise": (2, 9, 17, 8, (3, 3), 8, 8, (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "depthwise, odd": (1, 9, 16, 5, (3, 3), 5, 5, (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "depthwise, stride": (1, 13, 23, 4, (5, 5), 4, 4, (2, 2), ((1, 2), (2, 1)), (1, 1)),
    "depthwise, dilation": (1, 13, 31, 4, (3, 3), 4, 4, (1, 1), ((2, 2), (3, 3)), (2, 3)),
    "depthwise, padding": (1, 2, 3, 4, (3, 3), 4, 4, (1, 1), ((5, 4), (6, 3)), (2, 2)),
    "depthwise, line": (1, 1, 40, 4, (1, 7), 4, 4, (1, 3), ((0, 0), (3, 3)), (1, 1)),
}


@pytest.mark.parametrize("relaxed", [True, False])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name: str, relaxed: bool) -> None:
    n, h, w, inner, kernel, out, groups, stride, padding, dilation = CONVOLUTIONS[name]
    image, filters = random(n, h, w, inner), random(*kernel, inner // groups, out)
    x = fed("x", image)
    attrs = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    y = make(window.conv2d, x, weight(filters), **attrs)
    check(y, {x: image}, relaxed)
    check(make(elementwise.maximum, y, make(elementwise.negative, y)), {x: image}, relaxed)


@pytest.mark.parametrize("relaxed", [True, False])
@pytest.mark.parametrize(
    ("images", "height", "width", "channels", "filters", "padding"),
    [
        (1, 16, 12, 8, 8, ((1, 1), (1, 1))),
        (2, 13, 14, 12, 16, ((1, 0), (2, 1))),
        (1, 15, 19, 64, 24, ((0, 0), (0, 0))),
        (1, 3, 60, 8, 8, ((1, 1), (1, 1))),
        (3, 11, 10, 200, 8, ((3, 1), (0, 5))),
        (1, 52, 44, 8, 8, ((1, 1), (1, 1))),  # a last block with fewer tiles
    ],
)
def test_winograd(
    images: int,
    height: int,
    width: int,
    channels: int,
    filters: int,
    padding: Pads,
    relaxed: bool,
) -> None:
    image, array = random(images, height, width, channels), random(3, 3, channels, filters)
    x = fed("x", image)
    attrs = {"stride": (1, 1), "padding": padding, "dilation": (1, 1), "groups": 1}
    y = make(window.conv2d, x, weight(array), **attrs)
    compiled = compile_graph(Graph((x,), {"y": y}, "network"), "wasm")
    assert [step.name for step in compiled.plan.run] == ["winograd_conv2d"]
    with tl.compile_session(Graph((x,), {"y": y}, "direct"), "numpy") as session:
        expected = session.run({"x": image})["y"]
    found, left = run(y, {x: image}, relaxed)
    assert not left
    near = 2e-5 * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=near)
    (by_numpy,) = run_sync(NumpyProgram(compiled).run([image]))
    np.testing.assert_allclose(by_numpy.numpy(), expected, atol=near)
    # What vectors do not have is computed lane by lane.
    whole = make(elementwise.cast, make(elementwise.cast, y, dtype=tl.int32), dtype=tl.float32)
    found, left = run(whole, {x: image}, relaxed)
    assert not left
    assert (np.abs(found - np.trunc(expected)) <= 1).all()


@pytest.mark.parametrize("channels", [3, 4])
def test_a_convolution_of_channels_first(channels: int) -> None:
    image, filters = random(2, channels, 9, 10), random(3, 3, channels, 8)
    x = fed("x", image)
    last = make(movement.permute, x, axes=(0, 2, 3, 1))
    attrs = {"stride": (2, 2), "padding": ((1, 1), (1, 0)), "dilation": (1, 1), "groups": 1}
    check(make(window.conv2d, last, weight(filters), **attrs), {x: image})


def test_infinity_beside_the_padding_stays_in_its_windows() -> None:
    image, filters = random(1, 6, 20, 4), random(3, 3, 4, 8)
    image[0, 0, 0, 0] = image[0, 5, 19, 3] = np.inf
    image[0, 3, 0, 1] = np.nan
    attrs = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1)}
    x = fed("x", image)
    for each, groups in ((filters, 1), (filters[:, :, :1, :4], 4)):
        y = make(window.conv2d, x, weight(np.ascontiguousarray(each)), groups=groups, **attrs)
        check(y, {x: image})


@pytest.mark.parametrize("op", [window.max_pool2d, window.sum_pool2d], ids=lambda op: op.name)
@pytest.mark.parametrize("channels", [1, 6, 8])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "dilation"),
    [
        ((3, 3), (2, 2), NONE, (1, 1)),
        ((2, 3), (1, 2), ((1, 0), (0, 1)), (1, 1)),
        ((3, 2), (3, 1), ((1, 1), (1, 1)), (2, 3)),
        ((13, 21), (1, 1), NONE, (1, 1)),
    ],
)
def test_poolings(
    op: Any,
    channels: int,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: Pads,
    dilation: tuple[int, int],
) -> None:
    image = random(2, 13, 21, channels) - 3
    x = fed("x", image)
    attrs = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation}
    check(make(op, x, **attrs), {x: image})


def test_panels_end_in_zeros() -> None:
    a = random(2, 3, 11)
    x = fed("a", a)
    packed, left = run(make(panels.pack_panels, x), {x: a}, True)
    assert not left
    np.testing.assert_array_equal(packed[:, 1, :, 3:], 0)
    np.testing.assert_array_equal(packed[:, 1, :, :3], a[:, :, 8:])
    back, left = run(
        make(panels.unpack_panels, make(panels.pack_panels, x), columns=11), {x: a}, True
    )
    assert not left
    np.testing.assert_array_equal(back, a)


@pytest.mark.parametrize("axis", [1, 3])
def test_parts_of_a_concatenation_are_computed_in_place(axis: int) -> None:
    """By a product, Winograd, a depthwise convolution, a pooling, and NumPy."""
    image, products = random(2, 16, 12, 8), random(16, 96, 8)
    x, m = fed("x", image), fed("m", products)
    feeds = {x: image, m: products}
    attrs = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1)}
    unpadded = {**attrs, "padding": NONE}
    parts = [
        make(window.conv2d, x, weight(random(1, 1, 8, 8)), groups=1, **unpadded),
        make(window.conv2d, x, weight(random(3, 3, 8, 8)), groups=1, **attrs),
        make(window.conv2d, x, weight(random(3, 3, 1, 8)), groups=8, **attrs),
        make(window.max_pool2d, x, kernel=(3, 3), **attrs),
        make(winograd.winograd_output, m, size=(16, 12)),
    ]
    y = make(movement.concat, *parts, axis=axis)
    graph = Graph((x, m), {"y": y}, "join")
    plan = compile_graph(graph, "wasm").plan
    assert not any("concat" in step.name for step in plan.run)
    assert sum(step.region is not None for step in plan.run) == len(parts)
    with tl.compile_session(graph, "numpy") as session:
        expected = session.run({"x": image, "m": products})["y"]
    found, left = run(y, feeds, True)
    assert left == ["winograd_output"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-5 * np.abs(expected).max())
