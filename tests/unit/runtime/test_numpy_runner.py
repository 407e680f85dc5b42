"""The NumPy runner: buffers are kept between runs, results are the user's, values are those of the
plain evaluators; with BLAS and as in WebAssembly, where there is none."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import Compiled, compile_graph
from tallow.core.drivers import run_sync
from tallow.devices.numpy.runner import NumpyProgram
from tallow.graph import Graph, input_node
from tallow.ops import numpy_kernels
from tallow.ops.kinds import REGISTRY
from tallow.tensor import Tensor


@pytest.fixture(params=[True, False], ids=["blas", "no-blas"], autouse=True)
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_kernels, "HAS_BLAS", request.param)


def noise(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def given(*shape: int, dtype: tl.DType = tl.float32) -> Tensor:
    return Tensor(input_node("x", shape, dtype))


def compiled(x: Tensor, *results: Tensor) -> Compiled:
    outputs = {f"y{index}": result.node for index, result in enumerate(results)}
    return compile_graph(Graph((x.node,), outputs, "net"), "numpy")


def evaluated(graph: Graph, feed: np.ndarray) -> list[np.ndarray]:
    """The outputs by the ops' own evaluators, node by node, without compiling anything."""
    values: dict[Any, np.ndarray] = {graph.inputs[0]: feed}
    with np.errstate(all="ignore"):
        for node in graph.nodes():
            if node.is_constant:
                values[node] = node.attrs["data"].numpy()
            elif node not in values:
                operands = [values[child] for child in node.inputs]
                values[node] = REGISTRY[node.op.name].numpy(np, *operands, **node.attrs)
    return [values[node] for node in graph.outputs.values()]


def check(x: Tensor, feed: np.ndarray, *results: Tensor) -> NumpyProgram:
    """Two runs, another between them, agree with the evaluators."""
    plan = compiled(x, *results)
    program = NumpyProgram(plan)
    graph = Graph((x.node,), {f"y{i}": result.node for i, result in enumerate(results)}, "net")
    wanted = evaluated(graph, feed)
    for run in range(3):
        got = run_sync(program.run([feed if run != 1 else np.flip(feed).copy()]))
        for value, right in zip(got, wanted, strict=True):
            if run != 1:
                np.testing.assert_allclose(value.numpy(), right, rtol=2e-5, atol=2e-5)
                assert value.numpy().dtype == right.dtype
    return program


def test_results_outlive_the_next_run() -> None:
    x = given(2, 3)
    known = tl.asarray(noise(0, 2, 3))
    program = NumpyProgram(compiled(x, x, F.relu(x), known, tl.reshape(x, (3, 2)), x + 1.0))
    feed = noise(1, 2, 3)
    first = [value.numpy() for value in run_sync(program.run([feed]))]
    kept = [value.copy() for value in first]
    second = [value.numpy() for value in run_sync(program.run([feed * -3]))]
    for value, copy, other in zip(first, kept, second, strict=True):
        assert value.tolist() == copy.tolist()
        assert not np.shares_memory(value, other)
        other[...] = 99  # and no run sees what the user writes into them
    assert [v.numpy().tolist() for v in run_sync(program.run([feed]))] == [v.tolist() for v in kept]


def test_the_feed_is_left_alone() -> None:
    x = given(4, 4)
    feed = noise(2, 4, 4)
    before = feed.copy()
    run_sync(NumpyProgram(compiled(x, F.relu(x * 2.0) + 1.0)).run([feed]))
    assert feed.tolist() == before.tolist()


def test_packed_weights_replace_the_weights() -> None:
    x = given(1, 64, 4, 4)
    weight = noise(3, 128, 64, 1, 1)
    program = NumpyProgram(compiled(x, F.conv2d(x, tl.asarray(weight))))
    run_sync(program.run([noise(4, 1, 64, 4, 4)]))
    activations = 2 * 4 * (1 * 64 * 16 + 1 * 128 * 16)
    assert weight.nbytes <= program.stats["bytes"] <= weight.nbytes + activations
    grown = program.stats["bytes"]
    run_sync(program.run([noise(5, 1, 64, 4, 4)]))
    assert program.stats["bytes"] == grown


def test_closing_frees() -> None:
    x = given(1, 3, 8, 8)
    program = NumpyProgram(compiled(x, F.conv2d(x, tl.asarray(noise(6, 5, 3, 3, 3)), padding=1)))
    run_sync(program.run([noise(7, 1, 3, 8, 8)]))
    assert program.stats["bytes"] > 0
    program.close()
    assert program.stats["bytes"] == 0
    with pytest.raises(tl.DeviceError, match="closed"):
        run_sync(program.run([noise(7, 1, 3, 8, 8)]))


def test_threads_wait_for_each_other() -> None:
    x = given(1, 8, 16, 16)
    weight = tl.asarray(noise(8, 8, 8, 3, 3))
    program = NumpyProgram(compiled(x, F.relu(F.conv2d(x, weight, padding=1))))
    feeds = [noise(seed, 1, 8, 16, 16) for seed in range(4)]
    wanted = [run_sync(program.run([feed]))[0].numpy().copy() for feed in feeds]
    right: list[bool] = []

    def work(index: int) -> None:
        for _ in range(10):
            right.append(
                bool((run_sync(program.run([feeds[index]]))[0].numpy() == wanted[index]).all())
            )

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 40


