"""Training steps of borch's, with PyTorch's names; bench/training.py calls `steps` in Pyodide.

The networks are those of training.py, with weights in the same order; batches.py has run before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import borch_webgpu as torch
import numpy as np
from borch_webgpu import nn

if TYPE_CHECKING:
    from bench.in_browser.batches import (
        BATCH,
        CONTEXT,
        HEADS,
        LAYERS,
        LINES,
        SEQUENCES,
        VOCABULARY,
        WIDTH,
        batches,
        numbers,
    )

F = nn.functional
Forward = Callable[[Any], Any]


class Weights:
    """The parameters of a network, each with values that follow from its number."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def __call__(self, *shape: int) -> Any:
        """Of a weight (out, in, ...), or of a bias (out,), which begins with zeros."""
        scale = math.sqrt(3 / math.prod(shape[1:])) if len(shape) > 1 else 0.0
        return self._add(numbers(math.prod(shape), len(self.all) + 1, scale).reshape(shape))

    def ones(self, *shape: int) -> Any:
        """A factor that begins with 1."""
        return self._add(np.ones(shape, np.float32))

    def _add(self, values: np.ndarray) -> Any:
        self.all.append(torch.tensor(values, requires_grad=True))
        return self.all[-1]


def mlp(weights: Weights) -> Forward:
    layers = [(weights(o, i), weights(o)) for i, o in pairwise((784, 256, 128, 10))]

    def forward(x: Any) -> Any:
        for number, (weight, bias) in enumerate(layers):
            x = F.linear(F.relu(x) if number else x, weight, bias)
        return x

    return forward


def lenet(weights: Weights) -> Forward:
    c1, b1, c2, b2 = weights(32, 1, 5, 5), weights(32), weights(64, 32, 5, 5), weights(64)
    d1, e1, d2, e2 = weights(256, 3136), weights(256), weights(10, 256), weights(10)

    def forward(x: Any) -> Any:
        x = F.max_pool2d(F.relu(F.conv2d(x, c1, b1, padding=2)), 2)
        x = F.max_pool2d(F.relu(F.conv2d(x, c2, b2, padding=2)), 2)
        x = F.relu(F.linear(x.reshape(BATCH, 3136), d1, e1))
        return F.linear(x, d2, e2)

    return forward


def resnet(weights: Weights) -> Forward:
    def unit(inner: int, outer: int, kernel: int, stride: int) -> Forward:
        weight = weights(outer, inner, kernel, kernel)
        norm = nn.BatchNorm2d(outer)
        weights.all += list(norm.parameters())
        return lambda x: norm(F.conv2d(x, weight, stride=stride, padding=kernel // 2))

    stem = unit(3, 16, 3, 1)
    blocks = []
    for inner, outer in ((16, 16), (16, 32), (32, 64)):
        stride = 1 if inner == outer else 2
        first, second = unit(inner, outer, 3, stride), unit(outer, outer, 3, 1)
        blocks.append((first, second, unit(inner, outer, 1, 2) if stride == 2 else None))
    weight, bias = weights(10, 64), weights(10)

    def forward(x: Any) -> Any:
        x = F.relu(stem(x))
        for first, second, short in blocks:
            x = F.relu(second(F.relu(first(x))) + (short(x) if short else x))
        return F.linear(F.adaptive_avg_pool2d(x, 1).reshape(BATCH, 64), weight, bias)

    return forward


def transformer(weights: Weights) -> Forward:
    tokens, positions = weights(VOCABULARY, WIDTH), weights(CONTEXT, WIDTH)

    def norm() -> Forward:
        scale, shift = weights.ones(WIDTH), weights(WIDTH)
        return lambda x: F.layer_norm(x, (WIDTH,), scale, shift)

    def dense(inner: int, outer: int) -> Forward:
        weight, bias = weights(outer, inner), weights(outer)
        return lambda x: F.linear(x, weight, bias)

    layers = [
        (norm(), dense(WIDTH, 3 * WIDTH), dense(WIDTH, WIDTH), norm(), dense(WIDTH, 4 * WIDTH),
         dense(4 * WIDTH, WIDTH))
        for _ in range(LAYERS)
    ]  # fmt: skip
    last, head = norm(), weights(VOCABULARY, WIDTH)

    def forward(x: Any) -> Any:
        h = F.embedding(x, tokens) + positions
        for first, qkv, project, second, widen, narrow in layers:
            parts = qkv(first(h)).chunk(3, -1)
            heads = (SEQUENCES, CONTEXT, HEADS, WIDTH // HEADS)
            q, k, v = (part.reshape(*heads).permute(0, 2, 1, 3) for part in parts)
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            h = h + project(seen.permute(0, 2, 1, 3).reshape(SEQUENCES, CONTEXT, WIDTH))
            h = h + narrow(F.gelu(widen(second(h)), approximate="tanh"))
        return F.linear(last(h), head).reshape(-1, VOCABULARY)

    return forward


def lstm(weights: Weights) -> Forward:
    shapes = ((4 * WIDTH, WIDTH), (4 * WIDTH,))
    (wi, wh), (bi, bh) = ((weights(*shape), weights(*shape)) for shape in shapes)
    weight, bias = weights(10, WIDTH), weights(10)

    def forward(x: Any) -> Any:
        zeros = torch.zeros(1, LINES, WIDTH)
        given = ([zeros, zeros], [wi, wh, bi, bh], True, 1, 0.0, True, False, True)
        states, _, _ = torch.lstm(x, *given)
        return F.linear(states[:, -1], weight, bias)

    return forward


NETWORKS = {
    "mlp": mlp, "lenet": lenet, "resnet": resnet, "transformer": transformer, "lstm": lstm,
}  # fmt: skip


class Training:
    """A network that is being trained with Adam; its step is recorded once, then replayed."""

    def __init__(self, network: str) -> None:
        weights = Weights()
        forward = NETWORKS[network](weights)
        optimizer = torch.optim.Adam(weights.all, lr=1e-3)
        self._batches = batches(network)

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            loss = F.cross_entropy(forward(x), y)
            loss.backward()
            optimizer.step()
            return loss

        self._step = torch.compiled(step)

    def steps(self, count: int) -> dict[str, list[float]]:
        """Milliseconds of each step, with its loss read, and the losses."""
        times, losses = [], []
        for _ in range(count):
            x, y = next(self._batches)
            began = time.perf_counter()
            with torch.scope():
                losses.append(self._step(torch.tensor(x), torch.tensor(y)).item())
            times.append(1000 * (time.perf_counter() - began))
        return {"ms": times, "losses": losses}


trainings: dict[str, Training] = {}


def steps(network: str, count: int) -> dict[str, list[float]]:
    """So many more steps of a network."""
    if network not in trainings:
        trainings[network] = Training(network)
    return trainings[network].steps(count)
