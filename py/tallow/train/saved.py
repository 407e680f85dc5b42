"""What a checkpoint holds of a run, and how a run goes on from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from .. import random
from ..core.drivers import Steps
from ..core.hostarray import HostArray
from ..errors import CheckpointError, DeviceLostError, TallowError
from ..tensor import Tensor, asarray, reading
from .callbacks import Callback
from .checkpoints import Folder
from .stepping import Stepping
from .tally import is_better
from .watched import watched


def batches(learner: Stepping, train: Iterable[Any]) -> Iterator[Any]:
    """The batches of an epoch that the run has not learned from yet. A DataLoader goes on by
    itself (`restore`); of other data, batches are skipped."""
    skipped = 0 if hasattr(train, "load_state_dict") else learner.batch
    return islice(iter(train), skipped, None)


def keep(
    learner: Stepping, train: Iterable[Any], record: Mapping[str, Any] | None = None
) -> Steps[None]:
    """Writes a checkpoint, if the learner has a folder. record: what the run just measured, which
    decides whether it is the best so far."""
    if learner.folder is not None:
        yield from _write(learner, learner.folder, train, record)


@watched("checkpoint")
def _write(
    learner: Stepping, folder: Folder, train: Iterable[Any], record: Mapping[str, Any] | None
) -> Steps[Any]:
    name = f"step-{learner.steps:08}"
    if record is not None:
        monitored = learner.monitored(record)
        if monitored not in record:
            known = ", ".join(sorted(record))
            raise CheckpointError(f"Learner: monitor={monitored!r} is no record's name: {known}")
        value = float(record[monitored])
        mode = learner.better(monitored)
        if learner.best is None or is_better(value, learner.best[1], mode):
            learner.best = (name, value)
    state = yield from _on_host(_state(learner, train))
    about = {"step": learner.steps, "epoch": learner.epoch, **(record or {})}
    best = None if learner.best is None else learner.best[0]
    folder.write(name, state, {"about": about, "best": best, "history": learner.history})
    learner.tell("on_checkpoint", name)


def _state(learner: Stepping, train: Iterable[Any]) -> dict[str, Any]:
    """All that a run needs to go on, with tensors that are still on the device."""
    loader = train.state_dict() if hasattr(train, "load_state_dict") else None  # type: ignore[attr-defined]
    return {
        "position": {
            "epoch": learner.epoch,
            "steps": learner.steps,
            "batch": learner.batch,
            "due": learner.due,
        },
        "model": dict(learner.model.state_dict()),
        "optimizers": [each.state_dict() for each in learner.optimizers],
        "schedules": [each.state_dict() for each in learner.schedules],
        "scaler": learner.scaler.unread_state(),
        "tally": learner.tally.state(),
        "norms": learner.norms.vector() if learner.measures_norms else None,
        "random": random.packed(random.state()),
        "loader": loader,
        "callbacks": {name: each.state_dict() for name, each in _callbacks(learner).items()},
        "history": learner.history,
        "best": None if learner.best is None else list(learner.best),
    }


def _callbacks(learner: Stepping) -> dict[str, Callback]:
    """Callbacks by the names of their classes, numbered where there are several of one."""
    found: dict[str, Callback] = {}
    for each in learner.callbacks:
        name, number = type(each).__name__, 1
        while f"{name} {number}" in found:
            number += 1
        found[f"{name} {number}"] = each
    return found


def _on_host(state: dict[str, Any]) -> Steps[Any]:
    """A state whose tensors were read, together."""
    tensors: list[Tensor] = []

    def find(value: Any) -> None:
        if isinstance(value, Tensor):
            tensors.append(value)
        elif isinstance(value, Mapping):
            for each in value.values():
                find(each)
        elif isinstance(value, (list, tuple)):
            for each in value:
                find(each)

    find(state)
    values: Iterator[HostArray] = iter((yield from reading(tensors)))

    def put(value: Any) -> Any:
        if isinstance(value, Tensor):
            return asarray(next(values))
        if isinstance(value, Mapping):
            return {key: put(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(put(each) for each in value)
        return value

    return put(state)


def _as_it_is(learner: Stepping) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    """The states of the model and of its optimisers; None if they were lost with their device."""
    try:
        states = [each.state_dict() for each in learner.optimizers]
        return dict(learner.model.state_dict()), states
    except DeviceLostError:
        return None


def restore(learner: Stepping, train: Iterable[Any], state: Mapping[str, Any]) -> None:
    """Has a learner go on from the state of a checkpoint. Raises CheckpointError if it is that of
    another model, optimiser or learner; that one stays as it was."""
    before = _as_it_is(learner)
    try:
        learner.model.load_state_dict(state["model"])
        for name in ("optimizers", "schedules"):
            own, given = getattr(learner, name), state[name]
            if len(own) != len(given):
                raise CheckpointError(f"{len(given)} {name} there, {len(own)} here")
            for each, values in zip(own, given, strict=True):
                each.load_state_dict(values)
        learner.scaler.load_state_dict(state["scaler"])
        for name, each in _callbacks(learner).items():
            if name in state["callbacks"]:
                each.load_state_dict(state["callbacks"][name])
    except TallowError as error:
        if before is not None:
            model, optimizers = before
            learner.model.load_state_dict(model)
            for each, values in zip(learner.optimizers, optimizers, strict=True):
                each.load_state_dict(values)
        raise CheckpointError(
            f"resume: the checkpoint is that of another learner: {error}; make the model, the "
            "optimisers and the schedules as in the run that wrote it"
        ) from error
    learner.begin()
    learner.tally.load_state(state["tally"])
    if state.get("norms") is not None:
        learner.norms.load_state(state["norms"])
    position = state["position"]
    learner.epoch, learner.steps = position["epoch"], position["steps"]
    learner.batch, learner.due = position["batch"], position["due"]
    learner.history = [dict(each) for each in state["history"]]
    learner.best = None if state["best"] is None else tuple(state["best"])
    loader = state["loader"]
    if loader is not None and hasattr(train, "load_state_dict"):
        if learner.batch == 0:  # the epoch ended: the next one begins with the numbers of now
            loader = {"batches": 0, "order": loader["generator"], "generator": loader["generator"]}
        train.load_state_dict(loader)
    random.set_state(random.unpacked(state["random"]))
