"""Loops as people write them, without `@tl.jit`: a turn costs a turn, whatever the loop reads.

Each loop runs for 300 turns. In the second half nothing is compiled, each turn runs as many kernels
as any other, and memory stays flat.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import tallow as tl
from tallow.runtime import eager
from tallow.runtime.buffer import Live
from tallow.runtime.derived import Derived

TURNS = 300

RNG = np.random.default_rng(7)


def normal(*shape: int) -> tl.Tensor:
    return tl.asarray(RNG.standard_normal(shape).astype(np.float32))


# ---- the loops: each is a generator that yields once a turn ------------------------------------


def two_layer_network_by_hand() -> Iterator[float]:
    """No derivatives of Tallow's; `-=` on plain tensors; the loss is read in each turn."""
    x, y, w1, w2 = normal(4, 6), normal(4, 2), normal(6, 5), normal(5, 2)
    while True:
        hidden = x @ w1
        active = hidden.clamp(min=0)
        predicted = active @ w2
        loss = (predicted - y).pow(2).sum()
        slope = 2.0 * (predicted - y)
        w2_slope = active.T @ slope
        hidden_slope = slope @ w2.T
        w1_slope = x.T @ tl.where(hidden < 0, 0.0, hidden_slope)
        w1 -= 1e-3 * w1_slope
        w2 -= 1e-3 * w2_slope
        yield loss.item()


def fit_with_backward() -> Iterator[float]:
    """Leaves that change within `no_grad`, and gradients that are zeroed in place."""
    x = normal(8)
    y = tl.sin(x)
    a, b = (tl.tensor(0.1, requires_grad=True) for _ in range(2))
    while True:
        loss = ((a + b * x - y) ** 2).mean()
        loss.backward()
        with tl.no_grad():
            for w in (a, b):
                assert w.grad is not None
                w -= 0.01 * w.grad
                w.grad.zero_()
        yield loss.item()


def exponential_average() -> Iterator[float]:
    """Names that are bound anew: an average that is read, and a sum that is not."""
    x, average, total = normal(6), tl.zeros(6), tl.tensor(0.0)
    while True:
        x = x * 0.999 + 0.001
        average = 0.9 * average + 0.1 * x
        total += average.mean()
        yield average[0].item()


def running_statistics() -> Iterator[float]:
    """Methods that end in an underscore; what is read is computed from them."""
    x, mean, var = normal(8, 3), tl.zeros(3), tl.ones(3)
    while True:
        with tl.no_grad():
            mean.mul_(0.9).add_(0.1 * x.mean(0))
            var.mul_(0.9).add_(0.1 * x.var(0))
        yield ((x - mean) / tl.sqrt(var + 1e-5)).sum().item()


def list_of_tensors() -> Iterator[float]:
    """What only a list holds, new in each turn; and one that changes in place through its list."""
    layers, scales = [normal(4, 4) for _ in range(3)], [tl.ones(4), tl.ones(4)]
    x = normal(2, 4)
    while True:
        hidden = x
        for layer in layers:
            hidden = tl.tanh(hidden @ layer)
        layers = [layer * 0.999 for layer in layers]
        for scale in scales:
            scale *= 0.999
        yield (hidden * scales[0] + scales[1]).sum().item()


def state_that_is_detached() -> Iterator[float]:
    """Truncated backpropagation: the state goes on without its history; a view changes its base."""
    state, w, log = normal(2, 3), normal(3, 3).requires_grad_(), tl.zeros((2, 3))
    while True:
        state = tl.tanh(state.detach() @ w)
        loss = (state**2).sum()
        loss.backward()
        assert w.grad is not None
        with tl.no_grad():
            w -= 0.01 * w.grad
        w.grad = None
        log[0] += state.detach()[0]
        log[:, 0].mul_(0.5)
        yield log.sum().item() + loss.item()


LOOPS = (
    two_layer_network_by_hand, fit_with_backward, exponential_average, running_statistics,
    list_of_tensors, state_that_is_detached,
)  # fmt: skip


class Cost(NamedTuple):
    """What a turn has cost so far: compilations, kernels run, and the buffers that are alive."""

    compiled: int
    kernels: int
    live: Live


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Cost]:
    """Counts from now on."""
    counted: Counter[str] = Counter()
    compile_eager, find, run_again = eager._compiled, eager.ready, Derived.run

    def compiled(*given: Any) -> Any:
        counted["compiled"] += 1
        return compile_eager(*given)

    def ready(todo: Any) -> Any:
        entry, leaves = yield from find(todo)
        counted["kernels"] += entry.program.stats["kernels"]
        return entry, leaves

    def again(known: Derived, *given: Any) -> Any:
        results, entry = run_again(known, *given), known.entry()
        if results is not None and entry is not None:
            counted["kernels"] += entry.program.stats["kernels"]
        return results

    monkeypatch.setattr(eager, "_compiled", compiled)
    monkeypatch.setattr(eager, "ready", ready)
    monkeypatch.setattr(Derived, "run", again)
    return lambda: Cost(counted["compiled"], counted["kernels"], tl.live_buffers())


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_a_turn_costs_a_turn(
    device: str, loop: Callable[[], Iterator[float]], cost: Callable[[], Cost]
) -> None:
    gc.collect()
    turns = loop()
    costs = []
    for _ in range(TURNS):
        assert np.isfinite(next(turns))
        costs.append(cost())
    half = TURNS // 2
    assert costs[-1].compiled == costs[half].compiled
    assert costs[-1].compiled <= 6
    kernels = np.diff([each.kernels for each in costs])
    assert len(set(kernels[half:])) == 1
    # What other tests left may go meanwhile.
    assert costs[-1].live.count <= costs[half].live.count
    assert costs[-1].live.bytes <= costs[half].live.bytes
