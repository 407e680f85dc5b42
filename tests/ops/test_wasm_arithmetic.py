"""Where the arithmetic of generated WebAssembly could differ from NumPy's: zeros of both signs,
long sums, large angles, casts, indices of 64 bits; and a kernel that is too long for it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import tallow as tl
from tallow.core.dtype import as_dtype
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor


def on(device: str, build: Callable[..., Tensor], *arrays: np.ndarray) -> np.ndarray:
    """What a device computes of arrays that are fed."""
    nodes = tuple(
        input_node(f"x{number}", array.shape, as_dtype(array.dtype))
        for number, array in enumerate(arrays)
    )
    graph = Graph(nodes, {"y": build(*map(Tensor, nodes)).node}, "on")
    with tl.compile_session(graph, device) as session:
        result: np.ndarray = session.run({f"x{n}": array for n, array in enumerate(arrays)})["y"]
        return result


def test_zeros_of_both_signs_are_two_kernels() -> None:
    x = np.array([1, -2, 3], np.float32)
    node = input_node("x", x.shape, tl.float32)
    outputs = {"y": (Tensor(node) * 0.0).node, "z": (Tensor(node) * -0.0).node}
    with tl.compile_session(Graph((node,), outputs, "zeros"), "wasm") as session:
        found = session.run({"x": x})
    np.testing.assert_array_equal(np.signbit(found["y"]), [False, True, False])
    np.testing.assert_array_equal(np.signbit(found["z"]), [True, False, True])


@pytest.mark.parametrize("axis", [0, 1])
def test_long_sums_keep_their_digits(axis: int) -> None:
    x = np.full((1_000_000, 1) if axis == 0 else (1, 1_000_000), 0.1, np.float32)
    np.testing.assert_allclose(on("wasm", lambda x: tl.sum(x, axis=axis), x), 1e5, rtol=1e-6)


def test_long_products_keep_their_digits() -> None:
    a, b = np.full((1, 300_001), 0.1, np.float32), np.ones((300_001, 9), np.float32)
    np.testing.assert_allclose(on("wasm", lambda a, b: a @ b, a, b), 30_000.1, rtol=1e-4)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_any_size(name: str) -> None:
    """Small ones between large ones, and those next to whole numbers of quarter turns."""
    size = np.geomspace(1e-3, 3.4e38, 4001).astype(np.float32)
    nearest = np.array([16367173 * 2.0**72, 6381956970095103 * 2.0**50, 2.0**28, 2.0**127])
    x = np.concatenate([size, -size, nearest, -nearest]).astype(np.float32)
    found = on("wasm", getattr(tl, name), x)
    right = [getattr(math, name)(angle) for angle in x.tolist()]
    np.testing.assert_allclose(found, right, rtol=4e-7)
    assert np.isnan(on("wasm", getattr(tl, name), np.array([math.inf, -math.inf], "f"))).all()


def test_powers_of_whole_numbers_are_whole() -> None:
    x, y = np.meshgrid(np.arange(2, 12), np.arange(7))
    expected = (x.astype(np.float64) ** y).astype(np.float32)
    found = on("wasm", tl.pow, x.astype(np.float32), y.astype(np.float32))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64", "bool"])
@pytest.mark.parametrize("value", [-1.5, 3e9, 200.0])
def test_each_element_is_cast_alike(dtype: str, value: float) -> None:
    found = on("wasm", lambda x: x.astype(as_dtype(dtype)), np.full(6, value, np.float32))
    assert len(set(found.tolist())) == 1


@pytest.mark.parametrize("name", ["exp", "tanh", "exp2"])
def test_extreme_elements_are_alike_in_vectors(name: str) -> None:
    """Each five times: four are a vector somewhere, the last one stands alone."""
    x = np.array([math.nan, -0.0, 7, 200, -200, -103.5, math.inf, -math.inf], np.float32)
    found = on("wasm", getattr(tl, name), np.repeat(x, 5)[:-1])
    with np.errstate(over="ignore"):
        right = np.repeat(getattr(np, name)(x), 5)[:-1]
    np.testing.assert_allclose(found, right, rtol=1e-6)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(right))


def test_indices_of_64_bits_are_clamped_before_they_are_narrowed() -> None:
    indices = np.array([65536, 1], np.int64)
    found = on("wasm", lambda x, i: tl.take(x, i * i), np.arange(5, dtype=np.float32), indices)
    np.testing.assert_array_equal(found, [4, 1])


def test_windows_that_meet_padding_alone() -> None:
    x = np.ones((1, 4, 1, 1), np.float32)
    build = lambda x: tl.functional.avg_pool2d(x, 1, stride=2, padding=((1, 0), (0, 0)))  # noqa: E731
    np.testing.assert_array_equal(on("wasm", build, x), on("numpy", build, x))


def test_a_kernel_that_would_be_too_long_is_computed_by_numpy() -> None:
    def build(a: Tensor, b: Tensor) -> Tensor:
        y = a @ b
        for _ in range(90):
            y = tl.tanh(y)
        return y

    rng = np.random.default_rng(0)
    a, b = rng.random((11, 3), np.float32), rng.random((3, 15), np.float32)
    expected = on("numpy", build, a, b)
    np.testing.assert_allclose(on("wasm", build, a, b), expected, rtol=1e-5)
