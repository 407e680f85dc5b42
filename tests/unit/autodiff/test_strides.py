"""The gradient of a convolution's image, by pixels that are strides apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812
from tallow.functions.transposed import Pads, Pair, conv2d_input, dilated
from tallow.graph import topological
from tallow.ops import window
from tallow.tensor import Tensor

KERNELS = [(1, 1), (3, 2), (2, 4), (5, 3)]
STRIDES = [(1, 2), (2, 2), (3, 1), (4, 3)]
PADS: list[Pads] = [((0, 0), (0, 0)), ((1, 2), (0, 1)), ((3, 0), (2, 3))]
DILATIONS = [(1, 1), (2, 3)]

# What is made of a gradient is the same graph for every device. This machine's WebGPU takes twenty
# times as long as the others to compile it, and has a choice.
OTHERS = ("numpy", "wasm")


def on(devices: Iterable[str], choices: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Each choice on each device, which comes first."""
    return [(device, *choice) for device, choice in product(devices, list(choices))]


# Each stride and each padding.
SPREAD = [
    *on(OTHERS, product(STRIDES, PADS)),
    *on(["webgpu"], zip(STRIDES, cycle(PADS), strict=False)),
]


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


@pytest.mark.parametrize(("device", "stride", "padding"), SPREAD, indirect=["device"])
def test_it_is_spread_by_every_tap(stride: Pair, padding: Pads, device: str) -> None:
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


def test_lines_that_see_nothing_but_padding(device: str) -> None:
    """What is left of the gradient for them has no line."""
    draws = np.random.default_rng(4)
    gradient = draws.integers(1, 4, (2, 1, 3, 1)).astype(np.float32)
    weight = draws.integers(1, 4, (5, 1, 1, 1)).astype(np.float32)
    rest: tuple = ((2, 5, 6, 1), (4, 3), ((2, 1), (0, 1)), (1, 2), 1)
    image = conv2d_input(tl.asarray(gradient), tl.asarray(weight), *rest)
    np.testing.assert_array_equal(image.numpy(), spread(gradient, weight, *rest))


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


# ---- first and second derivatives -------------------------------------------------------------

CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
OPTIONS = [
    {"stride": 2, "padding": 1},
    {"stride": 3, "padding": 0, "groups": 2},
    {"stride": 2, "padding": 2, "dilation": 2},
    {"stride": 3, "padding": 2, "dilation": 2, "groups": 2},
]

# What does not depend on the number of axes is tried with two; three take longest to compile.
choices = pytest.mark.parametrize(
    ("device", "axes", "kernel", "options"),
    [
        *on(OTHERS, product([1], [3], OPTIONS)),
        *on(OTHERS, product([2], [1, 3], OPTIONS)),
        *on(OTHERS, product([3], [3], (OPTIONS[0], OPTIONS[3]))),
        *on(["webgpu"], [(1, 3, OPTIONS[0]), (2, 1, OPTIONS[1]), (2, 3, OPTIONS[2])]),
        *on(["webgpu"], [(3, 3, OPTIONS[3])]),
    ],
    indirect=["device"],
)


def derivatives(function: Callable[[Tensor, Tensor], Tensor], *args: Tensor) -> list[np.ndarray]:
    """The result, its cubes' derivatives, and those of the sum of the squares of these."""

    def cubes(*args: Tensor) -> Tensor:
        result = function(*args)
        return (result * result * result).sum()

    def squares(*args: Tensor) -> Tensor:
        return sum((each * each).sum() for each in tl.grad(cubes, (0, 1))(*args))

    @tl.jit
    def all_of_them(*args: Tensor) -> list[Tensor]:
        first, second = tl.grad(cubes, (0, 1))(*args), tl.grad(squares, (0, 1))(*args)
        return [function(*args), *first, *second]

    return [each.numpy() for each in all_of_them(*args)]


def inputs(axes: int, kernel: int, size: int, groups: int) -> tuple[Tensor, Tensor]:
    draws = np.random.default_rng(axes)
    x = draws.uniform(-1, 1, (2, 2 * groups, *[size + n for n in range(axes)]))
    weight = draws.uniform(-1, 1, (2 * groups, 2, *[kernel] * axes))
    return tl.asarray(x.astype(np.float32)), tl.asarray(weight.astype(np.float32))


def close(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4 * np.abs(other).max())


@choices
def test_of_a_convolution(axes: int, kernel: int, options: dict[str, int], device: str) -> None:
    """As those of a convolution without a stride, of whose pixels some are taken."""
    every = (Ellipsis, *[slice(None, None, options["stride"])] * axes)
    conv = CONVOLUTIONS[axes]
    given = inputs(axes, kernel, 5, options.get("groups", 1))
    close(
        derivatives(lambda x, w: conv(x, w, **options), *given),
        derivatives(lambda x, w: conv(x, w, **{**options, "stride": 1})[every], *given),
    )


@choices
def test_of_a_transposed_convolution(
    axes: int, kernel: int, options: dict[str, int], device: str
) -> None:
    """As those of one without a stride, of an image with zeros between the pixels."""
    stride, extra = options["stride"], options["stride"] - 1
    transposed = TRANSPOSED[axes]
    x, weight = inputs(axes, kernel, 3, options.get("groups", 1))

    def apart(x: Tensor, weight: Tensor) -> Tensor:
        for axis in range(2, 2 + axes):
            x = dilated(x, axis, stride)
        # output_padding is a border of zeros.
        whole = transposed(x, weight, **{**options, "stride": 1, "padding": 0})
        cut = options["padding"]
        whole = F.pad(whole, [0, extra] * axes)
        return whole[(Ellipsis, *[slice(cut, n - cut) for n in whole.shape[2:]])]

    if min(apart(x, weight).shape) < 1:
        pytest.skip("the padding leaves nothing")
    close(
        derivatives(lambda x, w: transposed(x, w, output_padding=extra, **options), x, weight),
        derivatives(apart, x, weight),
    )
