"""Training steps of Tallow's; bench/training.py calls these functions in Pyodide."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow import nn, optim

if TYPE_CHECKING:  # they have run before
    from bench.in_browser.batches import (
        BATCH,
        CONTEXT,
        HEADS,
        LAYERS,
        SEQUENCES,
        VOCABULARY,
        WIDTH,
        batches,
        numbers,
    )
    from bench.in_browser.clock import clock


class Weights:
    """The parameters of a network, each with values that follow from its number."""

    def __init__(self) -> None:
        self.all: list[nn.Parameter] = []

    def __call__(self, *shape: int) -> nn.Parameter:
        """Of a weight (out, in, ...), or of a bias (out,), which begins with zeros."""
        size = math.prod(shape)
        scale = math.sqrt(3 / math.prod(shape[1:])) if len(shape) > 1 else 0.0
        made = nn.Parameter(numbers(size, len(self.all) + 1, scale).reshape(shape))
        self.all.append(made)
        return made

    def ones(self, *shape: int) -> nn.Parameter:
        """A factor that begins with 1."""
        made = nn.Parameter(np.ones(shape, np.float32))
        self.all.append(made)
        return made


def mlp(weights: Weights) -> Callable[[tl.Tensor], tl.Tensor]:
    sizes = (784, 256, 128, 10)
    layers = [(weights(o, i), weights(o)) for i, o in pairwise(sizes)]

    def forward(x: tl.Tensor) -> tl.Tensor:
        for number, (weight, bias) in enumerate(layers):
            x = F.linear(F.relu(x) if number else x, weight, bias)
        return x

    return forward


def lenet(weights: Weights) -> Callable[[tl.Tensor], tl.Tensor]:
    c1, b1, c2, b2 = weights(32, 1, 5, 5), weights(32), weights(64, 32, 5, 5), weights(64)
    d1, e1, d2, e2 = weights(256, 3136), weights(256), weights(10, 256), weights(10)

    def forward(x: tl.Tensor) -> tl.Tensor:
        x = F.max_pool2d(F.relu(F.conv2d(x, c1, b1, padding=2)), 2)
        x = F.max_pool2d(F.relu(F.conv2d(x, c2, b2, padding=2)), 2)
        x = F.relu(F.linear(tl.reshape(x, (BATCH, -1)), d1, e1))
        return F.linear(x, d2, e2)

    return forward


def resnet(weights: Weights) -> Callable[[tl.Tensor], tl.Tensor]:
    """Three blocks of 16, 32 and 64 channels, with batch norm by the batch's own statistics."""

    def unit(inner: int, outer: int, kernel: int, stride: int) -> Callable[[tl.Tensor], tl.Tensor]:
        weight = weights(outer, inner, kernel, kernel)
        scale, shift = weights.ones(outer), weights(outer)

        def apply(x: tl.Tensor) -> tl.Tensor:
            x = F.conv2d(x, weight, stride=stride, padding=kernel // 2)
            mean = tl.mean(x, (0, 2, 3), keepdims=True)
            centred = x - mean
            variance = tl.mean(centred * centred, (0, 2, 3), keepdims=True)
            normal = centred / tl.sqrt(variance + 1e-5)
            y: tl.Tensor = normal * tl.reshape(scale, (-1, 1, 1)) + tl.reshape(shift, (-1, 1, 1))
            return y

        return apply

    stem = unit(3, 16, 3, 1)
    blocks = []
    for inner, outer in ((16, 16), (16, 32), (32, 64)):
        stride = 1 if inner == outer else 2
        first, second = unit(inner, outer, 3, stride), unit(outer, outer, 3, 1)
        blocks.append((first, second, unit(inner, outer, 1, 2) if stride == 2 else None))
    weight, bias = weights(10, 64), weights(10)

    def forward(x: tl.Tensor) -> tl.Tensor:
        x = F.relu(stem(x))
        for first, second, short in blocks:
            x = F.relu(second(F.relu(first(x))) + (short(x) if short else x))
        scores: tl.Tensor = F.linear(tl.mean(x, (2, 3)), weight, bias)
        return scores

    return forward


def transformer(weights: Weights) -> Callable[[tl.Tensor], tl.Tensor]:
    tokens, positions = weights(VOCABULARY, WIDTH), weights(CONTEXT, WIDTH)

    def norm() -> Callable[[tl.Tensor], tl.Tensor]:
        scale, shift = weights.ones(WIDTH), weights(WIDTH)
        return lambda x: F.layer_norm(x, (WIDTH,), scale, shift)

    def dense(inner: int, outer: int) -> Callable[[tl.Tensor], tl.Tensor]:
        weight, bias = weights(outer, inner), weights(outer)
        return lambda x: F.linear(x, weight, bias)

    layers = [
        (norm(), dense(WIDTH, 3 * WIDTH), dense(WIDTH, WIDTH), norm(), dense(WIDTH, 4 * WIDTH),
         dense(4 * WIDTH, WIDTH))
        for _ in range(LAYERS)
    ]  # fmt: skip
    last, head = norm(), weights(VOCABULARY, WIDTH)

    def forward(x: tl.Tensor) -> tl.Tensor:
        h = F.embedding(x, tokens) + positions
        for first, qkv, project, second, widen, narrow in layers:
            parts = tl.reshape(qkv(first(h)), (SEQUENCES, CONTEXT, 3, HEADS, WIDTH // HEADS))
            q, k, v = (tl.permute_dims(parts[:, :, n], (0, 2, 1, 3)) for n in range(3))
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            joined = tl.reshape(tl.permute_dims(seen, (0, 2, 1, 3)), (SEQUENCES, CONTEXT, WIDTH))
            h = h + project(joined)
            h = h + narrow(F.gelu(widen(second(h)), approximate="tanh"))
        return tl.reshape(F.linear(last(h), head), (-1, VOCABULARY))

    return forward


def lstm(weights: Weights) -> Callable[[tl.Tensor], tl.Tensor]:
    """The class of a sequence, by the state after its last step."""
    layer = nn.LSTM(WIDTH, WIDTH, batch_first=True)
    for name, shape in (("weight", (4 * WIDTH, WIDTH)), ("bias", (4 * WIDTH,))):
        for of in ("ih", "hh"):
            setattr(layer, f"{name}_{of}_l0", weights(*shape))
    weight, bias = weights(10, WIDTH), weights(10)

    def forward(x: tl.Tensor) -> tl.Tensor:
        states, _ = layer(x)
        return F.linear(states[:, -1], weight, bias)

    return forward


NETWORKS: dict[str, Callable[[Weights], Callable[[tl.Tensor], tl.Tensor]]] = {
    "mlp": mlp, "lenet": lenet, "resnet": resnet, "transformer": transformer, "lstm": lstm,
}  # fmt: skip


class Training:
    """A network that is being trained with Adam, and what its steps take."""

    def __init__(self, network: str) -> None:
        weights = Weights()
        forward = NETWORKS[network](weights)
        optimizer = optim.Adam(weights.all, lr=1e-3)
        self._batches = batches(network)

        @tl.jit
        def step(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
            loss = F.cross_entropy(forward(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss

        self._step = step

    async def steps(self, count: int) -> dict[str, Any]:
        """Milliseconds of each step, with its loss read, and the losses; Python's part of a step,
        without the runner's."""
        times, losses, calls = [], [], []
        for _ in range(count):
            x, y = next(self._batches)
            clock.runner = 0.0
            began = time.perf_counter()
            loss = self._step(x, y)
            calls.append(1000 * (time.perf_counter() - began - clock.runner))
            losses.append(float(await loss.numpy_async()))
            times.append(1000 * (time.perf_counter() - began))
        return {"ms": times, "losses": losses, "call_ms": calls, "plans": self._step.plans,
                "live": tl.live_buffers().count}  # fmt: skip


tl.set_num_threads(1)

trainings: dict[str, Training] = {}


async def steps(network: str, count: int) -> dict[str, Any]:
    """So many more steps of a network."""
    if network not in trainings:
        trainings[network] = Training(network)
    return await trainings[network].steps(count)


def forget(network: str) -> None:
    """Frees a network."""
    trainings.pop(network, None)
