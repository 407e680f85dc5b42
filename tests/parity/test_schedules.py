"""Schedules beside PyTorch's rates, and in trainings, eager and as one plan."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.optim import lr_scheduler

from .cases.optimisers import OPTIMISERS
from .cases.schedules import PLATEAUS, RATES, SCHEDULES
from .optimiser_definitions import run_of, trajectory
from .run import recorded
from .training import MODES, PROBLEMS, Rates, Run, first_rates, two_groups

pytestmark = pytest.mark.usefixtures("usual_device")


@pytest.mark.parametrize("case", RATES, ids=lambda case: case.name)
def test_rates(case: Rates) -> None:
    got = case.answers(tl)["rates"]
    wanted = recorded("schedules")[case.name]["rates"]
    np.testing.assert_allclose(got, wanted, case.rtol, case.atol)


def test_noam_rises_then_falls() -> None:
    optimizer = optim.Adam([nn.Parameter([0.0])], lr=1.0)
    got = first_rates(lr_scheduler.NoamLR(optimizer, 64, 5), optimizer)
    steps = np.arange(1, len(got) + 1)
    np.testing.assert_allclose(got, 64**-0.5 * np.minimum(steps**-0.5, steps * 5**-1.5))


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_goes_on_from_its_state(name: str) -> None:
    first, second = (two_groups(tl, "SGD") for _ in range(2))
    one = SCHEDULES[name](lr_scheduler, first)
    for _ in range(5):
        one.step()
    other = SCHEDULES[name](lr_scheduler, second)
    other.load_state_dict(one.state_dict())
    second.load_state_dict(first.state_dict())
    for _ in range(5):
        one.step()
        other.step()
        assert other.get_last_lr() == one.get_last_lr()


def test_plateau_takes_tensors_goes_on_and_says_what_is_wrong() -> None:
    make = PLATEAUS["min"]
    first, second = (two_groups(tl, "SGD") for _ in range(2))
    one, other = make(lr_scheduler, first), make(lr_scheduler, second)
    for measure in (1.0, 0.5, 0.6, 0.7):
        one.step(tl.asarray(measure))
    other.load_state_dict(one.state_dict())
    second.load_state_dict(first.state_dict())
    for _ in range(4):
        one.step(0.6)
        other.step(0.6)
        assert other.get_last_lr() == one.get_last_lr()
    assert one.get_last_lr()[0] == 0.25
    with pytest.raises(tl.OptionError, match="needs the measure"):
        one.step()
    for options in ({"factor": 1.0}, {"mode": "low"}, {"threshold_mode": "x"}, {"min_lr": [0.1]}):
        with pytest.raises(tl.OptionError, match="ReduceLROnPlateau"):
            lr_scheduler.ReduceLROnPlateau(first, **options)
    first.add_param_group({"params": [nn.Parameter(np.zeros(2, np.float32))]})
    for _ in range(5):
        one.step(0.7)
    assert one.get_last_lr() == pytest.approx([0.0625, 0.025, 0.125])


def test_restarts_at_fractions_of_an_epoch() -> None:
    optimizer = two_groups(tl, "SGD")
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2, 2)
    found = {}
    for epoch in (0, 1, 1.5, 2, 4, 6, 14):
        schedule.step(epoch)
        found[epoch] = schedule.get_last_lr()[0]
    half = 0.25 * (1 + np.cos(np.pi * 0.75))
    assert found == pytest.approx({0: 0.5, 1: 0.25, 1.5: half, 2: 0.5, 4: 0.25, 6: 0.5, 14: 0.5})
    schedule.step(1.5)
    schedule.step()
    assert schedule.get_last_lr()[0] == pytest.approx(0.25 * (1 + np.cos(np.pi / 8)))
    with pytest.raises(tl.OptionError, match="no step -1"):
        schedule.step(-1)
    for options in ({"T_0": 0}, {"T_0": 2, "T_mult": 1.5}):
        with pytest.raises(tl.OptionError, match="whole number"):
            lr_scheduler.CosineAnnealingWarmRestarts(optimizer, **options)


@pytest.mark.parametrize("device", ["numpy", "wasm"])
@pytest.mark.parametrize("name", ["sgd momentum", "adam", "adamw", "rmsprop momentum"])
def test_schedules_compile_nothing_and_take_effect(name: str, device: str) -> None:
    tl.set_default_device(device)
    found = []
    for mode in ("eager", "jit"):
        run = Run(tl, OPTIMISERS[name], PROBLEMS["quadratic"], mode)
        scheduler = lr_scheduler.OneCycleLR(run.optimizer, 0.2, total_steps=12)
        for _ in range(10):
            run.step()
            scheduler.step()
        found.append(run.values())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-6)
    plain = Run(tl, OPTIMISERS[name], PROBLEMS["quadratic"])
    plain.step(10)
    assert not np.allclose(plain.values(), found[0], rtol=1e-2)


@pytest.mark.parametrize(("mode", "device"), MODES)
@pytest.mark.parametrize("case", ["adadelta", "nadam", "radam", "asgd all", "rprop"])
def test_a_schedule_of_an_optimiser_as_defined(case: str, mode: str, device: str) -> None:
    tl.set_default_device(device)
    run = run_of(tl, case, mode)
    scheduler = lr_scheduler.ExponentialLR(run.optimizer, 0.7)
    first = run.optimizer.param_groups[0]["lr"]
    starts, _ = PROBLEMS["quadratic"](tl)
    wanted, _ = trajectory(case, starts, [first * 0.7**n for n in range(12)])
    for row in wanted:
        run.step()
        scheduler.step()
        np.testing.assert_allclose(run.values(), row, rtol=1e-4, atol=1e-5)
