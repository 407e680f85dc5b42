"""Modules as functions of their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import func, nn
from tallow.errors import OptionError
from tallow.func import functional_call, grad_and_value
from tallow.nn import functional as F  # noqa: N812 - the customary name


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Tanh(), nn.Linear(3, 1))


@pytest.mark.parametrize("compiled", [False, True])
def test_other_values_for_a_call(compiled: bool) -> None:
    net, x = network().eval(), tl.randn(4, 2)
    others = {name: p.detach() * 2 for name, p in net.named_parameters()}
    buffers = {"1.running_mean": tl.ones(3)}
    copied = network().eval()
    copied.load_state_dict({**net.state_dict(), **others, **buffers})
    before = net(x).numpy()

    def call(x: tl.Tensor, others: Any) -> tl.Tensor:
        found: tl.Tensor = functional_call(net, (others, buffers), (x,))
        return found

    run = tl.jit(call) if compiled else call
    for _ in range(2):
        np.testing.assert_allclose(run(x, others).numpy(), copied(x).numpy(), rtol=1e-6)
    if compiled:
        assert run.plans == 1  # type: ignore[union-attr]
    np.testing.assert_array_equal(net(x).numpy(), before)
    assert all(isinstance(p, nn.Parameter) for p in net.parameters())


def test_a_step_of_a_learner_is_learned() -> None:
    """The inner and the outer step of Finn et al. 2017, against central differences."""
    net, x = nn.Linear(2, 1).double(), tl.randn(5, 2).astype("float64").realize()
    y = tl.sin(x.sum(1, keepdim=True)).realize()

    def adapted() -> tl.Tensor:
        loss = F.mse_loss(net(x), y)
        names, values = zip(*net.named_parameters(), strict=True)
        gradients = tl.autograd.grad(loss, values, create_graph=True)
        fast = {
            name: value - 0.5 * gradient
            for name, value, gradient in zip(names, values, gradients, strict=True)
            if gradient is not None
        }
        return F.mse_loss(functional_call(net, fast, x), y)

    adapted().backward()
    assert net.weight.grad is not None
    found, values = net.weight.grad.numpy(), net.weight.numpy()
    for place in np.ndindex(*values.shape):
        ends = []
        for step in (1e-4, -1e-4):
            changed = values.copy()
            changed[place] += step
            with tl.no_grad():
                net.weight.copy_(tl.asarray(changed))
            ends.append(adapted().item())
        np.testing.assert_allclose(found[place], (ends[0] - ends[1]) / 2e-4, rtol=1e-4)


def test_names_that_are_tied_unknown_or_missing() -> None:
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    x, given = tl.ones((1, 2)), {"0.weight": tl.full((2, 2), 1.0)}
    assert functional_call(net, given, x).tolist() == [[4.0, 4.0]]
    with pytest.raises(OptionError, match=r"has no 2\.weight"):
        functional_call(net, {"2.weight": x}, x)
    with pytest.raises(OptionError, match=r"also has 1\.weight"):
        functional_call(net, given, x, strict=True)
    with pytest.raises(tl.ShapeError):
        functional_call(net, {"0.weight": tl.ones((3, 3))}, x)
    assert net[0].weight is net[1].weight and isinstance(net[0].weight, nn.Parameter)


def test_the_gradient_first() -> None:
    gradient, value = grad_and_value(lambda x: (x**2).sum())(tl.tensor([1.0, 3.0]))
    assert gradient.tolist() == [2.0, 6.0] and value.item() == 10.0


# ---- tangents ------------------------------------------------------------------------------------


def test_dual_tensors() -> None:
    from tallow.autodiff.forward import dual_level, make_dual, unpack_dual

    x, v = tl.tensor([1.0, 2.0]), tl.tensor([1.0, 3.0])
    with dual_level():
        dual = make_dual(x, v)
        primal, tangent = unpack_dual((dual * dual).sin().realize())
        assert unpack_dual(dual).tangent is not None and unpack_dual(x).tangent is None
        np.testing.assert_allclose(unpack_dual(tl.round(dual)).tangent, [0.0, 0.0])
        for wrong in (lambda: make_dual(tl.asarray([1]), v), lambda: make_dual(x, v[:1])):
            with pytest.raises(RuntimeError):
                wrong()
        with pytest.raises(tl.GradientError, match="one level"), dual_level():
            pass
    np.testing.assert_allclose(primal, np.sin([1.0, 4.0]), rtol=1e-5)
    np.testing.assert_allclose(tangent, np.cos([1.0, 4.0]) * [2.0, 12.0], rtol=1e-5)
    assert unpack_dual(dual).tangent is None
    with pytest.raises(tl.GradientError, match="no level"):
        make_dual(x, v)


def test_tangents_of_parameters_can_be_differentiated() -> None:
    from tallow.autodiff.forward import dual_level, make_dual, unpack_dual

    weight = nn.Parameter(tl.tensor([2.0, 3.0]))
    with dual_level():
        dual = make_dual(weight, tl.ones(2))
        cube = unpack_dual(dual * dual * dual).tangent
        mixed = unpack_dual(make_dual(tl.ones(2), tl.ones(2)) * weight * weight).tangent
    assert cube is not None and cube.tolist() == [12.0, 27.0]
    assert mixed is not None
    mixed.sum().backward()
    assert weight.grad is not None and weight.grad.tolist() == [4.0, 6.0]


def test_linearize() -> None:
    x = tl.tensor([1.0, 2.0])
    value, tangent = func.linearize(lambda x: x**3, x)
    assert value.tolist() == [1.0, 8.0]
    assert tangent(tl.tensor([1.0, 0.0])).tolist() == [3.0, 0.0]
    assert tangent(tl.tensor([0.0, 1.0])).tolist() == [0.0, 12.0]
