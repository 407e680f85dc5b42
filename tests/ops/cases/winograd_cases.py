"""Whole convolutions that the compiler for WebGPU gives Winograd's form. Also run inside the
browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from op_cases import normal
from op_cases.window import conv_reference

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.graph import Graph, input_node
from tallow.runtime.session import compile_session_async
from tallow.tensor import Tensor

convolve: Callable[..., np.ndarray] = conv_reference

# Pictures, their size, channels into and out of a convolution, and its padding: odd sizes, channels
# that are no multiples of 4, several pictures.
CONVOLUTIONS: dict[str, tuple[int, tuple[int, int], tuple[int, int], Any]] = {
    "square": (1, (16, 16), (128, 128), 1),
    "odd": (1, (17, 27), (131, 127), 1),
    "batch": (3, (9, 12), (160, 129), ((1, 0), (2, 1))),
    "no padding": (2, (19, 10), (133, 149), 0),
}


def convolution(name: str) -> tuple[Graph, dict[str, np.ndarray], np.ndarray]:
    """Convolution, batch norm, activation and residual with fixed weights: the graph, what it is
    fed, and the right answer."""
    pictures, (height, width), (channels, filters), padding = CONVOLUTIONS[name]
    x = normal(pictures, channels, height, width)
    w, b = normal(filters, channels, 3, 3), normal(filters)
    scale, offset, mean = normal(filters), normal(filters), normal(filters)
    variance = np.square(normal(filters)) + 0.5
    convolved = convolve(x, w, b, padding=padding).astype(np.float64)
    scaled = scale / np.sqrt(variance + 1e-5)
    normed = (convolved - mean[:, None, None]) * scaled[:, None, None] + offset[:, None, None]
    residual = normal(*convolved.shape)
    expected = np.maximum(normed, 0) + residual
    # The residual is channels-last, as a network that is computed so has it.
    feeds = {"x": x, "residual": np.ascontiguousarray(residual.transpose(0, 2, 3, 1))}
    nodes = [input_node(n, values.shape, tl.float32) for n, values in feeds.items()]
    y = F.conv2d(Tensor(nodes[0]), tl.asarray(w), tl.asarray(b), padding=padding)
    known = [tl.asarray(values) for values in (mean, variance, scale, offset)]
    y = F.batch_norm(y, known[0], known[1], known[2], known[3])
    y = F.relu(y) + tl.permute_dims(Tensor(nodes[1]), (0, 3, 1, 2))
    return Graph(tuple(nodes), {"y": y.node}, name), feeds, expected


def difference(got: np.ndarray, expected: np.ndarray) -> float:
    """The largest error as a share of the largest value."""
    return float(np.abs(got - expected).max() / np.abs(expected).max())


async def run_convolution(name: str) -> dict[str, Any]:
    """{"difference", "steps": names, "device", "adapter"} of a run on WebGPU."""
    graph, feeds, expected = convolution(name)
    with await compile_session_async(graph, "webgpu") as session:
        result = await session.run_async(feeds)
        return {
            "difference": difference(result["y"], expected),
            "steps": [step.name for step in session.plan.run],
            "device": session.device,
            "adapter": session.adapter,
        }
