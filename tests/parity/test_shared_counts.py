"""Parameters that are always stepped together have one count of steps. What they become is to the
bit what it is if each is a group of its own, where nothing is shared."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn, optim
from tallow.runtime import jit as compiling

COUNTING = {
    "adam": lambda p: optim.Adam(p, lr=0.05, amsgrad=True),
    "adamw": lambda p: optim.AdamW(p, lr=0.05),
    "adamax": lambda p: optim.Adamax(p, lr=0.05),
    "nadam": lambda p: optim.NAdam(p, lr=0.05),
    "radam": lambda p: optim.RAdam(p, lr=0.05, betas=(0.9, 0.5)),
    "adan": lambda p: optim.Adan(p, lr=0.05),
    "adagrad": lambda p: optim.Adagrad(p, lr=0.05, lr_decay=0.1),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.05),
    "adadelta": lambda p: optim.Adadelta(p, lr=0.5),
    "asgd": lambda p: optim.ASGD(p, lr=0.05, lambd=0.1, t0=1),
    "rprop": lambda p: optim.Rprop(p, lr=0.05),
    "sgd dampening": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.5),
}
ALL, NONE = (0, 1, 2, 3), ()


@pytest.fixture(autouse=True)
def device():
    tl.set_default_device("numpy")
    yield
    tl.set_default_device(None)


def gradients(step: int) -> list[np.ndarray]:
    rng = np.random.default_rng(step)
    return [rng.normal(size=(n + 2, 3)).astype(np.float32) for n in ALL]


def parameters() -> list[nn.Parameter]:
    return [nn.Parameter(each) for each in gradients(99)]


class Trained:
    """Four parameters, of which a step changes some. apart: each is a group of its own."""

    def __init__(self, name: str, apart: bool, under_jit: bool, first: int = 4) -> None:
        self.apart = apart
        self.params = parameters()
        given = self.params[:first]
        self.optimizer = COUNTING[name]([{"params": [p]} for p in given] if apart else given)
        self.moves: dict[tuple[tuple[int, ...], ...], Any] = {}
        self.under_jit = under_jit
        self.steps = 0

    def step(self, *turns: tuple[int, ...]) -> None:
        """One step for each of these, within one function under `@tl.jit`."""
        given = [list(map(tl.asarray, gradients(self.steps + n))) for n in range(len(turns))]
        self.steps += len(turns)

        def move(given):
            for some, slopes in zip(turns, given, strict=True):
                for number, (p, slope) in enumerate(zip(self.params, slopes, strict=True)):
                    p.grad = slope if number in some else None
                self.optimizer.step()

        if self.under_jit:
            move = self.moves.setdefault(turns, tl.jit(move))
        move(given)

    def add(self, number: int) -> None:
        self.optimizer.add_param_group({"params": [self.params[number]]})

    def load(self, state: dict) -> None:
        """The state of one whose parameters are, or are not, in groups of their own."""
        self.optimizer.load_state_dict(
            {**state, "param_groups": self.optimizer.state_dict()["param_groups"]}
        )

    def values(self) -> list[np.ndarray]:
        """The parameters, and all that is kept of them in PyTorch's form."""
        state = self.optimizer.state_dict()["state"]
        kept = [state[n][name] for n in sorted(state) for name in sorted(state[n])]
        return [x.numpy() for x in (*self.params, *kept)]

    def counts(self) -> list[float | None]:
        state = self.optimizer.state_dict()["state"]
        return [state[n]["step"].item() if n in state else None for n in ALL]

    def variables(self) -> int:
        """How many counts there are."""
        return len({own["step"].number for own in self.optimizer.state.values()})


def pair(name: str, under_jit: bool = False, **options) -> tuple[Trained, Trained]:
    return Trained(name, False, under_jit, **options), Trained(name, True, under_jit, **options)


def assert_same(one: Trained, other: Trained) -> None:
    for got, wanted in zip(one.values(), other.values(), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    ("name", "under_jit", "on"),
    [
        *((name, under_jit, "numpy") for name in COUNTING for under_jit in (False, True)),
        ("nadam", True, "wasm"),
    ],
)
def test_parameters_that_miss_steps(name: str, under_jit: bool, on: str) -> None:
    tl.set_default_device(on)
    one, other = pair(name, under_jit)
    for some in (ALL, ALL, (0, 2), ALL, (1,), NONE, (0, 2), ALL, (0, 2), ALL):
        for each in (one, other):
            each.step(some)
        assert_same(one, other)
    assert one.counts() == [8, 6, 8, 5]
    assert one.variables() == 3


@pytest.mark.parametrize("name", ["adam", "nadam", "asgd"])
def test_parameters_that_miss_a_step_of_several_in_one_function(name: str) -> None:
    one, other = pair(name, under_jit=True)
    for turns in ((ALL,), (ALL, (0, 2), ALL), (ALL,), (ALL, (0, 2), ALL), ((1, 2), ALL), (ALL,)):
        for each in (one, other):
            each.step(*turns)
        assert_same(one, other)
    assert one.counts() == [10, 9, 11, 8]


