"""Weights with few bits: they stay packed on the GPU, with the same answers.

Each is compared with NumPy, which unpacks them once, and with onnxruntime.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import tallow as tl
from tallow.core.codes import packed_bytes
from tallow.core.dtype import BY_NAME

from ..graphs import Node, model, node, value, weight
from ..oracle import runtime, saturates

pytestmark = pytest.mark.usefixtures("native")

INTEGERS = ("int8", "uint8", "int4", "uint4")
FLOATING = ("bfloat16", "float8_e4m3fn", "float4_e2m1fn")
_PROTO = {"float8_e4m3fn": "FLOAT8E4M3FN", "float4_e2m1fn": "FLOAT4E2M1"}

random = np.random.default_rng(11)


def numbers(*shape: int) -> np.ndarray:
    return random.standard_normal(shape, dtype=np.float32)


def packed(name: str, dtype: str, *shape: int) -> TensorProto:
    """Random elements of a type."""
    number = getattr(TensorProto, _PROTO.get(dtype, dtype.upper()))
    if dtype in FLOATING:
        return helper.make_tensor(name, number, shape, numbers(*shape).ravel().tolist())
    low = 0 if dtype.startswith("u") else -(1 << BY_NAME[dtype].bits - 1)
    codes = random.integers(low, low + (1 << BY_NAME[dtype].bits), shape)
    return helper.make_tensor(name, number, shape, codes.ravel().tolist())


def scales(*shape: int) -> np.ndarray:
    return random.uniform(0.001, 0.02, shape).astype(np.float32)


def dequantised(dtype: str, shape: tuple[int, ...], axis: int) -> tuple[list[Node], list[Any]]:
    """Nodes and weights that make the float32 value "w"; integers have a scale for each index
    along the axis, and a zero point where they are unsigned."""
    if dtype in FLOATING:
        return [node("Cast", "q", "w", to=TensorProto.FLOAT)], [packed("q", dtype, *shape)]
    weights = [packed("q", dtype, *shape), weight("s", scales(shape[axis]))]
    if dtype.startswith("u"):
        weights.append(packed("z", dtype, shape[axis]))
    inputs = " ".join(tensor.name for tensor in weights)
    return [node("DequantizeLinear", inputs, "w", axis=axis)], weights


def most(dtype: str, weights: list[TensorProto]) -> int:
    """Bytes that may stay on the device: "q" as it is packed, what belongs to it in 32 bits, and
    the table of a type's values. Buffers are whole groups of 16."""
    sizes = {tensor.name: int(np.prod(tensor.dims)) for tensor in weights}
    small = sum(-(-size // 4) * 16 for name, size in sizes.items() if name != "q")
    table = 4 << BY_NAME[dtype].bits if dtype in FLOATING and dtype != "bfloat16" else 0
    return -(-packed_bytes(BY_NAME[dtype], sizes["q"]) // 16) * 16 + small + table


def run(proto: onnx.ModelProto, device: str, feeds: Any) -> tuple[np.ndarray, int, str]:
    """The answer, the bytes of weights on the device, and the report."""
    with tl.onnx.load(proto.SerializeToString()).session(device) as session:
        (answer,) = session.run(feeds).values()
        return answer, session.stats["weights"], str(session.report())


def check(
    dtype: str, nodes: list[Node], weights: list[TensorProto], x: np.ndarray, rtol: float = 1e-5
) -> None:
    """Compares the answers, and the bytes on the device with the expected ones."""
    given = value("x", x.shape, helper.np_dtype_to_tensor_dtype(x.dtype))
    types = {"MatMulInteger": TensorProto.INT32, "QLinearConv": TensorProto.UINT8}
    result = value("y", None, types.get(nodes[-1].op_type, TensorProto.FLOAT))
    proto = model(nodes, [given], [result], weights, 23)
    answer, held, report = run(proto, "webgpu", {"x": x})
    wanted, _, _ = run(proto, "numpy", {"x": x})
    np.testing.assert_allclose(answer, wanted, rtol=0, atol=rtol * _largest(wanted))
    theirs = other_answer(proto, dtype, x)
    if theirs is not None:
        np.testing.assert_allclose(answer, theirs, rtol=0, atol=rtol * _largest(theirs))
    assert packed_bytes(BY_NAME[dtype], 4096) <= held <= most(dtype, weights)
    assert f"{held:,} bytes of weights" in report


def other_answer(proto: onnx.ModelProto, dtype: str, x: np.ndarray) -> np.ndarray | None:
    """onnxruntime's answer, or the reference evaluator's if onnxruntime's depends on the processor;
    None if onnxruntime lacks the operator."""
    if saturates([node.op_type for node in proto.graph.node], [dtype, x.dtype.name]):
        answers: Any = ReferenceEvaluator(proto).run(None, {"x": x})
        return np.asarray(answers[0])
    try:
        session = runtime(proto.SerializeToString(), plain=True)
    except Exception as error:  # its errors have no common base class
        assert "NOT_IMPLEMENTED" in str(error)
        return None
    return np.asarray(session.run(None, {"x": x})[0])


def _largest(array: np.ndarray) -> float:
    return float(abs(array.astype(np.float64)).max())


@pytest.mark.parametrize(
    ("dtype", "columns"),
    [*((dtype, 63) for dtype in (*INTEGERS, *FLOATING)),
     ("int8", 64), ("uint4", 64), ("bfloat16", 64)],
)  # fmt: skip
class TestReaders:
    """Every type before everything that reads weights. 63 columns are read one by one, since
    neighbours lie in different words; 64 by fours."""

    def test_matmul(self, dtype: str, columns: int) -> None:
        nodes, weights = dequantised(dtype, (96, columns), 1)
        check(dtype, [*nodes, node("MatMul", "x w", "y")], weights, numbers(20, 96))

    def test_weight_on_the_left(self, dtype: str, columns: int) -> None:
        nodes, weights = dequantised(dtype, (96, columns), 0)
        check(dtype, [*nodes, node("MatMul", "w x", "y")], weights, numbers(columns, 20))

    def test_gemm_of_a_transposed_weight(self, dtype: str, columns: int) -> None:
        nodes, weights = dequantised(dtype, (columns, 96), 0)
        check(dtype, [*nodes, node("Gemm", "x w", "y", transB=1)], weights, numbers(20, 96))

    def test_convolution(self, dtype: str, columns: int) -> None:
        nodes, weights = dequantised(dtype, (columns, 17, 3, 3), 0)
        conv = node("Conv", "x w", "y", pads=[1, 1, 1, 1])
        check(dtype, [*nodes, conv], weights, numbers(1, 17, 9, 9))

    def test_pointwise_convolution(self, dtype: str, columns: int) -> None:
        nodes, weights = dequantised(dtype, (columns, 96, 1, 1), 0)
        check(dtype, [*nodes, node("Conv", "x w", "y")], weights, numbers(1, 96, 5, 5))

    def test_depthwise_convolution(self, dtype: str, columns: int) -> None:
        channels = 8 * columns
        nodes, weights = dequantised(dtype, (channels, 1, 3, 3), 0)
        conv = node("Conv", "x w", "y", group=channels)
        check(dtype, [*nodes, conv], weights, numbers(1, channels, 5, 5))

    def test_grouped_convolution(self, dtype: str, columns: int) -> None:
        nodes, weights = dequantised(dtype, (3 * columns, 8, 3, 3), 0)
        check(dtype, [*nodes, node("Conv", "x w", "y", group=3)], weights, numbers(1, 24, 5, 5))

    def test_gather(self, dtype: str, columns: int) -> None:
        nodes, weights = dequantised(dtype, (96, columns), 1)
        rows = np.array([[3, 95, -1], [0, 3, 17]], np.int32)
        check(dtype, [*nodes, node("Gather", "w x", "y")], weights, rows)

    def test_sum(self, dtype: str, columns: int) -> None:
        nodes, weights = dequantised(dtype, (96, columns), 1)
        check(dtype, [*nodes, node("Add", "x w", "y")], weights, numbers(2, 96, columns))


@pytest.mark.parametrize(("dtype", "columns"), [("int4", 64), ("uint4", 63), ("uint8", 64)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_scale_for_each_block(dtype: str, columns: int, turned: bool) -> None:
    shape, axis = ((columns, 128), 1) if turned else ((128, columns), 0)
    few = tuple(dim // 32 if a == axis else dim for a, dim in enumerate(shape))
    weights = [packed("q", dtype, *shape), weight("s", scales(*few)), packed("z", dtype, *few)]
    nodes = [node("DequantizeLinear", "q s z", "w", axis=axis, block_size=32)]
    reader = node("Gemm", "x w", "y", transB=int(turned))
    check(dtype, [*nodes, reader], weights, numbers(20, 128))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_integer_product(dtype: str) -> None:
    """Two parts of the inner axis, which float32 adds up exactly, read one weight."""
    weights = [packed("q", dtype, 300, 64), packed("za", "uint8"), packed("zb", dtype, 64)]
    x = random.integers(0, 256, (7, 300)).astype(np.uint8)
    check(dtype, [node("MatMulInteger", "x q za zb", "y")], weights, x, rtol=0)


def test_quantised_convolution() -> None:
    weights = [
        weight("xs", scales()), packed("xz", "uint8"), packed("q", "int8", 40, 17, 3, 3),
        weight("s", scales(40)), weight("z", np.zeros(40, np.int8)),
        weight("ys", np.float32(0.9)), packed("yz", "uint8"),
    ]  # fmt: skip
    x = random.integers(0, 256, (1, 17, 9, 9)).astype(np.uint8)
    nodes = [node("QLinearConv", "x xs xz q s z ys yz", "y")]
    check("int8", nodes, weights, x, rtol=1 / 255)  # one step, where a half is rounded


def prepared(nodes: list[Node], weights: list[TensorProto], x: np.ndarray) -> int:
    """The bytes of weights on the device, after checking the answer."""
    proto = model(nodes, [value("x", x.shape)], "y", weights, 23)
    answer, held, _ = run(proto, "webgpu", {"x": x})
    wanted, _, _ = run(proto, "numpy", {"x": x})
    np.testing.assert_allclose(answer, wanted, rtol=0, atol=1e-5 * abs(wanted).max())
    return held


def _reordered() -> tuple[list[Node], list[TensorProto], np.ndarray]:
    nodes = [
        node("Cast", "q", "f", to=TensorProto.FLOAT),
        node("Transpose", "f", "t", perm=[1, 0]),
        node("Reshape", "t shape", "r"),
        node("Transpose", "r", "w", perm=[1, 0]),
        node("MatMul", "x w", "y"),
    ]
    weights = [packed("q", "int8", 64, 96), weight("shape", np.array([128, 48]))]
    return nodes, weights, numbers(5, 48)


def _scaled_each() -> tuple[list[Node], list[TensorProto], np.ndarray]:
    nodes = [
        node("Cast", "q", "f", to=TensorProto.FLOAT),
        node("Mul", "f s", "w"),
        node("MatMul", "x w", "y"),
    ]
    return nodes, [packed("q", "int8", 96, 64), weight("s", scales(96, 64))], numbers(5, 96)


def _computed() -> tuple[list[Node], list[TensorProto], np.ndarray]:
    nodes = [
        node("Cast", "q", "f", to=TensorProto.FLOAT),
        node("Tanh", "f", "w"),
        node("MatMul", "x w", "y"),
    ]
    return nodes, [packed("q", "int4", 96, 64)], numbers(5, 96)


@pytest.mark.parametrize("case", [_reordered, _scaled_each, _computed])
def test_others_are_unpacked_once(case: Callable[[], Any]) -> None:
    """Weights that can't be read efficiently in place, or cost more than a read to compute."""
    nodes, weights, x = case()
    assert prepared(nodes, weights, x) == 4 * 96 * 64


def test_a_packed_weight_is_not_transformed() -> None:
    """A convolution that would use Winograd, like one with the same weight in float32."""
    nodes, weights = dequantised("int8", (128, 128, 3, 3), 0)
    conv = node("Conv", "x w", "y", pads=[1, 1, 1, 1])
    x = numbers(1, 128, 28, 28)
    assert prepared([*nodes, conv], weights, x) <= 128 * 128 * 9 + 4 * 128
    wide = [weight("w", numbers(128, 128, 3, 3))]
    assert prepared([conv], wide, x) >= 4 * 128 * 128 * 16


def test_a_factor_per_channel_waits_for_the_product() -> None:
    """Batch norm's factor and the weight's scale become one multiplication after the sums."""
    nodes, weights = dequantised("int8", (64, 96, 1, 1), 0)
    weights += [weight(name, scales(64)) for name in ("gamma", "beta", "mean", "var")]
    nodes += [node("Conv", "x w", "c"), node("BatchNormalization", "c gamma beta mean var", "y")]
    assert prepared(nodes, weights, numbers(1, 96, 5, 5)) <= 64 * 96 + 3 * 4 * 64
