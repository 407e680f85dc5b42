"""What a step returns, and the vector in which steps add up what they measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .. import functions as f
from ..data.dataloader import tensors_of
from ..errors import OptionError
from ..grad_mode import no_grad
from ..runtime.jit import Jitted
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


class Totals:
    """A vector on the device, of what steps add up; float32."""

    def __init__(self, device: str | None = None) -> None:
        self._device = device
        self._hold(None)

    def _hold(self, vector: Variable | None) -> None:
        self._vector = vector
        self._clear = Jitted(self._zero, frozenset(), self._device)

    def _restore(self, vector: Tensor, name: str) -> None:
        """Goes on from what `vector` was. A compiled step adds to the variable that it was traced
        with, so that one stays."""
        if self._vector is None:
            self._hold(Variable(asarray(vector), name=name))
        else:
            self._vector.assign(vector)

    def begin(self) -> None:
        """Forgets all steps, in a new buffer: the other may be lost with its device."""
        if self._vector is not None:
            self._vector.assign(f.zeros(self._vector.shape))

    def reset(self) -> None:
        """Forgets all steps, where the vector is: for another buffer, a program on NumPy would bind
        all of its steps anew, which takes as long as to take them."""
        if self._vector is not None:
            self._clear()

    def _zero(self) -> None:
        assert self._vector is not None
        self._vector.assign(f.zeros(self._vector.shape))

    def vector(self) -> Tensor:
        """What there is to read, for means and for a checkpoint."""
        return f.zeros((2,)) if self._vector is None else Tensor(self._vector.node).detach()


class Tally(Totals):
    """What steps measure, in one vector on the device: how many steps there were since the first
    whose loss is not finite, with that one; how many samples; and a sum over samples for each
    number, float32 (2 + numbers,)."""

    def __init__(self, device: str | None = None) -> None:
        super().__init__(device)
        self._names: list[str] = []

    def add(self, values: Mapping[str, Tensor], count: int) -> None:
        """Takes a step into account. values: means over its `count` samples, by name; the loss is
        one. Raises OptionError if a step has other names than those before."""
        if self._vector is None:
            self._names = list(values)
            self._vector = Variable(f.zeros((2 + len(values),)), name="measured")
        if list(values) != self._names:
            raise OptionError(
                f"Learner.step() returned {', '.join(values)} after {', '.join(self._names)}; it "
                "returns the same names each time"
            )
        with no_grad():
            numbers = f.stack([value.detach().astype("float32") for value in values.values()])
            lost = ~f.isfinite(numbers[self._names.index("loss")]) | (self._vector[0] > 0)
            counts = f.stack([lost.astype("float32"), asarray(float(count))])
            self._vector.assign(self._vector + f.concat([counts, numbers * float(count)]))

    def means(self, vector: Sequence[float]) -> tuple[int, dict[str, float]]:
        """How many steps there were since the first that is not finite, and the means by name; NaN
        if there was no step. vector: the elements of `vector`."""
        lost, count, *sums = vector
        found = zip(self._names, sums, strict=True)
        return int(lost), {name: total / count if count else math.nan for name, total in found}

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"names": self._names, "vector": self.vector()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from `state`."""
        if state["names"]:
            self._names = list(state["names"])
            self._restore(state["vector"], "measured")
        else:  # of a run without a step
            self.begin()


class Mean(Totals):
    """The mean of a number over steps, on the device: a sum and a count, float32 (2,). Numbers that
    are not finite are left out, as a scaler of losses leaves out their steps."""

    def add(self, value: Tensor) -> None:
        """Takes a number into account."""
        if self._vector is None:
            self._vector = Variable(f.zeros((2,)), name="norms")
        finite = f.isfinite(value)
        kept = f.where(finite, value, f.zeros_like(value)).astype("float32").reshape(())
        added = f.stack([kept, finite.astype("float32").reshape(())])
        self._vector.assign(self._vector + added)

    def mean(self, vector: Sequence[float]) -> float:
        """The mean; NaN of no numbers. vector: the elements of `vector`."""
        total, count = vector
        return total / count if count else math.nan

    def load_state(self, vector: Tensor) -> None:
        """Goes on from what `vector` was."""
        self._restore(vector, "norms")


def is_better(value: float, best: float, mode: str) -> bool:
    """Whether a value is better than the best one so far; any is better than NaN."""
    return math.isnan(best) or (value > best if mode == "max" else value < best)