def test_the_plans_from_before_a_split_are_not_used_again() -> None:
    """Each of the two sets of parameters has a plan from then on."""
    one = Trained("adam", False, under_jit=True)
    for some in (ALL, (0, 2), ALL, (0, 2), ALL):
        one.step(some)
    plans = {turns: move.plans for turns, move in one.moves.items()}
    for some in (ALL, (0, 2), ALL):
        one.step(some)
    assert {turns: move.plans for turns, move in one.moves.items()} == plans
    assert one.variables() == 2


@pytest.mark.parametrize("under_jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", COUNTING)
def test_parameters_that_are_added_later(name: str, under_jit: bool) -> None:
    one, other = pair(name, under_jit, first=2)
    for number in (2, 3):
        for each in (one, other):
            for _ in range(2):
                each.step(ALL)
            each.add(number)
    for each in (one, other):
        for _ in range(2):
            each.step(ALL)
    assert_same(one, other)
    assert one.counts() == [6, 6, 4, 2]


def test_a_parameter_that_moves_to_another_group() -> None:
    one, other = pair("nadam")
    for each in (one, other):
        each.step(ALL)
    groups = one.optimizer.param_groups
    groups[0]["params"].pop(3)
    one.optimizer.add_param_group({"params": [one.params[3]]})
    for each in (one, other):
        each.step(ALL)
        each.step((0, 3))
    assert_same(one, other)
    assert one.counts() == [3, 2, 2, 3]


@pytest.mark.parametrize("under_jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", COUNTING)
def test_a_state_with_other_counts(name: str, under_jit: bool) -> None:
    source = Trained(name, True, False)
    for some in (ALL, (0, 1), (0, 1, 2)):
        source.step(some)
    state = source.optimizer.state_dict()
    on_host = deepcopy(state)
    for kept in on_host["state"].values():
        kept.update({key: value.numpy() for key, value in kept.items()})
    for before, given in ((0, on_host), (2, state)):
        one, other = pair(name, under_jit)
        for each in (one, other):
            for _ in range(before):
                each.step(ALL)
            each.load(given)
            assert each.counts() == [3, 3, 2, 1]
            for some in (ALL, (0, 3), ALL):
                each.step(some)
        assert_same(one, other)
        assert one.counts() == [6, 5, 4, 4]


def test_what_is_alike_in_a_state_is_shared_again() -> None:
    source = Trained("adam", False, False)
    source.step(ALL)
    state = source.optimizer.state_dict()
    on_host = deepcopy(state)
    for kept in on_host["state"].values():
        kept["step"] = 1
    for given in (state, on_host):
        one = Trained("adam", False, False)
        one.load(given)
        assert one.variables() == 1
        one.step(ALL)
        assert one.counts() == [2] * 4 and one.variables() == 1


def test_a_copy_shares_its_own() -> None:
    one = Trained("nadam", False, False)
    one.step(ALL)
    copied = deepcopy(one.optimizer)
    numbers = {own["step"].number for own in copied.state.values()}
    assert len(numbers) == 1
    assert not numbers & {own["step"].number for own in one.optimizer.state.values()}
    one.step(ALL)
    assert {own["step"].item() for own in copied.state.values()} == {1.0}


def test_no_state_is_left_where_no_step_was() -> None:
    one, other = pair("asgd")
    empty = one.optimizer.state_dict()
    for each in (one, other):
        each.step(ALL)
        each.step((0, 1))
        each.load(empty)
        each.step(ALL)
    assert_same(one, other)
    assert one.counts() == [1] * 4


MOST_KERNELS = {
    "adam": 4, "adamw": 3, "adamax": 3, "nadam": 3, "radam": 3, "adan": 5, "adagrad": 2,
    "rmsprop": 2, "adadelta": 4, "asgd": 2, "rprop": 5, "sgd dampening": 2,
}  # fmt: skip
"""Those of one more parameter: of its own value, and of what is kept of it in its shape."""


@pytest.mark.parametrize("name", COUNTING)
def test_another_parameter_adds_no_kernels_for_numbers(name, monkeypatch) -> None:
    tl.set_default_device("wasm")
    kernels: list[int] = []
    plain = compiling.compile_for

    def counted(*given, **options):
        compiled = plain(*given, **options)
        kernels.append(len(compiled.plan.run))
        return compiled

    monkeypatch.setattr(compiling, "compile_for", counted)
    for number in (2, 6):
        params = [nn.Parameter(np.ones((n + 2, 3), np.float32)) for n in range(number)]
        optimizer = COUNTING[name](params)
        for _ in range(2):
            for p in params:
                p.grad = tl.ones(p.shape)
            optimizer.step()
    few, many = kernels[1], kernels[3]
    assert many - few == 4 * MOST_KERNELS[name]
