"""What a network in training has learnt: its mistakes, its first layer, its gradients by layer."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tallow as tl
from tallow import nn
from tallow.core.drivers import run_async
from tallow.errors import IndexRangeError, OptionError
from tallow.grad_mode import no_grad
from tallow.metrics.metric import Summed
from tallow.runtime.jit import Jitted
from tallow.tensor import Tensor, reading
from tallow.train import Callback, Learner, Run
from tallow.train.tally import Totals

if TYPE_CHECKING:
    from ..contract.train import Mistake

__all__ = [
    "GradientNorms", "Insight", "Judged", "Judgements", "filters", "finite", "packed",
    "pictures", "probabilities",
]  # fmt: skip

_COLUMNS = 4
MOST_FILTERS = 64
MOST_SIDE = 64
"""Pixels of the longest side that a filter is shown with: a linear layer's may be large."""


def finite(number: float) -> float | None:
    """A number as JSON has it: None for one that is not finite."""
    return number if math.isfinite(number) else None


# ---- the validation, sample by sample ---------------------------------------------------------


class Judged(Summed):
    """Accuracy over classes, as "accuracy" of `tl.train` is, which keeps what it saw of each
    sample, so that a validation tells which ones were wrong at no further pass.

    preds: (N, C), scores before a softmax. target: (N,), classes.
    """

    higher_is_better = True

    def __init__(self, device: str | None = None) -> None:
        super().__init__()
        self.add_state("right", tl.zeros(()))
        self.add_state("count", tl.zeros(()))
        self.add_state("rows", [])
        self.latest: list[Tensor] = []
        """Of the last validation that was completed, batch by batch: (N, 4), float32: loss,
        predicted class, its probability, target."""
        self._judge = Jitted(_judgement, frozenset(), device)

    def of_batch(self, preds: Tensor, target: Tensor) -> Sequence[Tensor]:
        """See `Summed`."""
        rows, right = self._judge(preds, target)
        return [right, tl.asarray(float(preds.shape[0])), rows]

    def of_states(self, *states: Tensor) -> Tensor:
        """See `Summed`."""
        right, count, _ = states
        return right / count

    def compute(self) -> Tensor:
        """The share that is right, float32 ()."""
        value: Tensor = super().compute()
        self.latest = list(self.rows)
        return value


