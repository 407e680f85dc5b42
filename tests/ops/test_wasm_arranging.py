"""WebAssembly's kernels that sort, scatter, and take the steps of recurrent layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recurrence_reference import built, operands, recurrence_reference
from wasm_runs import drawn, given, random, run

import tallow as tl
from tallow.graph import Node, make
from tallow.ops import arrange, elementwise
from tallow.tensor import Tensor


def on_wasm(result: Node, feeds: dict[Node, np.ndarray]) -> np.ndarray:
    """What WebAssembly computes, without NumPy's help."""
    found, left = run(result, feeds, True)
    assert not left
    return np.asarray(found)


def order(x: np.ndarray, descending: bool, count: int) -> np.ndarray:
    found: np.ndarray = arrange.argsort.numpy(np, x, descending, count)
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 1000])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting(size: int, descending: bool) -> None:
    """Of equal elements the first comes first, and NaN is the largest."""
    x = np.round(random(2, 3, size) * 5)
    x[0, 0, size // 2] = np.nan
    x[1, 2] = np.where(x[1, 2] == 0, np.float32(-0.0), x[1, 2])
    x[1, 1, 0] = -np.inf
    node = given("x", x)
    for count in {0, 1, size // 2, size} - {0}:
        y = make(arrange.argsort, node, descending=descending, count=count)
        np.testing.assert_array_equal(on_wasm(y, {node: x}), order(x, descending, count))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "uint32", "float16"])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_types(dtype: str, descending: bool) -> None:
    x = (random(4, 70) * 9).astype(dtype) if dtype in ("bool", "float16") else drawn((4, 70), dtype)
    node = given("x", x)
    y = make(arrange.argsort, node, descending=descending, count=70)
    np.testing.assert_array_equal(on_wasm(y, {node: x}), order(x, descending, 70))


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_sorting_64_bits_is_left_to_numpy(dtype: str) -> None:
    x = (random(3, 9) * 1e6).astype(dtype)
    node = given("x", x)
    found, left = run(make(arrange.argsort, node, descending=False, count=9), {node: x}, True)
    assert left
    np.testing.assert_array_equal(found, order(x, False, 9))


def test_what_follows_a_sort() -> None:
    x = random(5, 40)
    node = given("x", x)
    y = make(arrange.argsort, node, descending=True, count=8)
    twice = make(elementwise.add, y, y)
    np.testing.assert_array_equal(on_wasm(twice, {node: x}), 2 * order(x, True, 8))


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("length", [1, 3, 4, 12])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int8", "int64", "float64"])
def test_scattering(reduction: str, length: int, dtype: str) -> None:
    """Several updates of one row, in their order."""
    data, updates = (
        (random(2, 9, length) * 9).astype(dtype),
        (random(2, 6, length) * 9).astype(dtype),
    )
    indices = np.array([[8, 0, 3, 3, 8, 3], [1, 1, 1, 2, 0, 7]], np.int64)
    feeds = {given(name, each): each for name, each in
             (("d", data), ("i", indices), ("u", updates))}  # fmt: skip
    y = make(arrange.scatter, *feeds, reduction=reduction)
    wanted = arrange.scatter.numpy(np, data, indices, updates, reduction)
    np.testing.assert_allclose(on_wasm(y, feeds), wanted, rtol=1e-6)
    np.testing.assert_allclose(on_wasm(make(elementwise.negative, y), feeds), -wanted, rtol=1e-6)


def test_an_index_out_of_range_changes_nothing() -> None:
    """One that is computed: what is fed is checked before."""
    data, updates = random(1, 4, 4), random(1, 3, 4)
    indices = np.array([[4, -1, 2]], np.int32)
    d, i, u = given("d", data), given("i", indices), given("u", updates)
    y = make(arrange.scatter, d, (Tensor(i) + 0 * Tensor(i)).node, u, reduction="none")
    wanted = data.copy()
    wanted[0, 2] = updates[0, 2]
    np.testing.assert_array_equal(on_wasm(y, {d: data, i: indices, u: updates}), wanted)


LAYERS: dict[str, tuple[str, tuple[int, int, int, int], dict[str, Any]]] = {
    "rnn": ("rnn", (5, 2, 3, 6), {}),
    "rnn, both ways": ("rnn", (5, 2, 3, 8), {"backward": (False, True)}),
    "gru": ("gru", (6, 3, 4, 7), {"backward": (False, True), "clip": 0.6}),
    "gru, linear": ("gru", (6, 2, 4, 12), {"linear_before_reset": True}),
    "lstm": ("lstm", (7, 3, 4, 9), {"backward": (False, True)}),
    "lstm, options": ("lstm", (4, 2, 3, 20), {"clip": 0.4, "input_forget": True}),
    "lstm, large": ("lstm", (3, 1, 2, 131), {}),
}


@pytest.mark.parametrize("name", LAYERS)
def test_recurrent_layers(name: str) -> None:
    cell, sizes, choices = LAYERS[name]
    arrays = operands(cell, *sizes, len(choices.get("backward", " ")))
    feeds = {given(f"x{number}", array): array for number, array in enumerate(arrays)}
    y = built(cell, *map(Tensor, feeds), **choices)
    wanted = recurrence_reference(cell, *arrays, **choices)
    np.testing.assert_allclose(on_wasm(y.node, feeds), wanted, rtol=1e-4, atol=1e-5)
    doubled = on_wasm((y * tl.asarray(np.float32(2))).node, feeds)
    np.testing.assert_allclose(doubled, 2 * wanted, rtol=1e-4, atol=1e-5)
