"""What a read keeps: values that something still needs are computed once."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.core.drivers import run_sync
from tallow.graph import topological
from tallow.runtime import eager, evaluator
from tallow.runtime.derived import Derived


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[list[str]]]:
    """The ops of each run since the last call."""
    found: list[list[str]] = []
    find, run_again = eager.ready, Derived.run

    def ready(todo: Any) -> Any:
        found.append([node.op.name for node in todo.order if not node.is_source])
        return find(todo)

    def again(known: Derived, order: Any, memory: Any) -> Any:
        found.append([node.op.name for node in order if not node.is_source])
        return run_again(known, order, memory)

    def since() -> list[list[str]]:
        taken, found[:] = list(found), []
        return taken

    monkeypatch.setattr(eager, "ready", ready)
    monkeypatch.setattr(Derived, "run", again)
    return since


def normal(*shape: int) -> tl.Tensor:
    return tl.asarray(np.random.default_rng(3).standard_normal(shape).astype(np.float32))


def test_what_is_read_is_computed_once(device: str, runs: Any) -> None:
    y = tl.tanh(normal(3))
    first = y.tolist()
    assert len(runs()) == 1
    assert y.tolist() == first and y.node.is_buffer and not runs()


def test_what_a_tensor_holds_on_the_way_is_kept(device: str, runs: Any) -> None:
    x = normal(4)
    hidden = tl.tanh(x)
    loss = (hidden * hidden).sum()
    loss.item()
    runs()
    (hidden + 1).tolist()
    assert "tanh" not in runs()[0]


def test_what_nothing_holds_is_not_stored(device: str) -> None:
    gc.collect()
    x = normal(64, 64).realize()
    before = tl.live_buffers()
    total = tl.tanh(tl.exp(x) + 1).sum()
    total.item()
    assert tl.live_buffers().bytes - before.bytes <= 64


def test_what_is_built_on_it_holds_a_node(device: str, runs: Any) -> None:
    step = tl.tanh(normal(4))
    following = step * 0.5
    total = step.sum()
    del step
    total.item()
    runs()
    following.tolist()
    assert "tanh" not in runs()[0]


def test_a_reading_in_between_does_not_compute_a_network_again(device: str, runs: Any) -> None:
    model = nn.Linear(3, 2)
    out = tl.tanh(model(normal(4, 3)))
    loss = out.square().sum()
    loss.item()
    runs()
    loss.backward()
    assert all("tanh" not in ops for ops in runs())
    out.argmax(1).tolist()
    assert all("tanh" not in ops and "matmul" not in ops for ops in runs())
    assert model.weight.grad is not None


def test_context_that_grows_by_concat_costs_a_turn(device: str, runs: Any) -> None:
    x = normal(1, 4)
    for _ in range(5):
        x = tl.concat([x, tl.tanh(x[-1:])])
        x.tolist()
    assert [ops.count("tanh") for ops in runs()] == [1] * 5


def test_an_average_that_is_never_read_stays_short(device: str) -> None:
    average = tl.zeros(2)
    x = normal(2)
    for _ in range(3000):
        average = average * 0.9 + x * 0.1
    assert len(topological([average.node])) < 2 * 3000  # of 2 ops and 2 numbers a turn
    assert np.allclose(average.numpy(), x.numpy(), atol=1e-5)


def test_graphs_that_are_kept_on_purpose_are_counted_and_let_go(device: str) -> None:
    gc.collect()
    w = tl.tensor([1.0, 2.0], requires_grad=True)
    before, losses = tl.live_buffers(), []
    for turn in range(50):
        losses.append((w * turn).square().sum())
        losses[-1].item()
    assert tl.live_buffers().count >= before.count + 50
    losses.clear()
    assert tl.live_buffers().count <= before.count + 2


def test_a_state_whose_history_is_detached_does_not_hold_it(device: str) -> None:
    gc.collect()
    state, w = normal(2, 2), tl.ones((2, 2), requires_grad=True)
    counts = []
    for _ in range(30):
        state = tl.tanh(state.detach() @ w)
        state.sum().item()
        counts.append(tl.live_buffers().count)
    assert counts[-1] == counts[10]


def test_reading_on_another_device_leaves_a_tensor_where_it_was(device: str) -> None:
    y = normal(3) * 2
    y.numpy(device="numpy")
    assert not y.node.is_buffer
    assert (y + tl.ones(3)).device == device


def test_reading_never_writes_the_past_of_a_node(device: str) -> None:
    layer = nn.Linear(2, 2)
    node = layer.weight.node
    past = node.past
    assert layer.weight.node is node and node.past is past
    layer.weight.requires_grad = False
    frozen = layer.weight.node
    assert frozen.past is None and node.past is past
    layer.weight.requires_grad = True
    assert layer.weight.node.past is past and frozen.past is None


def test_a_number_that_differs_from_turn_to_turn_becomes_an_input(
    device: str, compiled: list[int]
) -> None:
    """A rate that falls, and Adam's corrections by hand, as Python numbers."""
    w, mean, slope = normal(3), tl.zeros(3), normal(3)
    wanted, wanted_mean = w.numpy().astype(np.float64), np.zeros(3)
    for turn in range(1, 40):
        mean = 0.9 * mean + 0.1 * slope
        w -= 0.1 * 0.95**turn * mean / (1 - 0.9**turn)
        w.sum().item()
        wanted_mean = 0.9 * wanted_mean + 0.1 * slope.numpy()
        wanted -= 0.1 * 0.95**turn * wanted_mean / (1 - 0.9**turn)
    assert np.allclose(w.numpy(), wanted, atol=1e-5)
    assert len(compiled) <= 6