@pytest.mark.parametrize("channels", [1, 3, 8, 300])
@pytest.mark.parametrize("kernel", [1, 3, 5])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kind", ["full", "depthwise", "grouped"])
def test_convolutions(kind: str, stride: int, kernel: int, channels: int) -> None:
    groups = {"full": 1, "depthwise": channels, "grouped": 1 + (channels % 2 == 0)}[kind]
    out = {"full": 7, "depthwise": channels, "grouped": 6}[kind]
    x = given(2, channels, 9, 7)
    weight = tl.asarray(noise(9, out, channels // groups, kernel, kernel) / kernel)
    bias = tl.asarray(noise(10, out))
    y = F.conv2d(x, weight, bias, stride=stride, padding=kernel // 2, groups=groups)
    check(x, noise(11, 2, channels, 9, 7) / channels**0.5, tl.minimum(F.relu(y), 6.0), y)


@pytest.mark.parametrize("dilation", [1, 2])
def test_dilated_depthwise(dilation: int) -> None:
    x = given(1, 6, 11, 11)
    y = F.conv2d(x, tl.asarray(noise(12, 6, 1, 3, 3)), dilation=dilation, groups=6, padding=2)
    check(x, noise(13, 1, 6, 11, 11), y)


def test_convolution_by_a_weight_that_is_computed() -> None:
    x = given(4, 4, 3, 3)
    check(x, noise(14, 4, 4, 3, 3), F.conv2d(tl.asarray(noise(15, 1, 4, 8, 8)), F.relu(x)))


def test_matmul() -> None:
    x = given(3, 5, 40)
    check(x, noise(16, 3, 5, 40), x @ tl.asarray(noise(17, 3, 40, 9)))


SPECIAL = np.array([[-np.inf, np.inf, -0.0, 0.0, 3e38, -3e38, 7, -7]], np.float32)


@pytest.mark.parametrize("nan", [None, np.nan, -np.nan])
@pytest.mark.parametrize("low", [0.0, 0.5, -1.0, -0.0])
def test_clamping_at_the_ends_of_the_range(low: float, nan: float | None) -> None:
    feed = SPECIAL.copy()
    if nan is not None:
        feed[0, 3] = np.copysign(np.float32(np.nan), nan)
    x = given(1, 8)
    check(x, feed, tl.minimum(tl.maximum(x, low), 6.0), tl.maximum(x, low), tl.minimum(x, 6.0))


@pytest.mark.parametrize("nan", [False, True])
def test_max_pool_of_negative_and_special_values(nan: bool) -> None:
    feed = -np.abs(noise(18, 1, 2, 6, 6))
    feed[0, 0, 1, 1], feed[0, 0, 4, 4], feed[0, 1, 0, 0] = -np.inf, np.inf, -0.0
    if nan:
        feed[0, 1, 3, 3] = -np.float32(np.nan)
    x = given(1, 2, 6, 6)
    y = F.max_pool2d(x, 3, stride=2, padding=1)
    check(x, feed, y, F.max_pool2d(F.relu(x), 2))


def test_one_value_with_several_readers_is_not_overwritten() -> None:
    x = given(6, 6)
    y = x * 2.0
    check(x, noise(19, 6, 6), y - F.relu(y) + y, tl.permute_dims(y, (1, 0)) + y, y)


@pytest.mark.parametrize("dtype", [tl.int32, tl.int8, tl.bool_, tl.int64, tl.float64, tl.float16])
def test_other_types(dtype: tl.DType) -> None:
    x = given(3, 4, dtype=dtype)
    feed = np.arange(-6, 6).reshape(3, 4).astype(dtype.name)
    if dtype == tl.bool_:
        results = [x == x, tl.logical_not(x), tl.where(x, 1.0, 2.0), tl.concat([x, x], 0)]
    else:
        results = [
            tl.maximum(x, 0) + x,
            x > 0,
            tl.concat([x, x * x], 1),
            x.astype(tl.float32),
        ]
    check(x, feed, *results)


MAKERS: list[Callable[[Tensor, Tensor, int], Tensor]] = [
    lambda a, b, seed: a + b,
    lambda a, b, seed: tl.maximum(a, b) - b,
    lambda a, b, seed: tl.minimum(F.relu(a), 6.0),
    lambda a, b, seed: tl.tanh(a @ tl.asarray(noise(seed, 6, 6) / 3)),
    lambda a, b, seed: a * tl.asarray(noise(seed, 6)),
    lambda a, b, seed: tl.reshape(tl.permute_dims(a, (1, 0)), (4, 6)),
    lambda a, b, seed: tl.where(a > b, a, 0.5),
    lambda a, b, seed: tl.concat([a[:, :3], b[:, 3:]], 1),
    lambda a, b, seed: a - tl.sum(a, 1, keepdims=True) / 6.0,
]


@pytest.mark.parametrize("seed", range(30))
def test_random_graphs(seed: int) -> None:
    choose = random.Random(seed)
    x = given(4, 6)
    values = [x]
    for step in range(choose.randrange(3, 14)):
        make = choose.choice(MAKERS)
        values.append(make(choose.choice(values), choose.choice(values), seed + step))
    check(x, noise(seed + 1000, 4, 6), *values[-2:])
