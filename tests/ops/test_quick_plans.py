"""The op suite on quick plans: those of NumPy, node by node, and those of WebAssembly, whose
kernels take sizes as arguments (compile/plain.py, devices/wasm/strided.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from op_cases import CASES
from run_case import difference, feeds_of, graph_of

import tallow as tl
from tallow.compile import Compiled, compile_graph
from tallow.core.drivers import run_sync
from tallow.core.dtype import BY_NAME, as_dtype
from tallow.devices.wasm.codegen.strided import steps_of
from tallow.devices.wasm.strided import loops_of, reshaped_strides
from tallow.graph import Graph, input_node
from tallow.runtime.device import backend
from tallow.tensor import Tensor

DEVICES = ("numpy", "wasm")


def quickly(graph: Graph, device: str) -> Compiled | None:
    used = backend(device)
    inputs = {node.attrs["name"]: node for node in graph.inputs}
    assert used.target.quick is not None
    made = used.target.quick(graph.nodes(), inputs, graph.outputs, used.limits)
    return made and Compiled(made.plan, made.weights, plain=made.plain, brief=True)


def results(compiled: Compiled, device: str, feeds: dict[str, np.ndarray]) -> list[Any]:
    """The outputs of two runs, which have to be equal, fetched and not."""
    used = backend(device)
    program = run_sync(used.load(compiled))
    given = [np.ascontiguousarray(feeds[port.name]) for port in compiled.plan.inputs]
    fed = [memoryview(each).cast("B") if each.size else b"" for each in given]
    first = [each.numpy() for each in run_sync(program.run(fed))]
    kept = run_sync(program.run(fed, [False] * len(first)))
    again = [each.numpy() for each in run_sync(used.memory.read(kept))]
    program.close()
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    return first


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_case(name: str, device: str) -> None:
    compiled = quickly(graph_of(name), device)
    if compiled is None:
        pytest.skip("this graph needs passes")
    (found,) = results(compiled, device, feeds_of(name))
    wrong = difference(CASES[name], found)
    assert wrong is None, wrong


@pytest.mark.parametrize(("device", "least"), [("numpy", 0.9), ("wasm", 0.65)])
def test_most_cases_have_such_a_plan(device: str, least: float) -> None:
    found = sum(quickly(graph_of(name), device) is not None for name in CASES)
    assert found >= least * len(CASES)


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def both(build: Any, *arrays: np.ndarray) -> None:
    """Both quick plans give what a full plan of NumPy's gives."""
    nodes = tuple(
        input_node(f"x{number}", array.shape, as_dtype(array.dtype))
        for number, array in enumerate(arrays)
    )
    made = build(*map(Tensor, nodes))
    many = made if isinstance(made, tuple) else (made,)
    graph = Graph(nodes, {f"y{n}": each.node for n, each in enumerate(many)}, "both")
    feeds = {f"x{number}": array for number, array in enumerate(arrays)}
    expected = results(compile_graph(graph, "numpy"), "numpy", feeds)
    for device in DEVICES:
        compiled = quickly(graph, device)
        assert compiled is not None
        for port, one, other in zip(
            compiled.plan.outputs, results(compiled, device, feeds), expected, strict=True
        ):
            assert one.dtype.name == BY_NAME[port.dtype].name
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("n", [1, 3, 4, 7, 8, 13, 21])
def test_products_of_all_remainders(m: int, n: int) -> None:
    both(lambda a, b: a @ b, random(2, m, 6), random(2, 6, n))
    both(lambda a, b: a @ b.mT, random(2, m, 6), random(2, n, 6))
    both(lambda a, b: a.mT @ b, random(1, 6, m), random(1, 6, n))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 31])
