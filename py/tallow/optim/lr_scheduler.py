"""Schedules of the learning rate, with torch.optim.lr_scheduler's names and numbers.

A schedule sets `lr` of an optimiser's groups on the host; a step under `@tl.jit` reads it as state,
so nothing is compiled again.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from ..errors import OptionError
from .cycles import CyclicLR, NoamLR, OneCycleLR
from .optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .restarts import CosineAnnealingWarmRestarts
from .schedule import LRScheduler, Verbose, check_optimizer
from .together import ChainedScheduler, SequentialLR

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "NoamLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau",
    "SequentialLR", "StepLR",
]  # fmt: skip

_LRScheduler = LRScheduler
"""Its older name, which many schedules derive from."""


class LambdaLR(LRScheduler):
    """The initial rate times a function of the step's number; a function, or one for each group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
        verbose: Verbose = None,
    ) -> None:
        check_optimizer(type(self).__name__, optimizer)
        groups = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != groups or not all(map(callable, self.lr_lambdas)):
            raise OptionError(
                f"{type(self).__name__}: needs a function, or a list of {groups}, one for each "
                f"group, not {lr_lambda!r:.80}"
            )
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self) -> Sequence[float]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]

    def state_dict(self) -> dict[str, Any]:
        """What it goes on from; of its functions the attributes of those that are objects."""
        own = [
            None if isinstance(each, FunctionType) else dict(getattr(each, "__dict__", {}))
            for each in self.lr_lambdas
        ]
        return {**super().state_dict(), "lr_lambdas": own}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """As of any schedule. The functions stay, and get the attributes that were kept."""
        own = dict(state_dict)
        kept = own.pop("lr_lambdas", ())
        super().load_state_dict(own)
        for function, attributes in zip(self.lr_lambdas, kept, strict=False):
            if attributes:
                vars(function).update(attributes)


class MultiplicativeLR(LambdaLR):
    """The rate of the step before times a function of the step's number; a function, or one for
    each group."""

    def get_lr(self) -> Sequence[float]:
        if self._is_initial:
            return self._now()
        pairs = zip(self._now(), self.lr_lambdas, strict=True)
        return [rate * function(self.last_epoch) for rate, function in pairs]


class _Factor(LRScheduler):
    """A schedule that multiplies the rate that the groups have now, by `_factor`, so that it can be
    chained with others. `_share` of the initial rate is what it alone comes to."""

    def _factor(self) -> float:
        raise OptionError(f"{type(self).__name__} does not define _factor()")

    def _share(self) -> float:
        raise OptionError(f"{type(self).__name__} does not define _share()")

    def get_lr(self) -> Sequence[float]:
        factor = self._factor()
        return [rate * factor for rate in self._now()]

    def _get_closed_form_lr(self) -> Sequence[float]:
        share = self._share()
        return [base * share for base in self.base_lrs]


class StepLR(_Factor):
    """gamma times the rate every `step_size` steps. Raises OptionError if that is below 1."""

    def __init__(
        self,
        optimizer: Optimizer,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: Verbose = None,
    ) -> None:
        if step_size < 1:
            raise OptionError(f"StepLR: step_size {step_size}; expected 1 or more")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch, verbose)

    def _factor(self) -> float:
        return self.gamma if self.last_epoch and self.last_epoch % self.step_size == 0 else 1.0

    def _share(self) -> float:
        return float(self.gamma ** (self.last_epoch // self.step_size))


class MultiStepLR(_Factor):
    """gamma times the rate at each of the steps `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: Verbose = None,
    ) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch, verbose)

    def _factor(self) -> float:
        return float(self.gamma ** self.milestones.count(self.last_epoch))

    def _share(self) -> float:
        return float(self.gamma ** bisect_right(self.milestones, self.last_epoch))

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """As of any schedule; PyTorch's has the milestones as a Counter."""
        super().load_state_dict(state_dict)
        counts: object = self.milestones
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
        verbose: Verbose = None,
    ) -> None:
        if not 0 <= factor <= 1:
            raise OptionError(f"ConstantLR: the factor must be from 0 to 1, not {factor}")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch, verbose)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1.0

    def _share(self) -> float:
        return 1.0 if self.last_epoch >= self.total_iters else self.factor


class LinearLR(_Factor):
    """From `start_factor` to `end_factor` times the rate, evenly over `total_iters` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
        verbose: Verbose = None,
    ) -> None:
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise OptionError(
                f"LinearLR: factors lie between 0 and 1, not {start_factor} and {end_factor}"
            )
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch, verbose)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1.0
        span = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * span
        return 1.0 + span / before

    def _share(self) -> float:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * done


class ExponentialLR(_Factor):
    """gamma times the rate at every step."""

    def __init__(
        self, optimizer: Optimizer, gamma: float, last_epoch: int = -1, verbose: Verbose = None
    ) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, verbose)

    def _factor(self) -> float:
        return 1.0 if self._is_initial else self.gamma

    def _share(self) -> float:
        return float(self.gamma**self.last_epoch)


class PolynomialLR(_Factor):
    """The rate times (1 - n / total_iters) ** power at step n; 0 from step `total_iters` on."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
        verbose: Verbose = None,
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch, verbose)

    def _factor(self) -> float:
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1.0
        left = self.total_iters - self.last_epoch
        return float((left / (left + 1)) ** self.power)

    def _share(self) -> float:
        return float((1 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power)


class CosineAnnealingLR(LRScheduler):
    """From the rate to `eta_min` along half a cosine of `T_max` steps (Loshchilov and Hutter 2017,
    without restarts)."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
        verbose: Verbose = None,
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self) -> Sequence[float]:
        """Each step from the one before, so that it can be chained with other schedules."""
        now = self._now()
        if self._is_initial:
            return now
        turn = (self.last_epoch - 1 - self.T_max) % (2 * self.T_max)
        if turn == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            pairs = zip(now, self.base_lrs, strict=True)
            return [rate + (base - self.eta_min) * rise for rate, base in pairs]
        up = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        down = 1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max)
        return [up / down * (rate - self.eta_min) + self.eta_min for rate in now]

    def _get_closed_form_lr(self) -> Sequence[float]:
        part = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]
