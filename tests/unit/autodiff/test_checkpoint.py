"""`tl.checkpoint` gives the gradients that the function gives without it, for less memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.nn import functional as F  # noqa: N812 - the customary name
from tallow.tensor import Tensor

Function = Callable[[Tensor, Tensor], Tensor]


@tl.custom_vjp
def tripled(x: Tensor) -> Tensor:
    return x


tripled.defvjp(lambda x: (x * 1.0, x + 1.0), lambda seen, g: (g * 3.0 * seen,))

FUNCTIONS: dict[str, Function] = {
    "rules of ops": lambda x, w: tl.tanh(x @ w) * x,
    "relu": lambda x, w: F.relu(x @ w) * x,
    "sigmoid": lambda x, w: F.sigmoid(x @ w) @ w,
    "softplus": lambda x, w: F.softplus(x @ w) * w[0],
    "softmax": lambda x, w: F.softmax(x @ w, dim=-1) * x,
    "log softmax": lambda x, w: F.log_softmax(x @ w, dim=-1) * x,
    "layer norm": lambda x, w: F.layer_norm(x @ w, (4,), w[0]) * x,
    "cross entropy": lambda x, w: F.cross_entropy(x @ w, tl.asarray([0, 3, 1])),
    "attention": lambda x, w: F.scaled_dot_product_attention(x @ w, x, x),
    "a rule of its own": lambda x, w: tripled(x @ w) * x,
    "what was computed outside": lambda x, w: F.sigmoid(x) * F.softmax(w * 2.0, dim=0)[:3],
    "a checkpoint within": lambda x, w: tl.checkpoint(lambda y: F.sigmoid(y @ w), x @ w) * x,
}


def gradients(function: Function, wrap: Callable[..., Any]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    x, w = (
        tl.asarray(rng.standard_normal(shape).astype(np.float32), requires_grad=True)
        for shape in ((3, 4), (4, 4))
    )
    y = wrap(lambda x: function(x, w), x)
    tl.sum(wrap(lambda y: y * y + y, y)).backward()
    assert x.grad is not None and w.grad is not None
    return [x.grad.numpy(), w.grad.numpy()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_gradients(name: str) -> None:
    function = FUNCTIONS[name]
    plain = gradients(function, lambda call, x: call(x))
    for found, wanted in zip(gradients(function, tl.checkpoint), plain, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def trained(checkpoint: bool) -> tuple[list[float], int]:
    """The losses of a transformer of 6 layers, and the bytes that its step needs beside its states
    and weights."""
    tl.manual_seed(0)
    layers = nn.ModuleList([nn.TransformerEncoderLayer(16, 2, 32, 0.0) for _ in range(6)])
    optimizer = optim.Adam(layers.parameters(), lr=0.01)

    @tl.jit(device="wasm")
    def step(x: Tensor) -> Tensor:
        h = x
        for layer in layers:
            h = tl.checkpoint(layer, h) if checkpoint else layer(h)
        loss = F.mse_loss(h, tl.zeros_like(h))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    x = np.random.default_rng(0).standard_normal((32, 8, 16)).astype(np.float32)
    losses = [step(x).item() for _ in range(3)]
    ((entry,),) = step._entries.values()
    plan = entry.program._plan
    others = {port.slot for port in (*plan.states, *plan.inputs)}
    kept = [slot.bytes for n, slot in enumerate(plan.slots) if n not in others]
    return losses, sum(kept) - plan.weight_bytes


def test_less_than_half_the_memory() -> None:
    losses, kept = trained(False)
    again, fewer = trained(True)
    np.testing.assert_allclose(again, losses, rtol=1e-5)
    assert fewer < kept / 2
