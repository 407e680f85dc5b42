"""Cases of training: trajectories of optimisers, rates of schedules, clipped gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .case import drawn

Make = Callable[[Any, list], Any]
"""An optimiser, from torch.optim or tallow.optim and parameters."""
Schedule = Callable[[Any, Any], Any]
"""A schedule, from lr_scheduler and an optimiser."""
Problem = Callable[[Any], tuple[list[np.ndarray], Callable[[list], Any]]]
"""The initial values of parameters, and their loss, from a library."""


# ---- problems ------------------------------------------------------------------------------------


def quadratic(t: Any) -> tuple[list[np.ndarray], Callable[[list], Any]]:
    """Two parameters, (3, 4) and (5,), on smooth bowls of several curvatures."""
    starts = [drawn(f"optim start {n}", shape) for n, shape in enumerate(((3, 4), (5,)))]
    goals = [t.tensor(drawn(f"optim goal {n}", x.shape)) for n, x in enumerate(starts)]
    bends = [t.tensor(np.abs(drawn(f"optim bend {n}", x.shape)) * 0.3 + 0.3)
             for n, x in enumerate(starts)]  # fmt: skip

    def loss(params: list) -> Any:
        total: Any = 0.0
        for p, goal, bend in zip(params, goals, bends, strict=True):
            away = (p - goal) * (p - goal)
            total = total + (away * bend * (away * 0.01 + 1.0)).sum()
        return total

    return starts, loss


def network(t: Any) -> tuple[list[np.ndarray], Callable[[list], Any]]:
    """A network 4 -> 8 -> 2 with tanh, on 16 fixed points."""
    starts = [drawn(f"optim net {n}", shape, 0.5)
              for n, shape in enumerate(((8, 4), (8,), (2, 8), (2,)))]  # fmt: skip
    x, y = t.tensor(drawn("optim x", (16, 4))), t.tensor(drawn("optim y", (16, 2)))

    def loss(params: list) -> Any:
        w1, b1, w2, b2 = params
        away = (x @ w1.mT + b1).tanh() @ w2.mT + b2 - y
        return (away * away).mean()

    return starts, loss


def matrices(t: Any) -> tuple[list[np.ndarray], Callable[[list], Any]]:
    """The network without its biases: one tall matrix, one wide."""
    starts, loss = network(t)
    zeros = [t.tensor(np.zeros(n, np.float32)) for n in (8, 2)]
    return [starts[0], starts[2]], lambda p: loss([p[0], zeros[0], p[1], zeros[1]])


def bowl(t: Any) -> tuple[list[np.ndarray], Callable[[list], Any]]:
    """Two parameters, (3, 4) and (5,), on smooth bowls that become steep away from the goal."""
    shapes = ((3, 4), (5,))
    starts = [drawn(f"start {n}", shape) for n, shape in enumerate(shapes)]
    goals = [t.tensor(drawn(f"target {n}", shape)) for n, shape in enumerate(shapes)]

    def loss(params: list) -> Any:
        total: Any = 0.0
        for p, goal in zip(params, goals, strict=True):
            square = (p - goal) * (p - goal)
            total = total + (square * (square * 0.25 + 1.0)).sum()
        return total

    return starts, loss


PROBLEMS: dict[str, Problem] = {"quadratic": quadratic, "network": network}
MODES = [("eager", "numpy"), ("jit", "numpy"), ("jit", "wasm")]
"""How Tallow trains: step by step or as one plan, and where."""


# ---- trajectories --------------------------------------------------------------------------------


class Run:
    """The training of a problem with a library, eager or as one plan, which only Tallow has."""

    def __init__(
        self, t: Any, make: Make, problem: Problem, mode: str = "eager", starts: Any = None
    ) -> None:
        given, self.loss_of = problem(t)
        self.params = [t.nn.Parameter(t.tensor(x)) for x in (starts or given)]
        self.optimizer = make(t.optim, self.params)
        self.turn = t.jit(self._step) if mode == "jit" else self._step

    def evaluated(self) -> Any:
        """The loss, whose gradients are then there: the closure of a step."""
        self.optimizer.zero_grad()
        loss = self.loss_of(self.params)
        loss.backward()
        return loss

    def _step(self) -> Any:
        loss = self.evaluated()
        self.optimizer.step()
        return loss

    def step(self, count: int = 1, plans: int = 1) -> None:
        """Makes steps; asserts that as many plans served them and those before."""
        for _ in range(count):
            self.turn()
        assert getattr(self.turn, "plans", plans) == plans

    def values(self) -> np.ndarray:
        """All parameters."""
        return np.concatenate([p.detach().numpy().ravel() for p in self.params])


@dataclass(frozen=True)
class Training:
    """An optimiser on a problem. after: the steps after which the parameters are compared. closure:
    whether a step evaluates the loss itself. diverges: whether PyTorch's may, up to infinity."""

    name: str
    make: Make
    problem: Problem
    after: tuple[int, ...] = (1, 5, 10, 15)
    closure: bool = False
    diverges: bool = False
    rtol: float = 1e-4
    atol: float = 2e-5

    def rows(self, run: Run) -> Iterator[np.ndarray]:
        """All parameters after each of those steps."""
        done = 0
        for step in self.after:
            if self.closure:
                for _ in range(step - done):
                    run.optimizer.step(run.evaluated)
            else:
                run.step(step - done)
            done = step
            yield run.values()

    def answers(self, t: Any) -> dict[str, np.ndarray]:
        """parameters: (steps, elements)."""
        found = np.array(list(self.rows(Run(t, self.make, self.problem))))
        # What runs away multiplies every rounding, so that no two libraries agree.
        small = np.abs(found).max() < 50
        assert small or self.diverges, f"{self.name} diverges: choose a smaller rate"
        return {"parameters": found}


