"""Weights that several programs of WebAssembly have in one memory."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import tallow as tl
from tallow.compile import compile_graph
from tallow.core.drivers import run_sync
from tallow.core.hostarray import HostArray
from tallow.devices.wasm.codegen.kernels import Features
from tallow.devices.wasm.desktop import WasmtimeEngine
from tallow.devices.wasm.runner import WasmBackend
from tallow.graph import Graph, input_node
from tallow.runtime.device import backend
from tallow.runtime.jit import Jitted
from tallow.tensor import Tensor

ROWS, WIDTH = 1024, 1024
BYTES = 2 * ROWS * WIDTH
"""Of a float16 table, which no plan lays out anew."""


def used() -> int:
    gc.collect()
    return sum(arena.used for arena in backend("wasm").engine.arenas)


@pytest.fixture
def table() -> Iterator[tl.Tensor]:
    yield _table()
    gc.collect()


def _table() -> tl.Tensor:
    values = np.arange(ROWS * WIDTH, dtype=np.float32) % 1000
    content = memoryview(values.astype(np.float16).tobytes())
    return tl.asarray(HostArray(content, (ROWS, WIDTH), tl.float16))


def looked_up(table: tl.Tensor, plus: int) -> Jitted:
    @tl.jit(device="wasm")
    def rows(at: tl.Tensor) -> tl.Tensor:
        return tl.take(table, at, axis=0).astype("float32") + plus

    return rows


def test_plans_of_one_weight_hold_it_once(table: tl.Tensor) -> None:
    before = used()
    at = tl.asarray([3, 1000])
    functions = [looked_up(table, plus) for plus in range(4)]
    expected = table.numpy()[[3, 1000]].astype(np.float32)
    for plus, rows in enumerate(functions):
        np.testing.assert_array_equal(rows(at).numpy(), expected + plus)
    assert BYTES <= used() - before < 1.2 * BYTES
    del functions[1:], rows
    assert used() - before >= BYTES
    np.testing.assert_array_equal(functions[0](at).numpy(), expected)
    functions.clear()
    assert used() - before < 0.1 * BYTES


def test_a_plan_after_the_last_one_is_gone_has_the_weight_again(table: tl.Tensor) -> None:
    at = tl.asarray([7])
    first = looked_up(table, 0)
    expected = first(at).numpy()
    del first
    gc.collect()
    np.testing.assert_array_equal(looked_up(table, 1)(at).numpy(), expected + 1)


def test_panels_are_computed_once_and_their_weight_is_given_back() -> None:
    backend = WasmBackend(WasmtimeEngine())
    backend.limits = replace(backend.limits, traits=Features())
    (arena,) = backend.engine.arenas
    values = np.random.default_rng(1).random((1024, 512), np.float32)
    content = memoryview(values.tobytes())
    weight = tl.asarray(HostArray(content, values.shape, tl.float32))
    programs, used = [], []
    for rows in (20, 40):
        given = np.ones((rows, 512), np.float32)
        x = input_node("x", given.shape, tl.float32)
        y = tl.matmul(Tensor(x), tl.permute_dims(weight, (1, 0)))
        compiled = compile_graph(Graph((x,), {"y": y.node}, "panels"), "wasm", backend.limits)
        assert compiled.plan.prepare
        programs.append(backend.load_now(compiled))
        used.append(arena.used)
        (found,) = run_sync(programs[-1].run([given]))
        np.testing.assert_allclose(found.numpy(), given @ values.T, rtol=1e-5)
    assert values.nbytes <= used[0] < 1.5 * values.nbytes
    assert used[1] < used[0] + 0.5 * values.nbytes
    for program in programs:
        program.close()
    gc.collect()
    assert arena.used == 0


def test_equal_weights_of_different_tensors_are_not_one(table: tl.Tensor) -> None:
    before = used()
    functions = [looked_up(each, 0) for each in (table, _table())]
    for rows in functions:
        rows(tl.asarray([1])).numpy()
    assert used() - before >= 2 * BYTES
