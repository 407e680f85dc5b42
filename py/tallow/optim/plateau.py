"""`ReduceLROnPlateau`: a schedule by how well the training goes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import SupportsFloat

from ..errors import OptionError
from .group import Group
from .optimizer import Optimizer
from .schedule import LRScheduler, Verbose, check_optimizer, warn_of_epoch, warn_of_verbose


class ReduceLROnPlateau(LRScheduler):
    """`factor` times the rate once a measure, such as the loss of a validation, has not become
    better for more than `patience` steps.

    mode: "min" if less is better, "max" if more is. threshold: by how much a measure must be better
    than the best so far; threshold_mode: "rel" as a part of the best, "abs" as it is. cooldown:
    steps after a change that do not count. min_lr: the least rate, one or a list with one for each
    group. eps: a change by less is not made.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0.0,
        eps: float = 1e-8,
        verbose: Verbose = None,
    ) -> None:
        check_optimizer("ReduceLROnPlateau", optimizer)
        warn_of_verbose("ReduceLROnPlateau", verbose)
        if factor >= 1.0:
            raise OptionError(f"ReduceLROnPlateau: the factor must be below 1, not {factor}")
        if mode not in ("min", "max"):
            raise OptionError(f"ReduceLROnPlateau: mode {mode!r} is neither 'min' nor 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise OptionError(
                f"ReduceLROnPlateau: threshold_mode {threshold_mode!r} is neither 'rel' nor 'abs'"
            )
        groups = len(optimizer.param_groups)
        if isinstance(min_lr, Sequence):
            if len(min_lr) != groups:
                raise OptionError(f"ReduceLROnPlateau: {len(min_lr)} of min_lr for {groups} groups")
            self.default_min_lr: float | None = None
            self.min_lrs = [float(least) for least in min_lr]
        else:
            self.default_min_lr = float(min_lr)
            self.min_lrs = [float(min_lr)] * groups
        self.optimizer = optimizer
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.eps = cooldown, eps
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.last_epoch = 0
        self._last_lr = self._now()
        self._reset()

    def _reset(self) -> None:
        """Begins anew: no measure is known."""
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether the last change was so recent that steps do not count yet."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Whether a measure is better than another, by the threshold."""
        sign = -1.0 if self.mode == "min" else 1.0
        if self.threshold_mode == "abs":
            return sign * a > sign * (best + sign * self.threshold)
        return sign * a > sign * best * (1.0 + sign * self.threshold)

    def step(self, metrics: SupportsFloat | None = None, epoch: int | None = None) -> None:  # type: ignore[override]
        """Counts a measure, a number or a tensor of one, which is read from its device. epoch: the
        number of the step, which is deprecated."""
        if metrics is None:
            raise OptionError(
                "ReduceLROnPlateau: step() needs the measure, such as scheduler.step(loss)"
            )
        measure = float(metrics)
        if epoch is not None:
            warn_of_epoch("ReduceLROnPlateau")
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(measure, self.best):
            self.best, self.num_bad_epochs = measure, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce(self.optimizer.param_groups)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._now()

    def _reduce(self, groups: Sequence[Group]) -> None:
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise OptionError(
                    f"ReduceLROnPlateau: {len(self.min_lrs)} of min_lr for {len(groups)} groups; "
                    "after add_param_group, set scheduler.min_lrs"
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                group["lr"] = new
