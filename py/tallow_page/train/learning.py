"""A run: settings and data to a Learner, which reports while it learns, pauses and goes on."""

from __future__ import annotations

import json
import math
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow import functions as f
from tallow import nn, optim
from tallow.core.drivers import Request, Steps, YieldControl
from tallow.data import DataLoader
from tallow.errors import CheckpointError, NonFiniteError, OptionError
from tallow.tensor import Tensor
from tallow.train import Callback, Learner, Run, loop

from ..app import on_start
from ..javascript import plain
from ..steps import Answer, streamed
from .data import Data, some
from .insight import Insight
from .layers import DataFacts, network
from .review import applied
from .runs import Storage, StorageError, Working
from .sources import opened_data
from .writing import Samples, Writer

if TYPE_CHECKING:
    from ..contract.train import (
        TrainAnswer,
        TrainBegun,
        TrainDamaged,
        TrainLook,
        TrainReason,
        TrainRecord,
        TrainRun,
        TrainSample,
        TrainState,
    )

__all__ = ["Lesson", "lesson", "pause_training", "run_training"]

_MEASURED = 500
"""Samples of a validation that are measured together."""
_KEPT = 10.0
"""Seconds between two times that a run is stored while it learns, about."""
_POINTS = 1000
"""Points of a curve, at most twice as many."""
_TOLD = 1.0
"""Seconds between two reports to the page, about: each wakes many of the browser's threads, which
share the cores with those that train."""
_TICK = 0.05
"""Seconds after which other questions get in between two steps, at most."""

_CHANGES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "mirror": ("RandomHorizontalFlip", ()),
    "shift": ("RandomAffine", (0, (0.1, 0.1))),
    "rotate": ("RandomRotation", (10,)),
}
"""The changes of tl.vision.transforms, and their arguments."""


class BatchError(OptionError):
    """A batch that is larger than the data."""


class Prepared(nn.Module):
    """A network with what stands before it: numbers with a mean of 0 and a deviation of 1, and,
    while it learns, changes at random."""

    def __init__(self, inner: nn.Module, data: Data, augment: list[str]) -> None:
        super().__init__()
        self.network = inner
        self._mean, self._deviation = data.mean, data.deviation
        self._numbers = data.kind != "text"
        unknown = [name for name in augment if name not in _CHANGES]
        if unknown or (augment and data.kind != "pictures"):
            raise OptionError(
                f"{', '.join(unknown or augment)}: pictures are changed by "
                f"{', '.join(_CHANGES)}, and {data.kind} are not"
            )
        self._changes = [_change(name) for name in augment]

    def forward(self, x: Tensor) -> Any:
        """The scores of a batch as the data have it."""
        if not self._numbers:
            return self.network(x)
        x = x.astype("float32")
        if self.training:
            for change in self._changes:
                x = change(x)
        return self.network((x - self._mean) / self._deviation)


def _change(name: str) -> Any:
    from tallow.vision import transforms  # which a run without changes need not wait for

    kind, given = _CHANGES[name]
    return transforms.PerSample(getattr(transforms, kind)(*given))


class _Learner(Learner):
    """Measures how many are right, of training, too."""

    def step(self, batch: Any) -> Any:
        """See `Learner.step`."""
        inputs, target = batch
        scores = self.model(inputs)
        if scores.ndim > 2:  # of a text: a class at each place
            scores, target = scores.reshape((-1, scores.shape[-1])), target.reshape((-1,))
        right = f.argmax(scores, axis=1) == target
        return {
            "loss": F.cross_entropy(scores, target),
            "accuracy": right.astype("float32").mean(),
            "preds": scores,
            "target": target,
        }


