"""Schedules of the learning rate, with torch.optim.lr_scheduler's names and numbers.

A schedule sets `lr` of an optimiser's groups on the host; a step under `@tl.jit` reads it as state,
so nothing is compiled again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import OptionError
from .optimizer import Optimizer


class LRScheduler:
    """The base of all schedules: `_rates` gives the rates of a step from its number, `last_epoch`,
    and the rates that the groups began with, `base_lrs`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise OptionError(f"{type(self).__name__}: {optimizer!r} is not an optimiser")
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [float(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def _rates(self) -> Sequence[float]:
        raise OptionError(f"{type(self).__name__} does not define _rates()")

    def step(self) -> None:
        """Goes on to the next step, and sets the groups' learning rates."""
        self.last_epoch += 1
        self._set(self._rates())

    def _set(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = float(rate)

    def get_last_lr(self) -> list[float]:
        """The learning rate of each group now."""
        return [float(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """What it goes on from; functions are left out."""
        return {
            name: value
            for name, value in vars(self).items()
            if name != "optimizer" and not callable(value) and name != "lr_lambdas"
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from a `state_dict`. The optimiser keeps its own learning rates."""
        vars(self).update(state_dict)


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
            raise OptionError(f"LambdaLR: {len(self.lr_lambdas)} functions for {groups} groups")
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Sequence[float]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]


class _Factor(LRScheduler):
    """A schedule that multiplies the rate that the groups have now."""

    def _factor(self) -> float:
        raise OptionError(f"{type(self).__name__} does not define _factor()")

    def _rates(self) -> Sequence[float]:
        factor = self._factor()
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class StepLR(_Factor):
    """gamma times the rate every `step_size` steps."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
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


class CosineAnnealingLR(LRScheduler):
    """From the rate to `eta_min` along half a cosine of `T_max` steps (Loshchilov and Hutter 2017,
    without restarts)."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Sequence[float]:
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


class OneCycleLR(LRScheduler):
    """Up to `max_lr`, then down to almost nothing (Smith and Topin 2018).

    total_steps, or epochs and steps_per_epoch. pct_start: which part of the steps rises.
    anneal_strategy: "cos" or "linear". It begins at max_lr / div_factor and ends at that divided by
    final_div_factor. Momentum is left alone (torch's cycle_momentum=False).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = False,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise OptionError("OneCycleLR: give total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if anneal_strategy not in ("cos", "linear"):
            raise OptionError(f"OneCycleLR: {anneal_strategy!r} is neither 'cos' nor 'linear'")
        if cycle_momentum:
            raise OptionError("OneCycleLR: cycle_momentum is not supported; leave it False")
        self.total_steps = total_steps
        groups = optimizer.param_groups
        self.max_lrs: list[float] = (
            list(max_lr) if isinstance(max_lr, Sequence) else [max_lr] * len(groups)
        )
        self._starts = [most / div_factor for most in self.max_lrs]
        self._ends = [start / final_div_factor for start in self._starts]
        self._cosine = anneal_strategy == "cos"
        rise = pct_start * total_steps - 1
        self._phases = [(rise, "start", "max"), (total_steps - 1.0, "max", "end")]
        if three_phase:
            self._phases = [
                (rise, "start", "max"),
                (2 * pct_start * total_steps - 2, "max", "start"),
                (total_steps - 1.0, "start", "end"),
            ]
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Sequence[float]:
        if self.last_epoch >= self.total_steps:
            raise OptionError(
                f"OneCycleLR: step {self.last_epoch + 1} of {self.total_steps}; the cycle is over"
            )
        start = 0.0
        for end, first, last in self._phases:
            if self.last_epoch <= end or end == self._phases[-1][0]:
                part = (self.last_epoch - start) / (end - start)
                ends = zip(self._of(first), self._of(last), strict=True)
                return [self._between(a, b, part) for a, b in ends]
            start = end
        return self._ends

    def _of(self, name: str) -> list[float]:
        return {"start": self._starts, "max": self.max_lrs, "end": self._ends}[name]

    def _between(self, first: float, last: float, part: float) -> float:
        if self._cosine:
            return last + (first - last) / 2 * (1 + math.cos(math.pi * part))
        return first + (last - first) * part


class NoamLR(LRScheduler):
    """The initial rate times width ** -0.5 * min(n ** -0.5, n * warmup_steps ** -1.5) at step n
    (Vaswani et al. 2017, section 5.3)."""

    def __init__(
        self, optimizer: Optimizer, model_size: int, warmup_steps: int, last_epoch: int = -1
    ) -> None:
        self.model_size, self.warmup_steps = model_size, warmup_steps
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> Sequence[float]:
        n = self.last_epoch + 1
        factor = self.model_size**-0.5 * min(n**-0.5, n * self.warmup_steps**-1.5)
        return [base * factor for base in self.base_lrs]


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
