"""`LRScheduler`: what all schedules share, with torch.optim.lr_scheduler's interface.

A schedule sets `lr` of an optimiser's groups on the host; a step under `@tl.jit` reads it as state,
so nothing is compiled again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import ArgumentError, OptionError
from .optimizer import Optimizer

Verbose = bool | str | None
"""An argument of PyTorch's that is deprecated."""


class LRScheduler:
    """The base of all schedules, and of your own: `get_lr` gives the rates of a step from its
    number, `last_epoch`, and the rates that the groups began with, `base_lrs`, or those that they
    have now. `_get_closed_form_lr`, if there is one, gives them from number and beginning alone.

    last_epoch: -1 begins; another number goes on behind that step with groups that have an
    "initial_lr", as those of an optimiser that has loaded its state. verbose: deprecated, and
    without effect. Raises OptionError for what is no optimiser, or groups that cannot go on.
    """

    _is_initial = False
    """Whether the schedule is being made, so that its rates may have been set before."""

    _get_lr_called_within_step = False
    """Whether it is `step` that calls `get_lr`."""

    _step_count: int
    _last_lr: list[float]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1, verbose: Verbose = None) -> None:
        check_optimizer(type(self).__name__, optimizer)
        warn_of_verbose(type(self).__name__, verbose)
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch != -1 and "initial_lr" not in group:
                raise OptionError(
                    f"{type(self).__name__}: last_epoch={last_epoch} goes on with a schedule, but "
                    f"group {number} of the optimiser has no 'initial_lr'; load its state_dict "
                    "first, or leave last_epoch -1"
                )
            group.setdefault("initial_lr", float(group["lr"]))
        self.base_lrs = [float(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        with self._during("_is_initial"):
            self.step()

    @contextmanager
    def _during(self, flag: str) -> Iterator[None]:
        setattr(self, flag, True)
        try:
            yield
        finally:
            setattr(self, flag, False)

    def get_lr(self) -> Sequence[float]:
        """The rates of the groups in step `last_epoch`; every subclass defines it."""
        raise OptionError(f"{type(self).__name__} does not define get_lr()")

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next step, and sets the groups' learning rates. epoch: to that one
        instead, which is deprecated."""
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch(type(self).__name__)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        rates = self.get_lr
        if epoch is None:
            self.last_epoch += 1
        else:
            self.last_epoch = epoch
            rates = getattr(self, "_get_closed_form_lr", self.get_lr)
        with self._during("_get_lr_called_within_step"):
            self._set(rates())

    def _set(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = float(rate)
        self._last_lr = self._now()

    def _now(self) -> list[float]:
        return [float(group["lr"]) for group in self.optimizer.param_groups]

    def _undo(self) -> None:
        """As before its first step, for a schedule that decides when it begins."""
        self.last_epoch -= 1

    def get_last_lr(self) -> list[float]:
        """The learning rate of each group as the last step has set it."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """What it goes on from; functions are left out."""
        return {
            name: value
            for name, value in vars(self).items()
            if name != "optimizer" and not callable(value)
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from a `state_dict`, of this library or of PyTorch. The optimiser keeps its own
        learning rates, and the schedule its functions."""
        vars(self).update(state_dict)


def check_optimizer(name: str, optimizer: object) -> None:
    """OptionError for what is no optimiser."""
    if not isinstance(optimizer, Optimizer):
        raise ArgumentError(f"{name}: {optimizer!r:.80} is not an optimiser")


def warn_of_verbose(name: str, verbose: Verbose) -> None:
    """Says that it has no effect, where it is given."""
    if verbose not in (None, "deprecated"):
        warnings.warn(
            f"{name}: verbose is deprecated and has no effect; get_last_lr() gives the rates",
            stacklevel=4,
        )


def warn_of_epoch(name: str) -> None:
    """Says what PyTorch says, too."""
    warnings.warn(
        f"{name}: step(epoch) is deprecated; call step(), or make a schedule with last_epoch",
        stacklevel=3,
    )


def of_groups(
    name: str, setting: str, value: float | Sequence[float], optimizer: Optimizer
) -> list[float]:
    """A number for each group. OptionError for a list of another length."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, Sequence):
        return [float(value)] * groups
    if len(value) != groups:
        raise OptionError(f"{name}: {len(value)} of {setting} for {groups} groups")
    return [float(each) for each in value]
