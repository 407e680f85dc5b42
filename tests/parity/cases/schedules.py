"""Rates of schedules, with all their options. `s` is the lr_scheduler of torch.optim or
tallow.optim."""

from __future__ import annotations

from ..case import register
from ..training import Rates, Schedule, first_rates, one_group, rates_by_measure

SCHEDULES: dict[str, Schedule] = {
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

PLATEAUS: dict[str, Schedule] = {
    "default": lambda s, o: s.ReduceLROnPlateau(o),
    "min": lambda s, o: s.ReduceLROnPlateau(o, "min", 0.5, 2, 0.01, cooldown=1, min_lr=0.02),
    "min abs": lambda s, o: s.ReduceLROnPlateau(
        o, patience=1, threshold=0.05, threshold_mode="abs", min_lr=[0.1, 0.01]),
    "max": lambda s, o: s.ReduceLROnPlateau(o, "max", 0.3, patience=0, eps=0.01),
    "max abs": lambda s, o: s.ReduceLROnPlateau(
        o, "max", patience=3, threshold=0.2, threshold_mode="abs", cooldown=2),
}  # fmt: skip
"""Schedules that follow a measure; see `training.measures`."""

OF_ONE_GROUP: dict[str, Schedule] = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda n: 0.9**n),
    "step": lambda s, o: s.StepLR(o, 3, gamma=0.5),
    "multi": lambda s, o: s.MultiStepLR(o, [2, 5], gamma=0.1),
    "constant": lambda s, o: s.ConstantLR(o, factor=0.5, total_iters=4),
    "linear": lambda s, o: s.LinearLR(o, 0.25, total_iters=6),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 5, eta_min=0.01),
    "onecycle": lambda s, o: s.OneCycleLR(o, 1.0, total_steps=14, cycle_momentum=False),
    "onecycle linear": lambda s, o: s.OneCycleLR(
        o, 1.0, epochs=2, steps_per_epoch=7, anneal_strategy="linear", three_phase=True,
        cycle_momentum=False),
    "chained": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, total_iters=3), s.ExponentialLR(o, 0.9)]),
    "sequential": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=4), s.ExponentialLR(o, 0.9)], milestones=[4]),
}  # fmt: skip

RATES = [
    # One optimiser has momentum, the other has betas.
    *(
        Rates(f"lr_scheduler.{name} of {optimiser}", make, optimiser, atol=1e-15)
        for optimiser in ("SGD", "Adam")
        for name, make in SCHEDULES.items()
    ),
    *(
        Rates(
            f"lr_scheduler.{name} of one group", make,
            groups=one_group, follow=first_rates, rtol=1e-6,
        )
        for name, make in OF_ONE_GROUP.items()
    ),
    *(
        Rates(f"lr_scheduler.plateau {name}", make, follow=rates_by_measure)
        for name, make in PLATEAUS.items()
    ),
]  # fmt: skip

for each in RATES:
    register(each)
