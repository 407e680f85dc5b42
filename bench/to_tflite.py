"""Turns an ONNX file of the bench into a .tflite one, and runs that.

    python to_tflite.py MODEL.onnx INPUTS.npy MODEL.tflite ANSWERS.npy

INPUTS.npy has inputs for the model, one after the other, ANSWERS.npy gets what TensorFlow's
interpreter makes of them. Images have their channels last here, as .tflite models have them.
This runs in an environment of its own (tflite.py), and knows the operators of the bench's models.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tensorflow as tf
from onnx import helper, numpy_helper

# From OIHW, for ordinary and depthwise convolutions.
_KERNEL = (2, 3, 1, 0)
_DEPTHWISE_KERNEL = (2, 3, 0, 1)

Attributes = dict[str, Any]


def _same(sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The pads of TensorFlow's padding "SAME", in ONNX's order."""
    missing = [
        max((-(-size // stride) - 1) * stride + taps - size, 0)
        for size, taps, stride in zip(sizes, kernel, strides, strict=True)
    ]
    return [each // 2 for each in missing] + [each - each // 2 for each in missing]


def _padded(
    x: Any, attributes: Attributes, kernel: Sequence[int], fill: float
) -> tuple[Any, list[int], str]:
    """The image to slide a window over, the strides, and TensorFlow's name for the padding.

    A name costs nothing at run time; only padding that has none becomes an operator.
    """
    sizes, strides = x.shape[1:3], list(attributes.get("strides", [1, 1]))
    same = _same(sizes, kernel, strides)
    if attributes.get("auto_pad", b"NOTSET") == b"SAME_UPPER":
        return x, strides, "SAME"
    pads = list(attributes.get("pads", [0] * 4))
    if attributes.get("ceil_mode"):
        for axis in (0, 1):
            padded = sizes[axis] + pads[axis] + pads[axis + 2]
            pads[axis + 2] += -(padded - kernel[axis]) % strides[axis]
    if pads == same:
        return x, strides, "SAME"
    if any(pads):
        top, left, bottom, right = pads
        around = [[0, 0], [top, bottom], [left, right], [0, 0]]
        x = tf.pad(x, around, constant_values=fill)
    return x, strides, "VALID"


def _conv(attributes: Attributes, x: Any, weight: Any, bias: Any) -> Any:
    group, kernel = attributes.get("group", 1), weight.shape[2:]
    x, strides, padding = _padded(x, attributes, kernel, 0.0)
    if group == 1:
        y = tf.nn.conv2d(x, weight.transpose(_KERNEL), strides, padding)
    elif group == weight.shape[0] == x.shape[3]:
        weight = weight.transpose(_DEPTHWISE_KERNEL)
        y = tf.nn.depthwise_conv2d(x, weight, [1, *strides, 1], padding)
    else:
        raise NotImplementedError(f"a convolution of {group} groups")
    return tf.nn.bias_add(y, bias)


def _max_pool(attributes: Attributes, x: Any) -> Any:
    kernel = attributes["kernel_shape"]
    x, strides, padding = _padded(x, attributes, kernel, tf.float32.min)
    return tf.nn.max_pool2d(x, kernel, strides, padding)


def _reshape(attributes: Attributes, x: Any, shape: Any) -> Any:
    if len(shape) != 2 or len(x.shape) != 4:
        raise NotImplementedError(f"to_tflite.py reshapes images to rows only, not to {shape}")
    return _flatten(attributes, x)


def _flatten(_: Attributes, x: Any) -> Any:
    if x.shape[1:3] != (1, 1):
        x = tf.transpose(x, [0, 3, 1, 2])
    return tf.reshape(x, [x.shape[0], -1])


def _gemm(attributes: Attributes, x: Any, weight: Any, bias: Any) -> Any:
    return tf.matmul(x, weight.T if attributes.get("transB") else weight) + bias


def _clip(_: Attributes, x: Any, low: Any, high: Any) -> Any:
    if (float(low), float(high)) == (0.0, 6.0):
        return tf.nn.relu6(x)
    return tf.clip_by_value(x, low, high)


def _cast(attributes: Attributes, x: Any) -> Any:
    return x.astype(helper.tensor_dtype_to_np_dtype(attributes["to"]))  # only weights are cast


_RULES: dict[str, Callable[..., Any]] = {
    "Add": lambda _, a, b: a + b,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": lambda _, *parts: tf.concat(parts, 3),  # of channels
    "Conv": _conv,
    "Flatten": _flatten,
    "Gemm": _gemm,
    "GlobalAveragePool": lambda _, x: tf.reduce_mean(x, [1, 2], keepdims=True),
    "MatMul": lambda _, a, b: tf.matmul(a, b),
    "MaxPool": _max_pool,
    "Reshape": _reshape,
    "Relu": lambda _, x: tf.nn.relu(x),
}


def converted(graph: onnx.GraphProto, shape: Sequence[int]) -> bytes:
    """The .tflite file of a graph whose only input has this shape."""
    weights = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    (name,) = (one.name for one in graph.input if one.name not in weights)
    missing = {node.op_type for node in graph.node} - _RULES.keys()
    if missing:
        raise NotImplementedError(f"to_tflite.py has no rule for {', '.join(sorted(missing))}")

    def forward(x: Any) -> Any:
        values: dict[str, Any] = {**weights, name: x}
        for node in graph.node:
            attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
            operands = [values[each] for each in node.input]
            values[node.output[0]] = _RULES[node.op_type](attributes, *operands)
        return values[graph.output[0].name]

    signature = [tf.TensorSpec(shape, tf.float32)]
    function = tf.function(forward, input_signature=signature).get_concrete_function()
    return bytes(tf.lite.TFLiteConverter.from_concrete_functions([function]).convert())


def run(model: bytes, inputs: Any) -> Any:
    """What TensorFlow's interpreter makes of each input."""
    network = tf.lite.Interpreter(model_content=model)
    network.allocate_tensors()
    (into,), (out,) = network.get_input_details(), network.get_output_details()
    answers = []
    for each in inputs:
        network.set_tensor(into["index"], each)
        network.invoke()
        answers.append(network.get_tensor(out["index"]))
    return np.stack(answers)


def main(source: str, inputs: str, target: str, answers: str) -> None:
    """The command line in this file's docstring."""
    values = np.load(inputs)
    model = converted(onnx.load(source).graph, values.shape[1:])
    Path(target).write_bytes(model)
    np.save(answers, run(model, values))


if __name__ == "__main__":
    main(*sys.argv[1:])
