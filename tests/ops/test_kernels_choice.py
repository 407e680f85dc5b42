"""Which kernel the rule takes, by shape and kind of device. No device is needed."""

from __future__ import annotations

import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.devices.webgpu.codegen.choice import Traits, candidates, choose, signature
from tallow.devices.webgpu.codegen.kernels import PRODUCTS
from tallow.devices.webgpu.codegen.window_kernels import CONVOLUTIONS, DEPTHWISE
from tallow.graph import Graph, Node, input_node
from tallow.ops import contract
from tallow.ops.kinds import Contraction
from tallow.tensor import Tensor

SWIFTSHADER = Traits(software=True, subgroups=True)
LAVAPIPE = Traits(software=True, subgroups=True, float16=True)
GPU = Traits(subgroups=True, float16=True)
HALF = Traits(subgroups=True, float16=True, half=True)


def anchor(result: Tensor, *inputs: Node) -> Node:
    """The contraction or window that a kernel is chosen for."""
    nodes = Graph(inputs, {"result": result.node}, "choice").nodes()
    return next(node for node in nodes if isinstance(node.op, Contraction))


def product(rows: int, inner: int, columns: int, batch: int = 1) -> Node:
    a = input_node("a", (batch, rows, inner), tl.float32)
    b = input_node("b", (batch, inner, columns), tl.float32)
    return anchor(Tensor(a) @ Tensor(b), a, b)


def convolution(size: int, channels: int, window: int = 3) -> Node:
    x = input_node("x", (1, channels, size, size), tl.float32)
    w = input_node("w", (channels, channels, window, window), tl.float32)
    return anchor(F.conv2d(Tensor(x), Tensor(w), padding=window // 2), x, w)


@pytest.mark.parametrize(
    ("shape", "software", "gpu"),
    [
        ((1024, 1024, 1024), "matmul_quad_32x8", "matmul_tile_8x8"),
        ((1024, 128, 256), "matmul_quad_16x8", "matmul_tile_8x8"),
        ((128, 128, 128), "matmul_quad_16x8", "matmul_tile_4x4"),
        ((1024, 16, 1024), "matmul_quad_16x8", "matmul_8x8"),
        ((1024, 1024, 16), "matmul_quad_16x4", "matmul_8x8"),
        ((25, 784, 6), "matmul_quad_16x4", "matmul_4x4"),
        ((1024, 784, 4), "matmul_4x4", "matmul_4x4"),
        ((1, 1280, 1000), "matmul_1x4", "matmul_split"),
        ((3, 2048, 1000), "matmul_4x4", "matmul_split"),
        ((1, 64, 10), "matmul_1x4", "matmul_1x4"),
        ((16, 64, 64), "matmul_quad_16x8", "matmul_4x4"),
    ],
)
def test_products(shape: tuple[int, int, int], software: str, gpu: str) -> None:
    node = product(*shape)
    assert node.op is contract.matmul
    assert choose(node, SWIFTSHADER).name == software
    assert choose(node, LAVAPIPE).name == software
    assert choose(node, GPU).name == gpu


def test_a_batch_fills_a_gpu() -> None:
    assert choose(product(64, 64, 64, batch=1), GPU).name == "matmul_tile_4x4"
    assert choose(product(64, 64, 64, batch=64), GPU).name == "matmul_tile_8x8"


def test_convolutions() -> None:
    assert choose(convolution(112, 64), GPU).name == "conv2d_tile_8x8"
    assert choose(convolution(14, 64), GPU).name == "conv2d_tile_4x4"
    assert choose(convolution(7, 64), GPU).name == "conv2d_4x4"
    assert choose(convolution(112, 64), SWIFTSHADER).name == "conv2d_quad_16x8"
    assert choose(convolution(112, 64, window=1), GPU).name == "matmul_tile_8x8"
    assert choose(convolution(14, 8), SWIFTSHADER).name == "conv2d_quad_8x8"


def depthwise(window: int, stride: int) -> Node:
    x = input_node("x", (1, 32, 28, 28), tl.float32)
    w = input_node("w", (32, 1, window, window), tl.float32)
    result = F.conv2d(Tensor(x), Tensor(w), stride=stride, padding=window // 2, groups=32)
    return anchor(result, x, w)


def test_the_rule_takes_every_kernel() -> None:
    """Where there are several for an op: one that no rule takes on any device is only read."""
    nodes = [
        *(product(rows, 1024, 1024) for rows in (1, 3, 16, 64, 1024)),
        *(product(rows, 1024, 16) for rows in (16, 1024)),
        product(1, 64, 10),
        *(convolution(size, channels) for size in (7, 14, 112) for channels in (8, 16, 64)),
        *(depthwise(window, stride) for window in (3, 5, 7) for stride in (1, 2)),
    ]
    taken = {choose(n, traits).name for n in nodes for traits in (SWIFTSHADER, GPU, HALF)}
    assert taken == {*PRODUCTS, *CONVOLUTIONS, *DEPTHWISE}


@pytest.mark.parametrize("node", [product(1024, 1024, 1024), convolution(112, 64)])
def test_float16_only_where_it_is_allowed(node: Node) -> None:
    """It changes answers, so that neither rule nor tuning may take it unasked."""
    assert choose(node, HALF).name.endswith("tile_8x8_f16")
    assert not choose(node, Traits(half=True)).half
    for traits in (Traits(), SWIFTSHADER, LAVAPIPE, GPU):
        assert not any(schedule.half for schedule in candidates(node, traits))


@pytest.mark.parametrize("node", [product(64, 64, 64), convolution(16, 32), convolution(16, 32, 1)])
def test_candidates_need_nothing_that_the_device_lacks(node: Node) -> None:
    texts = [schedule.text() for schedule in candidates(node, Traits())]
    assert texts
    assert not any("\nenable " in text for text in texts)


def test_many_rows_fit_a_dispatch() -> None:
    """A product of each pixel of a large picture: what tuning may try must be able to run."""
    node = convolution(300, 8, window=1)
    for schedule in candidates(node, HALF):
        extent = schedule.extent(node, schedule.tile)
        assert all(
            count <= 65535 * size for count, size in zip(extent, schedule.workgroup, strict=True)
        ), schedule.name


def test_what_was_tuned_goes_before_the_rule() -> None:
    node = product(1024, 1024, 1024)
    tuned = Traits(choices={signature(node): "matmul_4x4"})
    assert choose(node, tuned).name == "matmul_4x4"
    assert choose(product(1024, 1024, 512), tuned).name == "matmul_tile_8x8"
    unknown = Traits(choices={signature(node): "no_such_kernel"})
    assert choose(node, unknown).name == "matmul_tile_8x8"
    unable = Traits(choices={signature(node): "matmul_quad_16x8"})
    assert choose(node, unable).name == "matmul_tile_8x8"
