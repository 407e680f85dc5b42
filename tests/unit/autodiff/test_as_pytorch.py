"""Which gradients there are at ties, zeros and bounds, through buffers, and of what was frozen: as
in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.tensor import Tensor


def values(x: Tensor | None) -> Any:
    assert x is not None
    return np.asarray(x.numpy()).tolist()


def leaf(*numbers: float) -> Tensor:
    return tl.asarray(list(numbers), requires_grad=True)


# ---- ties, zeros, bounds -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["round", "sign", "sgn", "trunc", "fix", "floor", "ceil"])
def test_steps_have_gradients_of_zeros(name: str) -> None:
    x = leaf(0.3, -1.7, 2.5)
    getattr(x * 2.0, name)().sum().backward()
    assert values(x.grad) == [0.0, 0.0, 0.0]
    getattr(x, name)().mul(x).sum().backward()
    assert values(x.grad) == values(getattr(x.detach(), name)())


def test_the_fractional_part_has_the_gradient_of_its_operand() -> None:
    x = leaf(0.3, -1.7, 2.5)
    x.frac().sum().backward()
    assert values(x.grad) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("clamp", [Tensor.clamp, tl.clip])
def test_elements_that_equal_a_bound(clamp: Any) -> None:
    x, low, high = leaf(0.0, 1.0, 2.0, 3.0, 4.0), leaf(*[1.0] * 5), leaf(*[3.0] * 5)
    y = clamp(x, low, high)
    assert values(y) == [1.0, 1.0, 2.0, 3.0, 3.0]
    y.sum().backward()
    assert values(x.grad) == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert values(low.grad) == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert values(high.grad) == [0.0, 0.0, 0.0, 0.0, 1.0]
    ends = np.float32([1.0, 3.0])
    found = tl.grad(lambda x: clamp(x, ends, ends).sum())(tl.tensor([1.0, 3.0]))
    assert values(found) == [1.0, 1.0]
    one = leaf(1.0, 2.0)
    clamp(one, tl.tensor(1.0), None).sum().backward()
    assert values(one.grad) == [0.0, 1.0]


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: x.max(), [0.5, 0.0, 0.5, 0.0]),
        (lambda x: x.amax(0), [0.5, 0.0, 0.5, 0.0]),
        (lambda x: x.max(0).values, [1.0, 0.0, 0.0, 0.0]),
        (lambda x: x.min(), [0.0, 1.0, 0.0, 0.0]),
        (lambda x: x.prod(), [0.0, 18.0, 0.0, 0.0]),
        (lambda x: x.cumprod(0).sum(), [1.0, 30.0, 0.0, 0.0]),
    ],
)
def test_ties_and_zeros(function: Callable[[Tensor], Tensor], wanted: list[float]) -> None:
    x = leaf(3.0, 0.0, 3.0, 2.0)
    function(x).backward()
    assert values(x.grad) == wanted


def test_products_that_are_scattered_where_a_factor_is_0() -> None:
    places = np.array([0, 0, 1, 1, 2, 3, 3])
    data = np.array([2.0, 0.0, 3.0, 0.0])
    updates = np.array([1.5, 0.0, 2.0, 0.0, 4.0, 5.0, 0.0])

    def total(data: np.ndarray, updates: np.ndarray) -> float:
        found = data.copy()
        np.multiply.at(found, places, updates)
        return float((found * [1, 2, 3, 4]).sum())

    x, y = leaf(*data), leaf(*updates)
    index = tl.asarray(places.astype(np.int32))
    (x.scatter(0, index, y, reduce="multiply") * tl.asarray([1.0, 2.0, 3.0, 4.0])).sum().backward()
    for found, given, other in ((x, data, updates), (y, updates, data)):
        steps = np.eye(len(given)) * 1e-3
        pairs = [(given + s, other) if found is x else (other, given + s) for s in steps]
        back = [(given - s, other) if found is x else (other, given - s) for s in steps]
        slopes = [(total(*a) - total(*b)) / 2e-3 for a, b in zip(pairs, back, strict=True)]
        np.testing.assert_allclose(values(found.grad), slopes, atol=1e-6)


# ---- buffers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda held, x: held.copy_(x * 3.0),
        lambda held, x: held.assign(x * 3.0),
        lambda held, x: held.zero_().add_(x, alpha=3.0),
        lambda held, x: held.__setitem__(slice(None), x * 3.0),
    ],
)
def test_gradients_pass_what_is_written_into_a_variable(change: Any) -> None:
    x, held = nn.Parameter([1.0, 2.0]), tl.Variable([5.0, 5.0])
    change(held, x)
    assert values(held) == [3.0, 6.0]
    (held * held).sum().backward()
    assert values(x.grad) == [18.0, 36.0]
    with tl.no_grad():
        change(held, x)
    assert not (held * 1.0).requires_grad
    change(held, x)
    held.assign(tl.ones(2))
    assert not (held * 1.0).requires_grad


class Remembering(nn.Module):
    state: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter([2.0])
        self.register_buffer("state", tl.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        before = self.state
        self.state = before * 0.5 + x * self.weight
        return (self.state - before).sum()


def test_gradients_pass_a_buffer_that_is_replaced() -> None:
    net = Remembering()
    net(tl.ones(1)).backward()
    assert values(net.weight.grad) == [1.0] and values(net.state) == [2.0]
    assert list(net.state_dict()) == ["weight", "state"]
    net.state = net.state.detach()
    assert values(net(tl.ones(1))) == 1.0
    with pytest.raises(tl.TracingError, match=r"state\.copy_"):
        tl.jit(lambda x: net(x))(tl.ones(1))


def test_a_state_that_is_carried_on_is_detached() -> None:
    net, x = Remembering(), tl.ones(1)
    net(x).backward()
    with pytest.raises(tl.GradientError, match="detach"):
        net(x).backward()
    net = Remembering()
    for wanted in (1.0, 0.5):
        net.weight.grad = None
        net(x).backward(retain_graph=True)
        assert values(net.weight.grad) == [wanted]


def test_what_a_step_writes_ends_the_way() -> None:
    x, held = nn.Parameter([1.0]), tl.Variable([0.0])
    held.copy_(x * 3.0)
    tl.jit(lambda: held.assign(held * 2.0))()
    assert values(held) == [6.0] and not (held * 1.0).requires_grad


# ---- freezing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [False, True])
def test_what_was_computed_while_frozen_gives_no_gradient_later(compiled: bool) -> None:
    p, q = nn.Parameter([1.0, 2.0]), nn.Parameter([3.0, 4.0])

    def step(x: Tensor) -> Tensor:
        before = p * q * x
        p.requires_grad_(False)
        frozen = p * q * 2.0 * x
        p.requires_grad_(True)
        after = p * q * 4.0 * x
        loss = (before + frozen + after).sum()
        loss.backward()
        return loss

    run = tl.jit(step) if compiled else step
    for times in (1, 2):
        run(tl.ones(2))
        assert values(p.grad) == [5.0 * 3.0 * times, 5.0 * 4.0 * times]
        assert values(q.grad) == [7.0 * times, 14.0 * times]


def test_a_parameter_that_was_frozen_from_the_beginning() -> None:
    p, q = nn.Parameter([1.0, 2.0], requires_grad=False), nn.Parameter([3.0, 4.0])
    frozen = p * q
    p.requires_grad_(True)
    (frozen + p * 5.0).sum().backward()
    assert values(p.grad) == [5.0, 5.0] and values(q.grad) == [1.0, 2.0]


def test_a_leaf_that_nobody_holds_is_no_error() -> None:
    y = tl.ones(2, requires_grad=True) * 2.0
    y.t_()
    y.sum().backward()
    with pytest.raises(tl.GradientError, match="nothing that this tensor"):
        tl.ones(1).sum().backward()
