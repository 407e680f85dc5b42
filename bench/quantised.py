"""Networks with 8-bit weights that the benchmark makes of MiniLM and SqueezeNet.

MiniLM is the text encoder of the tests, as published: its weights are 8 bits wide, and become
float32 by a Cast and a scale. From it follows one whose operands are both quantised, as
onnxruntime's dynamic quantizer writes products; from SqueezeNet one that its static quantizer
makes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tallow_build.content import models, networks

TOKENS = 128
"""The length of a text."""

_VOCABULARY = 1000  # tokens that a text consists of


def minilm() -> bytes:
    """MiniLM of one text, whose token ids are computed of one input of floating numbers."""
    model = onnx.load(networks.ensure()["minilm.onnx"])
    graph = model.graph
    del graph.input[:]
    graph.input.append(helper.make_tensor_value_info("input", TensorProto.FLOAT, (1, TOKENS)))
    numbers = {
        "many": np.float32(_VOCABULARY / 8),
        "first": np.float32(0),
        "last": np.float32(_VOCABULARY - 1),
        "one": np.int64(1),
    }
    graph.initializer.extend(numpy_helper.from_array(np.array(n), k) for k, n in numbers.items())
    head = [
        helper.make_node("Abs", ["input"], ["size"]),
        helper.make_node("Mul", ["size", "many"], ["scaled"]),
        helper.make_node("Clip", ["scaled", "first", "last"], ["held"]),
        helper.make_node("Cast", ["held"], ["input_ids"], to=TensorProto.INT64),
        helper.make_node("Sub", ["input_ids", "input_ids"], ["token_type_ids"]),
        helper.make_node("Add", ["token_type_ids", "one"], ["attention_mask"]),
    ]
    nodes = [*head, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    return _checked(model)


def minilm_dynamic() -> bytes:
    """The same with products of 8-bit integers, to which activations are quantised at every run.

    Weights keep 7 of their bits, as the quantizer's `reduce_range` has it: onnxruntime's products
    of more saturate on processors without VNNI, one of which gives the expected answer.
    """
    model = onnx.load_from_string(minilm())
    kept = {each.name: each for each in model.graph.initializer}
    made = {output: node for node in model.graph.node for output in node.output}
    shared: dict[str, list[str]] = {}
    nodes = []
    for node in model.graph.node:
        scaled = made.get(node.input[1]) if node.op_type == "MatMul" else None
        cast = made.get(scaled.input[0]) if scaled is not None and scaled.op_type == "Mul" else None
        if scaled is None or cast is None or cast.op_type != "Cast":
            nodes.append(node)
            continue
        x, name = node.input[0], node.output[0]
        if x not in shared:
            shared[x] = [f"{x}_codes", f"{x}_scale", f"{x}_zero"]
            nodes.append(helper.make_node("DynamicQuantizeLinear", [x], shared[x]))
        codes, scale, zero = shared[x]
        for tensor, change in ((cast.input[0], _halved), (scaled.input[1], _doubled)):
            values = change(numpy_helper.to_array(kept[tensor]))
            kept[tensor].CopyFrom(numpy_helper.from_array(values, tensor))
        whole = [codes, cast.input[0], zero]
        nodes += [
            helper.make_node("MatMulInteger", whole, [f"{name}_whole"]),
            helper.make_node("Cast", [f"{name}_whole"], [f"{name}_cast"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [scale, scaled.input[1]], [f"{name}_scales"]),
            helper.make_node("Mul", [f"{name}_cast", f"{name}_scales"], [name]),
        ]
    read = {name for node in nodes for name in node.input} | {o.name for o in model.graph.output}
    del model.graph.node[:]
    model.graph.node.extend(node for node in nodes if read.intersection(node.output))
    return _checked(model)


def _halved(codes: np.ndarray) -> np.ndarray:
    return np.round(codes.astype(np.float32) / 2).clip(-64, 63).astype(np.int8)


def _doubled(scales: np.ndarray) -> np.ndarray:
    return scales * np.float32(2)


def squeezenet_static() -> bytes:
    """SqueezeNet with QuantizeLinear and DequantizeLinear around every node, calibrated with random
    pictures."""
    import onnxruntime
    from onnxruntime.quantization import (  # type: ignore[import-untyped]
        CalibrationDataReader,
        QuantType,
        quantize_static,
    )

    class Pictures(CalibrationDataReader):  # type: ignore[misc]
        """A few of them."""

        def __init__(self, name: str, shape: tuple[int, ...]) -> None:
            random = np.random.default_rng(8)
            drawn = (random.standard_normal(shape, dtype=np.float32) for _ in range(4))
            self._left = iter([{name: picture} for picture in drawn])

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self._left, None)

    source = models.in_dist("squeezenet1_1")
    (wanted,) = onnx.load(source).graph.input
    shape = tuple(dim.dim_value or 1 for dim in wanted.type.tensor_type.shape.dim)
    with tempfile.TemporaryDirectory() as folder:
        plain, target = Path(folder) / "plain.onnx", Path(folder) / "quantised.onnx"
        # Its weights are float16; their Casts are folded, so that the quantizer sees weights.
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(plain)
        onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        quantize_static(
            plain,
            target,
            Pictures(wanted.name, shape),
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )
        return target.read_bytes()


def _checked(model: onnx.ModelProto) -> bytes:
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))
