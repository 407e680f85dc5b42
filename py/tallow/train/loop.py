"""The loop of a learner, as generators that request what may block (core/drivers.py).

epoch ─▶ batches: a step is given to the device, and nothing is read
      ─▶ a few times a second a look: what the steps measured is read, a loss that is not finite
         found
      ─▶ a record: validation, schedules, callbacks, checkpoint
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .. import functions as f
from .. import random
from ..core import watching
from ..core.drivers import Steps, YieldControl
from ..core.hostarray import HostArray
from ..data import DataLoader
from ..data.dataloader import tensors_of
from ..errors import (
    CheckpointError,
    DeviceLostError,
    NonFiniteError,
    OptionError,
    TallowError,
)
from ..grad_mode import no_grad
from ..optim.lr_scheduler import ReduceLROnPlateau
from ..runtime.device import Open
from ..tensor import Tensor, reading, realize_now
from . import saved
from .figures import Pace, process_memory
from .stepping import Stepping
from .watched import tell, watched, where

# ---- runs --------------------------------------------------------------------------------------


def fit(
    learner: Stepping, train: Iterable[Any], valid: Iterable[Any] | None, epochs: int
) -> Steps[list[dict[str, Any]]]:
    """A run from its beginning; gives its history."""
    with _folder(learner):
        if learner.folder is not None and learner.folder.index() is not None:
            raise CheckpointError(
                f"{learner.folder.path}: has a run already; resume() goes on with it, and another "
                "run needs another folder"
            )
        if learner.seed is not None:
            random.manual_seed(learner.seed)
        learner.begin()
        yield from _run(learner, train, valid, epochs)
    return learner.history


def resume(
    learner: Stepping,
    train: Iterable[Any],
    valid: Iterable[Any] | None,
    epochs: int,
    checkpoint: str | None,
) -> Steps[list[dict[str, Any]]]:
    """A run that goes on from a checkpoint, the last one if None; gives its history."""
    if learner.folder is None:
        raise OptionError("resume: the learner has no folder; give it checkpoints=PATH")
    with _folder(learner):
        names = [checkpoint] if checkpoint else learner.folder.names()
        if not names:
            raise CheckpointError(f"{learner.folder.path}: there is no run to resume; call fit()")
        saved.restore(learner, train, learner.folder.load(names[-1]))
        yield from _run(learner, train, valid, epochs)
    return learner.history


@contextmanager
def _folder(learner: Stepping) -> Iterator[None]:
    """Keeps other runs out of the learner's folder."""
    if learner.folder is not None:
        learner.folder.hold()
    try:
        yield
    finally:
        if learner.folder is not None:
            learner.folder.release()


@watched("run")
def _run(
    learner: Stepping, train: Iterable[Any], valid: Iterable[Any] | None, epochs: int
) -> Steps[Any]:
    was_training = learner.model.training
    learner.stopped, learner.epochs = None, epochs
    learner.batches = _count(train)
    learner.tell("on_fit_start")
    try:
        if learner.strategy is not None:
            yield from learner.strategy.begin(learner)
        lost_at = -1
        while learner.epoch < epochs and learner.stopped is None:
            try:
                yield from _epoch(learner, train, valid)
            except DeviceLostError as error:
                if learner.steps <= lost_at:  # no step since the last loss: its data are lost, too
                    raise
                lost_at = learner.steps
                yield from _recover(learner, train, error)
    except asyncio.CancelledError:
        if learner.batch % learner.accumulate == 0 or learner.ended:
            yield from _keep(learner, train)
        raise
    finally:
        if learner.strategy is not None:
            learner.strategy.end()
        learner.model.train(was_training)
        learner.tell("on_fit_end")


