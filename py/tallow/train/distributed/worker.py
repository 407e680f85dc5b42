"""What a worker does: the gradients of its share of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ... import random
from ...core.drivers import run_sync
from ...runtime.device import default_device, set_default_device
from ...runtime.jit import Jitted
from ...tensor import Tensor, asarray
from ..stepping import Stepping
from ..tally import result_of
from .shares import Arrays, on_host, tensors_in

# What a worker does not need: it belongs to the run, and much of it cannot be sent.
_OF_THE_RUN = frozenset(
    (
        "optimizers", "schedules", "metrics", "callbacks", "folder", "scaler", "strategy", "tally",
        "measured", "norms", "history", "clock", "device", "figures", "_training", "_applying",
        "_advancing", "_measuring", "_predicting",
    )
)  # fmt: skip


class Order(NamedTuple):
    """What a step asks of every worker, beside its share.

    position: the epoch, the steps and the batches so far. learning: the names of the parameters
    that learn. resting: those of the modules that are in evaluation mode. seed: from which each
    worker's random numbers begin.
    """

    position: tuple[int, int, int]
    learning: frozenset[str]
    resting: frozenset[str]
    seed: int


class Answer(NamedTuple):
    """What a worker computed from its share: gradients by parameter, means by name, and the buffers
    that the step changed. NumPy arrays."""

    gradients: dict[str, Any]
    measured: dict[str, Any]
    buffers: dict[str, Any]


def pupil_of(learner: Stepping) -> Stepping:
    """What computes the learner's steps, without what belongs to its run."""
    pupil = object.__new__(type(learner))
    vars(pupil).update({k: v for k, v in vars(learner).items() if k not in _OF_THE_RUN})
    return pupil


def state_of(model: Any) -> dict[str, Tensor]:
    """The parameters and buffers of a model, by name."""
    return {name: each for name, each in model.state_dict().items() if isinstance(each, Tensor)}


class Worker:
    """Computes gradients, in a process of its own. device: the name of its device; None is the
    fastest there is."""

    def __init__(self, pupil: Stepping, device: str | None) -> None:
        self._device, self._pupil, self._model = device, pupil, pupil.model
        self._compute = Jitted(self._gradients, frozenset(), None)

    def ready(self) -> str:
        """Opens the device, and tells its name."""
        set_default_device(self._device)
        return default_device()

    def learn(self, state: Arrays, order: Order, share: Any) -> Answer:
        """The gradients of a share, at the parameters in `state`."""
        random.manual_seed(order.seed)
        self._follow(order)
        tensors = {name: asarray(value) for name, value in state.items()}
        self._model.load_state_dict(tensors, strict=False)
        gradients, measured = self._compute(tensors_in(share, asarray))
        buffers = self._buffers(self._model.named_parameters())
        read = run_sync(_read([gradients, measured, buffers]))
        changed = {name: v for name, v in read[2].items() if (v != state[name]).any()}
        return Answer(read[0], read[1], changed)

    def _buffers(self, parameters: Any) -> dict[str, Tensor]:
        names = {name for name, _ in parameters}
        return {name: v for name, v in state_of(self._model).items() if name not in names}

    def _follow(self, order: Order) -> None:
        pupil = self._pupil
        pupil.epoch, pupil.steps, pupil.batch = order.position
        for name, parameter in self._model.named_parameters():
            if parameter.requires_grad != (name in order.learning):
                parameter.requires_grad_(name in order.learning)
        for name, module in self._model.named_modules():
            if module.training == (name in order.resting):
                module.training = name not in order.resting

    def _gradients(self, batch: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        parameters = dict(self._model.named_parameters())
        for each in parameters.values():
            each.grad = None
        result = result_of(self._pupil.step(batch))
        (result.loss / self._pupil.accumulate).backward()
        gradients = {n: p.grad for n, p in parameters.items() if p.grad is not None}
        for each in parameters.values():
            each.grad = None
        measured = {"loss": result.loss, **result.others}
        return gradients, {name: value.detach() for name, value in measured.items()}


def _read(groups: Sequence[Mapping[str, Tensor]]) -> Any:
    """NumPy arrays of several groups of tensors, read together."""
    flat = {(n, name): each for n, group in enumerate(groups) for name, each in group.items()}
    arrays = yield from on_host(flat)  # type: ignore[arg-type]
    return [{name: arrays[n, name] for name in group} for n, group in enumerate(groups)]
