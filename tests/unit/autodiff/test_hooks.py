"""Hooks of gradients: of tensors, parameters and modules, as in PyTorch."""

from __future__ import annotations

import gc
from typing import Any
from weakref import ref

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.tensor import Tensor


def leaf(*values: float) -> Tensor:
    return tl.asarray(list(values), requires_grad=True)


def values(x: Tensor | None) -> list[float]:
    assert x is not None
    return [float(each) for each in x.numpy()]


# ---- of tensors ----------------------------------------------------------------------------------


def test_a_hook_sees_the_whole_gradient_and_changes_it() -> None:
    x = leaf(1.0, 2.0)
    seen = []

    def hook(gradient: Tensor) -> Tensor:
        seen.append(values(gradient))
        return gradient * 10.0

    handle = x.register_hook(hook)
    (x * 3.0 + x).sum().backward()
    assert seen == [[4.0, 4.0]]
    assert values(x.grad) == [40.0, 40.0]
    handle.remove()
    x.grad = None
    (x * 3.0).sum().backward()
    assert values(x.grad) == [3.0, 3.0]


def test_a_hook_is_called_after_its_gradient_was_added() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    seen = []

    def step(parameter: Any) -> None:
        seen.append((values(x.grad), values(y.grad)))
        with tl.no_grad():
            parameter -= 0.5 * parameter.grad
        parameter.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * y).sum().backward()
    assert seen == [([3.0, 4.0], [1.0, 2.0])]
    assert values(x) == [-0.5, 0.0]
    assert x.grad is None
    handle.remove()
    (x * 3.0).sum().backward()
    assert values(x.grad) == [3.0, 3.0]
    for other in (x * 2.0, tl.asarray([1.0])):
        with pytest.raises(tl.GradientError, match="only leaves"):
            other.register_post_accumulate_grad_hook(step)


def test_optimisers_step_within_backward() -> None:
    """PyTorch's tutorial: an optimiser for each parameter, whose gradient is freed at once."""

    def trained(within: bool) -> list[float]:
        model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
        with tl.no_grad():
            for number, p in enumerate(model.parameters()):
                p.copy_(tl.linspace(-1, 1 + number, p.numel()).reshape(p.shape))
        optimizers = {p: tl.optim.Adam([p], lr=0.1) for p in model.parameters()}

        def step(parameter: Any) -> None:
            optimizers[parameter].step()
            optimizers[parameter].zero_grad()

        if within:
            for p in model.parameters():
                p.register_post_accumulate_grad_hook(step)
        losses = []
        for _ in range(4):
            loss = (model(tl.asarray([[1.0, 2.0], [3.0, -1.0]])) ** 2).mean()
            loss.backward()
            if not within:
                for p in model.parameters():
                    step(p)
            assert all(p.grad is None for p in model.parameters())
            losses.append(float(loss))
        return losses

    apart = trained(within=False)
    assert trained(within=True) == apart
    assert apart[-1] < apart[0]


def test_hooks_of_what_is_computed_from_others() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2.0
    order = []

    def first(gradient: Tensor) -> Tensor:
        order.append("first")
        return gradient + 1.0

    y.register_hook(first)
    with y.register_hook(lambda g: order.append("second")):
        (y * y).sum().backward()
    assert order == ["first", "second"]
    assert values(x.grad) == [2 * (4.0 + 1.0), 2 * (8.0 + 1.0)]


def test_a_kept_gradient() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2.0
    y.retain_grad()
    (y * y).sum().backward()
    assert values(y.grad) == [4.0, 8.0]
    assert values(x.grad) == [8.0, 16.0]
    assert not y.is_leaf


def test_hooks_stay_with_a_parameter_and_leave_nothing() -> None:
    parameter = nn.Parameter([1.0, 2.0])
    parameter.register_hook(lambda g: g * 0.5)
    for _ in range(2):
        parameter.grad = None
        (parameter * parameter).sum().backward()
        with tl.no_grad():
            parameter.sub_(parameter.grad)
    assert values(parameter) == [0.0, 0.0]
    y = parameter * 2.0
    y.retain_grad()
    gone = ref(y.node)
    y.sum().backward()
    del y
    gc.collect()
    assert gone() is None


def test_a_compiled_step_has_the_hooks_of_now() -> None:
    parameter = nn.Parameter([1.0, 2.0])

    @tl.jit
    def step() -> None:
        parameter.grad = None
        (parameter * 3.0).sum().backward()

    step()
    assert values(parameter.grad) == [3.0, 3.0]
    with parameter.register_hook(lambda g: g * 2.0):
        step()
        assert values(parameter.grad) == [6.0, 6.0]
    step()
    assert values(parameter.grad) == [3.0, 3.0]


