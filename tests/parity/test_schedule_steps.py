"""What schedules do beyond their rates: steps by number, going on with last_epoch, one after the
other, of one's own; what they keep, and what is deprecated."""

from __future__ import annotations

import math
import warnings

import pytest

import tallow as tl
from tallow import nn, optim
from tallow.errors import ArgumentError
from tallow.optim import lr_scheduler as s


def optimizer_of(*rates: float, **options) -> optim.SGD:
    groups = [{"params": [nn.Parameter([0.0])], "lr": rate, **options} for rate in rates or (0.5,)]
    return optim.SGD(groups, lr=1.0)


def rates(schedule, count: int) -> list[float]:
    """The rate of the first group now and after each step."""
    found = [schedule.get_last_lr()[0]]
    for _ in range(count):
        schedule.step()
        found.append(schedule.get_last_lr()[0])
    return found


CLOSED = {
    "step": lambda o, **k: s.StepLR(o, 3, 0.5, **k),
    "multi": lambda o, **k: s.MultiStepLR(o, [5, 2, 5], 0.3, **k),
    "constant": lambda o, **k: s.ConstantLR(o, 0.25, 4, **k),
    "linear": lambda o, **k: s.LinearLR(o, 0.25, 0.75, 6, **k),
    "exponential": lambda o, **k: s.ExponentialLR(o, 0.9, **k),
    "polynomial": lambda o, **k: s.PolynomialLR(o, 6, 2.0, **k),
    "cosine": lambda o, **k: s.CosineAnnealingLR(o, 12, 0.01, **k),
    "lambda": lambda o, **k: s.LambdaLR(o, lambda n: 1 / (n + 1), **k),
}
"""Schedules whose rates can be told from the number of a step."""

CHAINED = {**CLOSED, "multiplicative": lambda o, **k: s.MultiplicativeLR(o, lambda n: 0.9, **k)}


@pytest.mark.parametrize("name", CLOSED)
def test_a_step_by_number(name: str) -> None:
    wanted = rates(CLOSED[name](optimizer_of(0.5, 0.2)), 10)
    schedule = CLOSED[name](optimizer_of(0.5, 0.2))
    for epoch in (3, 1, 8, 0, 10, 4):
        with pytest.warns(UserWarning, match=r"step\(epoch\) is deprecated"):
            schedule.step(epoch)
        assert schedule.last_epoch == epoch
        assert schedule.get_last_lr()[0] == pytest.approx(wanted[epoch], rel=1e-12)
    schedule.step()
    assert schedule.get_last_lr()[0] == pytest.approx(wanted[5], rel=1e-12)


def test_a_step_by_number_without_a_closed_form() -> None:
    schedule = s.MultiplicativeLR(optimizer_of(), lambda n: 0.5)
    with pytest.warns(UserWarning, match="deprecated"):
        schedule.step(7)
    assert (schedule.last_epoch, schedule.get_last_lr()) == (7, [0.25])


@pytest.mark.parametrize("name", CHAINED)
def test_it_goes_on_with_last_epoch(name: str) -> None:
    """An optimiser that has loaded its state has the rate of the step already."""
    done = 5 if name == "constant" else 4
    first, second = optimizer_of(0.5, 0.2), optimizer_of(1.0, 1.0)
    one = CHAINED[name](first)
    rates(one, done)
    second.load_state_dict(first.state_dict())
    other = CHAINED[name](second, last_epoch=one.last_epoch - 1)
    assert other.base_lrs == [0.5, 0.2] and other.last_epoch == done
    assert rates(other, 6) == pytest.approx(rates(one, 6), rel=1e-12)


def test_steps_at_which_a_rate_changes_count_again_when_going_on() -> None:
    """As in PyTorch."""
    for make in (
        lambda o: s.StepLR(o, 4, 0.5, last_epoch=3),
        lambda o: s.MultiStepLR(o, [4], 0.5, last_epoch=3),
        lambda o: s.ConstantLR(o, 0.5, 4, last_epoch=3),
    ):
        schedule = make(optimizer_of(0.5, initial_lr=1.0))
        assert schedule.get_last_lr() == [1.0 if isinstance(schedule, s.ConstantLR) else 0.25]


def test_going_on_needs_the_first_rate() -> None:
    with pytest.raises(tl.OptionError, match="initial_lr"):
        s.CosineAnnealingLR(optimizer_of(), 10, last_epoch=3)
    optimizer = optimizer_of(0.3, initial_lr=0.5)
    schedule = s.CosineAnnealingLR(optimizer, 10, last_epoch=3)
    assert schedule.get_last_lr() == [0.3]  # as it is
    schedule.step()
    share = (1 + math.cos(math.pi * 0.5)) / (1 + math.cos(math.pi * 0.4))
    assert schedule.get_last_lr()[0] == pytest.approx(0.3 * share)
    # Without last_epoch, another schedule begins at the first rate of all.
    assert s.LambdaLR(optimizer, lambda n: 1.0).base_lrs == [0.5]


