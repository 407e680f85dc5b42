"""The derivative of recurrent layers: one op each way, and derivatives of derivatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.compile import compile_graph
from tallow.functional.recurrent import recurrence
from tallow.graph import Graph, input_node, topological
from tallow.ops.recurrence import GATES
from tallow.tensor import Tensor

LAYERS: dict[str, Callable[[], Any]] = {
    "rnn": lambda: nn.RNN(3, 4),
    "rnn-both": lambda: nn.RNN(3, 2, bidirectional=True),
    "gru": lambda: nn.GRU(3, 3),
    "gru-deep": lambda: nn.GRU(3, 2, 2, bias=False),
    "lstm": lambda: nn.LSTM(3, 3),
    "lstm-both": lambda: nn.LSTM(3, 2, bidirectional=True, batch_first=True),
}


@pytest.fixture(autouse=True)
def _seeded() -> None:
    tl.manual_seed(11)


def data(*shape: int, seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def value_of(layer: Any, x: Tensor) -> Tensor:
    """A number that depends on the output and on the last states."""
    y, states = layer(x)
    states = states if isinstance(states, tuple) else (states,)
    total = tl.sum(y * y * y)
    for state in states:
        total = total + tl.sum(state * state)
    return total


def tracked_gradient(layer: Any, x: Tensor) -> Tensor:
    """That of x, which can itself be differentiated."""
    (found,) = tl.autograd.grad(value_of(layer, x), x, create_graph=True)
    assert found is not None
    return found


def gradient_of(layer: Any, x: np.ndarray) -> np.ndarray:
    return np.asarray(tl.grad(lambda x: value_of(layer, x))(tl.asarray(x)).numpy(), np.float64)


@pytest.mark.parametrize("name", LAYERS)
def test_the_derivative_of_the_derivative(name: str) -> None:
    """By an element of x and by the weights, as differences of the first derivative say."""
    layer, x, along = LAYERS[name](), data(4, 2, 3), data(4, 2, 3, seed=6)
    given = tl.asarray(x, requires_grad=True)
    first = tracked_gradient(layer, given)
    tl.sum(first * tl.asarray(along)).backward()
    step = 1e-2
    wanted = (gradient_of(layer, x + step * along) - gradient_of(layer, x - step * along)) / (
        2 * step
    )
    assert given.grad is not None
    np.testing.assert_allclose(given.grad.numpy(), wanted, rtol=2e-2, atol=4e-3)
    for parameter in layer.parameters():
        kept, change = parameter.numpy(), data(*parameter.shape, seed=7)
        ends = []
        for sign in (1, -1):
            parameter.assign(kept + np.float32(sign * step) * change)
            ends.append(float(np.sum(gradient_of(layer, x) * along)))
        parameter.assign(kept)
        found = float(np.sum(parameter.grad.numpy() * change))
        assert found == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-2, abs=2e-2)


@pytest.mark.parametrize("name", LAYERS)
def test_a_tangent(name: str) -> None:
    layer, x, along = LAYERS[name](), data(4, 2, 3), data(4, 2, 3, seed=6)
    _, tangent = tl.jvp(lambda x: layer(x)[0], (tl.asarray(x),), (tl.asarray(along),))
    step = np.float32(1e-2)
    above, below = (layer(tl.asarray(x + s * step * along))[0].numpy() for s in (1, -1))
    np.testing.assert_allclose(tangent.numpy(), (above - below) / (2 * step), atol=2e-3)


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_one_op_each_way_for_a_layer_however_long(kind: Any) -> None:
    layer = kind(3, 4, 2, bidirectional=True)

    def ops(time: int) -> Counter[str]:
        found = tl.grad(lambda x: value_of(layer, x))(tl.asarray(data(time, 2, 3)))
        return Counter(node.op.name for node in topological([found.node]))

    found = ops(5)
    assert found["recurrence"] == found["recurrence_gradient"] == 2
    assert found["matmul"] == 0
    assert ops(60) == found
    assert sum(found.values()) < 100


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_a_compiled_step_has_the_same_kernels_however_long(cell: str) -> None:
    width = GATES[cell] * 4
    weights, hidden = tl.asarray(data(1, width, 3)), tl.asarray(data(1, width, 4))

    def kernels(time: int) -> list[str]:
        x = Tensor(input_node("x", (time, 2, 3), tl.float32))
        found = tl.grad(lambda x: tl.sum(recurrence(cell, x, weights, hidden)[0] ** 2.0))(x)
        graph = Graph((x.node,), {"gradient": found.node})
        return [step.name for step in compile_graph(graph, "numpy").plan.run]

    assert len(kernels(4)) < 8
    assert kernels(4) == kernels(40)


def test_hooks_are_called_once() -> None:
    x, layer, seen = tl.asarray(data(3, 2, 3), requires_grad=True), nn.LSTM(3, 4), []
    x.register_hook(lambda gradient: seen.append(gradient.shape))
    value_of(layer, x).backward()
    assert seen == [(3, 2, 3)]
    y = tl.asarray(data(3, 2, 3), requires_grad=True)
    first = tracked_gradient(layer, y)
    y.register_hook(lambda gradient: seen.append(gradient.shape))
    tl.sum(first * first).backward()
    assert len(seen) == 2


def test_layers_that_share_memory_keep_their_results() -> None:
    """Kernels take memory from one place; layers of several sizes and repeated runs use it."""
    small, large = nn.GRU(3, 5, bidirectional=True), nn.LSTM(10, 40)

    def both() -> list[np.ndarray]:
        x = tl.asarray(data(7, 3, 3), requires_grad=True)
        y, _ = small(x)
        z, _ = large(y)
        again, _ = small(z[..., :3])
        tl.sum(again * again).backward()
        assert x.grad is not None
        return [again.numpy(), x.grad.numpy()]

    with tl.no_grad():
        alone, _ = small(tl.asarray(data(7, 3, 3)))
        alone, _ = large(tl.asarray(alone.numpy()))
        alone, _ = small(tl.asarray(alone.numpy()[..., :3]))
    first, second = both(), both()
    np.testing.assert_allclose(first[0], alone.numpy(), atol=1e-6)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
