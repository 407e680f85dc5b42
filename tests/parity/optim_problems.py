"""What record_optim.py runs with PyTorch and test_optim.py with Tallow: problems, optimisers with
all their options, and schedules. `o` is torch.optim or tallow.optim, `s` its lr_scheduler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .case import drawn

RECORDED = Path(__file__).parent / "recorded" / "optim.npz"
STEPS = 15
RECORDED_AFTER = (1, 5, 10, 15)
"""The steps after which parameters are recorded."""
LENGTH = 16

Make = Callable[[Any, list], Any]

OPTIMISERS: dict[str, Make] = {
    "sgd": lambda o, p: o.SGD(p, lr=0.1),
    "sgd default": lambda o, p: o.SGD(p),
    "sgd decay": lambda o, p: o.SGD(p, 0.1, weight_decay=0.1),
    "sgd momentum": lambda o, p: o.SGD(p, 0.05, 0.9),
    "sgd dampening": lambda o, p: o.SGD(p, 0.1, 0.8, 0.3, 0.01),
    "sgd nesterov": lambda o, p: o.SGD(p, 0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
    "sgd maximize": lambda o, p: o.SGD(p, 0.01, momentum=0.5, maximize=True),
    "adam": lambda o, p: o.Adam(p, lr=0.05),
    "adam default": lambda o, p: o.Adam(p),
    "adam betas": lambda o, p: o.Adam(p, 0.05, (0.8, 0.95), 1e-6),
    "adam beta 0": lambda o, p: o.Adam(p, 0.01, betas=(0.0, 0.9)),
    "adam decay": lambda o, p: o.Adam(p, 0.05, weight_decay=0.1),
    "adam decoupled": lambda o, p: o.Adam(
        p, 0.05, weight_decay=0.1, decoupled_weight_decay=True),
    "adam amsgrad": lambda o, p: o.Adam(p, 0.05, amsgrad=True, foreach=False),
    "adam maximize": lambda o, p: o.Adam(p, 0.01, maximize=True),
    "adamw": lambda o, p: o.AdamW(p, lr=0.05),
    "adamw all": lambda o, p: o.AdamW(
        p, 0.05, (0.8, 0.9), weight_decay=0.2, amsgrad=True, maximize=True),
    "adamax": lambda o, p: o.Adamax(p, lr=0.05),
    "adamax all": lambda o, p: o.Adamax(
        p, 0.05, (0.7, 0.9), 1e-6, 0.1, False, maximize=True),
    "adagrad": lambda o, p: o.Adagrad(p, lr=0.3),
    "adagrad all": lambda o, p: o.Adagrad(p, 0.3, 0.1, 0.05, 0.5, 1e-8, False),
    "adagrad maximize": lambda o, p: o.Adagrad(p, 0.01, maximize=True),
    "rmsprop": lambda o, p: o.RMSprop(p, lr=0.02),
    "rmsprop momentum": lambda o, p: o.RMSprop(p, 0.01, momentum=0.8, weight_decay=0.05),
    "rmsprop centered": lambda o, p: o.RMSprop(p, 0.01, 0.9, 1e-4, 0.0, 0.0, True),
    "rmsprop all": lambda o, p: o.RMSprop(p, 0.01, 0.8, 1e-3, 0.1, 0.5, True, maximize=True),
    "groups": lambda o, p: o.AdamW(
        [{"params": p[:1]}, {"params": p[1:], "lr": 0.01, "weight_decay": 0.0}], lr=0.05),
    "named": lambda o, p: o.SGD([(f"p{n}", x) for n, x in enumerate(p)], lr=0.1, momentum=0.9),
}  # fmt: skip

MUON: dict[str, Make] = {
    "muon": lambda o, p: o.Muon(p, lr=0.02),
    "muon plain": lambda o, p: o.Muon(p, 0.02, 0.0, 0.9, False, adjust_lr_fn="original"),
    "muon rms": lambda o, p: o.Muon(p, 0.02, ns_steps=3, adjust_lr_fn="match_rms_adamw"),
}
"""For matrices alone; PyTorch computes them in bfloat16."""

LBFGS: dict[str, Make] = {
    "lbfgs": lambda o, p: o.LBFGS(p, lr=0.2, max_iter=4),
    "lbfgs history": lambda o, p: o.LBFGS(p, lr=0.3, max_iter=6, history_size=2),
    "lbfgs wolfe": lambda o, p: o.LBFGS(p, max_iter=5, line_search_fn="strong_wolfe"),
    "lbfgs wolfe far": lambda o, p: o.LBFGS(
        p, lr=30.0, max_iter=3, line_search_fn="strong_wolfe"),
}  # fmt: skip
LBFGS_STEPS = 3

SCHEDULES: dict[str, Callable[[Any, Any], Any]] = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda n: 0.9**n),
    "lambdas": lambda s, o: s.LambdaLR(o, [lambda n: 0.9**n, lambda n: 1.0 / (n + 1)]),
    "step": lambda s, o: s.StepLR(o, 3, 0.5),
    "multi": lambda s, o: s.MultiStepLR(o, [5, 2, 5], gamma=0.3),
    "constant": lambda s, o: s.ConstantLR(o, 0.25, 4),
    "constant default": lambda s, o: s.ConstantLR(o),
    "linear": lambda s, o: s.LinearLR(o, 0.25, 0.75, 6),
    "linear default": lambda s, o: s.LinearLR(o),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda n: 0.95 if n % 2 else 0.8),
    "polynomial": lambda s, o: s.PolynomialLR(o, 6, 2.0),
    "polynomial default": lambda s, o: s.PolynomialLR(o),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4),
    "restarts longer": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, T_mult=2, eta_min=0.01),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.1, step_size_up=3),
    "cyclic halved": lambda s, o: s.CyclicLR(
        o, [0.01, 0.02], [0.1, 0.2], 2, 4, "triangular2", cycle_momentum=False),
    "cyclic shrunk": lambda s, o: s.CyclicLR(
        o, 0.01, 0.1, 3, mode="exp_range", gamma=0.9, base_momentum=0.7, max_momentum=0.95),
    "cyclic own": lambda s, o: s.CyclicLR(
        o, 0.01, 0.1, 3, scale_fn=lambda n: 1 / (n + 1), scale_mode="iterations"),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 5, 0.01),
    "cosine long": lambda s, o: s.CosineAnnealingLR(o, T_max=40),
    "onecycle": lambda s, o: s.OneCycleLR(o, 1.0, total_steps=16),
    "onecycle groups": lambda s, o: s.OneCycleLR(
        o, [1.0, 0.1], epochs=4, steps_per_epoch=5, base_momentum=[0.7, 0.8], pct_start=0.4,
        div_factor=10.0, final_div_factor=100.0),
    "onecycle linear": lambda s, o: s.OneCycleLR(
        o, 1.0, total_steps=18, anneal_strategy="linear", three_phase=True),
    "onecycle alone": lambda s, o: s.OneCycleLR(o, 1.0, 20, cycle_momentum=False),
    "chained": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, total_iters=3), s.ExponentialLR(o, 0.9)]),
    "chained cosine": lambda s, o: s.ChainedScheduler(
        [s.CosineAnnealingLR(o, 6), s.StepLR(o, 4, 0.5)]),
    "sequential": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=4), s.ExponentialLR(o, 0.9)], [4]),
    "sequential three": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 20), s.StepLR(o, 2, 0.5), s.CosineAnnealingLR(o, 5)], [3, 8]),
}  # fmt: skip
PLATEAUS: dict[str, Callable[[Any, Any], Any]] = {
    "default": lambda s, o: s.ReduceLROnPlateau(o),
    "min": lambda s, o: s.ReduceLROnPlateau(o, "min", 0.5, 2, 0.01, cooldown=1, min_lr=0.02),
    "min abs": lambda s, o: s.ReduceLROnPlateau(
        o, patience=1, threshold=0.05, threshold_mode="abs", min_lr=[0.1, 0.01]),
    "max": lambda s, o: s.ReduceLROnPlateau(o, "max", 0.3, patience=0, eps=0.01),
    "max abs": lambda s, o: s.ReduceLROnPlateau(
        o, "max", patience=3, threshold=0.2, threshold_mode="abs", cooldown=2),
}  # fmt: skip
"""Schedules that follow a measure; see `measures`."""
CYCLES = ("SGD", "Adam")
"""The optimisers that schedules are recorded with: one with momentum, one with betas."""


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


PROBLEMS = {"quadratic": quadratic, "network": network}


def two_groups(t: Any, o: Any, optimiser: str) -> Any:
    """An optimiser of two groups with rates 0.5 and 0.2."""
    p = [t.nn.Parameter(t.tensor(np.zeros(2, np.float32))) for _ in range(2)]
    return getattr(o, optimiser)([{"params": p[:1]}, {"params": p[1:], "lr": 0.2}], lr=0.5)


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


def rates(schedule: Any, optimizer: Any) -> np.ndarray:
    """(steps, 4): the rates of both groups, and their momentum or first beta."""
    found = []
    for turn in range(LENGTH):
        if turn:
            optimizer.step()  # PyTorch warns without
            schedule.step()
        groups = optimizer.param_groups
        momentum = [float(g["betas"][0] if "betas" in g else g["momentum"]) for g in groups]
        found.append([*map(float, schedule.get_last_lr()), *momentum])
    return np.array(found)
