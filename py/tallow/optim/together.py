"""Schedules of schedules: ChainedScheduler, SequentialLR."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import OptionError
from .optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .schedule import LRScheduler, check_optimizer


class _Together(LRScheduler):
    """What has schedules of one optimiser. Raises OptionError for none, for those of others, and
    for one that follows a measure."""

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer) -> None:
        name = type(self).__name__
        check_optimizer(name, optimizer)
        for each in schedulers:
            if isinstance(each, ReduceLROnPlateau):
                raise OptionError(
                    f"{name}: ReduceLROnPlateau needs a measure at each step; call its step(loss) "
                    "beside this one"
                )
            if getattr(each, "optimizer", None) is not optimizer:
                raise OptionError(f"{name}: a schedule is of another optimiser; give each this one")
        self.optimizer = optimizer
        self._schedulers = list(schedulers)

    def _undo(self) -> None:
        for each in self._schedulers:
            each._undo()

    def state_dict(self) -> dict[str, Any]:
        """Its own and that of each schedule."""
        return {
            **super().state_dict(), "_schedulers": [each.state_dict() for each in self._schedulers]
        }  # fmt: skip

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from a `state_dict`. OptionError if it is of another number of schedules."""
        own = dict(state_dict)
        states = own.pop("_schedulers")
        if len(states) != len(self._schedulers):
            raise OptionError(
                f"{type(self).__name__}: the state of {len(states)} schedules for "
                f"{len(self._schedulers)}"
            )
        super().load_state_dict(own)
        for each, state in zip(self._schedulers, states, strict=True):
            each.load_state_dict(state)


class ChainedScheduler(_Together):
    """Several schedules at once: each multiplies what the others give. optimizer: that of the first
    if None."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if not schedulers:
            raise OptionError("ChainedScheduler: there are no schedules")
        super().__init__(schedulers, optimizer or schedulers[0].optimizer)
        self._last_lr = self._now()

    def _initial_step(self) -> None:
        for each in self._schedulers:
            each._initial_step()
        self._last_lr = self._now()

    def _update_lr(self, epoch: int | None = None) -> None:
        """Begins, where another schedule has ended."""
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for each in self._schedulers:
            each.last_epoch = -1
        self._initial_step()

    def step(self) -> None:  # type: ignore[override]
        """Goes on to the next step of each."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._now()


class SequentialLR(_Together):
    """Schedules one after the other: the next begins at each of the steps `milestones`. Those whose
    rates can be told from the number of a step begin at the initial rate, the others, such as
    MultiplicativeLR, at the rate that there is."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        if not schedulers:
            raise OptionError("SequentialLR: there are no schedules")
        if len(milestones) != len(schedulers) - 1:
            raise OptionError(
                f"SequentialLR: {len(schedulers)} schedules need {len(schedulers) - 1} "
                f"milestones, not {len(milestones)}"
            )
        super().__init__(schedulers, optimizer)
        self._milestones = list(milestones)
        self.last_epoch = last_epoch
        # Each has taken a first step when it was made: as if only the first had.
        for each in self._schedulers:
            each._undo()
        self._initial_step()

    def _initial_step(self) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        self.last_epoch += 1
        self._schedulers[0]._initial_step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def _undo(self) -> None:
        super()._undo()
        self.last_epoch -= 1

    def _update_lr(self, epoch: int | None = None) -> None:
        """Begins, where another schedule has ended."""
        self.last_epoch = 0
        self._schedulers[0]._update_lr(0)
        self._last_lr = self._now()

    def step(self) -> None:  # type: ignore[override]
        """Goes on to the next step of the schedule whose turn it is."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[number]
        if number and self._milestones[number - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()
