"""`RayStrategy`: the steps of a learner, shared by workers of a Ray cluster."""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import warnings
from typing import Any

from ... import random
from ...core.drivers import Steps
from ...core.dtype import float16, float32, float64
from ...errors import DeviceLostError, OptionError, WorkerError
from ...tensor import asarray
from ..stepping import Stepping
from ..tally import length_of
from .cluster import Answers, ray_with_cluster
from .shares import averaged, on_host, shares_of
from .worker import Answer, Order, Worker, pupil_of, state_of

_ATTEMPTS = 3
"""How often a step is begun before workers that die in it end the run."""


class RayStrategy:
    """Data-parallel training: each batch is cut into equal shares, a worker computes the gradients
    of each, and the learner's process takes their mean over samples, and the step.

        learner = Learner(model, optimizer, F.cross_entropy, strategy=RayStrategy(workers=2))

    The weights are those of one worker with the whole batch, but for rounding, if the loss is a
    mean over samples and no layer mixes them. Batch norm in training takes the statistics of a
    share; its running values are the means of the workers'. Validation, metrics, callbacks and
    checkpoints are in the learner's process, as without a strategy, and so are the data.

    A worker that dies is replaced, or left out if the cluster has no room for another within
    `patience`; a RuntimeWarning says so. The step is computed again, and none is lost.

    workers: how many processes there are; each has a copy of the model. A batch with fewer samples
      leaves some without work.
    device: the workers' device; None is the fastest that each of them has.
    cpus, gpus: what Ray keeps for each worker; gpus may be a fraction.
    patience: for how many seconds a worker may take to start, on a cluster that may be busy.
    Raises: OptionError for other values. When a run begins, PackageError without Ray:
      pip install tallow[ray]; WorkerError if the cluster has no room for the workers; OptionError
      for a learner that cannot be sent to workers. During a run, WorkerError for an exception in a
      worker, and if no worker is left.
    Source: Li et al. 2020, "PyTorch Distributed: Experiences on Accelerating Data Parallel
      Training", section 2.2; Li et al. 2014, "Scaling Distributed Machine Learning with the
      Parameter Server", for parameters that one process keeps.
    """

    def __init__(
        self,
        workers: int = 2,
        device: str | None = None,
        *,
        cpus: float = 1,
        gpus: float = 0,
        patience: float = 60.0,
    ) -> None:
        if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
            raise OptionError(f"RayStrategy: workers={workers!r} is no whole number above 0")
        for name, value in (("cpus", cpus), ("gpus", gpus)):
            if value < 0:
                raise OptionError(f"RayStrategy: {name}={value} is below 0")
        if patience <= 0:
            raise OptionError(f"RayStrategy: patience={patience} is not above 0")
        self.workers, self.device, self.patience = workers, device, patience
        self._needs = {"num_cpus": cpus, "num_gpus": gpus}
        self._actors: list[Any] = []
        self._ray: Any = None
        self._pupil: Any = None

    # ---- what the loop asks --------------------------------------------------------------------

    def begin(self, learner: Stepping) -> Steps[Any]:
        """Starts the workers."""
        _check(learner)
        self._ray = ray_with_cluster(self.workers)
        try:
            self._pupil = self._ray.put(pupil_of(learner))
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise OptionError(
                f"RayStrategy: the learner cannot be sent to workers ({error}); keep what a step "
                "does not need, such as open files and locks, out of its attributes"
            ) from error
        began = yield from self._start(self.workers)
        if began < self.workers:
            raise WorkerError(
                f"RayStrategy: the cluster has room for {began} of {self.workers} workers "
                f"({self._needs['num_cpus']} CPUs and {self._needs['num_gpus']} GPUs each) after "
                f"{self.patience:g} seconds; take fewer, or begin with ray.init(num_cpus=...)"
            )

    def train_batch(self, learner: Stepping, batch: Any) -> Steps[Any]:
        """Learns from a batch. Raises WorkerError."""
        learner.items = length_of(batch)
        state = yield from on_host(state_of(learner.model))
        sent = self._ray.put(state)
        for _ in range(_ATTEMPTS):
            shares = yield from shares_of(batch, len(self._actors))
            order = _order(learner)
            calls = [
                actor.learn.remote(sent, order._replace(seed=_seed(order.seed, rank)), share)
                for rank, (actor, (_, share)) in enumerate(zip(self._actors, shares, strict=False))
            ]
            answers = yield Answers(calls)
            lost = self._lost(learner, answers)
            if not lost:
                self._learn(learner, [count for count, _ in shares], answers)
                return
            yield from self._replace(learner, lost)
        raise WorkerError(
            f"RayStrategy: workers died in {_ATTEMPTS} attempts at step {learner.steps + 1}; it "
            f"may need more memory than a machine has. {_remedy(learner)}"
        )

    def end(self) -> None:
        """Ends the workers."""
        for actor in self._actors:
            self._kill(actor)
        self._actors, self._pupil = [], None

    # ---- workers -------------------------------------------------------------------------------

    def _start(self, count: int) -> Steps[Any]:
        """Starts workers; the answer is how many began within the patience."""
        kind = self._ray.remote(Worker).options(**self._needs)
        actors = [kind.remote(self._pupil, self.device) for _ in range(count)]
        self._actors += actors
        answers = yield Answers([each.ready.remote() for each in actors], self.patience)
        for actor, answer in zip(actors, answers, strict=True):
            if isinstance(answer, Exception):
                self._actors.remove(actor)
                self._kill(actor)
                if not isinstance(answer, TimeoutError):
                    raise WorkerError(
                        f"RayStrategy: a worker cannot start: {_reason(answer)}"
                    ) from answer
        return sum(not isinstance(answer, Exception) for answer in answers)

    def _lost(self, learner: Stepping, answers: list[Any]) -> dict[int, Exception]:
        """The workers that died, by number. Raises WorkerError for an exception in a step."""
        found: dict[int, Exception] = {}
        for rank, answer in enumerate(answers):
            if not isinstance(answer, Exception):
                continue
            cause = getattr(answer, "cause", None)
            if isinstance(cause, Exception) and not isinstance(cause, DeviceLostError):
                raise WorkerError(
                    f"worker {rank + 1} of {len(self._actors)}, in its share of step "
                    f"{learner.steps + 1}: {type(cause).__name__}: {cause}"
                ) from answer
            found[rank] = answer
        return found

    def _replace(self, learner: Stepping, lost: dict[int, Exception]) -> Steps[Any]:
        before = len(self._actors)
        for actor in [self._actors[rank] for rank in lost]:
            self._actors.remove(actor)
            self._kill(actor)
        began = yield from self._start(len(lost))
        who = ", ".join(str(rank + 1) for rank in lost)
        text = (
            f"RayStrategy: worker {who} of {before} died in step {learner.steps + 1} "
            f"({_reason(next(iter(lost.values())))})"
        )
        if not self._actors:
            raise WorkerError(f"{text}, and the cluster has no other. {_remedy(learner)}")
        others = f"{began} new" if began else "no new one"
        count = f"{len(self._actors)} worker{'s' * (len(self._actors) > 1)}"
        text += f". The run goes on from that step with {count}, {others}."
        warnings.warn(text, RuntimeWarning, stacklevel=2)

    def _kill(self, actor: Any) -> None:
        if self._ray.is_initialized():
            with contextlib.suppress(self._ray.exceptions.RayError):
                self._ray.kill(actor)

    # ---- a step --------------------------------------------------------------------------------

    def _learn(self, learner: Stepping, counts: list[int], answers: list[Answer]) -> None:
        """Takes the mean of what workers computed."""
        buffers = averaged(counts, [each.buffers for each in answers])
        if buffers:
            tensors = {name: asarray(value) for name, value in buffers.items()}
            learner.model.load_state_dict(tensors, strict=False)
        gradients, measured = (
            {name: asarray(value) for name, value in averaged(counts, given).items()}
            for given in ([a.gradients for a in answers], [a.measured for a in answers])
        )
        learner.apply(gradients, measured, sum(counts))


