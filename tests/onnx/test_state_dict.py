"""The weights of a file under the names of the module that was exported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import tallow as tl
from tallow.errors import OnnxFormatError

RNG = np.random.default_rng(3)


def model(nodes: list[Any], constants: dict[str, Any], outputs: list[str]) -> tl.onnx.Model:
    """A model of x (1, 4) and a condition."""
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        inputs,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return tl.onnx.load(made.SerializeToString())


def test_names_come_from_the_nodes_that_read() -> None:
    a, b, bias = (RNG.standard_normal(s).astype("f4") for s in ((4, 3), (3, 5), 5))
    found = model(
        [
            helper.make_node("MatMul", ["x", "onnx::MatMul_7"], ["y"], "/net/layers.0/fc/MatMul"),
            helper.make_node("Gemm", ["y", "val_3", "fc.bias"], ["z"], "/fc2/Gemm"),
            helper.make_node("Reshape", ["z", "/Constant_output_0"], ["w"], "/Reshape"),
        ],
        {"onnx::MatMul_7": a, "val_3": b, "fc.bias": bias, "/Constant_output_0": np.array([5])},
        ["w"],
    ).state_dict()
    assert set(found) == {"net.layers.0.fc.weight", "fc2.weight", "fc.bias"}
    np.testing.assert_array_equal(found["net.layers.0.fc.weight"].numpy(), a.T)
    np.testing.assert_array_equal(found["fc2.weight"].numpy(), b.T)
    np.testing.assert_array_equal(found["fc.bias"].numpy(), bias)


def test_steps_of_8_bits_become_what_they_stand_for() -> None:
    steps = RNG.integers(0, 255, (4, 3)).astype(np.uint8)
    table = RNG.integers(-127, 127, (6, 3)).astype(np.int8)
    scale, zero = np.float32(0.02), np.uint8(130)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "p"]),
        helper.make_node(
            "MatMulInteger",
            ["q", "onnx::MatMul_7_merged_0_quantized", "p", "onnx::MatMul_7_merged_0_zero_point"],
            ["i"],
            "/fc/MatMul_quant",
        ),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["s", "onnx::MatMul_7_merged_0_scale"], ["t"]),
        helper.make_node("Mul", ["f", "t"], ["u"]),
        helper.make_node("Cast", ["table_quantized"], ["e"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["e", "table_scale"], ["v"]),
    ]
    constants = {
        "onnx::MatMul_7_merged_0_quantized": steps, "onnx::MatMul_7_merged_0_scale": scale,
        "onnx::MatMul_7_merged_0_zero_point": zero, "table_quantized": table,
        "table_scale": np.float32(0.5),
    }  # fmt: skip
    found = model(nodes, constants, ["u", "v"]).state_dict()
    assert set(found) == {"fc.weight", "table"}
    wanted = (steps.astype("f4") - 130) * scale
    np.testing.assert_allclose(found["fc.weight"].numpy(), wanted.T, rtol=1e-6)
    np.testing.assert_allclose(found["table"].numpy(), table * np.float32(0.5))


def test_weights_in_branches_are_found() -> None:
    a = RNG.standard_normal((4, 4)).astype("f4")
    branches = [
        helper.make_graph(
            [helper.make_node("MatMul", ["x", "onnx::MatMul_9"], [f"y{side}"], "/a/b/MatMul")],
            f"g{side}",
            [],
            [helper.make_tensor_value_info(f"y{side}", TensorProto.FLOAT, None)],
        )
        for side in range(2)
    ]
    node = helper.make_node("If", ["c"], ["z"], then_branch=branches[0], else_branch=branches[1])
    found = model([node], {"onnx::MatMul_9": a}, ["z"]).state_dict()
    np.testing.assert_array_equal(found["a.b.weight"].numpy(), a.T)


def test_two_weights_of_one_name_are_refused() -> None:
    a = np.ones((4, 4), np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "onnx::MatMul_1"], ["y"], "/fc/MatMul"),
        helper.make_node("MatMul", ["y", "onnx::MatMul_2"], ["z"], "/fc/MatMul"),
    ]
    with pytest.raises(OnnxFormatError, match=r"fc\.weight"):
        model(nodes, {"onnx::MatMul_1": a, "onnx::MatMul_2": a}, ["z"]).state_dict()