def test_the_last_rates_are_those_that_a_step_has_set() -> None:
    optimizer = optimizer_of(0.5, 0.2)
    schedules = [
        s.ExponentialLR(optimizer, 0.5), s.CosineAnnealingWarmRestarts(optimizer, 4),
        s.ChainedScheduler([s.ExponentialLR(optimizer, 0.5)]),
        s.SequentialLR(optimizer, [s.ExponentialLR(optimizer, 0.5)], []),
        s.ReduceLROnPlateau(optimizer),
    ]  # fmt: skip
    for schedule in schedules:
        schedule.step(*[1.0] * isinstance(schedule, s.ReduceLROnPlateau))
        found = [group["lr"] for group in optimizer.param_groups]
        assert schedule.get_last_lr() == schedule._last_lr == found
        assert schedule.state_dict()["_last_lr"] == found
        for group in optimizer.param_groups:
            group["lr"] = 0.1
        assert schedule.get_last_lr() == found
        assert isinstance(schedule, s.LRScheduler)


def test_a_schedule_that_multiplies_begins_at_the_rate_that_there_is() -> None:
    optimizer = optimizer_of(1.0)
    parts = [s.ConstantLR(optimizer, 0.5, 10), s.MultiplicativeLR(optimizer, lambda n: 0.1)]
    schedule = s.SequentialLR(optimizer, parts, [2])
    assert rates(schedule, 4) == pytest.approx([0.5, 0.5, 0.05, 0.005, 0.0005])


def test_schedules_within_schedules() -> None:
    def both(o):
        return s.ChainedScheduler([s.LinearLR(o, 0.5, total_iters=2), s.ExponentialLR(o, 0.9)])

    alone = [0.5, 0.675, 0.81, 0.729]
    assert rates(both(optimizer_of(1.0)), 3) == pytest.approx(alone)
    o = optimizer_of(1.0)
    first = s.SequentialLR(o, [both(o), s.ConstantLR(o, 0.25, 9)], [3])
    assert rates(first, 4) == pytest.approx([*alone[:3], 0.25, 0.25])
    o = optimizer_of(1.0)
    second = s.SequentialLR(o, [s.ConstantLR(o, 0.25, 9), both(o)], [2])
    assert rates(second, 5) == pytest.approx([0.25, 0.25, *alone])
    o = optimizer_of(1.0)
    inner = s.SequentialLR(o, [s.ConstantLR(o, 0.1, 9), s.ExponentialLR(o, 0.5)], [2])
    nested = s.SequentialLR(o, [inner, s.StepLR(o, 1, 0.2)], [4])
    assert rates(nested, 5) == pytest.approx([0.1, 0.1, 1.0, 0.5, 1.0, 0.2])
    o = optimizer_of(1.0)
    inner = s.SequentialLR(o, [s.ConstantLR(o, 0.1, 9), s.ExponentialLR(o, 0.5)], [2])
    nested = s.SequentialLR(o, [s.StepLR(o, 1, 0.2), inner], [2])
    wanted = [1.0, 0.2, 0.1, 0.1, 1.0, 0.5]
    assert rates(nested, 5) == pytest.approx(wanted)
    o = optimizer_of(1.0)
    inner = s.SequentialLR(o, [s.ConstantLR(o, 0.1, 9), s.ExponentialLR(o, 0.5)], [2])
    again = s.SequentialLR(o, [s.StepLR(o, 1, 0.2), inner], [2])
    nested.optimizer.param_groups[0]["lr"] = 0.2
    again.step()
    state = again.state_dict()
    o = optimizer_of(1.0)
    inner = s.SequentialLR(o, [s.ConstantLR(o, 0.1, 9), s.ExponentialLR(o, 0.5)], [2])
    other = s.SequentialLR(o, [s.StepLR(o, 1, 0.2), inner], [2])
    other.load_state_dict(state)
    assert rates(other, 4) == pytest.approx(wanted[1:])


class Warmup(s._LRScheduler):
    """As many programs have one, after those of PyTorch 1."""

    def __init__(self, optimizer, warmup, last_epoch=-1, verbose=False) -> None:
        self.warmup = warmup
        super().__init__(optimizer, last_epoch, verbose or None)

    def get_lr(self):
        if not self._get_lr_called_within_step:
            warnings.warn("use get_last_lr()", UserWarning, stacklevel=2)
        return [base * min(1.0, (self.last_epoch + 1) / self.warmup) for base in self.base_lrs]


