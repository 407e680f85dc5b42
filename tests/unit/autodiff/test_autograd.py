"""torch.autograd's names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import autograd, nn
from tallow.tensor import Tensor


def leaf(*values: float) -> Tensor:
    return tl.asarray(list(values), requires_grad=True)


def values(x: Tensor | None) -> list[float]:
    assert x is not None
    return [float(each) for each in x.numpy().reshape(-1)]


def test_gradients_by_given_tensors() -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * w
    gx, gy = autograd.grad((y * y).sum(), (x, y))
    assert values(gx) == [18.0, 64.0]
    assert values(gy) == [6.0, 16.0]
    assert x.grad is None and w.grad is None
    (by_y,) = autograd.grad(x * w, x, tl.asarray([1.0, 10.0]))
    assert values(by_y) == [3.0, 40.0]
    a, b = x * 2.0, x * x
    (both,) = autograd.grad([a, b], [x], [tl.asarray([1.0, 1.0]), tl.asarray([0.0, 1.0])])
    assert values(both) == [2.0, 6.0]


def test_a_penalty_of_gradients() -> None:
    """Gulrajani et al. 2017: the gradient of the norm of a gradient."""
    critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = tl.randn(5, 3).realize().requires_grad_()
    (gradient,) = autograd.grad(critic(x).sum(), x, create_graph=True, only_inputs=True)
    assert gradient is not None
    ((gradient.norm(dim=1) - 1.0) ** 2).mean().backward()
    weight = critic[0].weight

    def penalty(w: Tensor) -> Tensor:
        def total(x: Tensor) -> Tensor:
            h = tl.tanh(x @ w.mT + critic[0].bias)
            return (h @ critic[2].weight.mT).sum()

        return ((tl.grad(total)(x).norm(dim=1) - 1.0) ** 2).mean()

    wanted = tl.grad(penalty)(tl.Tensor(weight.node).detach()).numpy()
    assert weight.grad is not None
    np.testing.assert_allclose(weight.grad.numpy(), wanted, rtol=1e-4, atol=1e-6)


def test_variables_and_repeated_calls() -> None:
    parameter = nn.Parameter([2.0, 3.0])
    y = (parameter * parameter).sum()
    (first,) = autograd.grad(y, parameter, retain_graph=True)
    (second,) = autograd.grad(y, parameter)
    assert values(first) == values(second) == [4.0, 6.0]
    with pytest.raises(tl.GradientError, match="second time"):
        autograd.grad(y, parameter)


def test_unused_inputs() -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = (x * 2.0).sum()
    with pytest.raises(tl.GradientError, match="input 1"):
        autograd.grad(y, (x, w), retain_graph=True)
    assert autograd.grad(y, (x, w), retain_graph=True, allow_unused=True)[1] is None
    assert values(autograd.grad(y, (x, w), materialize_grads=True)[1]) == [0.0, 0.0]
    with pytest.raises(tl.GradientError, match="single number"):
        autograd.grad(x * 2.0, x)
    with pytest.raises(tl.GradientError, match="2 grad_outputs for 1"):
        autograd.grad(y, x, [y, y])


def test_backward_of_several() -> None:
    x = leaf(1.0, 2.0)
    autograd.backward([(x * 2.0).sum(), x * x], [None, tl.asarray([1.0, 1.0])])
    assert values(x.grad) == [4.0, 6.0]


class Scaled(autograd.Function):
    """factor * x * y, with a gradient that is ten times as large."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, factor: float) -> Tensor:
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        assert ctx.needs_input_grad == (True, False, False)
        return x * y * factor

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        x, y = ctx.saved_tensors
        return gradient * y * ctx.factor * 10.0, gradient * x * ctx.factor, None


def test_a_function() -> None:
    x, y = leaf(1.0, 2.0), tl.asarray([3.0, 4.0])
    result = Scaled.apply(x, y, 2.0)
    assert values(result) == [6.0, 16.0]
    result.sum().backward()
    assert values(x.grad) == [60.0, 80.0]


def test_a_function_in_a_checkpoint() -> None:
    x, y = leaf(1.0, 2.0), tl.asarray([3.0, 4.0])
    tl.checkpoint(lambda x: Scaled.apply(x, y, 2.0) * x, x * 1.0).sum().backward()
    assert values(x.grad) == [60.0 + 6.0, 160.0 + 16.0]


class Split(autograd.Function):
    """Two results, whose gradients come together."""

    calls = 0

    @staticmethod
    def forward(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return x * 2.0, x[:1] * 3.0, x.argmax()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.length = inputs[0].shape[0]

    @staticmethod
    def backward(ctx: Any, first: Tensor, second: Tensor, place: Tensor) -> Tensor:
        Split.calls += 1
        return first * 2.0 + tl.concat([second * 3.0, tl.zeros((ctx.length - 1,))])


def test_several_results() -> None:
    x = leaf(1.0, 2.0)
    first, second, place = Split.apply(x)
    assert int(place) == 1
    (first.sum() + second.sum()).backward()
    assert values(x.grad) == [5.0, 2.0]
    assert Split.calls == 1
    with tl.no_grad():
        assert not Split.apply(x)[0].requires_grad


def test_a_function_that_gives_too_few_gradients() -> None:
    class Wrong(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
            return x * y

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Tensor:
            return gradient

    x = leaf(1.0)
    with pytest.raises(tl.GradientError, match="1 gradients for 2 arguments"):
        Wrong.apply(x, x).sum().backward()


def test_modes() -> None:
    x = leaf(1.0)
    with tl.set_grad_enabled(False):
        assert not (x * 2.0).requires_grad
        assert not tl.is_grad_enabled()
    assert (x * 2.0).requires_grad
    tl.set_grad_enabled(False)
    try:
        assert not (x * 2.0).requires_grad
    finally:
        tl.set_grad_enabled(True)
    with tl.inference_mode():
        assert not (x * 2.0).requires_grad

    @tl.inference_mode()
    def evaluated() -> Tensor:
        return x * 2.0

    assert not evaluated().requires_grad
    with tl.no_grad(), tl.inference_mode(False):
        assert (x * 2.0).requires_grad
