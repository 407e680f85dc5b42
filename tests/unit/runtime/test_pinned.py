"""Plans that are called without a look at what they were traced from, and plans given up."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.core.drivers import run_sync
from tallow.errors import DeviceError, NonFiniteError, OptionError

pytestmark = pytest.mark.usefixtures("on_numpy")


def test_a_pinned_plan_is_that_of_a_call() -> None:
    count = tl.Variable(0.0)

    @tl.jit
    def step(x: tl.Tensor, times: int, y: tl.Tensor) -> tl.Tensor:
        count.assign(count + 1.0)
        return x * float(times) + y + count

    x, y = tl.ones(3), tl.full((3,), 5.0)
    pinned = step.pinned(x, 2, y)
    assert count.item() == 0 and step.plans == 1
    assert pinned(x, y).tolist() == [8, 8, 8]
    assert pinned(x * 2, y).tolist() == [11, 11, 11]
    count.assign(tl.asarray(10.0))
    assert pinned(x, y).tolist() == [18, 18, 18]
    assert step(x, 2, y).tolist() == [19, 19, 19]
    assert step.plans == 1


@pytest.mark.parametrize("debug", [False, True])
def test_a_pinned_plan_is_read_as_it_is_called(debug: bool) -> None:
    weight = tl.Variable(tl.asarray([2.0, 3.0]), requires_grad=True)

    @tl.jit
    def step(x: tl.Tensor) -> dict[str, object]:
        y = tl.sqrt(x) * weight
        tl.sum(y).backward()
        return {"y": y.detach(), "rest": (1, tl.sum(x))}

    with tl.debug_nans(debug):
        pinned = step.pinned(tl.ones(2))
        y, total = run_sync(pinned.read(tl.asarray([4.0, 9.0])))
        assert y.numpy().tolist() == [4, 9] and total.numpy() == 13
        assert weight.grad is not None and weight.grad.tolist() == [2, 3]
        if debug:
            with pytest.raises(NonFiniteError):
                run_sync(pinned.read(tl.asarray([-1.0, 5.0])))
    step.clear()
    with pytest.raises(DeviceError, match="closed"):
        run_sync(pinned.read(tl.ones(2)))


def test_a_pinned_plan_does_not_look_at_modules_again() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(1.0)).eval()
    step = tl.jit(lambda x: net(x))
    x = tl.ones((1, 2))
    with tl.no_grad():
        pinned = step.pinned(x)
        expected = pinned(x).numpy()
        net.train()
        assert np.abs(step(x).numpy()).max() == 0
        np.testing.assert_array_equal(pinned(x).numpy(), expected)
        net[0].weight.assign(tl.zeros((2, 2)))
        np.testing.assert_array_equal(pinned(x).numpy()[0], net[0].bias.numpy())


def test_arguments_with_gradients_have_no_plan() -> None:
    x = tl.Variable(tl.ones(2), requires_grad=True)
    step = tl.jit(lambda x: x * 2.0)
    with pytest.raises(OptionError, match="no plan for gradients"):
        step.pinned(x * 1.0)


def test_plans_that_are_given_up() -> None:
    step = tl.jit(lambda x: tl.sin(x) + 1.0)
    pinned = step.pinned(tl.ones(2))
    pinned(tl.ones(2)), step(tl.ones(3))
    assert step.plans == 2 and step.nbytes > 0
    step.clear()
    assert step.plans == 0 == step.nbytes
    with pytest.raises(DeviceError, match="closed"):
        pinned(tl.ones(2))
    assert step(tl.zeros(2)).tolist() == [1, 1]
