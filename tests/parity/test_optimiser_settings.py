"""What optimisers are given: parameters, groups and settings, also those that change in a compiled
step; what is wrong with them."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.errors import ArgumentError
from tallow.optim import lr_scheduler

from .cases.optimisers import OPTIMISERS
from .optimiser_definitions import run_of
from .training import PROBLEMS, Run

pytestmark = pytest.mark.usefixtures("usual_device")


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [("sgd", "lr", 1), ("sgd momentum", "momentum", 0), ("sgd decay", "weight_decay", 0.5),
     ("sgd dampening", "dampening", 0.1), ("adam", "betas", (0.5, 0.6)), ("adam", "lr", 2),
     ("adamw", "weight_decay", 0.0), ("adagrad all", "lr_decay", 0.4), ("rmsprop", "alpha", 0.5),
     ("rmsprop momentum", "momentum", 0.1)],
)  # fmt: skip
def test_a_setting_changes_in_a_compiled_step(name: str, setting: str, value) -> None:
    found = []
    for mode in ("eager", "jit"):
        run = Run(tl, OPTIMISERS[name], PROBLEMS["network"], mode)
        run.step(2)
        run.optimizer.param_groups[0][setting] = value
        assert run.optimizer.param_groups[0][setting] == value
        run.step(3, plans=1 if value else 2)  # without what a setting of 0 leaves out
        found.append(run.values())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("case", "setting", "value"),
    [("adadelta", "rho", 0.5), ("nadam all", "momentum_decay", 0.5), ("nadam", "betas", (0.5, 0.6)),
     ("radam", "betas", (0.5, 0.9)), ("asgd all", "lambd", 0.5), ("asgd all", "alpha", 2.0),
     ("asgd", "t0", 1.0), ("rprop", "etas", (0.1, 2.0)), ("rprop", "step_sizes", (0.2, 0.3))],
)  # fmt: skip
def test_a_setting_changes_what_a_compiled_step_keeps(case: str, setting: str, value) -> None:
    found = []
    for mode in ("eager", "jit"):
        run = run_of(tl, case, mode)
        run.step(2)
        run.optimizer.param_groups[0][setting] = value
        run.step(4)
        found.append(
            [run.values(), *(s.numpy() for s in run.optimizer.state[run.params[0]].values())]
        )
    for eager, jitted in zip(*found, strict=True):
        np.testing.assert_allclose(eager, jitted, rtol=1e-4, atol=1e-5)
    still = run_of(tl, case)
    still.step(6)
    kept = [still.values(), *(s.numpy() for s in still.optimizer.state[still.params[0]].values())]
    assert not all(np.allclose(a, b, rtol=1e-3) for a, b in zip(kept, found[0], strict=True))


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [("adam", "eps", 1e-2), ("adam", "amsgrad", True), ("adam", "maximize", True),
     ("adam", "weight_decay", 0.5), ("sgd momentum", "nesterov", True), ("sgd", "momentum", 0.9)],
)  # fmt: skip
def test_a_constant_of_a_compiled_step_changes(name: str, setting: str, value) -> None:
    found = []
    for mode in ("eager", "jit"):
        run = Run(tl, OPTIMISERS[name], PROBLEMS["network"], mode)
        (group,) = run.optimizer.param_groups
        before = group[setting]
        run.step(2)
        group[setting] = value
        run.step(3, plans=2)
        group[setting] = before
        run.step(2, plans=2)  # with the first plan
        found.append(run.values())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-5)


def test_a_setting_on_the_device_is_not_set_within_a_compiled_step() -> None:
    run = Run(tl, OPTIMISERS["adam"], PROBLEMS["quadratic"], "jit")
    group = run.optimizer.param_groups[0]
    run.step()
    with pytest.raises(tl.OptionError, match="outside"):
        tl.jit(lambda: lr_scheduler.ExponentialLR(run.optimizer, 0.5).step())()
    assert group["lr"] == 0.05


def test_what_groups_may_be() -> None:
    p, q = nn.Parameter([1.0]), nn.Parameter([2.0])
    for given, message in (
        ({p, q}, "a set"), ([{"params": {p}}], "a set"), ([("p", p), q], "all without"),
        ([q, ("p", p)], "all without"),
        ([{"params": [("p", p)]}, {"params": [q]}], "all without"),
    ):  # fmt: skip
        with pytest.raises(tl.OptionError, match=message):
            optim.SGD(given, lr=0.1)
    optimizer = optim.SGD([("p", p)], lr=tl.asarray(0.5))
    optimizer.add_param_group({"params": [q], "param_names": ["q"], "lr": 0.1})
    assert [group["param_names"] for group in optimizer.param_groups] == [["p"], ["q"]]
    assert optimizer.param_groups[0]["lr"] == 0.5
    with pytest.raises(tl.ShapeError):
        optim.SGD([p], lr=tl.asarray([0.5, 0.5]))


def test_what_an_optimiser_cannot_change() -> None:
    x = tl.asarray([1.0, 2.0], requires_grad=True)
    for given, message in (
        ([x, x], "twice"), ([x * 2], "computed from other tensors"), ([2.0], "not float"),
        ([x.detach()], "requires no gradient"), ([{"lr": 0.1}], "under 'params'"),
    ):  # fmt: skip
        with pytest.raises(tl.OptionError, match=message):
            optim.SGD(given, lr=0.1)
    optimizer = optim.SGD([x], lr=0.1)
    with pytest.raises(tl.OptionError, match="twice"):
        optimizer.add_param_group({"params": x})

    @tl.jit
    def step() -> None:
        (x * x).sum().backward()
        optimizer.step()

    with pytest.raises(tl.OptionError, match=r"nn\.Parameter"):
        step()
    assert x.tolist() == [1.0, 2.0]


def test_signatures_have_names() -> None:
    for make in (optim.SGD, optim.Adam, optim.AdamW, optim.LBFGS, optim.Muon, optim.RMSprop):
        kinds = {each.kind for each in inspect.signature(make).parameters.values()}
        assert not kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


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


def test_bad_input() -> None:
    p = nn.Parameter([1.0])
    with pytest.raises(ArgumentError, match="list"):
        optim.SGD(p)
    for make, what in [
        (lambda: optim.SGD([]), "no parameters"),
        (lambda: optim.SGD([p, p]), "twice"),
        (lambda: optim.SGD([tl.asarray([1.0])]), "requires no gradient"),
        (lambda: optim.SGD([p], nesterov=True), "nesterov"),
        (lambda: optim.Adam([p], lr=-1.0), "lr must be"),
        (lambda: optim.Adam([p], betas=(1.0, 0.9)), "beta1"),
        (lambda: optim.Adam([p], differentiable=True), "differentiable"),
        (lambda: optim.Adagrad([p], initial_accumulator_value=-1.0), "initial_accumulator_value"),
        (lambda: optim.Muon([p]), "matrices"),
        (lambda: optim.Muon([nn.Parameter([[1.0]])], adjust_lr_fn="x"), "adjust_lr_fn"),
        (lambda: optim.LBFGS([p], line_search_fn="x"), "line_search_fn"),
        (lambda: optim.LBFGS([{"params": [p]}, {"params": [nn.Parameter([1.0])]}]), "one group"),
    ]:
        with pytest.raises(tl.OptionError, match=what):
            make()


def test_a_step_is_computed_in_one_way() -> None:
    with pytest.raises(tl.OptionError, match="exclude each other"):
        optim.Adam([nn.Parameter([1.0])], fused=True, foreach=True)