def test_views_of_views(n: int) -> None:
    x = random(3, n, 4)
    both(lambda x: tl.exp(tl.permute_dims(x, (1, 0, 2))), x)
    both(lambda x: tl.reshape(tl.permute_dims(x, (2, 1, 0)), (4, 3 * n)) * 2.0, x)
    both(lambda x: tl.reshape(x[:, ::-1, 1:3], (3, 2 * n)) + 1.0, x)
    both(lambda x: tl.concat([x[..., 3:], x, x[..., :2]], axis=2), x)
    both(lambda x: tl.concat([x[1:], x], axis=0), x)
    both(lambda x: x[:, :1] + x[:1] * tl.arange(4), x)
    both(lambda x: (x, x[1:], tl.reshape(x, (12 * n,)), x + 1.0, x), x)


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 2), (1, 2), None])
def test_reductions_along_any_axes(axis: Any) -> None:
    x = random(3, 5, 7)
    for reduce in (tl.sum, tl.max, tl.min, tl.mean, tl.prod):
        both(lambda x, reduce=reduce: reduce(x, axis=axis), x)
    if isinstance(axis, int):
        both(lambda x: (tl.argmax(x, axis=axis), tl.argmin(x, axis=axis)), np.round(x))
    both(lambda x: tl.sum(x, axis=axis), (x * 10).astype(np.int64))
    both(lambda x: tl.any(x > 2.0, axis=axis), x)


@pytest.mark.parametrize("index", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 8])
def test_rows_by_indices(index: Any, columns: int) -> None:
    rows = np.array([[0, 4], [3, 3], [1, 0]], index)
    for dtype in (np.float32, np.int8, np.int64):
        table = (random(5, columns) * 50).astype(dtype)
        both(lambda x, i: tl.take(x, tl.reshape(i, (6,)), axis=0), table, rows)
        both(lambda x, i: tl.take(x, tl.reshape(i.T, (6,)), axis=1), table.T.copy(), rows)


def test_a_result_is_written_over_no_value_that_is_still_needed() -> None:
    x = random(6, 5)

    def build(x: Tensor) -> tuple[Tensor, ...]:
        y = tl.exp(x)
        part = y[1:]  # a view of what the next line reads for the last time
        z = y * 2.0
        w = z - 1.0
        return w[1:] + part, tl.reshape(z + w, (30,)), x + 1.0

    both(build, x)


def test_what_is_empty() -> None:
    both(lambda x: tl.concat([x, x * 2.0], axis=1), np.zeros((0, 3), np.float32))
    both(lambda x: (x[:0], tl.concat([x[:0], x])), random(4, 3))


def test_an_output_is_no_input_and_no_other_output() -> None:
    x = np.arange(6, dtype=np.float32)
    node = input_node("x", x.shape, tl.float32)
    outputs = dict.fromkeys("yz", node)
    for device in DEVICES:
        compiled = quickly(Graph((node,), outputs, "same"), device)
        assert compiled is not None
        used = backend(device)
        given = used.memory.upload(tl.asarray(x).node.attrs["data"])
        y, z = run_sync(run_sync(used.load(compiled)).run([given], [False, False]))
        held = [np.asarray(each.handle.data) for each in (given, y, z)]
        assert not any(np.shares_memory(a, b) for a, b in ((held[0], held[1]), (held[1], held[2])))


def test_steps_of_nested_loops_visit_every_element() -> None:
    counts, strides = [2, 3, 4], [100, -7, 5]
    steps, at, found = steps_of(counts, strides), 0, []
    for _ in range(2):
        for _ in range(3):
            for _ in range(4):
                found.append(at)
                at += steps[2]
            at += steps[1]
        at += steps[0]
    expected = [100 * i - 7 * j + 5 * k for i in range(2) for j in range(3) for k in range(4)]
    assert found == expected


def test_axes_next_to_each_other_are_one_loop() -> None:
    assert loops_of((2, 1, 3, 4), [(48, 0, 16, 4), (12, 5, 4, 1)]) == ([24], [[4], [1]])
    assert loops_of((2, 3), [(12, 4), (0, 4)]) == ([2, 3], [[12, 4], [0, 4]])
    assert loops_of((1, 1), [(4, 4)]) == ([1], [[0]])


def test_which_views_have_other_shapes() -> None:
    assert reshaped_strides((4, 6), (24, 4), (2, 2, 3, 2)) == (48, 24, 8, 4)
    assert reshaped_strides((4, 6), (4, 16), (24,)) is None
    assert reshaped_strides((4, 6), (4, 16), (4, 2, 3)) == (4, 48, 16)
    assert reshaped_strides((4, 1, 6), (0, 9, 0), (12, 2)) == (0, 0)
