"""Windows over an image without elements see nothing but padding; no kernel reads that image."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import tallow as tl
from tallow.graph import make, topological
from tallow.ops import window
from tallow.ops.kinds import Op
from tallow.tensor import Tensor

ONES, NONE = (1, 1), ((0, 0), (0, 0))
BELOW = ((1, 2), (0, 0))


def conv(x: Tensor, weight: Tensor, padding: tuple = BELOW, groups: int = 1) -> Tensor:
    options = {"stride": ONES, "padding": padding, "dilation": ONES, "groups": groups}
    return Tensor(make(window.conv2d, x.node, weight.node, **options))


def pool(op: Op, x: Tensor) -> Tensor:
    return Tensor(
        make(op, x.node, kernel=(2, 2), stride=ONES, padding=BELOW, dilation=ONES)
    )  # fmt: skip


CASES: dict[str, tuple[float, Callable[[Tensor, Tensor], Tensor]]] = {
    "no lines": (0.0, lambda x, w: conv(x[:, :0], w)),
    "no columns": (0.0, lambda x, w: conv(x[:, :, :0], w, ((0, 0), (1, 2)))),
    "no channels": (0.0, lambda x, w: conv(x[..., :0], w[:, :, :0], NONE)),
    "in groups": (0.0, lambda x, w: conv(x[:, :0], w[:, :, :2], groups=2)),
    "each channel": (0.0, lambda x, w: conv(x[:, :0], w[:, :, :1], groups=4)),
    "sums": (0.0, lambda x, w: pool(window.sum_pool2d, x[:, :0])),
    "maxima": (-math.inf, lambda x, w: pool(window.max_pool2d, x[:, :0])),
    "beside others": (0.0, lambda x, w: tl.concat([conv(x[:, :0], w)] * 2, 1) * 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_they_give_what_padding_gives(name: str, device: str) -> None:
    value, compute = CASES[name]
    x, weight = tl.ones((2, 5, 3, 4)) * 3.0, tl.ones((2, 2, 4, 8)) * 2.0
    shape = compute(x, weight).shape
    assert math.prod(shape)
    for found in (compute(x, weight), tl.jit(compute)(x, weight)):
        np.testing.assert_array_equal(found.numpy(), np.full(shape, value, np.float32))


def test_the_gradient_of_a_weight(device: str) -> None:
    weight = tl.asarray(np.ones((2, 2, 4, 8), np.float32), requires_grad=True)
    loss = conv(tl.ones((2, 5, 3, 4))[:, :0], weight).sum()
    assert any(node.op is window.conv2d for node in topological([loss.node]))
    loss.backward()
    assert weight.grad is not None
    np.testing.assert_array_equal(weight.grad.numpy(), np.zeros(weight.shape, np.float32))
