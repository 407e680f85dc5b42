"""Adadelta, NAdam, RAdam, ASGD and Rprop beside PyTorch's definitions: eager and as one plan, with
a schedule, from a state; what they are given and keep."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.optim import lr_scheduler

from .optim_definitions import CASES, lengths, trajectory
from .optim_problems import PROBLEMS
from .test_optim import MODES, Run

STEPS = 12


@pytest.fixture(autouse=True)
def usual_device():
    tl.set_default_device("numpy")
    yield
    tl.set_default_device(None)


def run_of(case: str, mode: str = "eager", starts=None) -> Run:
    name, options = CASES[case]
    return Run(lambda o, p: getattr(o, name)(p, **options), PROBLEMS["quadratic"], mode, starts)


def begun() -> list[np.ndarray]:
    return PROBLEMS["quadratic"](tl)[0]


@pytest.mark.parametrize(("mode", "device"), MODES)
@pytest.mark.parametrize("case", CASES)
def test_trajectory(case: str, mode: str, device: str) -> None:
    tl.set_default_device(device)
    run = run_of(case, mode)
    wanted, states = trajectory(case, begun(), [run.optimizer.param_groups[0]["lr"]] * STEPS)
    for step, row in enumerate(wanted, 1):
        run.step()
        np.testing.assert_allclose(run.values(), row, rtol=1e-4, atol=1e-5, err_msg=f"step {step}")
    for p, wanted_state in zip(run.params, states, strict=True):
        kept = run.optimizer.state[p]
        for name, value in wanted_state.items():
            np.testing.assert_allclose(
                kept[name].numpy(), value, rtol=2e-3, atol=1e-6, err_msg=name
            )


@pytest.mark.parametrize(("mode", "device"), MODES)
@pytest.mark.parametrize("case", ["adadelta", "nadam", "radam", "asgd all", "rprop"])
def test_a_schedule_compiles_nothing_and_takes_effect(case: str, mode: str, device: str) -> None:
    tl.set_default_device(device)
    run = run_of(case, mode)
    scheduler = lr_scheduler.ExponentialLR(run.optimizer, 0.7)
    first = run.optimizer.param_groups[0]["lr"]
    wanted, _ = trajectory(case, begun(), [first * 0.7**n for n in range(STEPS)])
    for row in wanted:
        run.step()
        scheduler.step()
        np.testing.assert_allclose(run.values(), row, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("case", "setting", "value"),
    [("adadelta", "rho", 0.5), ("nadam all", "momentum_decay", 0.5), ("nadam", "betas", (0.5, 0.6)),
     ("radam", "betas", (0.5, 0.9)), ("asgd all", "lambd", 0.5), ("asgd all", "alpha", 2.0),
     ("asgd", "t0", 1.0), ("rprop", "etas", (0.1, 2.0)), ("rprop", "step_sizes", (0.2, 0.3))],
)  # fmt: skip
def test_a_setting_changes_in_a_compiled_step(case: str, setting: str, value) -> None:
    found = []
    for mode in ("eager", "jit"):
        run = run_of(case, mode)
        run.step(2)
        run.optimizer.param_groups[0][setting] = value
        run.step(4)
        found.append(
            [run.values(), *(s.numpy() for s in run.optimizer.state[run.params[0]].values())]
        )
    for eager, jitted in zip(*found, strict=True):
        np.testing.assert_allclose(eager, jitted, rtol=1e-4, atol=1e-5)
    still = run_of(case)
    still.step(6)
    kept = [still.values(), *(s.numpy() for s in still.optimizer.state[still.params[0]].values())]
    assert not all(np.allclose(a, b, rtol=1e-3) for a, b in zip(kept, found[0], strict=True))


@pytest.mark.parametrize("mode", ["eager", "jit"])
@pytest.mark.parametrize("case", CASES)
def test_state_round_trip(case: str, mode: str) -> None:
    one = run_of(case, mode)
    one.step(6)
    other = run_of(case, mode, [p.numpy() for p in one.params])
    other.optimizer.load_state_dict(one.optimizer.state_dict())
    for run in (one, other):
        run.step(3)
    np.testing.assert_array_equal(one.values(), other.values())
    # An empty state is a new beginning, of a compiled step too.
    for p, start in zip(one.params, begun(), strict=True):
        p.assign(start)
    one.optimizer.load_state_dict(run_of(case).optimizer.state_dict())
    fresh = run_of(case, mode)
    for run in (one, fresh):
        run.step(2)
    np.testing.assert_allclose(one.values(), fresh.values(), rtol=1e-5, atol=1e-6)


STATES = {
    "adadelta": {"step", "square_avg", "acc_delta"},
    "nadam": {"step", "mu_product", "exp_avg", "exp_avg_sq"},
    "radam": {"step", "exp_avg", "exp_avg_sq"},
    "asgd": {"step", "eta", "mu", "ax"},
    "rprop": {"step", "prev", "step_size"},
}
"""The names in PyTorch's state_dict."""


