"""Quantised operators of com.microsoft, and transformers' layers: the same as onnxruntime's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

import tallow as tl

from ..graphs import model, value, weight
from ..oracle import runtime

random = np.random.default_rng(22)


def numbers(*shape: int) -> np.ndarray:
    return random.standard_normal(shape, dtype=np.float32)


def u8(*shape: int) -> np.ndarray:
    return random.integers(0, 256, shape).astype(np.uint8)


def i8(*shape: int) -> np.ndarray:
    """Seven bits. Without VNNI in the processor, onnxruntime adds products of uint8 and int8
    in pairs of 16 bits, which saturate with eight."""
    return random.integers(-64, 64, shape).astype(np.int8)


def of(scale: float, zero: int, dtype: type = np.uint8) -> list[Any]:
    return [np.float32(scale), dtype(zero)]


A, B = u8(2, 3, 4), u8(1, 3, 4)
IMAGE = u8(1, 4, 6, 6)
WIDE = np.array([0.01, 0.02, 0.005, 0.03, 0.01], np.float32)
POOL = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]}
IDS = random.integers(0, 9, (2, 5)).astype(np.int32)
SEGMENTS = random.integers(0, 2, (2, 5)).astype(np.int32)
MASK = np.int32([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
TABLES = [numbers(9, 8), numbers(6, 8), numbers(2, 8), numbers(8), numbers(8)]
QUANTISED = [u8(9, 8), u8(6, 8), u8(2, 8), u8(8), u8(8)]
SCALES = [np.float32(s) for s in (0.01, 0.02, 0.015, 0.01, 0.03)]
ZEROS = [np.uint8(z) for z in (120, 128, 100, 3, 130)]
X = numbers(2, 5, 8)
PROJECTIONS = [numbers(8, 24), numbers(24)]
Q = [u8(2, 5, 8), i8(8, 24), numbers(24), np.float32(0.02), np.float32(0.01)]
COLUMNS = (random.random(24) * 0.02 + 0.001).astype(np.float32)

CASES: list[Any] = [
    ("QuantizeLinear", [numbers(2, 3), *of(0.02, 120)], {}),
    ("DequantizeLinear", [u8(2, 5), WIDE, u8(5)], {"axis": 1}),
    ("QLinearAdd", [A, *of(0.02, 120), B, *of(0.04, 3), *of(0.05, 100)], {}),
    ("QLinearAdd", [i8(4), *of(0.02, 12, np.int8), i8(3, 4), *of(0.04, -3, np.int8),
                    *of(0.05, 10, np.int8)], {}),
    ("QLinearMul", [A, *of(0.02, 120), B, *of(0.04, 3), *of(0.05, 100)], {}),
    ("QLinearSigmoid", [A, *of(0.04, 120), *of(1 / 256, 0)], {}),
    ("QLinearLeakyRelu", [A, *of(0.04, 120), *of(0.03, 20)], {"alpha": 0.25}),
    ("QLinearConcat", [*of(0.03, 100), A, *of(0.02, 120), u8(2, 1, 4), *of(0.04, 3)],
     {"axis": 1}),
    ("QLinearWhere", [random.random((3, 4)) < 0.5, A, *of(0.02, 120), B, *of(0.04, 3),
                      *of(0.05, 100)], {}),
    ("QLinearSoftmax", [A, *of(0.04, 120), *of(1 / 256, 0)], {"axis": -1, "opset": 13}),
    ("QLinearSoftmax", [A, *of(0.04, 120), *of(1 / 256, 0)], {"axis": 1, "opset": 12}),
    ("QLinearAveragePool", [IMAGE, *of(0.02, 120), *of(0.03, 100)], POOL),
    ("QLinearAveragePool", [IMAGE, *of(0.02, 120), *of(0.03, 100)],
     {**POOL, "count_include_pad": 1}),
    ("QLinearAveragePool", [u8(1, 6, 6, 4), *of(0.02, 120), *of(0.03, 100)],
     {**POOL, "channels_last": 1}),
    ("QLinearGlobalAveragePool", [IMAGE, *of(0.02, 120), *of(0.01, 100)], {}),
    ("QLinearGlobalAveragePool", [u8(1, 6, 6, 4), *of(0.02, 120), *of(0.01, 100)],
     {"channels_last": 1}),
    ("QLinearConv", [u8(1, 6, 6, 4), *of(0.02, 120), i8(5, 4, 3, 3), WIDE, np.zeros(5, np.int8),
                     *of(0.1, 100)], {"channels_last": 1, "pads": [1, 1, 1, 1]}),
    ("QGemm", [u8(3, 4), *of(0.02, 120), i8(4, 5), *of(0.01, 3, np.int8),
               np.int32([3, -4, 5, 600, 7]), *of(0.05, 100)], {}),
    ("QGemm", [u8(4, 3), *of(0.02, 120), i8(5, 4), WIDE, np.zeros(5, np.int8), None],
     {"transA": 1, "transB": 1, "alpha": 0.5}),
    ("EmbedLayerNormalization", [IDS, SEGMENTS, *TABLES, MASK], {"epsilon": 1e-5}),
    ("EmbedLayerNormalization", [IDS, None, *TABLES[:2], None, *TABLES[3:]], {}),
    ("QEmbedLayerNormalization", [IDS, SEGMENTS, *QUANTISED, MASK, *SCALES, *ZEROS], {}),
    ("Attention", [X, *PROJECTIONS], {"num_heads": 2}),
    ("Attention", [X, *PROJECTIONS, np.int32([5, 3])], {"num_heads": 2}),
    ("Attention", [X, *PROJECTIONS, np.int32([5, 4, 0, 1])], {"num_heads": 2}),
    ("Attention", [X, *PROJECTIONS, MASK], {"num_heads": 4, "unidirectional": 1}),
    ("Attention", [X, *PROJECTIONS, np.int32([[1] * 8] * 2), numbers(2, 2, 2, 3, 4)],
     {"num_heads": 2, "unidirectional": 1}),
    ("Attention", [X, *PROJECTIONS, None, None, numbers(2, 2, 5, 5)], {"num_heads": 2}),
    ("Attention", [X, numbers(8, 20), numbers(20)],
     {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4], "scale": 0.3}),
    ("QAttention", [*Q, None, np.uint8(128), np.int8(0)], {"num_heads": 2}),
    ("QAttention", [*Q[:4], COLUMNS, MASK, np.uint8(128), np.zeros(24, np.int8)],
     {"num_heads": 2}),
    ("QAttention", [*Q, np.int32([5, 3]), np.uint8(128), np.int8(0), numbers(2, 2, 2, 3, 4)],
     {"num_heads": 2, "unidirectional": 1}),
]  # fmt: skip

_OUTPUTS = {"EmbedLayerNormalization": 2, "QEmbedLayerNormalization": 2}


def one_node(
    op: str, inputs: list[Any], attributes: dict[str, Any], domain: str = "com.microsoft"
) -> tuple[bytes, Any]:
    """A model of one node, the first input of which is fed, and the feeds."""
    past = op in ("Attention", "QAttention") and any(
        np.ndim(x) == 5 for x in inputs if x is not None
    )
    results = [f"y{i}" for i in range(2 if past else _OUTPUTS.get(op, 1))]
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    fed = next(n for n, x in enumerate(inputs) if np.ndim(x))
    kind = helper.np_dtype_to_tensor_dtype(inputs[fed].dtype)
    proto = model(
        [helper.make_node(op, names, results, domain=domain, **attributes)],
        [value(names[fed], inputs[fed].shape, kind)],
        [helper.make_empty_tensor_value_info(name) for name in results],
        [weight(n, np.asarray(x)) for i, (n, x) in enumerate(zip(names, inputs, strict=True))
         if n and i != fed],
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
    )  # fmt: skip
    return proto.SerializeToString(), {names[fed]: inputs[fed]}


@pytest.mark.parametrize("device", ["numpy", "wasm", "webgpu"])
@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [pytest.param(*case, id=f"{case[0]}-{n}") for n, case in enumerate(CASES)],
)
def test_agrees_with_onnxruntime(
    op: str, inputs: list[Any], attributes: dict[str, Any], device: str, request: Any
) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    data, feeds = one_node(op, inputs, attributes)
    wanted = runtime(data).run(None, feeds)
    with tl.onnx.load(data).session(device) as session:
        got = session.run(feeds)
        assert not session.report().host  # nothing goes to the host
    for mine, theirs in zip(got.values(), wanted, strict=True):
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        steps = 1 if mine.dtype in (np.uint8, np.int8) else 1e-4  # a value between two steps
        np.testing.assert_allclose(
            mine.astype(np.float64), theirs.astype(np.float64), rtol=1e-4, atol=steps
        )
        if steps == 1:
            assert np.sum(mine != theirs) <= max(1, mine.size // 10)


def test_zero_points_that_are_absent_are_zero() -> None:
    """onnxruntime wants them, against its own definition."""
    results = []
    for zero in (None, np.uint8(0)):
        inputs = [A, np.float32(0.02), zero, B, np.float32(0.04), zero, np.float32(0.05), zero]
        data, feeds = one_node("QLinearAdd", inputs, {})
        results.append(tl.onnx.load(data).session("numpy").run(feeds)["y0"])
    np.testing.assert_array_equal(*results)


def test_a_mean_along_axes() -> None:
    """onnxruntime has no kernel for it."""
    data, feeds = one_node(
        "QLinearReduceMean", [A, *of(0.02, 120), *of(0.01, 100)], {"axes": [1], "keepdims": 0}
    )
    got = tl.onnx.load(data).session("numpy").run(feeds)["y0"]
    mean = (A.astype(np.float64) - 120).mean(1) * 0.02
    np.testing.assert_allclose(got, np.clip(np.round(mean / 0.01) + 100, 0, 255), atol=1)


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        ("QLinearAdd", [A, *of(0, 120), B, *of(0.04, 3), *of(0.05, 100)],
         "the scale of A is 0; expected another number"),
        ("QLinearAdd", [A, *of(0.02, 120), B, *of(0.04, 3), *of(np.inf, 100)],
         "the scale of C is inf"),
        ("QLinearMul", [A, *of(0.02, 1, np.int8), B, *of(0.04, 3), *of(0.05, 100)],
         "the zero point of A is int8, but A is uint8"),
        ("QLinearMul", [A, WIDE, np.uint8(3), B, *of(0.04, 3), *of(0.05, 100)],
         r"the scale of A is \(5,\); expected one number"),
        ("QLinearMul", [A, *of(0.02, 1), B, *of(0.04, 3)], "the scale of C is missing"),
        ("QLinearSigmoid", [numbers(3), *of(0.02, 1), *of(0.04, 3)], "X is float32"),
        ("QLinearConcat", [*of(0.03, 100), A, np.float32(1)], "expected threes"),
        ("QGemm", [u8(3, 4), *of(0.02, 120), i8(4, 5), WIDE[:3], np.int8(0)],
         r"the scale of B is \(3,\); expected one number or 5"),
        ("QAttention", [*Q[:4], np.float32(0), None, np.uint8(0), np.int8(0)],
         "the scale of the weight is 0"),
        ("QAttention", [*Q, None, np.uint8(0), np.uint8(0)],
         "the zero point of the weight is uint8, but the weight is int8"),
        ("QEmbedLayerNormalization", [IDS, SEGMENTS, *QUANTISED, None, np.float32(0), *SCALES[1:],
                                      *ZEROS], "the scale of word_embedding is 0"),
    ],
)  # fmt: skip
def test_parameters_that_do_not_fit_are_refused(op: str, inputs: list[Any], message: str) -> None:
    assert_refused(op, inputs, message)


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        ("QuantizeLinear", [numbers(3), *of(0, 3)], "the scale of y is 0; expected another"),
        ("DequantizeLinear", [u8(3), np.float32(1), np.int8(1)], "must have one type"),
        ("MatMulInteger", [u8(2, 3), i8(3, 4), np.int8(1)], "must have one type"),
        ("QLinearMatMul", [u8(2, 3), *of(0.1, 3), i8(3, 4), *of(0.1, 3), *of(0.1, 3)],
         "must have one type"),
        ("QLinearConv", [IMAGE, *of(0.1, 3), i8(5, 4, 3, 3), *of(0.1, 3, np.int8), *of(0, 3)],
         "the scale of y is 0"),
        ("QLinearConv", [IMAGE, WIDE, np.uint8(3), i8(5, 4, 3, 3), *of(0.1, 3, np.int8),
                         *of(0.1, 3)], r"scale or zero point of x is \(5,\); expected one"),
    ],
)  # fmt: skip
def test_so_are_those_of_the_standards_operators(op: str, inputs: list[Any], message: str) -> None:
    assert_refused(op, inputs, message, domain="")


def assert_refused(op: str, inputs: list[Any], message: str, **more: Any) -> None:
    attributes = {"num_heads": 2} if op == "QAttention" else {}
    attributes |= {"axis": 1} if op == "QLinearConcat" else {}
    data, feeds = one_node(op, inputs, attributes, **more)
    with pytest.raises(tl.OnnxFormatError, match=message) as caught:
        tl.onnx.load(data).session("numpy").run(feeds)
    assert "\n" not in str(caught.value)
