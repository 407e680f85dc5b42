"""Trajectories of optimisers and schedules, from the same code for PyTorch and Tallow.

python -m tests.parity.optimisers       records those of PyTorch, where it is installed
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .case import drawn

RECORDED = Path(__file__).parent / "recorded_optimisers.npz"
STEPS = 8

OPTIMISERS: dict[str, Callable[[Any, Any], Any]] = {
    "sgd": lambda o, p: o.SGD(p, lr=0.1),
    "sgd-momentum": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "sgd-dampening": lambda o, p: o.SGD(p, lr=0.1, momentum=0.8, dampening=0.3),
    "sgd-nesterov": lambda o, p: o.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "sgd-maximize": lambda o, p: o.SGD(p, lr=0.01, maximize=True),
    "adam": lambda o, p: o.Adam(p, lr=0.1),
    "adam-decay": lambda o, p: o.Adam(p, lr=0.1, betas=(0.8, 0.95), weight_decay=0.1),
    "adam-amsgrad": lambda o, p: o.Adam(p, lr=0.1, amsgrad=True),
    "adamw": lambda o, p: o.AdamW(p, lr=0.1, weight_decay=0.1),
    "adamax": lambda o, p: o.Adamax(p, lr=0.1, weight_decay=0.01),
    "adagrad": lambda o, p: o.Adagrad(p, lr=0.5, lr_decay=0.1, weight_decay=0.01),
    "adagrad-start": lambda o, p: o.Adagrad(p, initial_accumulator_value=0.5),
    "rmsprop": lambda o, p: o.RMSprop(p, lr=0.05, weight_decay=0.01),
    "rmsprop-centered": lambda o, p: o.RMSprop(p, lr=0.05, momentum=0.5, centered=True),
    "groups": lambda o, p: o.SGD([{"params": p[:1]}, {"params": p[1:], "lr": 0.01}], lr=0.1),
}

SCHEDULES: dict[str, Callable[[Any, Any], Any]] = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda n: 0.9**n),
    "step": lambda s, o: s.StepLR(o, 3, gamma=0.5),
    "multi": lambda s, o: s.MultiStepLR(o, [2, 5], gamma=0.1),
    "constant": lambda s, o: s.ConstantLR(o, factor=0.5, total_iters=4),
    "linear": lambda s, o: s.LinearLR(o, 0.25, total_iters=6),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 5, eta_min=0.01),
    "onecycle": lambda s, o: s.OneCycleLR(o, 1.0, total_steps=14, cycle_momentum=False),
    "onecycle-linear": lambda s, o: s.OneCycleLR(
        o, 1.0, epochs=2, steps_per_epoch=7, anneal_strategy="linear", three_phase=True,
        cycle_momentum=False),
    "chained": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, total_iters=3), s.ExponentialLR(o, 0.9)]),
    "sequential": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=4), s.ExponentialLR(o, 0.9)], milestones=[4]),
}  # fmt: skip
LENGTH = 13

SHAPES = ((3, 4), (5,))


def targets() -> list[np.ndarray]:
    """Where the loss of each parameter is least."""
    return [drawn(f"target {n}", shape) for n, shape in enumerate(SHAPES)]


def starts() -> list[np.ndarray]:
    """The initial values."""
    return [drawn(f"start {n}", shape) for n, shape in enumerate(SHAPES)]


def loss_of(params: Any, goals: Any) -> Any:
    """Smooth, and not of one curvature: the sum of (p - goal)^2 (1 + (p - goal)^2 / 4)."""
    total: Any = 0.0
    for p, goal in zip(params, goals, strict=True):
        square = (p - goal) * (p - goal)
        total = total + (square * (square * 0.25 + 1.0)).sum()
    return total


def rates(schedule: Any) -> list[float]:
    """The rates of the first steps."""
    found = [float(schedule.get_last_lr()[0])]
    for _ in range(LENGTH):
        schedule.step()
        found.append(float(schedule.get_last_lr()[0]))
    return found


def main() -> None:
    import torch  # type: ignore[import-not-found]

    found: dict[str, np.ndarray] = {}
    for name, make in OPTIMISERS.items():
        params = [torch.nn.Parameter(torch.tensor(x)) for x in starts()]
        goals = [torch.tensor(x) for x in targets()]
        optimizer = make(torch.optim, params)
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss_of(params, goals).backward()
            optimizer.step()
        for number, p in enumerate(params):
            found[f"{name}/{number}"] = p.detach().numpy()
    for name, make in SCHEDULES.items():
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
        found[f"schedule {name}"] = np.array(rates(make(torch.optim.lr_scheduler, optimizer)))
    np.savez_compressed(RECORDED, **found)
    print(f"{len(found)} arrays of PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