def test_a_schedule_of_ones_own() -> None:
    schedule = Warmup(optimizer_of(1.0), 4)
    assert rates(schedule, 4) == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert schedule._step_count == 5
    with pytest.warns(UserWarning, match="get_last_lr"):
        schedule.get_lr()
    state = schedule.state_dict()
    assert state["warmup"] == 4 and "optimizer" not in state
    other = Warmup(optimizer_of(1.0), 2)
    other.load_state_dict(state)
    assert (other.warmup, other.last_epoch) == (4, 4)
    with pytest.raises(tl.OptionError, match=r"define get_lr\(\)"):
        type("Nothing", (s.LRScheduler,), {})(optimizer_of())


class Halving:
    """A function with a state."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, step: int) -> float:
        self.calls += 1
        return 0.5**self.calls


def test_functions_that_are_objects_keep_their_state() -> None:
    one = s.LambdaLR(optimizer_of(1.0, 1.0), [Halving(), lambda n: 1.0])
    assert rates(one, 2) == [0.5, 0.25, 0.125]
    state = one.state_dict()
    assert state["lr_lambdas"] == [{"calls": 3}, None]
    other = s.LambdaLR(optimizer_of(1.0, 1.0), [Halving(), lambda n: 1.0])
    other.load_state_dict(state)
    other.step()
    assert other.get_last_lr() == [0.0625, 1.0]


def test_verbose_is_deprecated() -> None:
    o = optimizer_of(momentum=0.9)
    for make in (
        lambda: s.StepLR(o, 1, verbose=True), lambda: s.ReduceLROnPlateau(o, verbose=False),
        lambda: s.CosineAnnealingLR(o, 5, 0.0, -1, True),
        lambda: s.CyclicLR(o, 0.1, 1, verbose=True),
        lambda: s.OneCycleLR(o, 1.0, 5, verbose=True), lambda: s.LambdaLR(o, abs, verbose=True),
    ):  # fmt: skip
        with pytest.warns(UserWarning, match="verbose is deprecated"):
            make()
    with pytest.warns(UserWarning, match=r"step\(epoch\) is deprecated"):
        plateau = s.ReduceLROnPlateau(o, patience=0, factor=0.5)
        plateau.step(1.0, 6)
    assert plateau.last_epoch == 6
    plateau._reset()
    assert plateau.best == plateau.mode_worse == math.inf


def test_cycles_that_go_on_or_have_no_fall() -> None:
    one = s.CyclicLR(optimizer_of(), 0.1, 0.5, 4, 0, cycle_momentum=False)
    assert rates(one, 5) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.1, 0.2])
    optimizer = optimizer_of(0.3, initial_lr=0.9)
    going = s.CyclicLR(optimizer, 0.1, 0.5, 4, cycle_momentum=False, last_epoch=2)
    going.step()
    assert going.get_last_lr() == pytest.approx([0.5])
    # A rise of one step, so that PyTorch divides by 0.
    short = s.OneCycleLR(optimizer_of(), 1.0, 10, pct_start=0.1, cycle_momentum=False)
    assert rates(short, 9)[0] == 1.0


def test_bad_input() -> None:
    o, other = optimizer_of(), optimizer_of()
    step = s.StepLR(o, 1)
    for make, what in (
        (lambda: s.LambdaLR([1], abs), "not an optimiser"),
        (lambda: s.LambdaLR(o, [abs, abs]), "list of 1"),
        (lambda: s.MultiplicativeLR(o, [3]), "needs a function"),  # type: ignore[list-item]
        (lambda: s.SequentialLR(o, [], []), "no schedules"),
        (lambda: s.SequentialLR(o, [step], [1]), "milestones"),
        (lambda: s.SequentialLR(other, [step], []), "another optimiser"),
        (lambda: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []), "measure"),
        (lambda: s.ChainedScheduler([]), "no schedules"),
        (lambda: s.ChainedScheduler([step], other), "another optimiser"),
        (lambda: s.ChainedScheduler([s.ReduceLROnPlateau(o)]), "measure"),
        (lambda: s.ChainedScheduler([step]).load_state_dict({"_schedulers": []}), "0 schedules"),
        (lambda: s.OneCycleLR(o, 1.0, 2.5), "whole number"),
        (lambda: s.OneCycleLR(o, [1.0, 2.0], 5), "2 of max_lr for 1 groups"),
        (lambda: s.ReduceLROnPlateau([1]), "not an optimiser"),
        (lambda: s.StepLR(nn.Parameter([1.0]), 1), "not an optimiser"),
        (lambda: s.StepLR(o, 0), "step_size 0"),
        (lambda: s.StepLR(optimizer_of(), 1, last_epoch=3), "initial_lr"),
        (lambda: s.OneCycleLR(optim.Adagrad([nn.Parameter([1.0])]), 1.0, 5), "cycle_momentum"),
        (lambda: s.OneCycleLR(o, 1.0), "total_steps"),
    ):
        with pytest.raises((tl.OptionError, ArgumentError), match=what):
            make()
