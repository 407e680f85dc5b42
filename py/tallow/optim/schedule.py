"""`LRScheduler`: what all schedules share, with torch.optim.lr_scheduler's interface.

A schedule sets `lr` of an optimiser's groups on the host; a step under `@tl.jit` reads it as state,
so nothing is compiled again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import OptionError
from .optimizer import Optimizer


class LRScheduler:
    """The base of all schedules: `get_lr` gives the rates of a step from its number, `last_epoch`,
    and the rates that the groups began with, `base_lrs`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise OptionError(f"{type(self).__name__}: {optimizer!r} is not an optimiser")
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
        self.step()

    def get_lr(self) -> Sequence[float]:
        """The rates of the groups in step `last_epoch`; every subclass defines it."""
        raise OptionError(f"{type(self).__name__} does not define get_lr()")

    def step(self) -> None:
        """Goes on to the next step, and sets the groups' learning rates."""
        self.last_epoch += 1
        self._set(self.get_lr())

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
        """Goes on from a `state_dict`, of this library or of PyTorch. The optimiser keeps its own
        learning rates, and the schedule its functions."""
        own = {name: value for name, value in state_dict.items() if name != "lr_lambdas"}
        vars(self).update(own)