@pytest.mark.parametrize("case", STATES)
def test_states_have_pytorchs_names_and_take_its_numbers(case: str) -> None:
    run = run_of(case)
    run.step(3)
    state = run.optimizer.state_dict()
    assert all(set(kept) == STATES[case] for kept in state["state"].values())
    # Older files have numbers in place of tensors, and any file may be of float64.
    for kept in state["state"].values():
        for name, value in kept.items():
            kept[name] = value.item() if value.ndim == 0 else value.numpy().astype(np.float64)
        kept["step"] = int(kept["step"])
    other = run_of(case, starts=[p.numpy() for p in run.params])
    other.optimizer.load_state_dict(state)
    for each in (run, other):
        each.step(2)
    np.testing.assert_allclose(run.values(), other.values(), rtol=1e-6)
    assert {v.dtype for v in other.optimizer.state[other.params[0]].values()} == {tl.float32}


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


def test_float16_parameters_stay_float16() -> None:
    for make in (optim.Adadelta, optim.NAdam, optim.RAdam, optim.ASGD, optim.Rprop):
        p = nn.Parameter([1.0, 2.0], dtype="float16")
        optimizer = make([p], lr=0.25)
        for _ in range(2):
            p.grad = tl.ones((2,), "float16")
            optimizer.step()
        assert p.dtype == tl.float16 and p.numpy()[0] < 1.0


PARAMETERS = {
    "Adadelta": "lr=1.0 rho=0.9 eps=1e-06 weight_decay=0.0 foreach=None | capturable=False "
    "maximize=False differentiable=False",
    "NAdam": "lr=0.002 betas=(0.9,0.999) eps=1e-08 weight_decay=0.0 momentum_decay=0.004 "
    "decoupled_weight_decay=False | foreach=None maximize=False capturable=False "
    "differentiable=False",
    "RAdam": "lr=0.001 betas=(0.9,0.999) eps=1e-08 weight_decay=0.0 decoupled_weight_decay=False | "
    "foreach=None maximize=False capturable=False differentiable=False",
    "ASGD": "lr=0.01 lambd=0.0001 alpha=0.75 t0=1000000.0 weight_decay=0.0 foreach=None "
    "maximize=False differentiable=False capturable=False",
    "Rprop": "lr=0.01 etas=(0.5,1.2) step_sizes=(1e-06,50) | capturable=False foreach=None "
    "maximize=False differentiable=False",
}
"""PyTorch's parameters behind `params`, with their defaults; those after | by name only."""


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_and_defaults(name: str) -> None:
    found: list[str] = []
    for each in list(inspect.signature(getattr(optim, name)).parameters.values())[1:]:
        if each.kind is inspect.Parameter.KEYWORD_ONLY and "|" not in found:
            found.append("|")
        found.append(f"{each.name}={each.default!r}".replace(" ", ""))
    assert " ".join(found) == PARAMETERS[name]
    own = getattr(optim, name)([nn.Parameter([1.0])])
    assert set(own.defaults) == {text.partition("=")[0] for text in found} - {"|"}
    assert name in optim.__all__


@pytest.mark.parametrize(
    ("name", "options", "what"),
    [(name, {"lr": -1.0}, "lr") for name in PARAMETERS]
    + [(name, {"differentiable": True}, "differentiable") for name in PARAMETERS]
    + [(name, {"weight_decay": -1.0}, "weight_decay") for name in PARAMETERS if name != "Rprop"]
    + [("Adadelta", {"rho": 1.1}, "rho"), ("Adadelta", {"eps": -1.0}, "eps"),
       ("NAdam", {"betas": (1.0, 0.9)}, "beta1"), ("NAdam", {"momentum_decay": -1.0}, "momentum"),
       ("RAdam", {"betas": (0.9, 1.0)}, "beta2"), ("RAdam", {"eps": -1.0}, "eps"),
       ("Rprop", {"etas": (0.0, 1.2)}, "etas"), ("Rprop", {"etas": (0.5, 1.0)}, "etas")],
)  # fmt: skip
def test_bad_settings(name: str, options: dict, what: str) -> None:
    with pytest.raises(tl.OptionError, match=what):
        getattr(optim, name)([nn.Parameter([1.0])], **options)