@watched("epoch")
def _epoch(learner: Stepping, train: Iterable[Any], valid: Iterable[Any] | None) -> Steps[Any]:
    """An epoch, or what is left of one."""
    learner.model.train()
    learner.freeze()
    learner.tell("on_epoch_start")
    pace = Pace(learner.clock)
    if learner.due:
        yield from _record(learner, train, valid, pace)
    for batch in saved.batches(learner, train):
        try:
            if watching.watcher is None:
                yield from _step(learner, batch)
            else:
                with watching.watcher.step(where(learner)):
                    yield from _step(learner, batch)
        except TallowError as error:
            error.add_note(f"in step {learner.steps + 1}, in epoch {learner.epoch + 1}")
            raise
        learner.batch += 1
        learner.steps += 1
        whole = learner.batch % learner.accumulate == 0
        if whole and learner.schedule_every == "step":
            for schedule in learner.schedules:
                schedule.step()
        learner.tell("on_step_end")
        every = learner.validate_every
        learner.due = every is not None and learner.steps % every == 0
        if pace.due(learner.items):
            yield from _look(learner, pace)
        if pace.gives_way:
            yield YieldControl()
        if not whole:
            continue
        kept = False
        if learner.due:
            yield from _record(learner, train, valid, pace)
            kept = True
        elif learner.checkpoint_every and learner.steps % learner.checkpoint_every == 0:
            yield from _keep(learner, train)
            kept = True
        if learner.stopped is not None:
            if not kept:
                yield from _keep(learner, train)
            return
    if learner.batch == 0:
        raise OptionError(f"fit: the data have no batch{_why_empty(train)}")
    if learner.batch % learner.accumulate:
        learner.advance_rest()
    learner.ended = True
    yield from _record(learner, train, valid, pace)


def _step(learner: Stepping, batch: Any) -> Steps[Any]:
    """Learns from a batch, here or where the learner's strategy says."""
    if learner.strategy is None:
        learner.train_batch(batch)
    else:
        yield from learner.strategy.train_batch(learner, batch)


def _recover(learner: Stepping, train: Iterable[Any], error: DeviceLostError) -> Steps[Any]:
    """Goes on from the last checkpoint after a device was lost. Raises the error if there is
    none."""
    names = [] if learner.folder is None else learner.folder.names()
    if learner.folder is None or not names:
        error.add_note("With checkpoints=PATH and a checkpoint there, a run goes on by itself.")
        raise error
    state = learner.folder.load(names[-1])
    device = yield Open(learner.device)
    saved.restore(learner, train, state)
    text = f"{error} The run goes on from {names[-1]}, on {device!r}."
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _look(learner: Stepping, pace: Pace | None = None) -> Steps[Any]:
    """Reads what the steps measured. Returns the means of training since the last record, and the
    other figures. Raises NonFiniteError for a loss that is not finite; the learner is then as in
    its last checkpoint."""
    wanted = [learner.tally.vector()]
    if learner.measures_norms:
        wanted.append(learner.norms.vector())
    vector, *norms = yield from reading(wanted)
    lost, means = learner.tally.means(vector.tolist())
    if lost:
        step = learner.steps - lost + 1
        state = "The parameters may not be finite any more; checkpoints=PATH keeps good ones."
        names = [] if learner.folder is None else learner.folder.names()
        if learner.folder is not None and names:
            saved.restore(learner, (), learner.folder.load(names[-1]))
            state = f"The model is that of the last checkpoint, {learner.folder.path / names[-1]}."
        error = NonFiniteError(
            f"fit: the loss of step {step} is not finite. {state} Lower the learning rate, give "
            "clip_norm=1.0, look at the data of that step, or find the op with tl.debug_nans()"
        )
        error.step = step
        raise error
    figures = {f"train_{name}": value for name, value in means.items()}
    others = _others(learner, norms)
    if pace is not None:
        others["items_per_second"] = pace.looked()
    learner.tell("on_look", figures | others)
    tell(learner, figures | others)
    return figures, others


def _others(learner: Stepping, norms: Sequence[HostArray]) -> dict[str, Any]:
    """The figures that are no means over samples. norms: what was read of `learner.norms`."""
    found: dict[str, Any] = {"lr": learner.optimizers[0].param_groups[0]["lr"]}
    for vector in norms:
        found["grad_norm"] = learner.norms.mean(vector.tolist())
    found["memory"], process = learner.memory(), process_memory()
    return found if process is None else found | {"process_memory": process}


