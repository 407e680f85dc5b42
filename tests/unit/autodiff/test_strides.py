"""The gradient of a convolution's image, by pixels that are strides apart."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import tallow as tl
from tallow.functions.transposed import Pads, Pair, conv2d_input
from tallow.graph import topological
from tallow.ops import window

KERNELS = [(1, 1), (3, 2), (2, 4), (5, 3)]
STRIDES = [(1, 2), (2, 2), (3, 1), (4, 3)]
PADS: list[Pads] = [((0, 0), (0, 0)), ((1, 2), (0, 1)), ((3, 0), (2, 3))]
DILATIONS = [(1, 1), (2, 3)]


def spread(
    gradient: np.ndarray,
    weight: np.ndarray,
    shape: tuple[int, ...],
    stride: Pair,
    padding: Pads,
    dilation: Pair,
    groups: int,
) -> np.ndarray:
    """Every pixel of the gradient, through every tap, to where it came from."""
    image = np.zeros(shape, np.float32)
    _, high, wide, filters = gradient.shape
    kh, kw, per_group, _ = weight.shape
    each = filters // groups
    for y, x, i, j in product(range(high), range(wide), range(kh), range(kw)):
        line = y * stride[0] + i * dilation[0] - padding[0][0]
        column = x * stride[1] + j * dilation[1] - padding[1][0]
        if not (0 <= line < shape[1] and 0 <= column < shape[2]):
            continue
        for group in range(groups):
            of, to = (slice(group * n, (group + 1) * n) for n in (each, per_group))
            image[:, line, column, to] += gradient[:, y, x, of] @ weight[i, j, :, of].T
    return image


@pytest.mark.parametrize("device", ["numpy", "wasm"])
@pytest.mark.parametrize(("stride", "padding"), list(product(STRIDES, PADS)))
def test_it_is_spread_by_every_tap(device: str, stride: Pair, padding: Pads) -> None:
    draws = np.random.default_rng(38)
    cases = []
    for kernel, dilation, groups in product(KERNELS, DILATIONS, (1, 2)):
        size = draws.integers(1, 12, 2)
        result = [
            (int(n) + sum(pads) - apart * (taps - 1) - 1) // step + 1
            for n, pads, apart, taps, step in zip(
                size, padding, dilation, kernel, stride, strict=True
            )
        ]
        if min(result) < 1:
            continue
        gradient = draws.integers(-3, 4, (2, *result, 2 * groups)).astype(np.float32)
        weight = draws.integers(-3, 4, (*kernel, 3, 2 * groups)).astype(np.float32)
        shape = (2, int(size[0]), int(size[1]), 3 * groups)
        cases.append((gradient, weight, shape, stride, padding, dilation, groups))
    assert cases
    for case in cases:
        gradient, weight, *rest = case
        image = conv2d_input(tl.asarray(gradient), tl.asarray(weight), *rest)
        np.testing.assert_array_equal(image.numpy(device), spread(*case))


@pytest.mark.parametrize(
    ("kernel", "stride", "padding"), [(3, 2, 1), (1, 2, 0), (4, 2, 1), (7, 2, 3), (5, 3, 2)]
)
def test_no_inserted_zero_is_multiplied(kernel: int, stride: int, padding: int) -> None:
    size = 12
    gradient, weight = tl.ones((1, size, size, 8)), tl.ones((kernel, kernel, 4, 8))
    shape = (1, size * stride, size * stride, 4)
    pads = (padding, padding)
    image = conv2d_input(gradient, weight, shape, (stride, stride), (pads, pads), (1, 1), groups=1)
    products = sum(
        node.size * node.inputs[1].size // node.shape[-1]
        for node in topological([image.node])
        if node.op is window.conv2d
    )
    assert products == gradient.size * kernel * kernel * shape[-1]