class _Reports(Callback):
    """What a run reports, until the page has it, and its curve."""

    def __init__(self, total: int) -> None:
        """total: steps of the whole run."""
        self.total = total
        self.ends = False
        """Whether the run pauses after the next step."""
        self.waiting: list[Any] = []
        self.curve: list[tuple[int, float, float]] = []
        self.kept: str | None = None
        """The last checkpoint."""
        self.unsaved = False
        """Whether there is one that the storage lacks."""
        self._every = 1
        self._looks = 0
        self._begun_at = time.monotonic()
        self._saved_at: float | None = None
        self._told_at = -math.inf
        self._forget()

    def _forget(self) -> None:
        self._items = self._seen = 0
        self._loss = self._right = 0.0

    def on_step_end(self, learner: Run) -> None:
        """See `Callback`."""
        self._items += learner.items
        if self.ends:
            learner.stop("paused")

    def on_look(self, learner: Run, figures: Mapping[str, Any]) -> None:
        """Reports the means since the last look, from those since the last record."""
        if "items_per_second" not in figures or self._items <= self._seen:
            return
        loss, right = (figures[name] * self._items for name in ("train_loss", "train_accuracy"))
        count = self._items - self._seen
        rate = figures["items_per_second"]
        look: TrainLook = {
            "stage": "look",
            "step": learner.steps,
            "epoch": learner.epoch,
            "loss": (loss - self._loss) / count,
            "accuracy": (right - self._right) / count,
            "lr": figures["lr"],
            "rate": rate,
            "left": (self.total - learner.steps) * learner.items / rate,
        }
        self._seen, self._loss, self._right = self._items, loss, right
        self.waiting.append(look)
        self._draw(look)
        if self._long_since:
            learner.checkpoint_every = 1  # type: ignore[attr-defined]

    def _draw(self, look: TrainLook) -> None:
        self._looks += 1
        if self._looks % self._every == 0:
            self.curve.append((look["step"], look["loss"], look["accuracy"]))
        if len(self.curve) > 2 * _POINTS:
            self.curve[:] = self.curve[1::2]
            self._every *= 2

    def on_record(self, learner: Run, record: Mapping[str, Any]) -> None:
        """See `Callback`."""
        self._forget()
        told: TrainRecord = {
            "stage": "record",
            "step": record["step"],
            "epoch": record["epoch"],
            "train_loss": record["train_loss"],
            "train_accuracy": record["train_accuracy"],
            "valid_loss": record.get("valid_loss"),
            "valid_accuracy": record.get("valid_accuracy"),
        }
        self.waiting.append(told)

    def on_checkpoint(self, learner: Run, name: str) -> None:
        """See `Callback`."""
        self.kept, self.unsaved = name, True
        learner.checkpoint_every = None  # type: ignore[attr-defined]

    @property
    def _long_since(self) -> bool:
        since = self._begun_at if self._saved_at is None else self._saved_at
        return time.monotonic() - since > _KEPT

    @property
    def due(self) -> bool:
        """Whether the storage takes a checkpoint now: the first one at once, and then not each of
        many short epochs, which would wait for it."""
        return self.unsaved and (self._saved_at is None or self._long_since)

    def saved(self) -> None:
        """The storage has the last checkpoint."""
        self.unsaved, self._saved_at = False, time.monotonic()

    def state_dict(self) -> dict[str, Any]:
        """See `Callback`."""
        flat = [number for point in self.curve for number in point]
        since = [self._items, self._seen, self._loss, self._right]
        return {"curve": flat, "every": self._every, "since": since}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """See `Callback`."""
        flat = state["curve"]
        self.curve = [tuple(flat[at : at + 3]) for at in range(0, len(flat), 3)]
        self._every = state["every"]
        self._items, self._seen, self._loss, self._right = state["since"]

    def take(self, apart: float = 0.0) -> list[Any]:
        """The reports since the last call: none if that was less than `apart` seconds ago and no
        epoch has ended since."""
        now = time.monotonic()
        ended = any(report["stage"] == "record" for report in self.waiting)
        if not self.waiting or (now - self._told_at < apart and not ended):
            return []
        found, self.waiting, self._told_at = self.waiting, [], now
        return found


class Lesson:
    """A run that can learn: its data, learner and loaders."""

    def __init__(self, settings: Mapping[str, Any], data: Data, working: Working) -> None:
        """Raises OptionError for settings that fit neither each other nor the data."""
        self.settings, self.source, self.working = dict(settings), data, working
        self.data = data = applied(data, settings["data"].get("changes", ()))
        batch, epochs = int(settings["batch"]), int(settings["epochs"])
        train = some(data.train, settings["data"].get("count"))
        if batch < 1 or epochs < 1:
            raise OptionError(f"a batch of {batch}, {epochs} epochs: take 1 or more of each")
        if batch > len(train):
            raise BatchError(
                f"a batch of {batch} is larger than the data, which have {len(train)} to learn "
                "from; take a smaller batch or more data"
            )
        self.train = DataLoader(train, batch, shuffle=True, drop_last=True)
        self.valid = None if data.valid is None else DataLoader(data.valid, _MEASURED)
        self.epochs, total = epochs, epochs * len(self.train)
        tl.manual_seed(int(settings.get("seed", 0)))
        inner = network(settings["layers"], DataFacts.of(data))
        model = Prepared(inner, data, list(settings.get("augment", ())))
        optimizer = optimizer_of(model, settings["optimizer"])
        schedule = _schedule(optimizer, settings, total)
        self.reports = _Reports(total)
        self.damaged: list[str] = []
        """Checkpoints that could not be read."""
        self.learner = _Learner(
            model, optimizer,
            checkpoints=working.folder, callbacks=[self.reports],
            schedule=schedule, schedule_every="step",
            seed=int(settings.get("seed", 0)), progress=False,
        )  # fmt: skip
        self.insight = Insight(self.learner, data.kind != "text")
        self.writer: Writer | None = None
        """What goes on with a text, if the data are one."""
        self.samples: Samples | None = None
        if data.kind == "text":
            self.writer = Writer(model, data.classes, data.shape[0])
            self.samples = Samples(self.writer)

    def steps(self) -> Steps[Any]:
        """The loop: from the last checkpoint that is whole on, or from the beginning. Raises
        CheckpointError if all are damaged; `damaged` has those newer than the one that is taken."""
        folder = self.learner.folder
        assert folder is not None
        given = self.learner, self.train, self.valid, self.epochs
        self.damaged.clear()
        for name in reversed(self.working.checkpoints()):
            try:
                folder.load(name)
            except CheckpointError:
                self.damaged.append(name)
            else:
                return loop.resume(*given, name)
        if self.damaged:
            raise CheckpointError(
                f"all checkpoints of this run are damaged: {', '.join(self.damaged)}; remove the "
                "run, and begin another"
            )
        return loop.fit(*given)