def _record(
    learner: Stepping, train: Iterable[Any], valid: Iterable[Any] | None, pace: Pace
) -> Steps[Any]:
    """Ends an epoch, or a part of one: validation, schedules, callbacks, checkpoint. Nothing of the
    run changes until all is measured, so that a run that is cancelled meanwhile measures again."""
    figures, others = yield from _look(learner)
    others["items_per_second"] = pace.rate()
    ended = learner.ended
    record: dict[str, Any] = {"epoch": learner.epoch + ended, "step": learner.steps}
    record |= figures
    if valid is not None:
        measured = yield from evaluate(learner, valid)
        record |= {f"valid_{name}": value for name, value in measured.items()}
    asked = ("lr", *learner.figures)
    record |= {name: value for name, value in others.items() if name in asked}
    record["seconds"] = learner.clock() - pace.started
    if ended:
        learner.epoch += 1
        learner.batch = 0
    learner.ended = learner.due = False
    learner.tally.reset()
    learner.norms.reset()
    learner.history.append(record)
    if learner.schedule_every == "epoch" and ended:
        for schedule in learner.schedules:
            if isinstance(schedule, ReduceLROnPlateau):
                schedule.step(record[learner.monitored(record)])
            else:
                schedule.step()
    learner.tell("on_record", record)
    tell(learner, record)
    yield from saved.keep(learner, train, record)
    pace.begin()


def _keep(learner: Stepping, train: Iterable[Any]) -> Steps[Any]:
    """Writes a checkpoint between two records, if all losses so far are finite."""
    if learner.folder is not None:
        yield from _look(learner)
        yield from saved.keep(learner, train)


def _count(data: Any) -> int | None:
    """How many batches there are; None if the data do not tell."""
    try:
        return len(data)
    except TypeError:
        return None


def _why_empty(data: object) -> str:
    if not isinstance(data, DataLoader):
        return f": {type(data).__name__} gave none; an iterator gives each of its batches once"
    dataset: Any = data.dataset
    count = len(dataset) if hasattr(dataset, "__len__") else 0
    if data.drop_last and count:
        return f" of {data.batch_size} samples: there are {count}, and drop_last leaves them out"
    return ": the dataset is empty"


# ---- without learning --------------------------------------------------------------------------


@watched("evaluate")
def evaluate(learner: Stepping, data: Iterable[Any]) -> Steps[dict[str, Any]]:
    """The loss and the metrics of batches."""
    was_training = learner.model.training
    learner.model.eval()
    learner.measured.begin()
    for metric in learner.metrics.values():
        metric.reset()
    count = 0
    try:
        for batch in data:
            learner.measure_batch(batch)
            count += 1
            yield YieldControl()
        if not count:
            raise OptionError(f"evaluate: the data have no batch{_why_empty(data)}")
        with no_grad():
            values = {name: metric.compute() for name, metric in learner.metrics.items()}
        read = yield from reading([learner.measured.vector(), *values.values()])
    finally:
        learner.model.train(was_training)
    _, means = learner.measured.means(read[0].tolist())
    return means | {name: each.tolist() for name, each in zip(values, read[1:], strict=True)}


@watched("predict")
def predict(learner: Stepping, data: Iterable[Any]) -> Steps[Any]:
    """The outputs of batches, joined along their first axis."""
    was_training = learner.model.training
    learner.model.eval()
    outputs: list[Any] = []
    try:
        with no_grad():
            for batch in data:
                outputs.append(learner.predict_batch(batch))
                yield YieldControl()
            if not outputs:
                raise OptionError(f"predict: the data have no batch{_why_empty(data)}")
            joined = _joined(outputs)
            realize_now(list(tensors_of(joined)))
    finally:
        learner.model.train(was_training)
    return joined


def _joined(outputs: list[Any]) -> Any:
    first = outputs[0]
    if isinstance(first, Tensor):
        return f.concat(outputs, axis=0)
    if isinstance(first, Mapping):
        return {key: _joined([each[key] for each in outputs]) for key in first}
    if isinstance(first, (list, tuple)):
        return type(first)(_joined(list(each)) for each in zip(*outputs, strict=True))
    raise OptionError(f"predict: an output is {type(first).__name__}, not a tensor")