def test_hooks_in_a_checkpoint() -> None:
    x = leaf(1.0, 2.0)

    def square(x: Tensor) -> Tensor:
        y = x * x
        y.register_hook(lambda g: g * 3.0)
        return y * 1.0

    tl.checkpoint(square, x * 1.0).sum().backward()
    assert values(x.grad) == [6.0, 12.0]


def test_bad_hooks() -> None:
    with pytest.raises(tl.GradientError, match="requires one"):
        tl.asarray([1.0]).register_hook(lambda g: None)
    x = leaf(1.0, 2.0)
    x.register_hook(lambda g: g.sum())
    with pytest.raises(tl.ShapeError, match="hook"):
        x.sum().backward()
    y = leaf(1.0)
    y.register_hook(lambda g: g.astype("float16"))
    with pytest.raises(tl.DTypeError, match="hook"):
        y.sum().backward()


# ---- of modules ----------------------------------------------------------------------------------


def test_backward_hooks_of_a_module() -> None:
    layer = nn.Linear(2, 1, bias=False)
    with tl.no_grad():
        layer.weight.copy_(tl.asarray([[2.0, 5.0]]))
    seen: list[Any] = []
    layer.register_full_backward_pre_hook(lambda module, outputs: (outputs[0] * 2.0,))

    def hook(module: nn.Module, inputs: Any, outputs: Any) -> Any:
        seen.append((module, inputs[0].numpy(), outputs[0].numpy()))
        return (inputs[0] + 1.0,)

    handle = layer.register_full_backward_hook(hook)
    x = tl.asarray([[1.0, 3.0]], requires_grad=True)
    layer(x).sum().backward()
    ((module, inputs, outputs),) = seen
    assert module is layer
    np.testing.assert_array_equal(inputs, [[4.0, 10.0]])
    np.testing.assert_array_equal(outputs, [[2.0]])
    assert x.grad is not None and x.grad.numpy().tolist() == [[5.0, 11.0]]
    assert layer.weight.grad is not None and layer.weight.grad.numpy().tolist() == [[2.0, 6.0]]
    handle.remove()
    layer(x).sum().backward()
    assert len(seen) == 1


class Two(nn.Module):
    """Several arguments, several results."""

    def forward(self, x: Tensor, factor: float, y: Tensor) -> tuple[Tensor, Tensor]:
        return x * factor, tl.reshape(y * y, (2, 1))


def test_several_arguments_and_results() -> None:
    module = Two()
    seen: list[Any] = []
    module.register_full_backward_hook(lambda module, i, o: seen.append((i, o)))
    x, y = leaf(1.0, 2.0, 3.0), leaf(4.0, 5.0)
    first, second = module(x, 2.0, y)
    (first.sum() + (second * 3.0).sum()).backward()
    (((gx, none, gy), (g1, g2)),) = seen
    assert none is None
    assert values(gx) == values(x.grad) == [2.0, 2.0, 2.0]
    assert values(gy) == values(y.grad) == [24.0, 30.0]
    assert values(g1) == [1.0, 1.0, 1.0] and g2.shape == (2, 1)


def test_arguments_that_need_no_gradient() -> None:
    layer = nn.Linear(2, 1)
    seen: list[Any] = []
    layer.register_full_backward_hook(lambda module, i, o: seen.append((i, o[0].shape)))
    layer(tl.asarray([[1.0, 2.0]])).sum().backward()
    assert seen == [((None,), (1, 1))]


def test_a_compiled_step_has_the_modules_hooks_of_now() -> None:
    layer = nn.Linear(2, 2)

    @tl.jit
    def step(x: Tensor) -> Tensor:
        return layer(x)

    x = np.ones((1, 2), np.float32)
    plain = step(x).numpy()
    with layer.register_forward_hook(lambda module, args, result: result + 1.0):
        np.testing.assert_allclose(step(x).numpy(), plain + 1, rtol=1e-6)
    np.testing.assert_allclose(step(x).numpy(), plain, rtol=1e-6)


def test_bad_backward_hooks() -> None:
    layer = nn.Linear(2, 1)
    handle = layer.register_full_backward_hook(lambda module, i, o: (i[0], i[0]))
    x = tl.asarray([[1.0, 2.0]], requires_grad=True)
    with pytest.raises(tl.GradientError, match="2 gradients instead of 1"):
        layer(x).sum().backward()
    handle.remove()

    class Named(nn.Module):
        def forward(self, x: Tensor) -> dict[str, Tensor]:
            return {"x": x}

    named = Named()
    named.register_full_backward_hook(lambda module, i, o: None)
    with pytest.raises(tl.GradientError, match="tuple of tensors, not dict"):
        named(x)
