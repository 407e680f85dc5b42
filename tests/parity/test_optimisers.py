"""Optimisers beside trajectories of PyTorch, eager and as one plan; those that PyTorch lacks, or of
which nothing is recorded, beside their definitions and papers."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.optim.muon import orthogonalized

from .case import drawn
from .cases.optimisers import LBFGS, OPTIMISERS, TRAININGS
from .optimiser_definitions import DEFINED, lengths, run_of, trajectory
from .run import recorded
from .training import MODES, PROBLEMS, Make, Run, Training, bowl

pytestmark = pytest.mark.usefixtures("usual_device")


@pytest.mark.parametrize(
    ("case", "mode", "device"),
    [
        pytest.param(case, mode, device, id=f"{case.name}-{mode}-{device}")
        for case in TRAININGS
        for mode, device in (MODES[:1] if case.closure else MODES)
    ],
)
def test_trajectory(case: Training, mode: str, device: str) -> None:
    tl.set_default_device(device)
    wanted = recorded("optimisers")[case.name]["parameters"]
    rows = case.rows(Run(tl, case.make, case.problem, mode))
    for got, row, step in zip(rows, wanted, case.after, strict=True):
        np.testing.assert_allclose(got, row, case.rtol, case.atol, err_msg=f"step {step}")


@pytest.mark.parametrize(("mode", "device"), MODES)
@pytest.mark.parametrize("case", DEFINED)
def test_trajectory_as_defined(case: str, mode: str, device: str) -> None:
    tl.set_default_device(device)
    run = run_of(tl, case, mode)
    starts, _ = PROBLEMS["quadratic"](tl)
    wanted, states = trajectory(case, starts, [run.optimizer.param_groups[0]["lr"]] * 12)
    for step, row in enumerate(wanted, 1):
        run.step()
        np.testing.assert_allclose(run.values(), row, rtol=1e-4, atol=1e-5, err_msg=f"step {step}")
    for p, wanted_state in zip(run.params, states, strict=True):
        kept = run.optimizer.state[p]
        for name, value in wanted_state.items():
            np.testing.assert_allclose(
                kept[name].numpy(), value, rtol=2e-3, atol=1e-6, err_msg=name
            )


def test_muon_follows_its_description() -> None:
    x = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
    y = x.T.astype(np.float64) / np.linalg.norm(x)
    for _ in range(5):
        a = y @ y.T
        y = 3.4445 * y + (-4.775 * a + 2.0315 * a @ a) @ y
    got = orthogonalized(tl.asarray(x), (3.4445, -4.775, 2.0315), 5, 1e-7).numpy()
    np.testing.assert_allclose(got, y.T, rtol=1e-4, atol=1e-5)
    sizes = np.linalg.svd(got, compute_uv=False)
    assert sizes.min() > 0.5 and sizes.max() < 1.5


def test_lion_and_adan_follow_their_papers() -> None:
    (x, _), _ = bowl(tl)
    goal, steps = drawn("target 0", x.shape), 8

    def slope(p: np.ndarray) -> np.ndarray:
        away = p - goal
        return 2 * away + away**3

    def trained(make: Make) -> np.ndarray:
        run = Run(tl, make, bowl)
        run.step(steps)
        return run.params[0].numpy()

    p, mean = x.astype(np.float64), np.zeros_like(x, np.float64)
    for _ in range(steps):
        g = slope(p)
        p = p * (1 - 0.05 * 0.1) - 0.05 * np.sign(0.9 * mean + 0.1 * g)
        mean = 0.99 * mean + 0.01 * g
    got = trained(lambda o, ps: o.Lion(ps, lr=0.05, weight_decay=0.1))
    np.testing.assert_allclose(got, p, rtol=1e-4, atol=1e-5)

    b1, b2, b3, lr, decay = 0.9, 0.8, 0.95, 0.05, 0.1
    p = x.astype(np.float64)
    m, v, n, last = (np.zeros_like(p) for _ in range(4))
    for step in range(1, steps + 1):
        g = slope(p)
        d = g - last if step > 1 else np.zeros_like(g)
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * d
        n, last = b3 * n + (1 - b3) * (g + b2 * d) ** 2, g
        size = np.sqrt(n / (1 - b3**step)) + 1e-8
        ahead = m / (1 - b1**step) + b2 * v / (1 - b2**step)
        p = (p - lr * ahead / size) / (1 + lr * decay)
    got = trained(lambda o, ps: o.Adan(ps, lr=lr, betas=(b1, b2, b3), weight_decay=decay))
    np.testing.assert_allclose(got, p, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.999999])
def test_lengths_of_radam_are_exact(beta: float) -> None:
    optimizer = optim.RAdam([nn.Parameter([1.0])], betas=(0.9, beta))
    group = optimizer.param_groups[0]
    for step in (1, 2, 4, 5, 6, 7, 10, 50, 300, 2000, 10**5, 10**6):
        steps = tl.asarray(float(step))
        known = -tl.expm1(steps * group.log("betas", 1))
        last, now = (float(x.item()) for x in optimizer._lengths(group, steps, known))
        if beta == 0.999999 and step < 10**4:  # where float64 has no digits left for the paper's
            wanted = step - (step * step - 1) * 1e-6 / 6
        else:
            wanted = lengths(beta, step)[1]
        assert last == pytest.approx(lengths(beta, step)[0], rel=1e-5)
        assert now == pytest.approx(wanted, rel=2e-4, abs=1e-5)
        assert abs(wanted - 5) < 1e-5 or (now > 5) == (wanted > 5)


def test_the_mean_of_asgd_begins_at_t0() -> None:
    p = nn.Parameter([0.0])
    optimizer = optim.ASGD([p], lr=1.0, lambd=0.0, t0=2)
    means = []
    for _ in range(6):
        p.grad = tl.asarray([-1.0])
        optimizer.step()
        means.append(optimizer.state[p]["ax"].item())
    np.testing.assert_allclose(p.numpy(), [6.0])
    np.testing.assert_allclose(means, [1.0, 2.0, 3.0, 4.0, 4.5, 5.0])


def test_the_rate_of_rprop_is_that_of_the_first_step() -> None:
    p = nn.Parameter([0.0])
    optimizer = optim.Rprop([p], lr=1.0)
    found = []
    for lr in (0.5, 7.0, 7.0):
        optimizer.param_groups[0]["lr"] = lr
        p.grad = tl.asarray([-1.0])
        optimizer.step()
        found.append(p.item())
    np.testing.assert_allclose(found, [0.5, 1.1, 1.82], rtol=1e-6)


def test_a_line_search_has_25_turns() -> None:
    """As in PyTorch, however few evaluations a step may have."""
    p = nn.Parameter([100.0])
    optimizer = optim.LBFGS([p], lr=1e-3, max_iter=1, max_eval=2, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert optimizer.state[p]["func_evals"] > 4
    assert abs(p.item()) <= 90.0


@pytest.mark.parametrize("device", ["numpy", "wasm"])
@pytest.mark.parametrize("name", ["sgd momentum", "adam", "lbfgs wolfe"])
def test_tensors_that_require_a_gradient_are_optimised_as_parameters_are(name, device) -> None:
    tl.set_default_device(device)
    one, other = (Run(tl, {**OPTIMISERS, **LBFGS}[name], PROBLEMS["quadratic"]) for _ in range(2))
    other.params = [p.detach().requires_grad_() for p in other.params]
    other.optimizer = type(one.optimizer)(other.params, lr=0.05)
    one.optimizer = type(one.optimizer)(one.params, lr=0.05)
    for _ in range(3):
        for run in (one, other):
            run.optimizer.step(run.evaluated)
        np.testing.assert_allclose(one.values(), other.values(), rtol=1e-6)
    assert all(p.requires_grad and p.grad is not None for p in other.params)
    again = type(one.optimizer)(other.params, lr=0.05)
    again.load_state_dict(other.optimizer.state_dict())
    one.optimizer.step(one.evaluated)
    again.step(other.evaluated)
    np.testing.assert_allclose(one.values(), other.values(), rtol=1e-6)


def test_closure_and_parameters_without_gradients() -> None:
    used, unused = nn.Parameter([1.0]), nn.Parameter([2.0])
    optimizer = optim.AdamW([used, unused], lr=0.5)

    def closure() -> tl.Tensor:
        optimizer.zero_grad()
        loss = (used * used).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 1.0
    assert unused.tolist() == [2.0] and used.item() < 1.0
    assert used in optimizer.state and unused not in optimizer.state
    optimizer.zero_grad(set_to_none=False)
    assert used.grad.tolist() == [0.0] and unused.grad is None


def test_a_step_without_gradients_does_nothing() -> None:
    p = nn.Parameter([1.0])
    optim.SGD([p], lr=1.0).step()
    assert p.tolist() == [1.0]


def test_float16_parameters_stay_float16() -> None:
    decayed = [(make, {"weight_decay": 0.1}) for make in (optim.SGD, optim.Adam, optim.Lion)]
    others = (optim.Adadelta, optim.NAdam, optim.RAdam, optim.ASGD, optim.Rprop)
    for make, options in [*decayed, *((make, {}) for make in others)]:
        p = nn.Parameter([1.0, 2.0], dtype="float16")
        optimizer = make([p], lr=0.25, **options)
        for _ in range(2):
            p.grad = tl.ones((2,), "float16")
            optimizer.step()
        assert p.dtype == tl.float16 and p.numpy()[0] < 1.0