def _check(learner: Stepping) -> None:
    """Raises OptionError for a learner whose steps workers cannot take."""
    if learner.scaler.is_enabled():
        raise OptionError("RayStrategy: workers compute in float32; take precision='float32'")
    names = {id(each): name for name, each in learner.model.named_parameters()}
    groups = [group for each in learner.optimizers for group in each.param_groups]
    for parameter in (each for group in groups for each in group["params"]):
        name = names.get(id(parameter))
        if name is None:
            raise OptionError(
                "RayStrategy: the optimiser has a parameter that is not the model's, of the shape "
                f"{tuple(parameter.shape)}; make what it belongs to a part of the model"
            )
        if parameter.dtype not in (float16, float32, float64):
            raise OptionError(
                f"RayStrategy: {name} is of {parameter.dtype}, whose mean is not computed; "
                "train in float32"
            )


def _order(learner: Stepping) -> Order:
    model = learner.model
    low, high = random.state().seed
    return Order(
        (learner.epoch, learner.steps, learner.batch),
        frozenset(name for name, each in model.named_parameters() if each.requires_grad),
        frozenset(name for name, each in model.named_modules() if not each.training),
        _seed(high << 32 | low, learner.steps),
    )


def _seed(seed: int, number: int) -> int:
    """Another seed for each number."""
    digest = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _reason(error: Exception) -> str:
    """What happened, in a few words of Ray's."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, Exception):
        return f"{type(cause).__name__}: {cause}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}".rstrip(".")


def _remedy(learner: Stepping) -> str:
    names = [] if learner.folder is None else learner.folder.names()
    if names:
        return f"resume() goes on from the checkpoint {names[-1]}."
    return "There is no checkpoint to go on from; checkpoints=PATH keeps some."
