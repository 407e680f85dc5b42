"""Networks whose results share memory in every way: in place, in regions of a join, after an input.

Run on every backend, in the browser too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from op_cases import normal

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.compile import compile_graph
from tallow.core.drivers import run_sync
from tallow.devices.numpy.runner import NumpyProgram
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor


@dataclass(frozen=True)
class Case:
    """A network, from one input to some outputs."""

    label: str
    shape: tuple[int, ...]
    build: Callable[[Tensor], Sequence[Tensor]]

    def graph(self) -> Graph:
        x = input_node("x", self.shape, tl.float32)
        outputs = self.build(Tensor(x))
        return Graph((x,), {f"y{n}": y.node for n, y in enumerate(outputs)}, self.label)


def wrong(case: Case, x: np.ndarray, found: Sequence[Any]) -> list[str]:
    """Outputs that differ from those of NumPy, whose plans write nothing in place."""
    expected = run_sync(NumpyProgram(compile_graph(case.graph(), "numpy")).run([x]))
    problems = []
    for number, (want, got) in enumerate(zip(expected, found, strict=True)):
        scale = max(1.0, float(np.abs(want.numpy()).max(initial=0)))
        error = float(np.abs(want.numpy() - np.asarray(got)).max(initial=0))
        if not error <= 1e-4 * scale:
            problems.append(f"{case.label}: output {number} is off by {error} of {scale}")
    return problems


async def run_all(device: str) -> list[str]:
    """What is wrong with the cases in sessions on a device, each run twice."""
    problems = []
    for case in CASES:
        session = await tl.compile_session_async(case.graph(), device)
        for _ in range(2):
            x = normal(*case.shape)
            found = await session.run_async({"x": x})
            problems += wrong(case, x, list(found.values()))
        session.close()
    return problems


def conv(x: Tensor, channels: int, size: int = 3) -> Tensor:
    """A convolution that keeps height and width, with fixed weights."""
    count = channels * x.shape[1] * size * size
    values = np.sin(np.arange(count, dtype=np.float32)) / np.sqrt(x.shape[1] * size * size)
    weight = values.astype(np.float32).reshape(channels, x.shape[1], size, size)
    return F.conv2d(x, tl.asarray(weight), padding=size // 2)


def residuals(x: Tensor) -> list[Tensor]:
    for _ in range(3):
        x = F.relu(conv(F.relu(conv(x, 8)), x.shape[1]) + x)
    return [x]


def fire(x: Tensor) -> list[Tensor]:
    """SqueezeNet's module, twice."""
    for channels in (8, 12):
        small = F.relu(conv(x, 4, 1))
        x = tl.concat([F.relu(conv(small, channels, 1)), F.relu(conv(small, channels))], axis=1)
    return [F.max_pool2d(x, 2)]


def kept_twice(x: Tensor) -> list[Tensor]:
    """What is an output, or still to be read, may not be written over."""
    first = conv(x, 8)
    second = conv(first, 8) + first
    return [conv(second, 8) + first, second, tl.reshape(second, (-1,))]


def elementwise(x: Tensor) -> list[Tensor]:
    return [F.gelu(x), F.sigmoid(x) + tl.flip(x, axis=-1)]


def rows(x: Tensor) -> list[Tensor]:
    """A softmax and a layer norm, over what they read."""
    y = tl.matmul(tl.reshape(x, (-1, x.shape[-1])), tl.ones((x.shape[-1], 12)))
    return [F.softmax(F.layer_norm(y * y, (12,)) + 1.0)]


def joins(axis: int) -> Callable[[Tensor], list[Tensor]]:
    """Parts of every kind of kernel, along any axis; the second join holds the first."""

    def build(x: Tensor) -> list[Tensor]:
        y = conv(x, 8)
        first = tl.concat([F.max_pool2d(y, 3, stride=1, padding=1), F.sigmoid(y)], axis=axis)
        third = F.softmax(y * 2.0, axis=-1)
        return [conv(tl.concat([first, third, conv(y, 8, 1)], axis=axis), 4)]

    return build


def many(x: Tensor) -> list[Tensor]:
    """More parts than a kernel binds."""
    return [conv(tl.concat([conv(x, 4 * (1 + n % 3)) for n in range(11)], axis=1), 4)]


def columns(x: Tensor) -> list[Tensor]:
    """Products side by side, as in an attention's heads."""
    flat = tl.reshape(x, (-1, x.shape[-1]))
    parts = [tl.matmul(flat, tl.ones((x.shape[-1], 4 * n))) * float(n) for n in (1, 2, 3)]
    return [tl.concat(parts, axis=-1) + 1.0, tl.concat([part * 2.0 for part in parts], axis=-1)]


CASES = [
    Case("residuals", (1, 8, 9, 7), residuals),
    Case("residuals of odd sizes", (2, 7, 5, 3), residuals),
    Case("fire", (1, 3, 9, 7), fire),
    Case("kept twice", (1, 8, 6, 5), kept_twice),
    Case("elementwise", (3, 7), elementwise),
    Case("elementwise in fours", (5, 8), elementwise),
    Case("rows", (4, 5, 6), rows),
    *(Case(f"joins along axis {axis}", (4, 4, 8, 8), joins(axis)) for axis in range(4)),
    Case("joins of odd sizes", (1, 3, 5, 7), joins(1)),
    Case("many", (1, 4, 5, 5), many),
    Case("columns", (3, 5, 7), columns),
]