def test_a_number_that_takes_two_values_is_a_literal_of_two_plans(device: str) -> None:
    x = normal(3)
    for turn in range(10):
        scale = 2.0 if turn % 2 else 3.0
        assert np.allclose((tl.tanh(x) * scale).numpy(), np.tanh(x.numpy()) * scale, atol=1e-6)


def test_a_change_on_one_device_waits_for_that_device() -> None:
    here, there = normal(3).realize("numpy"), normal(3).realize("wasm")
    here += 1
    there += 2
    (normal(3).realize("wasm") * 2).tolist()
    assert not here.node.is_buffer and there.node.is_buffer
    assert np.allclose(here.numpy(), normal(3).numpy() + 1)
    assert np.allclose(there.numpy(), normal(3).numpy() + 2)


def test_a_thread_computes_nothing_that_waits_in_another_one() -> None:
    """The other one may be taking steps with it."""
    variable = tl.Variable(normal(3))
    variable.assign_later(variable + 1)
    changed = normal(3).realize("numpy")
    changed += 1
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: (normal(3) * 2).numpy().shape).result() == (3,)
        assert variable.waits_for is not None and not changed.node.is_buffer
        assert np.allclose(thread.submit(variable.numpy).result(), normal(3).numpy() + 1)
    assert variable.waits_for is None
    assert np.allclose(changed.numpy(), normal(3).numpy() + 1)


def test_a_value_that_was_waited_for_does_not_replace_a_later_one() -> None:
    variable = tl.Variable(normal(3))
    variable.assign_later(variable + 1)
    work = evaluator._work([(normal(3) * 2).node], None)
    buffers = run_sync(eager.compute(work.todo))
    variable.assign(normal(3) + 5)  # as another task does while the device computes
    work.settle(buffers)
    assert np.allclose(variable.numpy(), normal(3).numpy() + 5)


def test_a_number_and_a_buffer_of_one_element_take_the_same_place(device: str) -> None:
    """Graphs that differ in this alone may share a plan, whose inputs have one order."""
    x, row = normal(1).realize(), normal(1, 3).realize()
    a, b = x.numpy(), row.numpy()
    for turn in range(5):
        number = tl.tensor([turn + 0.5])
        assert np.allclose((number * x + row).numpy(), (turn + 0.5) * a + b, atol=1e-6)
        held = tl.tensor([turn + 0.25]).realize()
        assert np.allclose((held * x + row).numpy(), (turn + 0.25) * a + b, atol=1e-6)
        assert np.allclose((row - number + x).numpy(), b - (turn + 0.5) + a, atol=1e-6)
        assert np.allclose((row - held + x).numpy(), b - (turn + 0.25) + a, atol=1e-6)


def test_integers_of_64_bits_that_were_read_are_computed_with(device: str) -> None:
    """A GPU has them in 32 bits, and refuses what might not fit. What was read is known to fit."""
    x = tl.asarray(np.int64([1, 2, 3]))
    y = x + 1
    z = y * 100
    assert z.tolist() == [200, 300, 400]
    assert ((y * 2 + z) * 1000).tolist() == [204_000, 306_000, 408_000]
    total = tl.tensor(0, dtype=tl.int64)
    for turn in range(5):
        total += x.sum()
        assert total.item() == 6 * (turn + 1)
        assert (total * 1000).tolist() == 6000 * (turn + 1)
