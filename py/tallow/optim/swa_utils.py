"""Means of a model's parameters over a training, and a schedule for it, under the names of
torch.optim.swa_utils."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

from .. import functions as f
from ..errors import OptionError
from ..grad_mode import no_grad
from ..nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Module
from ..runtime.variable import Variable, assign_together
from ..tensor import Tensor, asarray
from .optimizer import Optimizer
from .schedule import LRScheduler, check_optimizer, of_groups

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

Mean = Callable[[Tensor, Tensor, Tensor], Tensor]
"""A parameter's mean so far, its value now and how many values are in the mean; gives the next."""

Means = Callable[[Sequence[Variable], Sequence[Tensor], Tensor], None]
"""The same for all parameters at once; changes the means."""

_MOST = 1 << 30
"""What counts go up to: a GPU computes them in 32 bits, and wants to know that they fit."""


def get_swa_avg_fn() -> Mean:
    """The mean of all values (Izmailov et al. 2018, "Averaging Weights Leads to Wider Optima and
    Better Generalization")."""

    def average(averaged: Tensor, current: Tensor, num_averaged: Tensor) -> Tensor:
        return averaged + (current - averaged) / (num_averaged + 1.0)

    return average


def get_ema_avg_fn(decay: float = 0.999) -> Mean:
    """A mean that counts each value with 1 - decay. OptionError if decay is not from 0 to 1."""
    if not 0.0 <= decay <= 1.0:
        raise OptionError(f"get_ema_avg_fn: decay must be from 0 to 1, not {decay}")

    def average(averaged: Tensor, current: Tensor, num_averaged: Tensor) -> Tensor:
        return averaged + (current - averaged) * (1.0 - decay)

    return average


def get_swa_multi_avg_fn() -> Means:
    """`get_swa_avg_fn` for all parameters at once."""
    return _of_all(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> Means:
    """`get_ema_avg_fn` for all parameters at once."""
    return _of_all(get_ema_avg_fn(decay))


def _of_all(average: Mean) -> Means:
    def update(
        averaged: Sequence[Variable], current: Sequence[Tensor], num_averaged: Tensor
    ) -> None:
        with no_grad():
            pairs = zip(averaged, current, strict=True)
            assign_together([(a, _next(average, a, c, num_averaged)) for a, c in pairs])

    return update


def _next(average: Mean, mean: Variable, value: Tensor, count: Tensor) -> Tensor:
    """The next mean, in the type of the one before, counts as float32."""
    if mean.dtype.is_floating:
        return average(mean.detach(), value, count).astype(mean.dtype)
    new = average(mean.astype("float32"), value.astype("float32"), count)
    return f.clip(new, -_MOST, _MOST).astype(mean.dtype)


class AveragedModel(Module):
    """A copy of a model whose parameters are means of those that the model has had at each
    `update_parameters`: the mean of all, or what avg_fn or multi_avg_fn gives.

    device: where the copy is stored. avg_fn(mean, value, count) gives the next mean of a parameter,
    multi_avg_fn(means, values, count) changes all means; the count is a float32 tensor.
    use_buffers: means of buffers, too; otherwise they are the model's. Raises OptionError if both
    functions are given.
    """

    n_averaged: Variable

    def __init__(
        self,
        model: Module,
        device: str | None = None,
        avg_fn: Mean | None = None,
        multi_avg_fn: Means | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise OptionError("AveragedModel: give avg_fn or multi_avg_fn, not both")
        self.module = deepcopy(model)
        self.register_buffer("n_averaged", asarray(0, "int64"))
        if device is not None:
            self.to(device)
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the copy gives."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Counts the model's values in; the first are taken as they are. Nothing is read back from
        the device, so that it can be part of a step under `@tl.jit`."""
        with no_grad():
            means, values = list(self.module.parameters()), list(model.parameters())
            buffers = list(zip(self.module.buffers(), model.buffers(), strict=True))
            averaged: list[tuple[Variable, Variable]] = [*zip(means, values, strict=True)]
            averaged += buffers if self.use_buffers else []
            current = [value.detach() for _, value in averaged]
            count = self.n_averaged.astype("float32")
            if self.multi_avg_fn is not None:
                self.multi_avg_fn([mean for mean, _ in averaged], current, count)
                new = [mean.detach() for mean, _ in averaged]
            else:
                average = self.avg_fn or get_swa_avg_fn()
                pairs = zip(averaged, current, strict=True)
                new = [_next(average, mean, value, count) for (mean, _), value in pairs]
            changes = [
                (mean, f.where(count == 0.0, value, each))
                for (mean, _), value, each in zip(averaged, current, new, strict=True)
            ]
            if not self.use_buffers:
                changes += [(mean, value.detach()) for mean, value in buffers]
            counted = f.minimum(self.n_averaged, _MOST) + 1
            assign_together([*changes, (self.n_averaged, counted)])


def update_bn(loader: Iterable[Any], model: Module, device: str | None = None) -> None:
    """Computes the running statistics of a model's batch norms anew, as means over the batches of a
    loader: tensors, or lists that begin with one. device: where batches are moved before."""
    norms = [m for m in model.modules() if isinstance(m, (BatchNorm1d, BatchNorm2d, BatchNorm3d))]
    if not norms:
        return
    momenta, was_training = [norm.momentum for norm in norms], model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    try:
        with no_grad():
            for batch in loader:
                x = batch[0] if isinstance(batch, (list, tuple)) else batch
                model(x if device is None else x.to(device))
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    """From the rate that there is to `swa_lr`, one for all groups or a list with one for each, in
    `anneal_epochs` steps, and then stays. anneal_strategy: along half a cosine, "cos", or "linear".
    Raises OptionError for other strategies, and for what is no whole number of steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        check_optimizer("SWALR", optimizer)
        if anneal_strategy not in ("cos", "linear"):
            raise OptionError(f"SWALR: {anneal_strategy!r} is neither 'cos' nor 'linear'")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise OptionError(
                f"SWALR: anneal_epochs must be a whole number from 0 on, not {anneal_epochs}"
            )
        rates = of_groups("SWALR", "swa_lr", swa_lr, optimizer)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """How far the rate has come after so many steps, from 0 to 1."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> Sequence[float]:
        """Each step from the one before, so that other schedules may have changed the rate."""
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        found = []
        for group, rate in zip(self.optimizer.param_groups, self._now(), strict=True):
            goal = group["swa_lr"]
            start = goal if before == 1 else (rate - before * goal) / (1 - before)
            found.append(goal * now + start * (1 - now))
        return found