# ---- rates ---------------------------------------------------------------------------------------


def one_group(t: Any, optimiser: str) -> Any:
    """An optimiser of one parameter with the rate 0.5."""
    return getattr(t.optim, optimiser)([t.nn.Parameter(t.zeros(1))], lr=0.5)


def two_groups(t: Any, optimiser: str) -> Any:
    """An optimiser of two groups with rates 0.5 and 0.2."""
    p = [t.nn.Parameter(t.zeros(2)) for _ in range(2)]
    return getattr(t.optim, optimiser)([{"params": p[:1]}, {"params": p[1:], "lr": 0.2}], lr=0.5)


def steps(schedule: Any, optimizer: Any, count: int) -> Iterator[None]:
    """Yields before the first of the schedule's steps and after each: `count` times."""
    for turn in range(count):
        if turn:
            optimizer.step()  # PyTorch warns without
            schedule.step()
        yield


def first_rates(schedule: Any, optimizer: Any) -> np.ndarray:
    """(steps,): the rates of the first group."""
    return np.array([float(schedule.get_last_lr()[0]) for _ in steps(schedule, optimizer, 14)])


def rates(schedule: Any, optimizer: Any) -> np.ndarray:
    """(steps, 4): the rates of both groups, and their momentum or first beta."""
    found = []
    for _ in steps(schedule, optimizer, 16):
        groups = optimizer.param_groups
        momentum = [float(g["betas"][0] if "betas" in g else g["momentum"]) for g in groups]
        found.append([*map(float, schedule.get_last_lr()), *momentum])
    return np.array(found)


def measures() -> list[float]:
    """The measure of a training that becomes better, stays, becomes worse, and is once unknown."""
    return [1.0, 0.9, 0.895, 0.5, 0.51, 0.5, 0.49, 0.6, float("nan"), 0.3, *[0.31] * 14, 0.2, 0.1]


def rates_by_measure(schedule: Any, optimizer: Any) -> np.ndarray:
    """(steps, 4): the rates of both groups, the best measure, and how many in a row were worse."""
    found = []
    for measure in measures():
        optimizer.step()
        schedule.step(measure)
        rates = [group["lr"] for group in optimizer.param_groups]
        found.append([*rates, schedule.best, schedule.num_bad_epochs])
    return np.array(found)


@dataclass(frozen=True)
class Rates:
    """A schedule of an optimiser of `groups`, followed by `follow`."""

    name: str
    make: Schedule
    optimiser: str = "SGD"
    groups: Callable[[Any, str], Any] = two_groups
    follow: Callable[[Any, Any], np.ndarray] = rates
    rtol: float = 1e-9
    atol: float = 0.0

    def answers(self, t: Any) -> dict[str, np.ndarray]:
        """rates: what `follow` gives."""
        optimizer = self.groups(t, self.optimiser)
        return {"rates": self.follow(self.make(t.optim.lr_scheduler, optimizer), optimizer)}


# ---- clipping ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clipping:
    """The network's gradients, clipped to a norm."""

    name: str
    norm: float
    norm_type: float
    rtol: float = 1e-4
    atol: float = 1e-6

    def answers(self, t: Any) -> dict[str, np.ndarray]:
        """norm and gradients: the norm before, then all gradients afterwards."""
        run = Run(t, lambda o, p: o.SGD(p, lr=0.1), network)
        run.evaluated()
        total = t.nn.utils.clip_grad_norm_(run.params, self.norm, norm_type=self.norm_type)
        gradients = [p.grad.numpy().ravel() for p in run.params]
        return {"norm and gradients": np.concatenate([[float(total)], *gradients])}
