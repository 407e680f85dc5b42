"""`CosineAnnealingWarmRestarts`: half cosines one after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..errors import OptionError
from .optimizer import Optimizer
from .schedule import LRScheduler, Verbose


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the rate to `eta_min` along half a cosine, again and again (Loshchilov and Hutter 2017,
    "SGDR").

    T_0: the steps of the first fall. T_mult: how many times as long each fall is as the one before.
    Raises OptionError if T_0 is not a positive or T_mult not a positive whole number.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
        verbose: Verbose = None,
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise OptionError(
                    f"CosineAnnealingWarmRestarts: {name} must be a whole number from 1 on, "
                    f"not {value!r}"
                )
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        self._place(max(last_epoch, 0))
        super().__init__(optimizer, last_epoch, verbose)

    def _place(self, epoch: float) -> None:
        """Which fall a step belongs to: its length T_i, and how far the step is in it, T_cur."""
        self.T_i, self.T_cur = self.T_0, epoch
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
            return
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult

    def get_lr(self) -> Sequence[float]:
        """The rates of the groups at T_cur of T_i steps."""
        part = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * part for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Goes on to the next step. epoch: to that one instead; within an epoch it may be a
        fraction, such as `epoch + batch / batches`. OptionError if it is negative."""
        if epoch is not None and epoch < 0:
            raise OptionError(f"CosineAnnealingWarmRestarts: there is no step {epoch}")
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:  # a fraction that was given before stays
            self.last_epoch += 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self.last_epoch = math.floor(epoch)
            self._place(epoch)
        self._set(self.get_lr())