def optimizer_of(model: nn.Module, given: Mapping[str, Any]) -> optim.Optimizer:
    """Raises OptionError for an unknown name."""
    name, rate = given["name"], float(given["lr"])
    decay = float(given.get("weight_decay", 0))
    if name == "sgd":
        momentum = float(given.get("momentum", 0))
        nesterov = bool(given.get("nesterov", False)) and momentum > 0
        return optim.SGD(
            model.parameters(), rate, momentum=momentum, nesterov=nesterov, weight_decay=decay
        )
    if name in ("adam", "adamw"):
        make = optim.Adam if name == "adam" else optim.AdamW
        return make(model.parameters(), rate, weight_decay=decay)
    raise OptionError(f"the optimiser {name!r} is none of sgd, adam, adamw")


def _schedule(optimizer: optim.Optimizer, settings: Mapping[str, Any], total: int) -> Any:
    """Raises OptionError for an unknown name."""
    name, rate = settings["schedule"], float(settings["optimizer"]["lr"])
    if name == "constant":
        return ()
    if name == "onecycle":
        return optim.lr_scheduler.OneCycleLR(optimizer, rate, total, pct_start=0.2)
    if name == "cosine":
        return optim.lr_scheduler.CosineAnnealingLR(optimizer, total)
    raise OptionError(f"the schedule {name!r} is none of onecycle, cosine, constant")


class _Driven:
    """The steps of a loop, taken one request at a time, so that others get in between."""

    def __init__(self, steps: Steps[Any]) -> None:
        self._steps = steps
        self._request: Request | None = None
        self.ended = False

    async def advance(self) -> bool:
        """Answers a request; False once the loop has ended. Raises what the loop raises."""
        try:
            if self._request is None:
                self._request = next(self._steps)
                return True
            try:
                waits = not isinstance(self._request, YieldControl)  # a None lets others in
                answer = await self._request.run_async() if waits else None
            except Exception as error:
                self._request = self._steps.throw(error)
            else:
                self._request = self._steps.send(answer)
        except StopIteration:
            self.ended = True
        except BaseException:
            self.ended = True
            raise
        return not self.ended

    async def end(self, learner: Run) -> None:
        """Ends the loop after the running step, with a checkpoint."""
        learner.stop("paused")
        while await self.advance():
            pass


_lesson: Lesson | None = None
_data: tuple[str, Data] | None = None
"""The data of the last source, which a run need not open again."""


def lesson(run: str | None = None) -> Lesson:
    """The run that is open. Raises OptionError if there is none, or not the one of that name."""
    if _lesson is None or run not in (None, _lesson.working.run):
        raise OptionError("this run is not open; resume it first")
    return _lesson


def close_lesson() -> None:
    """Frees the run that is open."""
    global _lesson
    if _lesson is not None:
        _lesson.working.close()
    _lesson = None


on_start.append(close_lesson)


