"""`Learner`: trains a module, and keeps what a run needs to go on."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..amp import GradScaler, is_autocast_available
from ..core.drivers import run_async, run_sync
from ..errors import OptionError
from ..metrics import Metric, MetricCollection
from ..metrics.named import Named
from ..nn import Module
from ..optim import Optimizer
from ..optim.lr_scheduler import LRScheduler
from ..tensor import Tensor
from . import loop, lr_find
from .callbacks import Callback, Dashboard, EarlyStopping, ProgressLines
from .checkpoints import Folder
from .figures import FIGURES
from .interrupts import interrupts
from .lr_find import LearningRates
from .stepping import Stepping, Strategy

Loss = Callable[[Any, Any], Tensor]
Data = Iterable[Any]


class Learner(Stepping):
    """Trains a module: the loop, validation, metrics, checkpoints and early stopping.

        learner = Learner(model, optimizer, F.cross_entropy, metrics=["accuracy", "f1"])
        learner.fit(train, valid, epochs=3)

    A batch is (inputs, targets), unless a subclass defines `step`. A step is compiled once per
    shape of a batch; losses and metrics stay on the device, and are read a few times a second.

    model: the module.
    optimizer: an optimiser, or a list of them, each with parameters of its own.
    loss: loss(preds, targets), a number; None if a subclass defines `step`.
    metrics: what a validation measures beside the loss: metrics, or names such as "accuracy", of
      which the first batch makes metrics (metrics/named.py). Also what the records have of the
      steps: "grad_norm" (the mean norm of all gradients, before clipping), "items_per_second",
      "memory" (bytes on the device), "process_memory" (bytes).
    checkpoints: the folder of the run; None keeps none.
    early_stopping: the patience, in records, or an `EarlyStopping`.
    callbacks: called on the way.
    schedule: a schedule of the learning rate, or a list of them; each steps once per epoch, or per
      step if schedule_every is "step". One that takes a measure gets the monitored value.
    accumulate: how many batches make one step of the optimiser; their gradients are averaged.
    clip_norm: the largest norm of all gradients together. clip_value: the largest absolute value of
      an element.
    precision: "float32", or "float16" for mixed precision, where the device has it.
    unfreeze: {name of a part of the model: epoch}; the part is frozen before that epoch.
    validate_every: after how many steps there is a validation; None is once per epoch.
    checkpoint_every: after how many steps a checkpoint is written, beside those after each record.
    keep: how many of the last checkpoints stay; the best one stays, too.
    monitor: the name in the records that decides which checkpoint is best; None is valid_loss, or
      train_loss without a validation.
    device: the device's name; None is the default device.
    seed: begins random numbers when a run begins, so that it can be repeated; None leaves them.
    progress: whether a line is printed for each record, and in a terminal one that shows how far
      the epoch is; not beside a `Dashboard`.
    strategy: where the steps of training are computed, such as
      `train.distributed.RayStrategy(workers=2)`; None is in this process.
    Raises: OptionError for options that do not fit.
    Source: the interface is close to Lightning's Trainer and Burn's Learner.
    """

    def __init__(
        self,
        model: Module,
        optimizer: Optimizer | Sequence[Optimizer],
        loss: Loss | None = None,
        metrics: Sequence[Metric | str] | Mapping[str, Metric | str] | MetricCollection = (),
        *,
        checkpoints: str | os.PathLike[str] | None = None,
        early_stopping: int | EarlyStopping | None = None,
        callbacks: Sequence[Callback] = (),
        schedule: LRScheduler | Sequence[LRScheduler] = (),
        schedule_every: str = "epoch",
        accumulate: int = 1,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        precision: str = "float32",
        unfreeze: Mapping[str, int] | None = None,
        validate_every: int | None = None,
        checkpoint_every: int | None = None,
        keep: int = 2,
        monitor: str | None = None,
        device: str | None = None,
        seed: int | None = None,
        progress: bool = True,
        strategy: Strategy | None = None,
    ) -> None:
        if loss is None and type(self).step is Learner.step:
            raise OptionError("Learner: give a loss, or define step(batch) in a subclass")
        for name, value in (
            ("accumulate", accumulate), ("validate_every", validate_every),
            ("checkpoint_every", checkpoint_every), ("keep", keep),
        ):  # fmt: skip
            if value is not None and value < 1:
                raise OptionError(f"Learner: {name}={value} is below 1")
        if schedule_every not in ("epoch", "step"):
            raise OptionError(
                f"Learner: schedule_every={schedule_every!r} is neither 'epoch' nor 'step'"
            )
        if precision not in ("float32", "float16"):
            raise OptionError(
                f"Learner: precision={precision!r} is neither 'float32' nor 'float16'"
            )
        optimizers = [optimizer] if isinstance(optimizer, Optimizer) else list(optimizer)
        named, self.figures = _named(metrics)
        super().__init__(model, optimizers, named, monitor)
        self.loss = loss
        self.schedules = [schedule] if isinstance(schedule, LRScheduler) else list(schedule)
        self.schedule_every = schedule_every
        self.accumulate, self.clip_norm, self.clip_value = accumulate, clip_norm, clip_value
        self.unfreeze = dict(unfreeze or {})
        self.validate_every, self.checkpoint_every = validate_every, checkpoint_every
        self.device, self.seed, self.strategy = device, seed, strategy
        self.folder = None if checkpoints is None else Folder(checkpoints, keep)
        self.callbacks = list(callbacks)
        if isinstance(early_stopping, int):
            early_stopping = EarlyStopping(early_stopping)
        if early_stopping is not None:
            self.callbacks.append(early_stopping)
        if progress and not any(isinstance(each, Dashboard) for each in self.callbacks):
            self.callbacks.append(ProgressLines())
        half = precision == "float16" and is_autocast_available(device or "webgpu")
        self.scaler = GradScaler(enabled=half)
        self.compile(device)

    # ---- what a subclass may define ------------------------------------------------------------

    def step(self, batch: Any) -> Any:
        """Computes the loss of a batch, for training and for validation.

        batch: what the loader gives; (inputs, targets) unless a subclass defines this.
        Returns: the loss, a number; or a dict with it under "loss", what metrics compare under
          "preds" and "target", and other numbers, whose means become part of the records.
        """
        try:
            inputs, target = batch
        except (TypeError, ValueError) as error:
            raise OptionError(
                "Learner: a batch is (inputs, targets); define step(batch) in a subclass for "
                f"another kind, such as {type(batch).__name__}"
            ) from error
        preds = self.model(inputs)
        assert self.loss is not None
        return {"loss": self.loss(preds, target), "preds": preds, "target": target}

    def predict_step(self, batch: Any) -> Any:
        """Computes the outputs for a batch, of which `predict` makes one result.

        batch: what the loader gives; of a tuple or a list, the first are the inputs.
        """
        return self.model(batch[0] if isinstance(batch, (tuple, list)) else batch)

    # ---- what users call -----------------------------------------------------------------------

    def fit(self, train: Data, valid: Data | None = None, epochs: int = 1) -> list[dict[str, Any]]:
        """Trains from the first epoch on; blocks. Ctrl-C ends it after the running step, saved.

        train: the batches of an epoch, such as a DataLoader, iterated once for each epoch.
        valid: batches to measure after each epoch; None measures none.
        epochs: how many.
        Returns: `history`, a dict for each epoch: epoch, step, train_loss, seconds, and valid_loss
          and valid_NAME of each metric if there is a validation.
        Raises: NonFiniteError for a loss that is not finite, with the step; the model is then that
          of the last checkpoint, if there is one. CheckpointError if the folder has a run already,
          is in use, or cannot be written. OptionError for data without a batch.
        """
        with interrupts(self):
            return run_sync(loop.fit(self, train, valid, epochs))

    async def fit_async(
        self, train: Data, valid: Data | None = None, epochs: int = 1
    ) -> list[dict[str, Any]]:
        """As `fit`, without blocking; cancelling it ends it after the running step, saved."""
        return await run_async(loop.fit(self, train, valid, epochs))

    def resume(
        self,
        train: Data,
        valid: Data | None = None,
        epochs: int = 1,
        *,
        checkpoint: str | None = None,
    ) -> list[dict[str, Any]]:
        """Goes on with the run in the folder `checkpoints`, from its last checkpoint; blocks.

        train, valid: as for `fit`, and as in the run so far.
        epochs: how many there are in all, with those before.
        checkpoint: the name of another checkpoint to go on from.
        Returns: as `fit`, with the records before.
        Raises: as `fit`, and CheckpointError if there is no run, or if the checkpoint is damaged;
          the message names the next older one.
        """
        with interrupts(self):
            return run_sync(loop.resume(self, train, valid, epochs, checkpoint))

    async def resume_async(
        self,
        train: Data,
        valid: Data | None = None,
        epochs: int = 1,
        *,
        checkpoint: str | None = None,
    ) -> list[dict[str, Any]]:
        """As `resume`, without blocking."""
        return await run_async(loop.resume(self, train, valid, epochs, checkpoint))

    def evaluate(self, data: Data) -> dict[str, Any]:
        """Measures batches; blocks.

        data: the batches.
        Returns: the loss and each metric by name.
        Raises: OptionError for data without a batch.
        """
        return run_sync(loop.evaluate(self, data))

    async def evaluate_async(self, data: Data) -> dict[str, Any]:
        """As `evaluate`, without blocking."""
        return await run_async(loop.evaluate(self, data))

    def predict(self, data: Data) -> Any:
        """Computes the outputs of batches; blocks.

        data: the batches, of inputs alone or of tuples that begin with them.
        Returns: a tensor, the outputs in order along the first axis; a tuple or a dict of such
          tensors if `predict_step` returns one of tensors.
        Raises: OptionError for data without a batch.
        """
        return run_sync(loop.predict(self, data))

    async def predict_async(self, data: Data) -> Any:
        """As `predict`, without blocking."""
        return await run_async(loop.predict(self, data))

    def lr_find(
        self, train: Data, *, low: float = 1e-7, high: float = 10.0, steps: int = 100
    ) -> LearningRates:
        """Tries learning rates that grow, one a step, and undoes the steps; blocks.

        train: the batches, which begin again if there are fewer than steps.
        low, high: the first and the last rate.
        steps: how many are tried; fewer if the loss becomes much larger than it was.
        Returns: the rates, the loss with each, smoothed, and a suggestion.
        Raises: OptionError for bounds that do not grow, and if no loss is finite.
        Source: Smith 2017, "Cyclical Learning Rates for Training Neural Networks", section 3.3.
        """
        return run_sync(lr_find.find(self, train, low, high, steps))

    async def lr_find_async(
        self, train: Data, *, low: float = 1e-7, high: float = 10.0, steps: int = 100
    ) -> LearningRates:
        """As `lr_find`, without blocking."""
        return await run_async(lr_find.find(self, train, low, high, steps))

    @property
    def plans(self) -> int:
        """How many plans the step of training has: one for each shape of a batch, and mode."""
        return self._training.plans


def _named(
    metrics: Sequence[Metric | str] | Mapping[str, Metric | str] | MetricCollection,
) -> tuple[dict[str, Metric], list[str]]:
    """Metrics by name: the given one, or that of the class, in small letters with underscores.
    And the names of other figures. Raises OptionError for a name that two have, or that no metric
    has, and for a figure under another name."""
    if isinstance(metrics, (Mapping, MetricCollection)):
        pairs: list[tuple[str, Metric | str]] = list(metrics.items())
    else:
        pairs = [(x if isinstance(x, str) else _snake_case(type(x).__name__), x) for x in metrics]
    found: dict[str, Metric] = {}
    figures: list[str] = []
    for name, metric in pairs:
        if name in found or name in figures:
            raise OptionError(f"Learner: two metrics are named {name!r}; give a dict of them")
        if metric in FIGURES and isinstance(metric, str):
            if name != metric:
                raise OptionError(f"Learner: {metric!r} has this name alone, not {name!r}")
            figures.append(name)
            continue
        found[name] = Named(metric) if isinstance(metric, str) else metric
    return found, figures


def _snake_case(name: str) -> str:
    """ "f1_score" of "F1Score", "auroc" of "AUROC"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
