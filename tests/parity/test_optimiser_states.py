"""The state_dict of optimisers: they go on from it; it has PyTorch's names and takes its numbers;
what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim

from .cases.optimisers import LBFGS, OPTIMISERS
from .one_parameter import Counting, stepping
from .optimiser_definitions import DEFINED, make_of, run_of
from .training import PROBLEMS, Run, bowl

pytestmark = pytest.mark.usefixtures("usual_device")


@pytest.mark.parametrize("mode", ["eager", "jit"])
@pytest.mark.parametrize("name", [*OPTIMISERS, *DEFINED])
def test_state_round_trip(name: str, mode: str) -> None:
    make = OPTIMISERS.get(name) or make_of(name)
    one = Run(tl, make, PROBLEMS["quadratic"], mode)
    one.step(6 if name in DEFINED else 3)
    state = one.optimizer.state_dict()
    assert set(state) == {"state", "param_groups"}
    numbers = [n for group in state["param_groups"] for n in group["params"]]
    assert numbers == [0, 1] and set(state["state"]) <= {0, 1}
    other = Run(tl, make, PROBLEMS["quadratic"], mode, [p.numpy() for p in one.params])
    other.optimizer.load_state_dict(state)
    for run in (one, other):
        run.step(3)
    np.testing.assert_array_equal(one.values(), other.values())
    # A compiled step goes on from what is loaded later, too.
    for p, start in zip(one.params, PROBLEMS["quadratic"](tl)[0], strict=True):
        p.assign(start)
    empty = Run(tl, make, PROBLEMS["quadratic"]).optimizer.state_dict()
    one.optimizer.load_state_dict(empty)
    one.step(2)
    fresh = Run(tl, make, PROBLEMS["quadratic"], mode)
    fresh.step(2)
    np.testing.assert_allclose(one.values(), fresh.values(), rtol=1e-5, atol=1e-6)


def test_settings_come_from_the_state() -> None:
    run = Run(tl, lambda o, p: o.Adam(p, lr=0.1), bowl)
    run.step(3)
    starts = [p.numpy() for p in run.params]
    other = Run(tl, lambda o, p: o.Adam(p, lr=0.5), bowl, starts=starts)
    other.optimizer.load_state_dict(run.optimizer.state_dict())
    assert other.optimizer.param_groups[0]["lr"] == 0.1
    for each in (run, other):
        each.step(2)
    np.testing.assert_allclose(run.values(), other.values(), rtol=1e-6)


@pytest.mark.parametrize("name", ["adam", "sgd momentum", "adagrad all"])
def test_an_empty_state_is_a_new_beginning(name: str) -> None:
    used, fresh, wanted = (Run(tl, OPTIMISERS[name], PROBLEMS["quadratic"]) for _ in range(3))
    empty = wanted.optimizer.state_dict()
    used.step(3)
    for steps in (0, 1):
        fresh.optimizer.load_state_dict(used.optimizer.state_dict())
        fresh.step(steps)
        fresh.optimizer.load_state_dict(empty)
        for p, start in zip(fresh.params, PROBLEMS["quadratic"](tl)[0], strict=True):
            p.assign(start)
        again = Run(tl, OPTIMISERS[name], PROBLEMS["quadratic"])
        for run in (fresh, again):
            run.step(2)
        np.testing.assert_allclose(fresh.values(), again.values(), rtol=1e-6)
        fresh = Run(tl, OPTIMISERS[name], PROBLEMS["quadratic"])


def test_lbfgs_goes_on_from_a_state_and_says_what_it_needs() -> None:
    make = LBFGS["lbfgs"]
    one = Run(tl, make, PROBLEMS["quadratic"])
    one.optimizer.step(one.evaluated)
    other = Run(tl, make, PROBLEMS["quadratic"], starts=[p.numpy() for p in one.params])
    other.optimizer.load_state_dict(one.optimizer.state_dict())
    for run in (one, other):
        run.optimizer.step(run.evaluated)
    np.testing.assert_array_equal(one.values(), other.values())
    with pytest.raises(tl.OptionError, match="closure"):
        one.optimizer.step()
    with pytest.raises(tl.OptionError, match=r"@tl\.jit"):
        tl.jit(lambda: one.optimizer.step(one.evaluated))()


def test_an_optimiser_of_ones_own_goes_on_from_a_state() -> None:
    p, one = stepping(Counting)
    for _ in range(2):
        one.step()
    q, other = stepping(Counting)
    q.assign(p.numpy())
    other.load_state_dict(one.state_dict())
    assert other.state[q]["times"] == 2
    assert other.state[q]["mean"] is not one.state[p]["mean"]
    for optimizer in (one, other):
        optimizer.step()
    assert p.item() == q.item() and other.state[q]["times"] == 3


def test_states_of_pytorch() -> None:
    """As torch.save keeps them: no steps of SGD, an integer of them in old files."""
    run = Run(tl, OPTIMISERS["sgd dampening"], PROBLEMS["quadratic"])
    run.step(4)
    state = run.optimizer.state_dict()
    for own in state["state"].values():
        del own["step"]
    other = Run(tl, OPTIMISERS["sgd dampening"], PROBLEMS["quadratic"],
                starts=[p.numpy() for p in run.params])  # fmt: skip
    other.optimizer.load_state_dict(state)
    run.step()
    other.step()
    np.testing.assert_allclose(run.values(), other.values(), rtol=1e-6)
    adam = Run(tl, OPTIMISERS["adam"], PROBLEMS["quadratic"])
    zeros = [np.zeros(p.shape, np.float32) for p in adam.params]
    moments = {n: {"step": 7, "exp_avg": z, "exp_avg_sq": z} for n, z in enumerate(zeros)}
    groups = [{"params": [0, 1], "lr": 1, "betas": [0.8, 0.9], "foreach": None}]
    adam.optimizer.load_state_dict({"state": moments, "param_groups": groups})
    assert adam.optimizer.state[adam.params[0]]["step"].item() == 7.0
    adam.step()
    assert adam.optimizer.state[adam.params[0]]["step"].item() == 8.0


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
    run = run_of(tl, case)
    run.step(3)
    state = run.optimizer.state_dict()
    assert all(set(kept) == STATES[case] for kept in state["state"].values())
    # Older files have numbers in place of tensors, and any file may be of float64.
    for kept in state["state"].values():
        for name, value in kept.items():
            kept[name] = value.item() if value.ndim == 0 else value.numpy().astype(np.float64)
        kept["step"] = int(kept["step"])
    other = run_of(tl, case, starts=[p.numpy() for p in run.params])
    other.optimizer.load_state_dict(state)
    for each in (run, other):
        each.step(2)
    np.testing.assert_allclose(run.values(), other.values(), rtol=1e-6)
    assert {v.dtype for v in other.optimizer.state[other.params[0]].values()} == {tl.float32}


def test_states_become_of_the_parameters_type() -> None:
    p, optimizer = stepping(optim.Adam)
    moments = {"step": 3, "exp_avg": np.ones(1), "exp_avg_sq": np.ones(1, np.float16)}
    groups = [{"params": [0], "lr": 0.5}]
    optimizer.load_state_dict({"state": {0: moments}, "param_groups": groups})
    assert {value.dtype for value in optimizer.state[p].values()} == {tl.float32}
    optimizer.step()
    half = nn.Parameter([1.0], dtype="float16")
    optimizer = optim.Adam([half])
    optimizer.load_state_dict({"state": {0: moments}, "param_groups": groups})
    kinds = {name: value.dtype for name, value in optimizer.state[half].items()}
    assert kinds == {"step": tl.float32, "exp_avg": tl.float16, "exp_avg_sq": tl.float16}


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    run = Run(tl, OPTIMISERS["adam"], PROBLEMS["quadratic"])
    run.step(2)
    optimizer = run.optimizer

    def state() -> dict:
        return {**optimizer.state_dict(), "param_groups": [{"params": [0, 1], "lr": 9.0}]}

    other = state()
    other["state"][1]["exp_avg"] = tl.zeros((9, 9))
    unknown = state()
    unknown["state"][7] = {}
    for given, message in (
        (other, r"'exp_avg' of parameter 1 has the shape \(9, 9\)"), (unknown, "7, which is in no"),
        ({}, "with 'state' and 'param_groups'"), ([1], "not \\[1\\]"),
    ):  # fmt: skip
        for each in (optimizer, OPTIMISERS["adam"](optim, run.params)):
            before = each.state_dict()
            with pytest.raises(tl.OptionError, match=message):
                each.load_state_dict(given)
            after = each.state_dict()
            assert after["param_groups"] == before["param_groups"]
            for own, kept in zip(after["state"].values(), before["state"].values(), strict=True):
                assert all((own[name] == kept[name]).all() for name in kept)
    optimizer.param_groups[0].update(lr=0.5)
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_groups_of_a_state_that_do_not_fit() -> None:
    optimizer = stepping()[1]
    for groups, message in (
        ([], r"groups of \[\] parameters; this optimiser has \[1\]"),
        ([{"params": [0]}, {"params": [1]}], r"groups of \[1, 1\]"),
        ([{"params": [0, 1]}], r"groups of \[2\]"), ([{"lr": 0.1}], "with 'params'"),
    ):  # fmt: skip
        with pytest.raises(tl.OptionError, match=message):
            optimizer.load_state_dict({"state": {}, "param_groups": groups})
