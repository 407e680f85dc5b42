"""Changes in place: of parameters, of what requires a gradient, and through views."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import DeviceUnavailableError, DTypeError, GradientError, OptionError, ShapeError


@pytest.fixture(params=["numpy", "wasm"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    before = tl.default_device()
    tl.set_default_device(request.param)
    yield request.param
    tl.set_default_device(before)


def test_a_parameter_is_assigned_to_within_no_grad() -> None:
    layer = nn.Linear(2, 2)
    with pytest.raises(GradientError, match="no_grad"):
        layer.weight.add_(1)
    with tl.no_grad():
        layer.weight.fill_(2.0)
        layer.bias.zero_()
        layer.bias[1] = 5.0
        weights: list[tl.Tensor] = [*layer.parameters()]
        for parameter in weights:
            parameter *= 2
    assert layer.weight.numpy().tolist() == [[4, 4], [4, 4]]
    assert layer.bias.numpy().tolist() == [0, 10]
    assert layer.weight.is_leaf and layer.weight.requires_grad


def test_a_parameter_is_changed_through_its_data() -> None:
    weight = nn.Parameter(np.ones((2, 2), np.float32))
    weight.data.mul_(3)
    weight.data[0] += 1
    weight.data.view(-1)[3] = 7
    weight.data -= 1
    weight.detach()[1, 0] = 9
    assert weight.numpy().tolist() == [[3, 3], [9, 6]]
    weight.data = tl.zeros((2, 2))
    assert weight.numpy().tolist() == [[0, 0], [0, 0]]
    nn.init.constant_(weight, 4.0)
    assert weight.requires_grad and weight.numpy()[0, 0] == 4


def test_a_step_of_gradient_descent_by_hand() -> None:
    w = tl.tensor([1.0, 5.0], requires_grad=True)
    for _ in range(40):
        ((w - 2) ** 2).sum().backward()
        with tl.no_grad():
            assert w.grad is not None
            w -= 0.3 * w.grad
        w.grad.zero_()
    assert w.is_leaf and np.allclose(w.numpy(), 2)


def test_a_step_by_hand_under_jit() -> None:
    weight = nn.Parameter([1.0, 5.0])

    @tl.jit
    def step(target: tl.Tensor) -> tl.Tensor:
        loss = ((weight - target) ** 2).sum()
        loss.backward()
        with tl.no_grad():
            weight.sub_(weight.grad, alpha=0.3)
        weight.grad = None
        return loss

    for _ in range(40):
        loss = step(np.array([2, 3], np.float32))
    assert np.allclose(weight.numpy(), [2, 3]) and loss.item() < 1e-6


def test_what_was_computed_before_stays() -> None:
    x = tl.asarray([1.0, 2.0])
    y = x * 3
    x.add_(10)
    assert y.numpy().tolist() == [3, 6] and (x * 3).numpy().tolist() == [33, 36]


def test_a_view_whose_tensor_is_gone_is_a_tensor_of_its_own() -> None:
    x = (tl.arange(4) * 1.0).view(2, 2)
    assert x.add_(1).numpy().tolist() == [[1, 2], [3, 4]]


def test_random_numbers() -> None:
    x = tl.zeros((1000,))
    assert abs(float(x.normal_(3, 0.1).mean()) - 3) < 0.05
    x.uniform_(2, 4)
    assert float(x.min()) >= 2 and float(x.max()) <= 4 and abs(float(x.mean()) - 3) < 0.1
    assert set(x.bernoulli_(0.3).numpy().tolist()) == {0.0, 1.0}
    made = nn.init.uniform_(tl.empty((50,)), 5.0, 6.0)
    assert float(made.min()) >= 5.0


def test_what_cannot_be_put_in_place() -> None:
    x = tl.zeros((2, 3))
    with pytest.raises(ShapeError, match=r"\(2, 3\)"):
        x.add_(tl.zeros((4, 2, 3)))
    with pytest.raises(DTypeError, match="int32"):
        tl.tensor([1, 2]).mul_(0.5)
    with pytest.raises(GradientError, match="no_grad"):
        tl.tensor([1.0], requires_grad=True).mul_(2)
    with pytest.raises(ShapeError):
        x[x > 0] = tl.zeros((3, 3))


def test_to_takes_a_device_a_type_or_a_tensor() -> None:
    x = tl.tensor([1.5])
    assert x.to(tl.float16).dtype == tl.float16 and x.to("int32").numpy() == 1
    assert x.to("numpy", "float16").dtype == tl.float16
    assert x.to(device="numpy", dtype=tl.int32, non_blocking=True).device == "numpy"
    assert x.to("cpu") is x and x.to(tl.tensor([1])).dtype == tl.int32
    assert x.type() == "float32" and x.type(tl.int32).dtype == tl.int32
    with pytest.raises(DeviceUnavailableError, match="nowhere"):
        x.to("nowhere")
    with pytest.raises(OptionError, match=r"1\.5"):
        x.to(1.5)
    assert len({x, x, x * 1}) == 2
