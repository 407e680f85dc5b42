"""Schedules of the learning rate, with torch.optim.lr_scheduler's names and numbers.

A schedule sets `lr` of an optimiser's groups on the host; a step under `@tl.jit` reads it as state,
so nothing is compiled again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import OptionError
from .cycles import CyclicLR, NoamLR, OneCycleLR
from .optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .restarts import CosineAnnealingWarmRestarts
from .schedule import LRScheduler

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "NoamLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau",
    "SequentialLR", "StepLR",
]  # fmt: skip


class LambdaLR(LRScheduler):
    """The initial rate times a function of the step's number; a function, or one for each group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != groups:
            raise OptionError(
                f"{type(self).__name__}: {len(self.lr_lambdas)} functions for {groups} groups"
            )
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]


class MultiplicativeLR(LambdaLR):
    """The rate of the step before times a function of the step's number; a function, or one for
    each group."""

    def get_lr(self) -> Sequence[float]:
        now = [float(group["lr"]) for group in self.optimizer.param_groups]
        if self.last_epoch == 0:
            return now
        pairs = zip(now, self.lr_lambdas, strict=True)
        return [rate * function(self.last_epoch) for rate, function in pairs]


class _Factor(LRScheduler):
    """A schedule that multiplies the rate that the groups have now."""

    def _factor(self) -> float:
        raise OptionError(f"{type(self).__name__} does not define _factor()")

    def get_lr(self) -> Sequence[float]:
        factor = self._factor()
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class StepLR(_Factor):
    """gamma times the rate every `step_size` steps. Raises OptionError if that is below 1."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        if step_size < 1:
            raise OptionError(f"StepLR: step_size {step_size}; expected 1 or more")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma if self.last_epoch and self.last_epoch % self.step_size == 0 else 1.0


class MultiStepLR(_Factor):
    """gamma times the rate at each of the steps `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return float(self.gamma ** self.milestones.count(self.last_epoch))

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """As of any schedule; PyTorch's has the milestones as a Counter."""
        super().load_state_dict(state_dict)
        counts: Any = self.milestones
        if isinstance(counts, Mapping):
            self.milestones = sorted(step for step, n in counts.items() for _ in range(n))


class ConstantLR(_Factor):
    """`factor` times the rate for `total_iters` steps, then the rate itself."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise OptionError(f"ConstantLR: the factor must be from 0 to 1, not {factor}")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1.0


class LinearLR(_Factor):
    """From `start_factor` to `end_factor` times the rate, evenly over `total_iters` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise OptionError(
                f"LinearLR: factors lie between 0 and 1, not {start_factor} and {end_factor}"
            )
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self.last_epoch > self.total_iters:
            return 1.0
        span = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * span
        return 1.0 + span / before


class ExponentialLR(_Factor):
    """gamma times the rate at every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma if self.last_epoch else 1.0


class PolynomialLR(_Factor):
    """The rate times (1 - n / total_iters) ** power at step n; 0 from step `total_iters` on."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0 or self.last_epoch > self.total_iters:
            return 1.0
        left = self.total_iters - self.last_epoch
        return float((left / (left + 1)) ** self.power)


class CosineAnnealingLR(LRScheduler):
    """From the rate to `eta_min` along half a cosine of `T_max` steps (Loshchilov and Hutter 2017,
    without restarts)."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """Each step from the one before, so that it can be chained with other schedules."""
        now = [float(group["lr"]) for group in self.optimizer.param_groups]
        if self.last_epoch == 0:
            return now
        turn = (self.last_epoch - 1 - self.T_max) % (2 * self.T_max)
        if turn == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            pairs = zip(now, self.base_lrs, strict=True)
            return [rate + (base - self.eta_min) * rise for rate, base in pairs]
        up = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        down = 1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max)
        return [up / down * (rate - self.eta_min) + self.eta_min for rate in now]


class ChainedScheduler:
    """Several schedules at once: each multiplies what the others give."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if not schedulers:
            raise OptionError("ChainedScheduler: there are no schedules")
        self._schedulers = list(schedulers)
        self.optimizer = optimizer or self._schedulers[0].optimizer

    def step(self) -> None:
        """Goes on to the next step of each."""
        for scheduler in self._schedulers:
            scheduler.step()

    def get_last_lr(self) -> list[float]:
        """The learning rate of each group now."""
        return self._schedulers[-1].get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """That of each schedule."""
        return {"_schedulers": [each.state_dict() for each in self._schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from a `state_dict`."""
        for each, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            each.load_state_dict(state)


class SequentialLR(LRScheduler):
    """Schedules one after the other: the next begins at each of the steps `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        if len(milestones) != len(schedulers) - 1:
            raise OptionError(
                f"SequentialLR: {len(schedulers)} schedules need {len(schedulers) - 1} "
                f"milestones, not {len(milestones)}"
            )
        if any(each.optimizer is not optimizer for each in schedulers):
            raise OptionError(
                "SequentialLR: a schedule is of another optimiser; give each this one"
            )
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.optimizer = optimizer
        self.last_epoch = last_epoch + 1
        # Each has taken a first step when it was made: as if only the first had.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for each in self._schedulers:
            each.last_epoch -= 1
        self._schedulers[0].step()

    def step(self) -> None:
        """Goes on to the next step of the schedule whose turn it is."""
        self.last_epoch += 1
        number = sum(self.last_epoch >= milestone for milestone in self._milestones)
        scheduler = self._schedulers[number]
        if number and self.last_epoch == self._milestones[number - 1]:
            scheduler.last_epoch = -1
            for group in self.optimizer.param_groups:
                group["lr"] = group["initial_lr"]
        scheduler.step()

    def state_dict(self) -> dict[str, Any]:
        """Its own step and the state of each schedule."""
        own = {"last_epoch": self.last_epoch, "_milestones": self._milestones}
        return {**own, "_schedulers": [each.state_dict() for each in self._schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from a `state_dict`."""
        self.last_epoch = state_dict["last_epoch"]
        self._milestones = list(state_dict["_milestones"])
        for each, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            each.load_state_dict(state)
