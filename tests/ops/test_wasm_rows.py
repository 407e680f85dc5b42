"""WebAssembly's reductions and rows by vectors, and vectors of narrow types, at sizes that leave
something over."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import erf
from typing import Any

import numpy as np
import pytest
from wasm_runs import drawn, fed, given, random, run

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.tensor import Tensor

LENGTHS = [1, 3, 4, 7, 8, 12, 15, 16, 17, 31, 32, 64, 66, 384, 1000, 1023]


def on_wasm(build: Callable[..., Tensor], *arrays: np.ndarray) -> np.ndarray:
    """What WebAssembly computes, without NumPy's help."""
    nodes = [given(f"x{number}", array) for number, array in enumerate(arrays)]
    result = build(*map(Tensor, nodes)).node
    found, left = run(result, dict(zip(nodes, arrays, strict=True)), True)
    assert not left
    return np.asarray(found)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "argmin"])
def test_reductions_of_rows(name: str, length: int) -> None:
    x = random(5, length) * (0.1 if name == "prod" else 1) + (name == "prod")
    found = on_wasm(lambda x: getattr(tl, name)(x, axis=1), x)
    wide = getattr(np, name)(x.astype(np.float64), axis=1)
    np.testing.assert_allclose(found, wide, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize("shape", [(3, 4, 40), (2, 1, 21), (20, 3, 17), (3, 70, 100), (6, 5, 1)])
def test_reductions_over_some_axes(shape: tuple[int, ...], axis: Any) -> None:
    x = random(*shape)
    for reduce_, of in ((tl.sum, np.sum), (tl.max, np.max), (tl.mean, np.mean)):
        found = on_wasm(lambda x, one=reduce_: one(x, axis=axis), x)
        wide = of(x.astype(np.float64), axis=axis)
        np.testing.assert_allclose(found, wide, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_reductions_of_integers(name: str, dtype: str) -> None:
    x = drawn((4, 37), dtype)
    found = on_wasm(lambda x: getattr(tl, name)(x, axis=1), x)
    kept = {"dtype": found.dtype} if name == "sum" else {}
    np.testing.assert_array_equal(found, getattr(np, name)(x, axis=1, **kept))


@pytest.mark.parametrize("count", [1 << 16, (1 << 20) + 5])
@pytest.mark.parametrize("lines", [1, 3])
def test_long_sums(count: int, lines: int) -> None:
    x = np.random.default_rng(3).random((lines, count), np.float32)
    found = on_wasm(tl.sum, x)
    np.testing.assert_allclose(found, x.astype(np.float64).sum(), rtol=2e-7)


def test_the_first_nan_is_the_largest() -> None:
    x = random(3, 40)
    x[1, 17] = np.nan
    for name in ("max", "min", "sum"):
        found = on_wasm(lambda x, name=name: getattr(tl, name)(x, axis=1), x)
        np.testing.assert_array_equal(np.isnan(found), [False, True, False])


@pytest.mark.parametrize("length", LENGTHS)
def test_softmax(length: int) -> None:
    x = random(2, 7, length) * 9
    wide = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    wide /= wide.sum(axis=-1, keepdims=True)
    found = on_wasm(lambda x: F.softmax(x, axis=-1), x)
    np.testing.assert_allclose(found, wide, rtol=2e-6, atol=1e-7)
    masked = np.where(np.arange(length) % 3 == 1, -np.inf, x).astype(np.float32)
    found = on_wasm(lambda x: F.softmax(x, axis=-1), masked)
    np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=1e-5)


@pytest.mark.parametrize("length", LENGTHS)
def test_layer_norm_of_what_takes_long(length: int) -> None:
    """Of a GELU and a residual: computed once for the mean, the variance and the result."""
    x, y, scale = random(6, length), random(6, length), random(length)

    def norm(x: Any, y: Any, scale: Any) -> Any:
        z = F.gelu(x) + y
        mean = tl.mean(z, axis=-1, keepdims=True)
        spread = tl.mean((z - mean) ** 2, axis=-1, keepdims=True)
        return (z - mean) / tl.sqrt(spread + 1e-5) * scale

    gelu = x * 0.5 * (1 + np.vectorize(erf)(x.astype(np.float64) / np.sqrt(2)))
    z = gelu + y
    mean = z.mean(axis=-1, keepdims=True)
    wanted = (z - mean) / np.sqrt(((z - mean) ** 2).mean(axis=-1, keepdims=True) + 1e-5) * scale
    found = on_wasm(norm, x, y, scale)
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("shape", [(2, 3, 4, 8), (2, 3, 4, 5), (1, 2, 5, 3)])
def test_rows_of_several_axes(shape: tuple[int, ...]) -> None:
    x = random(*shape)
    build = lambda x: x - tl.mean(x, axis=(2, 3), keepdims=True)  # noqa: E731
    np.testing.assert_allclose(
        on_wasm(build, x), x - x.mean(axis=(2, 3), keepdims=True), rtol=1e-5, atol=1e-5
    )


NARROW = ["bool", "int8", "uint8", "int16", "uint16", "float16", "int32", "float32"]


@pytest.mark.parametrize("source", NARROW)
@pytest.mark.parametrize("target", NARROW)
@pytest.mark.parametrize("count", [3, 16, 23])
def test_vectors_of_narrow_types(source: str, target: str, count: int) -> None:
    values = np.arange(count) * 7 % 120
    x = (values % 2 == 1) if source == "bool" else values.astype(source)
    found = on_wasm(lambda x: x.astype(target), x)
    np.testing.assert_array_equal(found, x.astype(target))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("count", [16, 19])
def test_arithmetic_of_narrow_types_wraps_around(dtype: str, count: int) -> None:
    x, y = drawn((count,), dtype), drawn((count,), dtype)
    with np.errstate(all="ignore"):
        for build in (operator.add, operator.sub, operator.mul):
            np.testing.assert_array_equal(on_wasm(build, x, y), build(x, y))
    np.testing.assert_array_equal(on_wasm(tl.less, x, y), x < y)
    np.testing.assert_array_equal(on_wasm(tl.maximum, x, y), np.maximum(x, y))
    chosen = on_wasm(lambda a, b: tl.where(a < b, a, b), x, y)
    np.testing.assert_array_equal(chosen, np.minimum(x, y))
    np.testing.assert_array_equal(on_wasm(lambda a: tl.bitwise_invert(a), x), ~x)
    np.testing.assert_array_equal(on_wasm(lambda a: a << 3, x), x << np.array(3, dtype))
    np.testing.assert_array_equal(on_wasm(lambda a: a >> 3, x), x >> np.array(3, dtype))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float32"])
def test_spread_elements(dtype: str) -> None:
    x = (np.arange(6) % 3 == 1) if dtype == "bool" else np.arange(6).astype(dtype)
    found = on_wasm(lambda x: tl.broadcast_to(tl.reshape(x, (6, 1)), (6, 20)), x)
    np.testing.assert_array_equal(found, np.broadcast_to(x[:, None], (6, 20)))


@pytest.mark.parametrize("count", [8, 21])
def test_functions_that_round_on_the_way(count: int) -> None:
    """Exponentials: they cast to integers, which vectors did not have."""
    x = fed("x", np.zeros(count, np.float32))
    values = (np.linspace(-110, 95, count)).astype(np.float32)
    found, left = run(tl.exp(Tensor(x)).node, {x: values}, True)
    assert not left
    with np.errstate(all="ignore"):
        wanted = np.exp(values.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=3e-45)


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint16"])
def test_rounding_to_float16(dtype: str) -> None:
    """Halves to even, subnormal numbers, and infinity beyond the largest."""
    exact = [0, 1, 2047, 2049, 2051, 4094, 65504, 65519, 65520, 65535]
    more = [-0.0, 1e-8, 5.9e-8, 9e-8, 6.1e-5, 1.0005, -3.14159, np.inf, -np.inf, np.nan, 1e9]
    x = np.array(exact if dtype != "float32" else [*exact, *more]).astype(dtype)
    with np.errstate(over="ignore"):
        wanted = x.astype(np.float16)
    np.testing.assert_array_equal(on_wasm(lambda x: x.astype(tl.float16), x), wanted)
    rounded = on_wasm(lambda x: x.astype(tl.float16).astype(tl.float32) + 0.0, x)
    np.testing.assert_array_equal(rounded, wanted.astype(np.float32) + 0.0)


@pytest.mark.parametrize("channels", [*range(1, 12), 17])
def test_channels_of_an_upsampled_image(channels: int) -> None:
    """Short rows that are no multiple of four, at several of which a vector begins anew."""
    x, y = random(2, 3, 5, channels), random(2, 6, 10, channels)

    def build(x: Tensor, y: Tensor) -> Tensor:
        wide = tl.broadcast_to(tl.reshape(x, (2, 3, 1, 5, 1, channels)), (2, 3, 2, 5, 2, channels))
        return tl.exp(y) * tl.reshape(wide, y.shape)

    expected = np.exp(y.astype(np.float64)) * x.repeat(2, 1).repeat(2, 2)
    np.testing.assert_allclose(on_wasm(build, x, y), expected, rtol=1e-6, atol=1e-6)
