"""What changes between calls of a compiled function: modes, frozen parameters, other modules, other
parameters of an optimiser. The function is compiled again, and only then."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim


@pytest.fixture(autouse=True, params=["numpy", "wasm"])
def device(request):
    tl.set_default_device(request.param)
    yield
    tl.set_default_device(None)


@pytest.fixture
def x() -> tl.Tensor:
    return tl.asarray(np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32))


def close(a: tl.Tensor, b: tl.Tensor) -> bool:
    return np.allclose(a.numpy(), b.numpy(), atol=1e-6)


def test_modes(x) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    jitted = tl.jit(lambda x: model(x))
    trained = jitted(x)
    model.eval()
    mean = model[1].running_mean.numpy()
    for _ in range(2):
        assert close(jitted(x), model(x)) and not close(jitted(x), trained)
    np.testing.assert_array_equal(model[1].running_mean.numpy(), mean)
    model.train()
    jitted(x)
    assert not np.allclose(model[1].running_mean.numpy(), mean)
    model[2].training = False  # only this one
    assert (jitted(x).numpy() != 0).all()
    model.eval()
    assert close(jitted(x), model(x)) and jitted.plans == 3
    nn.summary(model, (8, 4))
    jitted(x)
    assert jitted.plans == 3


def test_a_mode_that_the_function_sets_is_no_change(x) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))

    @tl.jit
    def step(x):
        model.train()
        return model(x)

    for _ in range(3):
        model.eval()
        assert (step(x).numpy() == 0).any()
        step(x)
    assert step.plans <= 2


def test_frozen_parameters(x) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    @tl.jit
    def step(x):
        optimizer.zero_grad()
        (model(x) ** 2).sum().backward()
        optimizer.step()

    def moved() -> list[bool]:
        before = [layer.weight.numpy() for layer in model]
        step(x)
        pairs = zip(before, model, strict=True)
        return [not np.array_equal(old, layer.weight.numpy()) for old, layer in pairs]

    assert moved() == [True, True]
    model[0].requires_grad_(False)
    assert moved() == [False, True]
    model[0].requires_grad_(True)
    assert moved() == [True, True]
    model[0].requires_grad_(True)  # as it is
    assert moved() == [True, True] and step.plans == 2


def test_parameters_frozen_for_a_part_of_the_function(x) -> None:
    first, second = nn.Linear(4, 4), nn.Linear(4, 2)

    @tl.jit
    def step(x):
        second.requires_grad_(False)
        (second(first(x)) ** 2).sum().backward()
        second.requires_grad_(True)

    for _ in range(4):
        step(x)
        first.zero_grad()
    assert second.weight.grad is None and step.plans == 1


def test_other_modules_and_parameters(x) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ModuleList([nn.Linear(4, 3)]))
    model.parts = nn.ModuleDict({"a": nn.Linear(4, 4)})
    jitted = tl.jit(lambda x: [layer(model[0](model.parts["a"](x))) for layer in model[1]])
    direct = jitted._function
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        for _ in range(2):
            assert all(close(a, b) for a, b in zip(jitted(x), direct(x), strict=True))
        assert jitted.plans == calls

    check()
    model[0] = nn.Linear(4, 4)
    check()
    model[1].append(nn.Linear(4, 2))
    check()
    model[1][0] = nn.Linear(4, 5)
    check()
    model.parts["a"] = nn.Linear(4, 4, bias=False)
    check()
    model[0].weight = nn.Parameter(np.ones((4, 4), np.float32))
    check()
    model[0].bias = None
    check()


def test_a_group_that_is_added(x) -> None:
    first, second = nn.Linear(4, 4), nn.Linear(4, 2)
    optimizer = optim.Adam(first.parameters(), lr=0.1)

    @tl.jit
    def step(x):
        (second(first(x)) ** 2).sum().backward()
        optimizer.step()
        first.zero_grad()
        second.zero_grad()

    step(x)
    before = second.weight.numpy()
    step(x)
    np.testing.assert_array_equal(second.weight.numpy(), before)
    optimizer.add_param_group({"params": second.parameters(), "lr": 0.5})
    step(x)
    step(x)
    assert not np.array_equal(second.weight.numpy(), before) and step.plans == 2


def test_containers_change() -> None:
    a, b, c, d = (nn.Linear(n, n) for n in range(1, 5))
    for kind in (lambda *m: nn.Sequential(*m), lambda *m: nn.ModuleList(m)):
        holder = kind(a, b)
        holder.extend([c])
        holder.insert(1, d)
        assert list(holder) == [a, d, b, c]
        holder[-1] = a
        assert list(holder) == [a, d, b, a]
        assert holder.pop(0) is a and list(holder) == [d, b, a]
        del holder[1:]
        assert list(holder) == [d] and list(holder.state_dict()) == ["0.weight", "0.bias"]
        with pytest.raises(IndexError):
            holder[3] = a
