"""The order of kernels in steps of training: how much memory it takes, and that barriers hold."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.compile.order import without_barriers
from tallow.graph import Graph, input_node, make
from tallow.ops import movement
from tallow.ops.elementwise import exp

WIDTH, LAYERS = 32, 12


def _trained(device: str, checkpointed: bool) -> tuple[float, list[np.ndarray], int]:
    """The loss of one step, the weights after it, and the bytes of its scratch memory."""
    rng = np.random.default_rng(0)
    weights = [
        nn.Parameter((rng.normal(size=(WIDTH, WIDTH)) * 0.1).astype(np.float32), device=device)
        for _ in range(3 * LAYERS)
    ]

    def block(x: tl.Tensor, number: int) -> tl.Tensor:
        for weight in weights[3 * number : 3 * number + 3]:
            x = tl.tanh(x @ weight) + tl.sin(x)
        return x

    @tl.jit(device=device)
    def step(x: tl.Tensor) -> tl.Tensor:
        for number in range(LAYERS):
            x = tl.checkpoint(block, x, number) if checkpointed else block(x, number)
        loss = (x * x).mean()
        loss.backward()
        for weight in weights:
            assert weight.grad is not None
            weight.assign(weight - weight.grad * 0.5)
            weight.grad = None
        return loss

    loss = step(rng.normal(size=(256, WIDTH)).astype(np.float32)).item()
    ((entry,),) = step._entries.values()
    slots = entry.program._plan.slots
    scratch = sum(slot.bytes for slot in slots if slot.kind == "scratch")
    return loss, [weight.numpy() for weight in weights], scratch


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_checkpoints_take_less_than_half_the_memory(device: str) -> None:
    loss, weights, most = _trained(device, False)
    again, same, least = _trained(device, True)
    assert least < most / 2
    np.testing.assert_allclose(again, loss, rtol=1e-6)
    for got, expected in zip(same, weights, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-7)


def test_a_barrier_goes_and_its_readers_wait() -> None:
    x, token = (input_node(name, (4,), tl.float32) for name in ("x", "token"))
    reader = make(exp, make(movement.after, x, token))
    graph, waits = without_barriers(Graph((x, token), {"y": reader}))
    (node,) = graph.outputs.values()
    assert node.inputs == (x,)
    assert waits == {node: [token]}