def _judgement(preds: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    logs = nn.functional.log_softmax(preds.astype("float32"), dim=1)
    predicted = tl.argmax(logs, axis=1)
    classes = tl.arange(preds.shape[1])
    truth = (tl.expand_dims(target, 1) == classes).astype("float32")
    loss = -tl.sum(tl.where(truth > 0, logs, tl.zeros_like(logs)), axis=1)
    right = (predicted == target).astype("float32")
    columns = [loss, predicted.astype("float32"), tl.exp(tl.max(logs, axis=1))]
    return tl.stack([*columns, target.astype("float32")], axis=1), tl.sum(right)


@dataclass(frozen=True)
class Judgements:
    """A validation, sample by sample, in the order of the data."""

    losses: Sequence[float]
    predicted: Sequence[int]
    probabilities: Sequence[float]
    targets: Sequence[int]

    @classmethod
    async def read(cls, rows: Iterable[Tensor]) -> Judgements:
        """Of `Judged.latest`."""
        found = array("f")
        for each in await run_async(reading(list(rows))):
            found.frombytes(each.data.cast("B"))
        losses, predicted, shares, targets = (found[at::_COLUMNS] for at in range(_COLUMNS))
        return cls(losses, list(map(int, predicted)), shares, list(map(int, targets)))

    def confusion(self, classes: int) -> list[list[int]]:
        """How often each target (the row) was predicted as what (the column)."""
        matrix = [[0] * classes for _ in range(classes)]
        for target, predicted in zip(self.targets, self.predicted, strict=True):
            matrix[target][predicted] += 1
        return matrix

    def worst(self, most: int) -> list[Mistake]:
        """The samples that were wrong with the greatest losses, the worst first."""
        wrong = [i for i, each in enumerate(self.targets) if self.predicted[i] != each]
        wrong.sort(key=self._badness, reverse=True)
        return [self.facts(each) for each in wrong[:most]]

    def cell(self, target: int, predicted: int, most: int) -> list[Mistake]:
        """The samples of a cell of the confusion matrix, the surest first."""
        pairs = zip(self.targets, self.predicted, strict=True)
        found = [i for i, pair in enumerate(pairs) if pair == (target, predicted)]
        found.sort(key=lambda i: self.probabilities[i], reverse=True)
        return [self.facts(each) for each in found[:most]]

    def facts(self, index: int) -> Mistake:
        """What is said of a sample."""
        return {
            "index": index,
            "label": self.targets[index],
            "predicted": self.predicted[index],
            "probability": finite(self.probabilities[index]),
            "loss": finite(self.losses[index]),
        }

    def _badness(self, index: int) -> float:
        loss = self.losses[index]
        return math.inf if math.isnan(loss) else loss


# ---- gradients ------------------------------------------------------------------------------


class GradientNorms(Callback):
    """The norm of the gradients of each layer: the mean over the steps since it was last read. It
    stays on the device until then.

    It adds to each step of the optimiser one number for each layer that has parameters.
    """

    def __init__(self, model: nn.Module, device: str | None = None) -> None:
        owned = [
            (name, module, [p for p in module._parameters.values() if p is not None])
            for name, module in model.named_modules()
        ]
        self._layers = {
            f"{name.removeprefix('network.')} {type(module).__name__}".strip(): own
            for name, module, own in owned
            if own
        }
        self.layers = list(self._layers)
        """The layers that have parameters, in the network's order: place and kind."""
        self._sums = _Sums(len(self.layers), device)
        self._watched: set[int] = set()

    def on_fit_start(self, learner: Run) -> None:
        """See `Callback`."""
        for optimizer in learner.optimizers:
            if id(optimizer) not in self._watched:
                self._watched.add(id(optimizer))
                optimizer.register_step_pre_hook(self._add)

    def on_epoch_start(self, learner: Run) -> None:
        """See `Callback`: the device may be another one."""
        self._sums.begin()

    def _add(self, *_: Any) -> None:
        with no_grad():
            self._sums.add([_norm(own) for own in self._layers.values()])

    async def read(self) -> dict[str, float | None]:
        """The mean norm by layer since this was called before; None for one that is not finite.
        Empty if there was no step."""
        (vector,) = await run_async(reading([self._sums.vector()]))
        count, *sums = vector.tolist()
        if not count:
            return {}
        self._sums.reset()
        means = zip(self.layers, sums, strict=True)
        return {name: finite(total / count) for name, total in means}


class _Sums(Totals):
    """A count of steps, and a sum for each layer; float32 (1 + layers,)."""

    def __init__(self, layers: int, device: str | None) -> None:
        super().__init__(device)
        self._hold(tl.Variable(tl.zeros((1 + layers,)), name="gradients"))

    def add(self, norms: Sequence[Tensor]) -> None:
        """Takes a step into account."""
        assert self._vector is not None
        self._vector.assign(self._vector + tl.stack([tl.ones(()), *norms]))


def _norm(parameters: Sequence[Tensor]) -> Tensor:
    """The norm of all their gradients together; 0 where there are none, as in frozen layers."""
    squares = [tl.sum(p.grad.astype("float32") ** 2) for p in parameters if p.grad is not None]
    return tl.sqrt(sum(squares[1:], squares[0])) if squares else tl.zeros(())


# ---- pictures -------------------------------------------------------------------------------


Picture = tuple[int, int, int, bytes]
"""Height, width, channels (1 or 3), and the pixels, a byte each, row by row."""


def packed(found: Iterable[Picture]) -> bytes:
    """Pictures as one buffer: their number; height, width and channels of each; all pixels. Numbers
    are uint32, little-endian."""
    given = list(found)
    heads = [number for height, width, channels, _ in given for number in (height, width, channels)]
    head = struct.pack(f"<{1 + len(heads)}I", len(given), *heads)
    return b"".join([head, *(bytes(pixels) for *_, pixels in given)])


def pictures(data: Any, part: str, indices: Iterable[int]) -> bytes:
    """Samples of "train" or "valid" as pictures, `packed`. Raises IndexRangeError for an index that
    is out of range, OptionError for data without pictures."""
    wanted = list(indices)
    length = len(getattr(data, part))
    for each in wanted:
        if not 0 <= each < length:
            raise IndexRangeError(f"the sample {each} of {part}: there are {length}")
    return packed(data.picture(part, each) for each in wanted)


async def filters(model: nn.Module, shape: Sequence[int]) -> list[Picture]:
    """The weights of the first layer that has some, a picture for each of its outputs: 0 is grey,
    the largest one, either way, black or white.

    shape: of one sample, (channels, height, width).
    Returns: none for a layer that sees no picture, such as a head on features.
    """
    first = next((m for m in model.modules() if isinstance(m, (nn.Conv2d, nn.Linear))), None)
    if first is None:
        return []
    weight: Tensor = first.weight
    if isinstance(first, nn.Linear):
        if len(shape) != 3 or math.prod(shape) != weight.shape[1] or max(shape[1:]) > MOST_SIDE:
            return []
        weight = weight.reshape((weight.shape[0], *shape))
    weight = weight.detach()[:MOST_FILTERS].astype("float32")
    if weight.shape[1] != 3:  # not red, green, blue
        weight = tl.mean(weight, axis=1, keepdims=True)
    largest = tl.max(tl.abs(weight), axis=(1, 2, 3), keepdims=True)
    scaled = weight / tl.where(largest > 0, largest, tl.ones_like(largest))
    levels = tl.round(127.5 + 127.5 * tl.permute_dims(scaled, (0, 2, 3, 1))).astype("uint8")
    (read,) = await run_async(reading([levels]))
    count, height, width, channels = read.shape
    size = height * width * channels
    pixels = read.data.cast("B")
    cuts = [bytes(pixels[at * size : (at + 1) * size]) for at in range(count)]
    return [(height, width, channels, each) for each in cuts]


# ---- one learner ----------------------------------------------------------------------------


async def probabilities(learner: Learner, inputs: Tensor) -> list[list[float]]:
    """How probable each class is for some inputs (N, ...): N lists. Raises OptionError for a
    network whose answers are not finite."""
    scores = await learner.predict_async([inputs])
    shares = nn.functional.softmax(scores.astype("float32"), dim=1)
    (read,) = await run_async(reading([shares]))
    found: list[list[float]] = read.tolist()
    if not all(math.isfinite(each) for row in found for each in row):
        raise OptionError(
            "the network's answers are not finite; go on from a checkpoint, or lower the learning "
            "rate"
        )
    return found


class Insight:
    """What is seen of a learner, beside its records.

    learner: is given norms of gradients and, if it classifies, an accuracy that keeps the samples.
    """

    def __init__(self, learner: Learner, classifies: bool) -> None:
        self._learner, self.classifies = learner, classifies
        self._judged = Judged(learner.device)
        self._read: tuple[list[Tensor], Judgements] | None = None
        if classifies:
            learner.metrics["accuracy"] = self._judged
        self.norms = GradientNorms(learner.model, learner.device)
        learner.callbacks.append(self.norms)

    async def judgements(self, valid: Iterable[Any]) -> Judgements:
        """The last validation of the learner; there is one now if there was none.

        valid: the batches of the validation.
        """
        if not self._judged.latest:
            await self._learner.evaluate_async(valid)
        rows = self._judged.latest
        if self._read is None or self._read[0] is not rows:
            self._read = rows, await Judgements.read(rows)
        return self._read[1]
