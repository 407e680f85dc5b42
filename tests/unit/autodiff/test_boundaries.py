"""Derivatives where features meet: compiled functions, `no_grad`, rules of users, what is computed
early, what is frozen late, what is changed in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import autograd, nn, optim
from tallow.tensor import Tensor


def leaf(*values: float) -> Tensor:
    return tl.asarray(list(values), requires_grad=True)


def values(x: Tensor | None) -> Any:
    assert x is not None
    return np.asarray(x.numpy()).tolist()


# ---- compiled functions --------------------------------------------------------------------------


def test_gradients_pass_a_compiled_function_by_its_arguments() -> None:
    squares = tl.jit(lambda x: (x * x).sum())
    x = tl.asarray([1.0, 2.0])
    assert values(tl.grad(squares)(x)) == [2.0, 4.0]
    x.requires_grad_()
    (squares(x) + (3.0 * x).sum()).backward()
    assert values(x.grad) == [5.0, 7.0]
    assert squares.plans == 0
    assert squares(np.float32([1, 2])).item() == 5.0 and squares.plans == 1


def test_gradients_do_not_pass_its_result_silently() -> None:
    layer = nn.Linear(2, 1)
    predict = tl.jit(lambda x: layer(x))
    x = np.ones((1, 2), np.float32)
    with pytest.raises(tl.GradientError, match=r"detach\(\)"):
        (predict(x).sum() + layer.bias.sum()).backward()
    (predict(x).detach().sum() + layer.bias.sum()).backward()
    assert values(layer.bias.grad) == [1.0] and layer.weight.grad is None
    with tl.no_grad():
        known = predict(x)
    (known.sum() + layer.bias.sum()).backward()
    assert values(layer.bias.grad) == [2.0]
    with pytest.raises(tl.GradientError, match="jit"):
        autograd.grad(predict(x).sum(), layer.weight)


def test_a_plan_is_for_one_mode() -> None:
    gradient = tl.jit(tl.grad(lambda x: (x**3).sum()))
    x = tl.asarray([1.0, 2.0])
    with tl.no_grad():
        assert values(gradient(x)) == [3.0, 12.0]
    assert values(gradient(x)) == [3.0, 12.0]

    @tl.jit
    def mode(x: Tensor) -> Tensor:
        return x + 1.0 if tl.is_grad_enabled() else x

    assert values(mode(x)) == [2.0, 3.0]
    with tl.no_grad():
        assert values(mode(x)) == [1.0, 2.0]


def test_static_arguments_that_are_equal_but_others() -> None:
    divided = tl.jit(lambda x, k: x / k, static_argnames=("k",))
    assert values(divided(tl.ones(1), k=0.0)) == [np.inf]
    assert values(divided(tl.ones(1), k=-0.0)) == [-np.inf]
    times = tl.jit(lambda x, k: x * k, static_argnames=("k",))
    three = tl.asarray([3])
    assert [times(three, k=k).dtype for k in (1, 1.0)] == [tl.int32, tl.float32]
    first = tl.jit(lambda named: next(iter(named.values())) * 1.0)
    assert values(first({"a": tl.zeros(1), "b": tl.ones(1)})) == [0.0]
    assert values(first({"b": tl.ones(1), "a": tl.zeros(1)})) == [1.0]


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_a_state_that_is_returned_as_it_is(device: str) -> None:
    v = tl.Variable([1.0, 2.0], device=device)
    assert values(tl.jit(lambda: tl.Tensor(v.node), device=device)()) == [1.0, 2.0]


# ---- no_grad, realized values --------------------------------------------------------------------


def test_transforms_within_no_grad() -> None:
    def cube(x: Tensor) -> Tensor:
        return (x**3).sum()

    x = tl.asarray([1.0, 2.0])
    with tl.no_grad():
        gradient = tl.grad(cube)(x)
        value, tangent = tl.jvp(cube, (x,), (tl.ones(2),))
        whole, pull = tl.vjp(cube, x)
        (pulled,) = pull(tl.ones(()))
    assert values(gradient) == values(pulled) == [3.0, 12.0]
    assert [values(each) for each in (value, tangent, whole)] == [9.0, 15.0, 9.0]
    assert not gradient.requires_grad and not whole.requires_grad


def test_what_is_computed_early() -> None:
    x = tl.asarray([1.0, 2.0])
    assert values(tl.grad(lambda x: ((x * 2.0).realize() ** 2).sum())(x)) == [8.0, 16.0]
    value, pull = tl.vjp(lambda x: x * x, x)
    value.realize()
    assert values(pull(tl.ones(2))[0]) == [2.0, 4.0]

    def doubled(x: Tensor) -> Tensor:
        y = x * 3.0
        y.data.mul_(2.0)
        return (y * y).sum()

    assert values(tl.grad(doubled)(x)) == [36.0, 72.0]
    given = leaf(1.0, 2.0)
    y = given * 2.0
    z = (y * y).sum()
    y.realize()
    assert values(autograd.grad(z, y)[0]) == [4.0, 8.0]


def test_hooks_see_what_was_used_before() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2.0
    z = (y * y).sum()
    y.register_hook(lambda g: g * 10.0)
    y.retain_grad()
    z.backward()
    assert values(y.grad) == [40.0, 80.0]
    assert values(x.grad) == [80.0, 160.0]


# ---- rules of users ------------------------------------------------------------------------------


def test_second_derivatives_through_what_a_rule_keeps() -> None:
    square = tl.custom_vjp(lambda a: a * a)
    square.defvjp(lambda a: (a * a, a), lambda a, g: (2.0 * a * g,))
    x = tl.asarray([1.0, 2.0])

    def second(function: Any) -> Any:
        return values(tl.grad(lambda a: tl.grad(function)(a).sum())(x))

    assert second(lambda b: square(b).sum()) == [2.0, 2.0]
    assert second(lambda b: (square(b) * b).sum()) == [6.0, 12.0]


def test_rules_of_structures_and_of_several_results() -> None:
    named = tl.custom_vjp(lambda d: d["w"] * 2.0)
    named.defvjp(lambda d: (d["w"] * 2.0, None), lambda _, g: ({"w": 2.0 * g},))
    assert values(tl.grad(lambda d: named(d).sum())({"w": tl.ones(2)})["w"]) == [2.0, 2.0]
    two = tl.custom_vjp(lambda a: (a * 1.0, a * 1.0))
    two.defvjp(lambda a: ((a * 1.0, a * 1.0), None), lambda _, g: (tl.clip(g[0] + g[1], -1, 1),))
    assert values(tl.grad(lambda a: (two(a)[0] + two(a)[1]).sum())(tl.ones(2))) == [2.0, 2.0]

    def both(a: Tensor) -> Tensor:
        first, second = two(a)
        return (first + second).sum()

    assert values(tl.grad(both)(tl.ones(2))) == [1.0, 1.0]


def test_rules_that_give_other_shapes_and_rules_in_no_grad() -> None:
    total = tl.custom_vjp(lambda a: a.sum())
    total.defvjp(lambda a: (a.sum(), None), lambda _, g: (g,))
    x = leaf(1.0, 2.0)
    with pytest.raises(tl.GradientError, match="shapes"):
        total(x).backward()
    square = tl.custom_vjp(lambda a: a * a)
    square.defvjp(lambda a: (a * a, a), lambda a, g: (2.0 * a * g,))
    with tl.no_grad():
        y = square(x)
    assert not y.requires_grad
    (y * x).sum().backward()
    assert values(x.grad) == [1.0, 4.0]


def test_a_function_knows_what_is_differentiated() -> None:
    class Cube(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Any:
            (x,) = ctx.saved_tensors
            return 3.0 * x**2 * gradient if ctx.needs_input_grad[0] else None

    x = tl.asarray([1.0, 2.0])
    assert values(tl.grad(lambda x: Cube.apply(x).sum())(x)) == [3.0, 12.0]


# ---- parameters ----------------------------------------------------------------------------------


def test_what_is_frozen_gets_no_gradient_though_something_holds_it() -> None:
    p, q = nn.Parameter([1.0, 2.0]), nn.Parameter([3.0, 4.0])
    held = p * 1.0
    p.requires_grad_(False)
    (p * q).sum().backward()
    assert p.grad is None and values(q.grad) == [1.0, 2.0]
    assert values(held) == [1.0, 2.0]


def test_gradients_of_another_kind_are_refused() -> None:
    for x in (nn.Parameter([1.0, 2.0]), leaf(1.0, 2.0)):
        with pytest.raises(tl.ShapeError, match="gradient"):
            x.grad = tl.ones(1)
        with pytest.raises(tl.DTypeError, match="float64"):
            x.grad = tl.asarray(np.array([4.0, 8.0]))
        assert x.grad is None


# ---- in place ------------------------------------------------------------------------------------


def test_a_change_within_no_grad_keeps_the_history() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2.0
    with tl.no_grad():
        y.clamp_(0.0, 3.0)
    (y * x).sum().backward()
    assert values(x.grad) == [2.0 + 2.0, 3.0 + 4.0]


def test_a_change_through_an_old_view_begins_with_what_is_there() -> None:
    p = nn.Parameter([1.0, 2.0])
    data, optimizer = p.data, optim.SGD([p], lr=1.0)
    p.sum().backward()
    optimizer.step()
    data.clamp_(0.5, 5.0)
    assert values(p) == [0.5, 1.0]
    x = tl.asarray([1.0, 2.0, 3.0])
    a, b = x[0:2], x[1:3]
    a.add_(10.0)
    b.add_(10.0)
    assert values(x) == [11.0, 22.0, 13.0]
    first = x[0]
    x.mul_(10.0)
    first.add_(1.0)
    assert values(x) == [111.0, 220.0, 130.0]


def test_more_methods_give_views() -> None:
    for view in (
        lambda x: x.swapaxes(0, 1), lambda x: x.movedim(0, 1), lambda x: x.unflatten(0, (2, 1)),
    ):  # fmt: skip
        x = tl.ones((2, 3))
        view(x).zero_()
        assert values(x.sum()) == 0.0
