"""Optimisers and schedules beside PyTorch's, eager and as one plan; those that PyTorch lacks beside
their papers; bad input."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.errors import ArgumentError
from tallow.optim import lr_scheduler

from .optimisers import (
    OPTIMISERS,
    RECORDED,
    SCHEDULES,
    STEPS,
    loss_of,
    rates,
    starts,
    targets,
)


@pytest.fixture(autouse=True)
def usual_device():
    yield
    tl.set_default_device(None)


@pytest.fixture(scope="module")
def expected() -> dict[str, np.ndarray]:
    with np.load(RECORDED) as file:
        return dict(file)


def trained(make, mode: str, steps: int = STEPS, schedule=None) -> list[np.ndarray]:
    params = [nn.Parameter(x) for x in starts()]
    goals = [tl.asarray(x) for x in targets()]
    optimizer = make(optim, params)
    scheduler = schedule(optimizer) if schedule else None

    def step() -> tl.Tensor:
        optimizer.zero_grad()
        loss = loss_of(params, goals)
        loss.backward()
        optimizer.step()
        return loss

    jitted = tl.jit(step)
    for _ in range(steps):
        if mode == "jit":
            jitted()
        else:
            step()
        if scheduler:
            scheduler.step()
    assert jitted.plans == (mode == "jit")
    return [p.numpy() for p in params]


@pytest.mark.parametrize(
    ("mode", "device"), [("eager", "numpy"), ("jit", "numpy"), ("jit", "wasm")]
)
@pytest.mark.parametrize("name", OPTIMISERS)
def test_trajectory(name: str, mode: str, device: str, expected) -> None:
    tl.set_default_device(device)
    for number, got in enumerate(trained(OPTIMISERS[name], mode)):
        np.testing.assert_allclose(got, expected[f"{name}/{number}"], rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name: str, expected) -> None:
    optimizer = optim.SGD([nn.Parameter([0.0])], lr=0.5)
    got = rates(SCHEDULES[name](lr_scheduler, optimizer))
    np.testing.assert_allclose(got, expected[f"schedule {name}"], rtol=1e-6)


def test_a_schedule_compiles_nothing_and_takes_effect() -> None:
    make = OPTIMISERS["adam"]
    still = trained(make, "jit")
    moved = trained(make, "jit", schedule=lambda o: lr_scheduler.ExponentialLR(o, 0.5))
    eager = trained(make, "eager", schedule=lambda o: lr_scheduler.ExponentialLR(o, 0.5))
    assert not np.allclose(still[0], moved[0])
    np.testing.assert_allclose(moved[0], eager[0], rtol=1e-4)


def test_noam_rises_then_falls() -> None:
    optimizer = optim.Adam([nn.Parameter([0.0])], lr=1.0)
    got = rates(lr_scheduler.NoamLR(optimizer, 64, 5))
    steps = np.arange(1, len(got) + 1)
    np.testing.assert_allclose(got, 64**-0.5 * np.minimum(steps**-0.5, steps * 5**-1.5))


def test_lion_and_adan_follow_their_papers() -> None:
    tl.set_default_device("numpy")
    goals, (x, _) = targets(), starts()

    def slope(p: np.ndarray) -> np.ndarray:
        away = p - goals[0]
        return 2 * away + away**3

    p, mean = x.astype(np.float64), np.zeros_like(x, np.float64)
    for _ in range(STEPS):
        g = slope(p)
        p = p * (1 - 0.05 * 0.1) - 0.05 * np.sign(0.9 * mean + 0.1 * g)
        mean = 0.99 * mean + 0.01 * g
    got = trained(lambda o, params: o.Lion(params, lr=0.05, weight_decay=0.1), "eager")
    np.testing.assert_allclose(got[0], p, rtol=1e-4, atol=1e-5)

    b1, b2, b3, lr, decay = 0.9, 0.8, 0.95, 0.05, 0.1
    p = x.astype(np.float64)
    m, v, n, last = (np.zeros_like(p) for _ in range(4))
    for step in range(1, STEPS + 1):
        g = slope(p)
        d = g - last if step > 1 else np.zeros_like(g)
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * d
        n, last = b3 * n + (1 - b3) * (g + b2 * d) ** 2, g
        size = np.sqrt(n / (1 - b3**step)) + 1e-8
        ahead = m / (1 - b1**step) + b2 * v / (1 - b2**step)
        p = (p - lr * ahead / size) / (1 + lr * decay)
    got = trained(lambda o, ps: o.Adan(ps, lr=lr, betas=(b1, b2, b3), weight_decay=decay), "eager")
    np.testing.assert_allclose(got[0], p, rtol=1e-4, atol=1e-5)


def test_state_goes_on_where_it_was() -> None:
    tl.set_default_device("numpy")
    goals = [tl.asarray(x) for x in targets()]
    params = [nn.Parameter(x) for x in starts()]

    def steps(params: list, optimizer: optim.Optimizer, count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            loss_of(params, goals).backward()
            optimizer.step()

    optimizer = optim.Adam(params, lr=0.1)
    steps(params, optimizer, 3)
    others = [nn.Parameter(p.numpy()) for p in params]
    other = optim.Adam(others, lr=0.5)
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["lr"] == 0.1
    steps(params, optimizer, 2)
    steps(others, other, 2)
    for a, b in zip(params, others, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


def test_clipping() -> None:
    tl.set_default_device("numpy")
    params = [nn.Parameter(x) for x in starts()]
    loss_of(params, [tl.asarray(x) for x in targets()]).backward()
    before = np.concatenate([p.grad.numpy().ravel() for p in params])
    norm = nn.utils.clip_grad_norm_(params, 1.0).item()
    after = np.concatenate([p.grad.numpy().ravel() for p in params])
    np.testing.assert_allclose(norm, np.linalg.norm(before), rtol=1e-5)
    np.testing.assert_allclose(after, before / norm, rtol=1e-4)
    nn.utils.clip_grad_value_(params, 0.1)
    assert max(np.abs(p.grad.numpy()).max() for p in params) <= np.float32(0.1)
    vector = nn.utils.parameters_to_vector(params)
    assert vector.shape == (17,)
    nn.utils.vector_to_parameters(vector * 0.0, params)
    assert not params[0].numpy().any()


def test_bad_input() -> None:
    p = nn.Parameter([1.0])
    with pytest.raises(tl.OptionError, match="no parameters"):
        optim.SGD([])
    with pytest.raises(tl.OptionError, match="twice"):
        optim.SGD([p, p])
    with pytest.raises(tl.OptionError, match="lr must be"):
        optim.Adam([p], lr=-1.0)
    with pytest.raises(tl.OptionError, match="nesterov"):
        optim.SGD([p], nesterov=True)
    with pytest.raises(tl.OptionError, match="requires no gradient"):
        optim.SGD([tl.asarray([1.0])])
    with pytest.raises(ArgumentError, match="optimiser"):
        lr_scheduler.StepLR(p, 1)
    optimizer = optim.SGD([p], lr=1.0)
    optimizer.step()  # without a gradient, nothing happens
    assert p.tolist() == [1.0]
