"""WebAssembly's products of 8-bit integers, exact, and products by weights of few bits."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from wasm_runs import RNG, drawn, fed, given, random, run

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import compile_graph
from tallow.compile.plan import Plan
from tallow.core.drivers import run_sync
from tallow.core.dtype import as_dtype
from tallow.core.hostarray import HostArray
from tallow.devices.numpy.runner import NumpyProgram
from tallow.graph import Graph, Node, constant, make
from tallow.ops import integer, numpy_kernels
from tallow.tensor import Tensor

BOTH = ("int8", "uint8")

FOLDED = 64
"""Elements of a constant that is computed ahead, so that no 8-bit operand is left."""


def known(array: np.ndarray) -> Tensor:
    data = HostArray(memoryview(array.tobytes()), array.shape, as_dtype(array.dtype))
    return Tensor(constant(data))


def wide(x: Any, zero: Any = None) -> Any:
    """As int32, less a zero point; of tensors and of arrays alike."""
    kind = tl.int32 if isinstance(x, Tensor) else np.int32
    return x.astype(kind) if zero is None else x.astype(kind) - zero.astype(kind)


def computed(
    result: Tensor, feeds: dict[Node, np.ndarray], dtype: Any
) -> tuple[np.ndarray, list[str], Plan]:
    """The result on WebAssembly, the steps left to NumPy, and the plan."""
    found, left = run(result.node, feeds, True)
    assert found.dtype == dtype
    plan = compile_graph(Graph(tuple(feeds), {"y": result.node}, "integers"), "wasm").plan
    return found, left, plan


def ops(plan: Plan) -> set[str]:
    return {host.op for step in (*plan.prepare, *plan.run) for host in step.host}


SIZES = [
    *((1, rows, 7, 20) for rows in range(1, 13)),
    *((1, 13, depth, 8) for depth in (1, 2, 3, 8, 9, 15, 16, 17, 300)),
    *((1, 13, 6, columns) for columns in range(1, 26, 3)),
    (2, 65, 33, 11),
    (1, 400, 800, 20),  # rows in several blocks
]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_products_are_exact(sizes: tuple[int, int, int, int]) -> None:
    batch, rows, depth, columns = sizes
    for left, right in product(BOTH, BOTH):
        a, b = drawn((batch, rows, depth), left), drawn((batch, depth, columns), right)
        x = given("a", a)
        y = tl.matmul(wide(Tensor(x)), wide(known(b)))
        found, steps, plan = computed(y, {x: a}, np.int32)
        np.testing.assert_array_equal(found, wide(a) @ wide(b))
        assert not steps
        assert b.size <= FOLDED or "integer_matmul" in ops(plan)


@pytest.mark.parametrize("left", BOTH)
@pytest.mark.parametrize("right", BOTH)
@pytest.mark.parametrize("extreme", [np.min, np.max], ids=["min", "max"])
def test_extremes(left: str, right: str, extreme: Any) -> None:
    """-128 by -128, and 255 by 255, often enough for 16 bits to overflow."""
    ends = [np.array([np.iinfo(each).min, np.iinfo(each).max]) for each in (left, right)]
    a = np.full((1, 6, 999), extreme(ends[0]), left)
    b = np.full((1, 999, 9), extreme(ends[1]), right)
    x = given("a", a)
    zero = np.array(extreme(-ends[1]) * -1, right)
    for y, wanted in (
        (tl.matmul(wide(Tensor(x)), wide(known(b))), wide(a) @ wide(b)),
        (tl.matmul(wide(Tensor(x)), wide(known(b), known(zero))), wide(a) @ wide(b, zero)),
    ):
        found, steps, plan = computed(y, {x: a}, np.int32)
        np.testing.assert_array_equal(found, wanted)
        assert not steps
        assert "integer_matmul" in ops(plan)


@pytest.mark.parametrize("right", BOTH)
@pytest.mark.parametrize("left", BOTH)
@pytest.mark.parametrize("per", ["tensor", "column"])
@pytest.mark.parametrize("depth", [1, 9, 40])
@pytest.mark.parametrize("columns", [8, 13])
def test_zero_points(left: str, right: str, per: str, depth: int, columns: int) -> None:
    """That of the left operand is fed, as a dynamic quantizer does."""
    a, b = drawn((1, 11, depth), left), drawn((1, depth, columns), right)
    a_zero, b_zero = drawn((), left), drawn((columns,) if per == "column" else (), right)
    x, z = given("a", a), given("z", a_zero)
    y = tl.matmul(wide(Tensor(x), Tensor(z)), wide(known(b), known(b_zero)))
    found, steps, plan = computed(y, {x: a, z: a_zero}, np.int32)
    np.testing.assert_array_equal(found, wide(a, a_zero) @ wide(b, b_zero))
    assert not steps
    assert b.size <= FOLDED or "integer_matmul" in ops(plan)


def test_zero_points_of_rows_stay_exact() -> None:
    a, b, zeros = drawn((1, 5, 9), "uint8"), drawn((1, 9, 8), "int8"), drawn((1, 5, 1), "uint8")
    x, z = given("a", a), given("z", zeros)
    y = tl.matmul(wide(Tensor(x), Tensor(z)), wide(known(b)))
    found, _, _ = computed(y, {x: a, z: zeros}, np.int32)
    np.testing.assert_array_equal(found, wide(a, zeros) @ wide(b))


@pytest.mark.parametrize("fed_right", [True, False])
def test_products_of_views(fed_right: bool) -> None:
    """Turned operands, as in attention; the right one is packed at every run if it is fed."""
    a, b = drawn((70, 3, 9), "uint8"), drawn((3, 12, 9), "int8")
    x, w = given("a", a), given("b", b)
    left = tl.permute_dims(Tensor(x), (1, 0, 2))
    right = Tensor(w) if fed_right else known(b)
    y = tl.matmul(wide(left), tl.permute_dims(wide(right), (0, 2, 1)))
    found, steps, plan = computed(y, {x: a, w: b} if fed_right else {x: a}, np.int32)
    wanted = np.matmul(wide(a).transpose(1, 0, 2), wide(b).transpose(0, 2, 1))
    np.testing.assert_array_equal(found, wanted)
    assert not steps
    assert "integer_matmul" in ops(plan)


@pytest.mark.parametrize("columns", [8, 13])
def test_quantised_again_behind_the_product(columns: int) -> None:
    a, b = drawn((1, 13, 24), "uint8"), drawn((1, 24, columns), "int8")
    scales = (np.abs(random(columns)) + 0.1).astype(np.float32)
    x = given("a", a)
    left = wide(Tensor(x), known(np.array(121, np.uint8))).astype(tl.float32) * 0.25
    right = wide(known(b)).astype(tl.float32) * known(scales)
    y = tl.clip(tl.round(tl.matmul(left, right) / 64.0) + 3.0, 0, 255)
    whole = y.astype(tl.int32).astype(tl.uint8)
    found, steps, plan = computed(whole, {x: a}, np.uint8)
    real = (wide(a, np.uint8(121)) @ wide(b)).astype(np.float64) * 0.25 * scales / 64
    wanted = np.clip(np.round(real) + 3, 0, 255)
    assert np.abs(found.reshape(wanted.shape) - wanted).max() <= 1  # a half, rounded either way
    assert (found.reshape(wanted.shape) == wanted).mean() > 0.99
    assert not steps
    assert "integer_matmul" in ops(plan)
    assert "multiply" in ops(plan)


CONVOLUTIONS = {
    "pointwise": (2, 5, 7, 6, (1, 1), 20, 1, (1, 1), ((0, 0), (0, 0)), (1, 1)),
    "plain": (1, 9, 11, 5, (3, 3), 13, 1, (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "one channel": (1, 9, 11, 1, (5, 3), 6, 1, (1, 1), ((2, 2), (1, 1)), (1, 1)),
    "stride": (1, 12, 9, 3, (3, 2), 8, 1, (2, 3), ((0, 1), (1, 0)), (1, 1)),
    "dilation": (1, 12, 11, 4, (3, 3), 16, 1, (1, 1), ((2, 2), (2, 2)), (2, 3)),
    "padding": (1, 3, 4, 2, (3, 3), 8, 1, (1, 1), ((5, 0), (0, 6)), (1, 1)),
    "many channels": (1, 6, 7, 150, (3, 3), 9, 1, (1, 1), ((1, 1), (1, 1)), (1, 1)),
    "groups": (2, 6, 7, 6, (3, 3), 15, 3, (1, 1), ((1, 1), (0, 1)), (1, 1)),
}


@pytest.mark.parametrize("per", ["tensor", "channel"])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_are_exact(name: str, per: str) -> None:
    n, h, w, inner, kernel, out, groups, stride, padding, dilation = CONVOLUTIONS[name]
    for left, right in product(BOTH, BOTH):
        image = drawn((n, inner, h, w), left)
        filters = drawn((out, inner // groups, *kernel), right)
        zero, zeros = drawn((), left), drawn((out, 1, 1, 1) if per == "channel" else (), right)
        x = given("x", image)
        y = F.conv2d(
            wide(Tensor(x), known(zero)).astype(tl.float32),
            wide(known(filters), known(zeros)).astype(tl.float32),
            None, stride, padding, dilation, groups,
        )  # fmt: skip
        found, steps, plan = computed(y, {x: image}, np.float32)
        whole = numpy_kernels.conv2d(
            np, wide(image, zero).transpose(0, 2, 3, 1),
            wide(filters, zeros).transpose(2, 3, 1, 0), stride, padding, dilation, groups,
        )  # fmt: skip
        wanted = whole.transpose(0, 3, 1, 2).astype(np.float32)
        np.testing.assert_array_equal(found, wanted)
        assert not steps
        assert "integer_conv2d" in ops(plan)


@pytest.mark.parametrize("name", ["integer_matmul", "integer_conv2d"])
def test_the_records_compute_the_same_in_numpy(name: str) -> None:
    a, b = drawn((1, 5, 9), "uint8"), drawn((1, 9, 11), "int8")
    zeros = [Tensor(known(np.full(1, 7, np.uint8)).node), known(drawn((11,), "int8"))]
    x = given("a", a)
    packed = make(integer.pack_pairs, known(b).node)
    if name == "integer_conv2d":
        a = drawn((1, 4, 5, 1), "uint8")
        x = given("a", a)
        y = make(
            integer.integer_conv2d, x, packed, *(zero.node for zero in zeros), kernel=(3, 3),
            filters=11, stride=(1, 2), padding=((1, 1), (0, 1)), dilation=(1, 1), groups=1,
        )  # fmt: skip
    else:
        y = make(integer.integer_matmul, x, packed, *(zero.node for zero in zeros), columns=11)
    found, steps, _ = computed(Tensor(y), {x: a}, np.int32)
    assert not steps
    program = NumpyProgram(compile_graph(Graph((x,), {"y": y}, "record"), "numpy"))
    (wanted,) = run_sync(program.run([a]))
    np.testing.assert_array_equal(found, wanted.numpy())


# ---- weights of few bits, by operands of float32 ----------------------------------------------

CODED = ["int8", "uint8", "int16", "uint16", "int4", "uint4", "bfloat16"]


def coded(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    if dtype == "bfloat16":
        return random(*shape).astype(ml_dtypes.bfloat16)
    if dtype.endswith("4"):
        return RNG.integers(*((0, 16) if dtype[0] == "u" else (-8, 8)), shape).astype(
            getattr(ml_dtypes, dtype)
        )
    return drawn(shape, dtype)


def known_codes(array: np.ndarray) -> Tensor:
    return tl.asarray(array)


@pytest.mark.parametrize("rows", [1, 5, 128])
@pytest.mark.parametrize("form", ["plain", "turned", "columns", "blocks", "zeros"])
@pytest.mark.parametrize("dtype", CODED)
@pytest.mark.parametrize("columns", [64, 68, 67])
def test_products_by_coded_weights(dtype: str, form: str, rows: int, columns: int) -> None:
    depth = 96
    values = coded(dtype, (columns, depth) if form == "turned" else (depth, columns))
    factors = np.abs(random(depth // 32, columns)) + 0.5
    zeros = coded(dtype, (columns,)) if form == "zeros" else np.zeros(columns)
    x, a = fed("a", random(rows, depth)), random(rows, depth)
    weights = known_codes(values).astype(tl.float32)
    plain = values.astype(np.float32)
    if form == "turned":
        weights, plain = tl.permute_dims(weights, (1, 0)), plain.T
    if form == "columns":
        weights, plain = weights * known(factors[0]), plain * factors[0]
    if form == "blocks":
        weights = weights * tl.repeat(known(factors), 32, 0)
        plain = plain * np.repeat(factors, 32, 0)
    if form == "zeros":
        weights = weights - known_codes(zeros).astype(tl.float32)
        plain = plain - zeros.astype(np.float32)
    y = tl.matmul(Tensor(x), weights)
    found, steps, plan = computed(y, {x: a}, np.float32)
    wanted = a.astype(np.float64) @ plain.astype(np.float64)
    part = 1e-4 if form in ("blocks", "columns") else 2e-5  # test_wasm_blocks.py
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=part * np.abs(wanted).max())
    assert not steps
    assert _largest_prepared(plan) <= 2 * depth * 72  # 16 bits, and not 32


def _largest_prepared(plan: Plan) -> int:
    """Bytes of the largest slot that `prepare` fills."""
    return max((slot.bytes for slot in plan.slots if slot.kind == "prepared"), default=0)


def test_rows_of_a_coded_table_are_all_that_is_read() -> None:
    values, factors = drawn((300, 24), "int8"), np.abs(random(300, 1)) + 0.5
    ids = np.array([299, 0, 7], np.int64)
    i = given("i", ids)
    y = tl.take(known(values).astype(tl.float32) * known(factors), Tensor(i), axis=0)
    found, steps, plan = computed(y, {i: ids}, np.float32)
    np.testing.assert_allclose(found, values[ids].astype(np.float32) * factors[ids], rtol=1e-6)
    assert not steps
    assert not plan.prepare


def test_a_convolution_reads_what_prepare_made_of_a_coded_weight() -> None:
    image, filters = random(1, 8, 6, 6), drawn((16, 8, 3, 3), "int8")
    scale = np.abs(random(16, 1, 1, 1)) + 0.5
    x = fed("x", image)
    wide_filters = known(np.tile(filters, (8, 1, 1, 1))).astype(tl.float32)
    y = F.conv2d(Tensor(x), wide_filters * known(np.tile(scale, (8, 1, 1, 1))))
    found, steps, _ = computed(y, {x: image}, np.float32)
    graph = Graph((x,), {"y": y.node}, "conv")
    (wanted,) = run_sync(NumpyProgram(compile_graph(graph, "numpy")).run([image]))
    size = np.abs(wanted.numpy()).max()
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-4, atol=1e-5 * size)
    assert not steps


def test_a_weight_on_the_left() -> None:
    values, b = drawn((80, 64), "int8"), random(64, 20)
    x = fed("b", b)
    y = tl.matmul(known(values).astype(tl.float32), Tensor(x))
    found, steps, _ = computed(y, {x: b}, np.float32)
    np.testing.assert_allclose(found, values.astype(np.float32) @ b, rtol=1e-4, atol=1e-2)
    assert not steps
