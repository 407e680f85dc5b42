"""`Stepping`: the compiled functions of a learner, and what its loop asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..amp import GradScaler, autocast
from ..core import watching
from ..core.drivers import Steps
from ..data.dataloader import tensors_of
from ..errors import MissingError
from ..grad_mode import no_grad
from ..nn.utils import clip_grad_norm_, clip_grad_value_, get_total_norm
from ..optim.lr_scheduler import LRScheduler
from ..runtime.device import backend
from ..runtime.jit import Jitted
from ..tensor import Tensor
from .callbacks import Callback
from .checkpoints import Folder
from .figures import device_memory
from .run import Run
from .tally import Mean, Tally, length_of, result_of


class Strategy(Protocol):
    """Where the gradients of a batch are computed, if not here."""

    def begin(self, learner: Stepping) -> Steps[Any]:
        """Makes ready for a run."""

    def train_batch(self, learner: Stepping, batch: Any) -> Steps[Any]:
        """Learns from a batch."""

    def end(self) -> None:
        """Frees what `begin` made, also after it failed."""


class Stepping(Run):
    """A run that steps: what a learner's options mean on the device."""

    schedules: list[LRScheduler]
    schedule_every: str
    accumulate: int
    clip_norm: float | None
    clip_value: float | None
    unfreeze: dict[str, int]
    validate_every: int | None
    checkpoint_every: int | None
    device: str | None
    seed: int | None
    folder: Folder | None
    callbacks: list[Callback]
    figures: list[str]
    scaler: GradScaler
    strategy: Strategy | None

    def compile(self, device: str | None) -> None:
        """Makes the compiled functions, for a device."""
        self.tally, self.measured = Tally(device), Tally(device)
        """What steps of training, and of an evaluation, measured."""
        self.norms = Mean(device)
        """The norms of all gradients together, before they are clipped."""
        self._training = Jitted(self._train_batch, frozenset({"advance"}), device)
        self._applying = Jitted(self._apply, frozenset({"count", "advance"}), device)
        self._advancing = Jitted(self._advance, frozenset(), device)
        self._measuring = Jitted(self._measure_batch, frozenset(), device)
        self._predicting = Jitted(self.predict_step, frozenset(), device)

    def step(self, batch: Any) -> Any:
        """See `Learner.step`."""
        raise MissingError(f"{type(self).__name__} does not define step()")

    def predict_step(self, batch: Any) -> Any:
        """See `Learner.predict_step`."""
        raise MissingError(f"{type(self).__name__} does not define predict_step()")

    # ---- what the loop asks --------------------------------------------------------------------

    def begin(self) -> None:
        """Begins a run: no step was taken."""
        self.history = []
        self.epoch = self.steps = self.batch = 0
        self.best, self.ended, self.due = None, False, False
        self.tally.begin()
        self.norms.begin()

    def tell(self, event: str, *given: Any) -> None:
        """Calls a method of all callbacks."""
        for each in self.callbacks:
            getattr(each, event)(self, *given)

    def train_batch(self, batch: Any) -> None:
        """Learns from a batch: gives a step to the device and reads nothing."""
        self.items = length_of(batch)
        self._training(batch, advance=(self.batch + 1) % self.accumulate == 0)

    def apply(
        self, gradients: Mapping[str, Tensor], measured: Mapping[str, Tensor], count: int
    ) -> None:
        """Learns from a batch whose gradients were computed elsewhere.

        gradients: by the names of parameters, of the loss divided by `accumulate`. measured: the
        loss, and what else the step measures: means over the batch's `count` samples.
        """
        advance = (self.batch + 1) % self.accumulate == 0
        self._applying(dict(gradients), dict(measured), count=count, advance=advance)

    def advance_rest(self) -> None:
        """Learns from the last batches of an epoch, which are fewer than `accumulate`."""
        self._advancing()

    def measure_batch(self, batch: Any) -> None:
        """Takes a batch into account in `measured` and in the metrics."""
        preds, target = self._measuring(batch)
        for metric in self.metrics.values():
            if metric.collects:
                metric.update(preds, target)

    @property
    def measures_norms(self) -> bool:
        """Whether steps measure the norm of the gradients: when it is asked for, or taken anyway
        to clip them."""
        return "grad_norm" in self.figures or self.clip_norm is not None

    def memory(self) -> int:
        """The bytes on the device."""
        training = (self._training, self._applying, self._advancing)
        return device_memory(self.device, (*training, self._measuring, self._predicting))

    def predict_batch(self, batch: Any) -> Any:
        """The outputs of a batch."""
        if watching.watcher is None:
            return self._predicting(batch)
        device = backend(self.device).info.device
        shapes = {f"{n}": each.shape for n, each in enumerate(tensors_of(batch))}
        with watching.watcher.inference(type(self.model).__name__, device, shapes, {}):
            return self._predicting(batch)

    # ---- the compiled functions ----------------------------------------------------------------

    def _train_batch(self, batch: Any, advance: bool) -> None:
        with autocast("webgpu", enabled=self.scaler.is_enabled()):
            result = result_of(self.step(batch))
        self.scaler.scale(result.loss / self.accumulate).backward()
        if advance:
            self._advance()
        self.tally.add({"loss": result.loss, **result.others}, length_of(batch))

    def _apply(
        self,
        gradients: dict[str, Tensor],
        measured: dict[str, Tensor],
        count: int,
        advance: bool,
    ) -> None:
        parameters = dict(self.model.named_parameters())
        with no_grad():
            for name, gradient in gradients.items():
                before = parameters[name].grad
                parameters[name].grad = gradient if before is None else before + gradient
        if advance:
            self._advance()
        self.tally.add(measured, count)

    def _advance(self) -> None:
        """A step of all optimisers with the gradients that there are."""
        params = [p for each in self.optimizers for g in each.param_groups for p in g["params"]]
        if self.scaler.is_enabled():
            for optimizer in self.optimizers:
                self.scaler.unscale_(optimizer)
        if self.measures_norms:
            with no_grad():
                self.norms.add(get_total_norm([p.grad for p in params if p.grad is not None]))
        if self.clip_value is not None:
            clip_grad_value_(params, self.clip_value)
        if self.clip_norm is not None:
            clip_grad_norm_(params, self.clip_norm)
        for optimizer in self.optimizers:
            self.scaler.step(optimizer)
            optimizer.zero_grad()
        self.scaler.update()

    def _measure_batch(self, batch: Any) -> tuple[Any, Any]:
        with no_grad():
            result = result_of(self.step(batch))
            self.measured.add({"loss": result.loss, **result.others}, length_of(batch))
            for metric in self.metrics.values():
                if not metric.collects:
                    metric.update(result.preds, result.target)
            collected = any(metric.collects for metric in self.metrics.values())
            return (result.preds, result.target) if collected else (None, None)

    def freeze(self) -> None:
        """Freezes the parts that do not learn in the running epoch, and no others."""
        for name, epoch in self.unfreeze.items():
            self.model.get_submodule(name).requires_grad_(self.epoch >= epoch)
