"""The digit network with five convolutions, as a JAX function for training and as ONNX.

Batch norm follows each convolution in training and is folded into it for the file. Channel counts
are multiples of four, which suits the GPU.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from jax import Array, lax
from onnx import TensorProto, helper, numpy_helper

Params = dict[str, dict[str, Array]]


class Layer(NamedTuple):
    name: str
    kernel: int
    inputs: int
    outputs: int
    stride: int
    pool: bool  # followed by a 2x2 max pool


LAYERS = (
    Layer("conv1", 5, 1, 16, 1, True),
    Layer("conv2", 3, 16, 24, 1, False),
    Layer("conv3", 3, 24, 32, 1, True),
    Layer("conv4", 3, 32, 64, 1, False),
    Layer("conv5", 3, 64, 64, 2, False),
)
CLASSES = 10
SIZE = 28
LAST = 4  # the side length of the last feature map
EPSILON = 1e-5
KEEP = 0.98  # the share of the running mean and variance that each step keeps


def init(key: Array) -> tuple[Params, Params]:
    """Initial parameters, and the running statistics of the batch norms."""
    params: Params = {}
    stats: Params = {}
    for layer in LAYERS:
        key, used = jax.random.split(key)
        fan_in = layer.kernel**2 * layer.inputs
        shape = (layer.kernel, layer.kernel, layer.inputs, layer.outputs)
        params[layer.name] = {
            "weight": jax.random.normal(used, shape) * (2 / fan_in) ** 0.5,
            "gain": jnp.ones(layer.outputs),
            "bias": jnp.zeros(layer.outputs),
        }
        stats[layer.name] = {"mean": jnp.zeros(layer.outputs), "var": jnp.ones(layer.outputs)}
    features = LAST * LAST * LAYERS[-1].outputs
    weight = jax.random.normal(key, (features, CLASSES)) * features**-0.5
    params["fc"] = {"weight": weight, "bias": jnp.zeros(CLASSES)}
    return params, stats


def apply(
    params: Params, stats: Params, images: Array, dropout_key: Array | None = None
) -> tuple[Array, Params]:
    """images (n, 28, 28), 0..1 -> logits (n, 10), new statistics. dropout_key: in training."""
    x = images[..., None]
    new_stats: Params = {}
    for layer in LAYERS:
        p, s = params[layer.name], stats[layer.name]
        pad = layer.kernel // 2
        x = lax.conv_general_dilated(
            x,
            p["weight"],
            (layer.stride, layer.stride),
            ((pad, pad), (pad, pad)),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        if dropout_key is not None:
            mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
            s = {
                "mean": KEEP * s["mean"] + (1 - KEEP) * mean,
                "var": KEEP * s["var"] + (1 - KEEP) * var,
            }
        else:
            mean, var = s["mean"], s["var"]
        new_stats[layer.name] = s
        x = jax.nn.relu((x - mean) * (p["gain"] * lax.rsqrt(var + EPSILON)) + p["bias"])
        if layer.pool:
            n, h, w, c = x.shape
            x = x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))
    x = x.reshape(x.shape[0], -1)
    if dropout_key is not None:
        x = jnp.where(jax.random.bernoulli(dropout_key, 0.75, x.shape), x / 0.75, 0.0)
    return x @ params["fc"]["weight"] + params["fc"]["bias"], new_stats


def to_onnx(params: Params, stats: Params) -> bytes:
    """The trained network as an ONNX file: `image` (N, 1, 28, 28) to `logits` (N, 10)."""
    nodes: list[Any] = []
    weights: list[Any] = []

    def add(op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def keep(array: Any, name: str) -> str:
        plain = np.ascontiguousarray(array, dtype=np.float32)
        weights.append(numpy_helper.from_array(plain, name))
        return name

    x = "image"
    for layer in LAYERS:
        p = {k: np.asarray(v, np.float64) for k, v in params[layer.name].items()}
        s = {k: np.asarray(v, np.float64) for k, v in stats[layer.name].items()}
        factor = p["gain"] / np.sqrt(s["var"] + EPSILON)
        name = layer.name
        kernel = keep((p["weight"] * factor).transpose(3, 2, 0, 1), f"{name}.weight")
        bias = keep(p["bias"] - s["mean"] * factor, f"{name}.bias")
        x = add(
            "Conv",
            [x, kernel, bias],
            name,
            kernel_shape=[layer.kernel] * 2,
            strides=[layer.stride] * 2,
            pads=[layer.kernel // 2] * 4,
        )
        x = add("Relu", [x], f"{name}.relu")
        if layer.pool:
            x = add("MaxPool", [x], f"{name}.pool", kernel_shape=[2, 2], strides=[2, 2])
    x = add("Flatten", [x], "flatten", axis=1)
    # JAX flattened (h, w, c), ONNX flattens (c, h, w).
    dense = np.asarray(params["fc"]["weight"]).reshape(LAST, LAST, -1, CLASSES)
    weight = keep(dense.transpose(3, 2, 0, 1).reshape(CLASSES, -1), "fc.weight")
    add("Gemm", [x, weight, keep(params["fc"]["bias"], "fc.bias")], "logits", transB=1)
    graph = helper.make_graph(
        nodes,
        "mnist",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, SIZE, SIZE])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", CLASSES])],
        weights,
    )
    model = helper.make_model(
        graph,
        producer_name="tallow/models/mnist/train.py",
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))
