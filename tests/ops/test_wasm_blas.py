"""What a desktop's WebAssembly leaves to BLAS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from wasm_runs import fed, given, random

import tallow as tl
from tallow.compile import Plan, compile_graph
from tallow.compile.plan import Step
from tallow.core.drivers import run_sync
from tallow.devices.wasm import blas, runner
from tallow.devices.wasm.codegen.kernels import Features
from tallow.devices.wasm.desktop import WasmtimeInstance
from tallow.devices.wasm.on_numpy import NumpyStep
from tallow.graph import Graph, Node, make
from tallow.ops import contract, elementwise, window
from tallow.runtime.device import backend
from tallow.runtime.session import compile_session


def graph_of(result: Node, *inputs: Node) -> Graph:
    return Graph(inputs, {"y": result}, "blas")


def left(plan: Plan) -> list[str]:
    """The steps without a kernel."""
    return [step.name for step in plan.run if not step.kernel]


def both(graph: Graph, feeds: dict[str, Any]) -> tuple[Plan, Any, Any]:
    """The plan for WebAssembly, what it gives, and what NumPy does."""
    found = []
    for device in ("wasm", "numpy"):
        with compile_session(graph, device) as session:
            session.run({name: np.zeros_like(array) for name, array in feeds.items()})
            found.append((session.plan, session.run(feeds)["y"]))
    (plan, first), (_, second) = found
    return plan, first, second


def product(rows: int, depth: int, columns: int) -> tuple[Graph, dict[str, Any]]:
    a, b = random(1, rows, depth), random(1, depth, columns)
    x, y = fed("a", a), fed("b", b)
    return graph_of(make(contract.matmul, x, y), x, y), {"a": a, "b": b}


@pytest.mark.parametrize(
    ("shape", "by_blas"),
    [
        ((128, 64, 64), True),
        ((127, 64, 64), False),  # too little work
        ((8, 1024, 64), True),
        ((7, 4096, 64), False),  # too few rows
        ((4096, 64, 7), False),
    ],
)
def test_large_products(shape: tuple[int, int, int], by_blas: bool) -> None:
    plan, found, expected = both(*product(*shape))
    assert left(plan) == (["matmul"] if by_blas else [])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


def test_what_follows_is_a_kernel_of_its_own() -> None:
    a, bias = random(128, 64), random(64)
    x, y = fed("a", a), fed("bias", bias)
    result = tl.Tensor(x) @ tl.asarray(random(64, 64)) + tl.Tensor(y)
    plan, found, expected = both(graph_of(result.node, x, y), {"a": a, "bias": bias})
    assert left(plan) == ["matmul"]
    assert len(plan.run) == 2
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("known", [True, False], ids=["weight", "fed"])
@pytest.mark.parametrize("size", [5, 40])  # 40: more columns than stay in the cache
@pytest.mark.parametrize("stride", [1, 2])
def test_convolutions(stride: int, size: int, known: bool) -> None:
    images, filters = random(3, size, 4 * size, 32), random(3, 3, 32, 64)
    x, weight = fed("x", images), fed("w", filters)
    if known:
        weight = tl.asarray(filters).node
    result = make(
        window.conv2d, x, weight, stride=(stride, stride), padding=((1, 1), (1, 1)),
        dilation=(1, 1), groups=1,
    )  # fmt: skip
    inputs = (x,) if known else (x, weight)
    feeds = {"x": images} if known else {"x": images, "w": filters}
    plan, found, expected = both(graph_of(result, *inputs), feeds)
    assert left(plan) == ["conv2d"]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


def test_convolutions_of_groups_have_kernels() -> None:
    x, weight = fed("x", random(1, 32, 32, 32)), fed("w", random(3, 3, 16, 32))
    attrs: dict[str, Any] = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1)}
    assert not blas.by_blas(make(window.conv2d, x, weight, groups=2, **attrs))


def test_weights_of_few_bits_stay_packed() -> None:
    a, codes = random(1, 128, 64), np.arange(64 * 64, dtype=np.int8).reshape(1, 64, 64)
    x = fed("a", a)
    held = tl.asarray(codes).node
    weight = make(elementwise.cast, held, dtype=tl.float32)
    plan, found, expected = both(graph_of(make(contract.matmul, x, weight), x), {"a": a})
    assert not left(plan)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-2)


def test_integers_have_kernels() -> None:
    values = np.ones((1, 128, 128), np.int32)
    x, y = given("a", values), given("b", values)
    plan, found, expected = both(graph_of(make(contract.matmul, x, y), x, y),
                                 {"a": values, "b": values})  # fmt: skip
    assert not left(plan)
    np.testing.assert_array_equal(found, expected)


def test_blas_works_in_the_memory_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither operands nor the result are copied."""
    graph, feeds = product(128, 64, 64)
    compiled = compile_graph(graph, "wasm", backend("wasm").limits)
    program = backend("wasm").load_now(compiled)
    copied: list[int] = []
    read = WasmtimeInstance.read

    def counted(instance: WasmtimeInstance, offset: int, size: int) -> bytes:
        copied.append(size)
        return read(instance, offset, size)

    monkeypatch.setattr(WasmtimeInstance, "read", counted)
    (found,) = run_sync(program.run([memoryview(array.tobytes()) for array in feeds.values()]))
    assert copied == [4 * 128 * 64]  # the answer alone
    np.testing.assert_allclose(found.numpy(), feeds["a"] @ feeds["b"], rtol=1e-5, atol=1e-4)


def test_a_browser_has_kernels_for_everything() -> None:
    """Its limits say that there is no BLAS."""
    graph, _ = product(128, 64, 64)
    limits = replace(backend("wasm").limits, traits=Features(relaxed=True))
    assert not left(compile_graph(graph, "wasm", limits).plan)


def test_eager_products_are_left_to_blas_too(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    class Seen(NumpyStep):
        def __init__(self, step: Step, *more: Any) -> None:
            steps.append(step.name)
            super().__init__(step, *more)

    monkeypatch.setattr(runner, "NumpyStep", Seen)
    before = tl.default_device()
    tl.set_default_device("wasm")
    try:
        a, b = (tl.asarray(random(131, 131)) for _ in range(2))
        found = (a @ b).numpy()
        np.testing.assert_allclose(found, a.numpy() @ b.numpy(), rtol=1e-5, atol=1e-4)
    finally:
        tl.set_default_device(before)
    assert steps == ["matmul"]
