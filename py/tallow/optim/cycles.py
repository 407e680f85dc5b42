"""Schedules that rise before they fall: OneCycleLR, CyclicLR, NoamLR."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..errors import OptionError
from .group import Group
from .optimizer import Optimizer
from .schedule import LRScheduler, Verbose, check_optimizer, of_groups


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
        verbose: Verbose = None,
    ) -> None:
        check_optimizer("OneCycleLR", optimizer)
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise OptionError("OneCycleLR: give total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise OptionError(
                f"OneCycleLR: {total_steps} steps; there must be a whole number, one or more"
            )
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
        if cycle_momentum:
            _needs_momentum(optimizer, "OneCycleLR")
        self.use_beta1 = "betas" in optimizer.defaults
        if last_epoch == -1:
            for group, most in zip(
                groups, of_groups("OneCycleLR", "max_lr", max_lr, optimizer), strict=True
            ):
                group["initial_lr"], group["max_lr"] = most / div_factor, most
                group["min_lr"] = group["initial_lr"] / final_div_factor
            if cycle_momentum:
                most_of = of_groups("OneCycleLR", "max_momentum", max_momentum, optimizer)
                least_of = of_groups("OneCycleLR", "base_momentum", base_momentum, optimizer)
                for group, most, least in zip(groups, most_of, least_of, strict=True):
                    group["max_momentum"], group["base_momentum"] = most, least
        super().__init__(optimizer, last_epoch, verbose)

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
        part = (self.last_epoch - start) / (end - start) if end > start else 1.0
        if self.cycle_momentum:
            momentum = self._between(group[heavy], group[light], part)
            _set_momentum(group, momentum, self.use_beta1)
        return self._between(group[first], group[last], part)

    def _between(self, first: float, last: float, part: float) -> float:
        if self._anneal_func_type == "cos":
            return last + (first - last) / 2 * (1 + math.cos(math.pi * part))
        return first + (last - first) * part


class CyclicLR(LRScheduler):
    """Between `base_lr` and `max_lr` up and down along lines (Smith 2017, "Cyclical Learning Rates
    for Training Neural Networks"); the momentum goes the other way.

    step_size_up, step_size_down: the steps of a rise and of a fall. mode: "triangular"; or
    "triangular2", whose height halves with each cycle; or "exp_range", whose height is multiplied
    by `gamma` at each step. scale_fn: what the height is multiplied by instead, a function of the
    cycle's number, from 1 on, or of the step's with scale_mode "iterations". cycle_momentum: moves
    "momentum", or the first of "betas", from max_momentum to base_momentum and back. base_lr,
    max_lr, base_momentum and max_momentum: one for all groups, or a list with one for each.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
        verbose: Verbose = None,
    ) -> None:
        check_optimizer("CyclicLR", optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise OptionError(
                f"CyclicLR: mode {mode!r} is none of 'triangular', 'triangular2', 'exp_range'"
            )
        groups = optimizer.param_groups
        self.step_size_up = float(step_size_up)
        self.total_size = self.step_size_up + float(
            step_size_up if step_size_down is None else step_size_down
        )
        self.mode, self.gamma, self.cycle_momentum = mode, gamma, cycle_momentum
        self._scale_fn = scale_fn
        by_step = scale_mode == "iterations" if scale_fn else mode == "exp_range"
        self.scale_mode = "iterations" if by_step else "cycle"
        self.max_lrs = of_groups("CyclicLR", "max_lr", max_lr, optimizer)
        least = of_groups("CyclicLR", "base_lr", base_lr, optimizer)
        self.use_beta1 = "betas" in optimizer.defaults
        if cycle_momentum:
            _needs_momentum(optimizer, "CyclicLR")
            self.base_momentums = of_groups("CyclicLR", "base_momentum", base_momentum, optimizer)
            self.max_momentums = of_groups("CyclicLR", "max_momentum", max_momentum, optimizer)
        if last_epoch == -1:
            for group, rate in zip(groups, least, strict=True):
                group["lr"] = group["initial_lr"] = rate
        super().__init__(optimizer, last_epoch, verbose)
        self.base_lrs = least

    def _scale(self, cycle: float) -> float:
        at = cycle if self.scale_mode == "cycle" else self.last_epoch
        if self._scale_fn is not None:
            return float(self._scale_fn(at))
        if self.mode == "triangular2":
            return float(0.5 ** (cycle - 1))
        return float(self.gamma**at) if self.mode == "exp_range" else 1.0

    def get_lr(self) -> Sequence[float]:
        """The rates of the groups in step `last_epoch`; sets their momentum."""
        done = self.last_epoch / self.total_size
        cycle = math.floor(1 + done)
        part, rise = 1.0 + done - cycle, self.step_size_up / self.total_size
        height = part / rise if part <= rise else (part - 1) / (rise - 1)
        height *= self._scale(cycle)
        if self.cycle_momentum:
            ends = zip(self.max_momentums, self.base_momentums, strict=True)
            for group, (most, least) in zip(self.optimizer.param_groups, ends, strict=True):
                _set_momentum(group, most - (most - least) * height, self.use_beta1)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [least + (most - least) * height for least, most in pairs]


def _needs_momentum(optimizer: Optimizer, name: str) -> None:
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise OptionError(
            f"{name}: {type(optimizer).__name__} has neither momentum nor betas; give "
            "cycle_momentum=False"
        )


def _set_momentum(group: Group, momentum: float, use_beta1: bool) -> None:
    if use_beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


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
