"""Operators of com.microsoft: the same results as onnxruntime, which defines them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import tallow as tl

from ..graphs import model, value, weight
from ..oracle import runtime

random = np.random.default_rng(21)


def numbers(*shape: int) -> np.ndarray:
    return random.standard_normal(shape, dtype=np.float32)


def int8(*shape: int) -> np.ndarray:
    return random.integers(-127, 128, shape).astype(np.int8)


def scales(*shape: int) -> np.ndarray:
    return (random.random(shape) * 0.01 + 0.002).astype(np.float32)


def lstm(directions: int, *, bias: bool = True, states: bool = False) -> list[Any]:
    held = [int8(directions, 6, 32), int8(directions, 8, 32)]
    first = [numbers(directions, 1, 8) for _ in range(2)] if states else [None, None]
    b = numbers(directions, 64) if bias else None
    zeros = np.zeros(directions, np.int8)
    return [numbers(5, 1, 6), *held, b, None, *first, None,
            scales(directions), zeros, scales(directions), zeros]  # fmt: skip


X = numbers(2, 3, 16)
CASES: list[Any] = [
    ("Gelu", [X], {}, 1),
    ("BiasGelu", [X, numbers(16)], {}, 1),
    ("FastGelu", [X, numbers(16)], {}, 1),
    ("FastGelu", [X], {}, 1),
    ("QuickGelu", [X], {"alpha": 1.5}, 1),
    ("FusedMatMul", [X, numbers(2, 16, 4)], {"alpha": 0.25}, 1),
    ("FusedMatMul", [X, numbers(2, 3, 16)], {"transB": 1, "alpha": 2.0}, 1),
    ("FusedMatMul", [X, numbers(2, 3, 5)], {"transA": 1}, 1),
    ("SkipLayerNormalization", [X, numbers(2, 3, 16), *(numbers(16) for _ in range(3))], {}, 1),
    ("SkipLayerNormalization", [X, numbers(2, 3, 16), numbers(16)], {"epsilon": 1e-3}, 4),
    ("DynamicQuantizeMatMul",
     [X, int8(16, 4), scales(4), np.zeros(4, np.int8), numbers(4)], {}, 1),
    ("DynamicQuantizeMatMul", [X, int8(16, 4), scales()], {}, 1),
    ("MatMulIntegerToFloat", [random.integers(0, 255, (2, 3, 16)).astype(np.uint8), int8(16, 4),
                              scales(), scales(4), np.uint8(120), np.int8(0), numbers(4)], {}, 1),
    ("DynamicQuantizeLSTM", lstm(1), {"hidden_size": 8}, 3),
    ("DynamicQuantizeLSTM", lstm(1, bias=False), {"hidden_size": 8, "direction": "reverse"}, 3),
    ("DynamicQuantizeLSTM", lstm(2, states=True),
     {"hidden_size": 8, "direction": "bidirectional"}, 3),
]  # fmt: skip


@pytest.mark.parametrize("device", ["numpy", "webgpu"])
@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "outputs"),
    [pytest.param(*case, id=f"{case[0]}-{n}") for n, case in enumerate(CASES)],
)
def test_agrees_with_onnxruntime(
    op: str, inputs: list[Any], attributes: dict[str, Any], outputs: int, device: str, request: Any
) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, domain="com.microsoft", **attributes)
    kind = helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    proto = model(
        [node],
        [value("x0", inputs[0].shape, kind)],
        [value(name, None, TensorProto.FLOAT) for name in results],
        [weight(n, np.asarray(x)) for n, x in zip(names[1:], inputs[1:], strict=True) if n],
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
    )
    data = proto.SerializeToString()
    wanted = runtime(data).run(None, {"x0": inputs[0]})
    with tl.onnx.load(data).session(device) as session:
        got = session.run({"x0": inputs[0]})
    for mine, theirs in zip(got.values(), wanted, strict=True):
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)


def test_what_is_not_here_is_named() -> None:
    node = helper.make_node("MoE", ["x", "w"], ["y"], domain="com.microsoft")
    proto = model([node], [value("x", [1, 2, 4])], "y", [weight("w", numbers(4, 12))],
                  opset_imports=[helper.make_opsetid("com.microsoft", 1)])  # fmt: skip
    (line,) = tl.onnx.load(proto.SerializeToString()).unsupported
    assert "MoE" in line and "com.microsoft" in line