async def _opened(source: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
    """The data of a source, last."""
    global _data
    key = json.dumps(source, default=id)
    if _data is None or _data[0] != key:
        _data = None
        async with aclosing(opened_data(source)) as steps:
            async for step in steps:
                if isinstance(step, Data):
                    _data = key, step
                else:
                    yield step
    if _data is None:
        raise OptionError("the data could not be opened")
    yield _data[1]


def pause_training() -> None:
    """Pauses the run that learns after its running step, with a checkpoint; it answers then."""
    if _lesson is not None:
        _lesson.reports.ends = True


@streamed
async def run_training(options: str, source: Any, storage: Storage) -> AsyncGenerator[Any, None]:
    """Learns: begins a run, or goes on with it. Closing the generator pauses it, with a checkpoint.

    options: JSON: run, the name of its folder; name, for people; settings
    (web/views/train/network/settings.js); one: whether to stop after a step. source: as
    `opened_data` takes it, a JavaScript object. storage: where runs are kept.
    Yields a `Fetching` while data arrive, a `TrainBegun`, `TrainLook`s about once a second, a
    `TrainRecord` an epoch, a `TrainSample` now and then of a network that writes, and None to let
    others in. The answer is a `TrainAnswer`.
    Raises: OptionError for settings that do not fit, CheckpointError for a damaged run.
    """
    global _lesson
    given = json.loads(options)
    run, settings, described = given["run"], given["settings"], plain(source)
    data: Any = None
    async with aclosing(_opened(described)) as steps:
        async for step in steps:
            if isinstance(step, Data):
                data = step
            else:
                yield step
    held = _lesson
    if (
        held is None
        or (held.working.run, held.settings) != (run, settings)
        or held.source is not data
        or not await held.working.is_newest()
    ):
        close_lesson()
        working = Working(storage, run)
        await working.pull()
        held = Lesson(settings, data, working)
        _lesson = held
    async with aclosing(_learned(held, given, described)) as steps:
        async for step in steps:
            yield step


async def _learned(
    held: Lesson, given: Mapping[str, Any], source: Mapping[str, Any]
) -> AsyncGenerator[Any, None]:
    """The steps of `run_training` once all is open."""
    learner, reports, working = held.learner, held.reports, held.working
    reports.ends = bool(given.get("one"))
    begun: TrainBegun = {
        "stage": "begun",
        "run": working.run,
        "steps": reports.total,
        "samples": len(held.train) * int(held.settings["batch"]),
        "parameters": sum(each.size for each in learner.model.parameters()),
    }
    yield begun

    def about(state: str) -> None:
        told: TrainRun = {
            "run": working.run,
            "name": str(given["name"]),
            "settings": held.settings,
            "source": {key: value for key, value in source.items() if key != "files"},
            "state": state,
            "step": learner.steps,
            "epoch": learner.epoch,
            "curve": reports.curve,
            "records": [dict(each) for each in learner.history],
        }
        working.tell(told)

    async def save(state: str) -> TrainReason | None:
        """Keeps the run; why it could not."""
        about(state)
        try:
            await working.push()
        except StorageError as error:
            return {
                "code": "full" if error.full else "storage", "text": str(error), "step": None,
            }  # fmt: skip
        reports.saved()
        return None

    async def news(apart: float = 0.0) -> list[Any]:
        """What the page is told, as `_Reports.take` gives it; norms with the last look."""
        found = reports.take(apart)
        looks = [report for report in found if report["stage"] == "look"]
        if looks:
            looks[-1]["norms"] = await held.insight.norms.read()
        return found

    driven = _Driven(held.steps())
    if held.damaged:
        damaged: TrainDamaged = {"stage": "damaged", "checkpoints": held.damaged}
        yield damaged
    reason: TrainReason | None = None
    let_in = time.monotonic()
    try:
        while reason is None and await driven.advance():
            if reports.due:
                reason = await save("paused")  # what a tab that is closed now leaves
            for report in await news(_TOLD):
                yield report
            if held.samples is not None and held.samples.due:
                async with aclosing(held.samples.write()) as texts:
                    async for text in texts:
                        sample: TrainSample = {
                            "stage": "sample", "step": learner.steps, "text": text,
                        }  # fmt: skip
                        yield sample
            if time.monotonic() - let_in > _TICK:
                yield None
                let_in = time.monotonic()
    except NonFiniteError as error:
        reason = {"code": "loss", "text": str(error), "step": error.step}
    except Exception:
        if reports.unsaved:
            await save("paused")
        raise
    finally:
        if not driven.ended:
            await driven.end(learner)
            reason = reason or await save("paused")
    for report in await news():
        yield report
    state: TrainState = "done" if learner.epoch >= held.epochs else "paused"
    state = "failed" if reason else state
    unkept = await save(state)
    if reason and reason["code"] == "loss" and not working.checkpoints():
        close_lesson()  # its parameters may not be finite
    reason = reason or unkept
    answer: TrainAnswer = {
        "state": "failed" if reason else state,
        "step": learner.steps,
        "epoch": learner.epoch,
        "kept": reports.kept,
        "reason": reason,
    }
    yield Answer(answer)
