"""The two compiled functions of a learner: a step of training, and one of an evaluation.

Both keep what they measure on the device, in variables: nothing is read while they run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .. import functions as f
from ..errors import OptionError
from ..grad_mode import no_grad
from ..runtime.variable import Variable
from ..tensor import Tensor, asarray


class Result(NamedTuple):
    """What a step computed: the loss, a number; what metrics compare; other numbers by name."""

    loss: Tensor
    preds: Any
    target: Any
    others: Mapping[str, Tensor]


def result_of(given: Any) -> Result:
    """What `Learner.step` returned. Raises OptionError if it is neither a loss nor a dict with
    one, or if the loss is not a single number."""
    values = dict(given) if isinstance(given, Mapping) else {"loss": given}
    loss = values.pop("loss", None)
    if not isinstance(loss, Tensor):
        raise OptionError(
            "Learner.step() returns a loss, or a dict with one under 'loss'; it returned "
            f"{type(given).__name__}"
        )
    if loss.shape not in ((), (1,)):
        raise OptionError(
            f"Learner.step(): the loss has the shape {tuple(loss.shape)}; reduce it to one number, "
            "as with loss.mean()"
        )
    preds, target = values.pop("preds", None), values.pop("target", None)
    return Result(loss.reshape(()), preds, target, values)


def length_of(batch: Any) -> int:
    """How many samples a batch has: the length of its first tensor."""
    for tensor in tensors_of(batch):
        return int(tensor.shape[0]) if tensor.shape else 1
    raise OptionError(f"Learner: a batch has no tensor in it: {batch!r:.80}")


def tensors_of(batch: Any) -> Iterable[Tensor]:
    """All tensors within a batch."""
    if isinstance(batch, Tensor):
        yield batch
    elif isinstance(batch, Mapping):
        for each in batch.values():
            yield from tensors_of(each)
    elif isinstance(batch, (list, tuple)):
        for each in batch:
            yield from tensors_of(each)


class Means:
    """Means of numbers over samples, by name, on the device."""

    def __init__(self) -> None:
        self._sums: dict[str, Variable] = {}  # float32 (2,): the sum, and the number of samples

    def add(self, name: str, value: Tensor, count: int, left_out: Tensor | None = None) -> None:
        """Takes a number into account, the mean of `count` samples. left_out: a truth value on the
        device; where it is true, nothing changes."""
        total = self._sums.get(name)
        if total is None:
            total = self._sums[name] = Variable(f.zeros((2,)), name=f"mean {name}")
        with no_grad():
            weight = float(count)
            new = total + f.stack([value.detach().astype("float32") * weight, asarray(weight)])
            total.assign(new if left_out is None else f.where(left_out, total, new))

    def reset(self) -> None:
        """Forgets all numbers."""
        for total in self._sums.values():
            total.assign(f.zeros((2,)))

    def packed(self) -> Tensor:
        """All sums as one float32 tensor, to be read together."""
        return f.concat([Tensor(total.node) for total in self._sums.values()])

    def unpacked(self, values: Sequence[float]) -> dict[str, float]:
        """The means, of the elements of `packed`; NaN of what was not added."""
        pairs = zip(self._sums, values[::2], values[1::2], strict=True)
        return {name: total / count if count else math.nan for name, total, count in pairs}

    def state(self) -> dict[str, Tensor]:
        """The sums, for a checkpoint."""
        return {name: Tensor(total.node).detach() for name, total in self._sums.items()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from `state`."""
        self._sums = {
            name: Variable(asarray(value), name=f"mean {name}") for name, value in state.items()
        }


class Watch:
    """Finds the first step whose loss is not finite, on the device.

    From that step on `stopped` is true, and no step changes anything any more.
    """

    def __init__(self) -> None:
        self._seen = Variable(0, dtype="int32", name="steps watched")
        self._bad = Variable(-1, dtype="int32", name="first step that is not finite")

    def look(self, loss: Tensor) -> Tensor:
        """Looks at a step's loss. Returns whether this step changes nothing, a truth value."""
        with no_grad():
            bad = f.where((self._bad < 0) & ~f.isfinite(loss), Tensor(self._seen.node), self._bad)
            self._bad.assign(bad)
            self._seen.assign(self._seen + 1)
            return self.stopped

    @property
    def stopped(self) -> Tensor:
        """Whether a step was not finite, a truth value."""
        return self._bad >= 0

    def reset(self) -> None:
        """Watches from here on."""
        self._seen.assign(0)
        self._bad.assign(-1)

    @property
    def first(self) -> Tensor:
        """The number of steps since `reset` before the first that is not finite, float32 (1,); -1
        if all are."""
        return Tensor(self._bad.node).astype("float32").reshape((1,))


def is_better(value: float, best: float, mode: str) -> bool:
    """Whether a value is better than the best one so far; any is better than NaN."""
    return math.isnan(best) or (value > best if mode == "max" else value < best)
