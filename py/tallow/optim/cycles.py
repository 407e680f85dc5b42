"""Schedules that rise before they fall: OneCycleLR, NoamLR."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import OptionError
from .group import Group
from .optimizer import Optimizer
from .schedule import LRScheduler


class OneCycleLR(LRScheduler):
    """Up to `max_lr`, then down to almost nothing (Smith and Topin 2018); the momentum goes the
    other way.

    total_steps, or epochs and steps_per_epoch. pct_start: which part of the steps rises.
    anneal_strategy: "cos" or "linear". cycle_momentum: moves "momentum", or the first of "betas",
    from max_momentum to base_momentum and back. The rate begins at max_lr / div_factor and ends at
    that divided by final_div_factor. three_phase: goes back to where it began before that.
    max_lr, base_momentum and max_momentum: one for all groups, or a list with one for each.
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
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise OptionError(f"OneCycleLR: {optimizer!r} is not an optimiser")
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise OptionError("OneCycleLR: give total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if total_steps <= 0:
            raise OptionError(f"OneCycleLR: {total_steps} steps; there must be one or more")
        if not 0 <= pct_start <= 1:
            raise OptionError(f"OneCycleLR: pct_start must be from 0 to 1, not {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise OptionError(f"OneCycleLR: {anneal_strategy!r} is neither 'cos' nor 'linear'")
        self.total_steps = total_steps
        self.cycle_momentum = cycle_momentum
        self._anneal_func_type = anneal_strategy
        rise, end = pct_start * total_steps - 1, total_steps - 1.0
        # Until which step, from which rate to which, and from which momentum to which.
        self._phases = [
            (rise, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
            (end, "max_lr", "min_lr", "base_momentum", "max_momentum"),
        ]
        if three_phase:
            self._phases[1:] = [
                (2 * rise, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                (end, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
            ]
        groups = optimizer.param_groups
        known = optimizer.defaults
        if cycle_momentum and "momentum" not in known and "betas" not in known:
            raise OptionError(
                f"OneCycleLR: {type(optimizer).__name__} has neither momentum nor betas; give "
                "cycle_momentum=False"
            )
        self.use_beta1 = "betas" in known
        if last_epoch == -1:
            for group, most in zip(groups, _of_groups("max_lr", max_lr, groups), strict=True):
                group["initial_lr"], group["max_lr"] = most / div_factor, most
                group["min_lr"] = group["initial_lr"] / final_div_factor
            if cycle_momentum:
                most_of = _of_groups("max_momentum", max_momentum, groups)
                least_of = _of_groups("base_momentum", base_momentum, groups)
                for group, most, least in zip(groups, most_of, least_of, strict=True):
                    group["max_momentum"], group["base_momentum"] = most, least
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        """The rates of the groups in step `last_epoch`; sets their momentum."""
        if self.last_epoch > self.total_steps:
            raise OptionError(
                f"OneCycleLR: step {self.last_epoch} of {self.total_steps}; the cycle is over, "
                "make it with more total_steps"
            )
        return [self._rate(group) for group in self.optimizer.param_groups]

    def _rate(self, group: Group) -> float:
        ends = [end for end, *_ in self._phases]
        number = min(sum(self.last_epoch > end for end in ends), len(ends) - 1)
        start = ends[number - 1] if number else 0.0
        end, first, last, heavy, light = self._phases[number]
        part = (self.last_epoch - start) / (end - start)
        if self.cycle_momentum:
            momentum = self._between(group[heavy], group[light], part)
            if self.use_beta1:
                group["betas"] = (momentum, *group["betas"][1:])
            else:
                group["momentum"] = momentum
        return self._between(group[first], group[last], part)

    def _between(self, first: float, last: float, part: float) -> float:
        if self._anneal_func_type == "cos":
            return last + (first - last) / 2 * (1 + math.cos(math.pi * part))
        return first + (last - first) * part


def _of_groups(name: str, value: float | Sequence[float], groups: Sequence[Group]) -> list[float]:
    """A number for each group."""
    if not isinstance(value, Sequence):
        return [float(value)] * len(groups)
    if len(value) != len(groups):
        raise OptionError(f"OneCycleLR: {len(value)} of {name} for {len(groups)} groups")
    return [float(each) for each in value]


class NoamLR(LRScheduler):
    """The initial rate times width ** -0.5 * min(n ** -0.5, n * warmup_steps ** -1.5) at step n
    (Vaswani et al. 2017, section 5.3)."""

    def __init__(
        self, optimizer: Optimizer, model_size: int, warmup_steps: int, last_epoch: int = -1
    ) -> None:
        self.model_size, self.warmup_steps = model_size, warmup_steps
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Sequence[float]:
        n = self.last_epoch + 1
        factor = self.model_size**-0.5 * min(n**-0.5, n * self.warmup_steps**-1.5)
        return [base * factor for base in self.base_lrs]
