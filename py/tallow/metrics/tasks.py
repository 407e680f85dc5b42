"""What classification metrics share: the task, checks of what is compared, and truth values.

A metric compares predictions with targets. In all tasks both become truth values of shape
(N, L, X): samples, classes or labels (one in the binary task), and what further axes there are.
"""

from __future__ import annotations

from typing import Any

from .. import functions as f
from ..core import context
from ..errors import DTypeError, OptionError, RealizeError, ShapeError
from ..functional import sigmoid, softmax
from ..tensor import Tensor, host_values
from .metric import Summed

TASKS = ("binary", "multiclass", "multilabel")
AVERAGES = ("micro", "macro", "weighted", "none", None)


def one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raises OptionError for an option that is not one of those allowed."""
    if value not in allowed:
        listed = ", ".join(repr(each) for each in allowed)
        raise OptionError(f"{name}={value!r} is not one of {listed}")


def divided(above: Tensor, below: Tensor, empty: float = 0.0) -> Tensor:
    """A quotient in float32, with a number where the divisor is 0."""
    above, below = above.astype("float32"), below.astype("float32")
    zero = below == 0
    return f.where(zero, empty, above / f.where(zero, 1.0, below))


def probabilities(preds: Tensor, axis: int | None = None) -> Tensor:
    """Predictions as float32 probabilities. They are taken for scores if any lies outside of
    [0, 1]: then it is their softmax along an axis, or their sigmoid."""
    preds = preds.astype("float32")
    scores = ((preds < 0) | (preds > 1)).any()
    return f.where(scores, sigmoid(preds) if axis is None else softmax(preds, axis), preds)


def flat(x: Tensor, axes: int) -> Tensor:
    """All axes from `axes` on as one, which is there even if they are none."""
    size = 1
    for each in x.shape[axes:]:
        size *= each
    return x.reshape((*x.shape[:axes], size))


class TaskMetric(Summed):
    """The base of classification metrics, for the tasks "binary", "multiclass" and "multilabel".

    num_classes, num_labels: needed in the tasks "multiclass" and "multilabel".
    ignore_index: a target that does not count; None is none.
    validate_args: whether labels are checked, for which a few numbers are read, outside of
      compiled functions and where a device can be waited for.
    Raises: OptionError for options that do not fit.
    """

    tasks: tuple[str, ...] = TASKS
    """The tasks that it has."""

    def __init__(
        self,
        task: str,
        num_classes: int | None,
        num_labels: int | None,
        ignore_index: int | None,
        validate_args: bool,
    ) -> None:
        super().__init__()
        one_of(f"{type(self).__name__}: task", task, self.tasks)
        self.task, self.ignore_index, self.validate_args = task, ignore_index, validate_args
        given = {"binary": 1, "multiclass": num_classes, "multilabel": num_labels}[task]
        wanted = {"binary": "", "multiclass": "num_classes", "multilabel": "num_labels"}[task]
        least = 1 if task == "binary" else 2
        if not isinstance(given, int) or given < least:
            raise OptionError(
                f"{type(self).__name__}: task={task!r} needs {wanted} of {least} or more, "
                f"not {given}"
            )
        self.count = given
        """How many classes or labels there are; 1 in the binary task."""

    def check(self, preds: Tensor, target: Tensor) -> None:
        """Checks what is compared.

        Raises: ShapeError for shapes that do not fit, DTypeError for types that do not, OptionError
          for labels that are out of range.
        """
        name, classes = type(self).__name__, self.task == "multiclass"
        scores = classes and preds.ndim == target.ndim + 1
        expected = preds.shape[:1] + preds.shape[2:] if scores else preds.shape
        if tuple(expected) != tuple(target.shape):
            also = " (or (N, C, ...) and (N, ...))" if classes else ""
            raise ShapeError(
                f"{name}: preds {tuple(preds.shape)} and target {tuple(target.shape)} do not fit; "
                f"they have the same shape{also}"
            )
        if (scores or self.task == "multilabel") and (
            preds.ndim < 2 or preds.shape[1] != self.count
        ):
            option = "num_classes" if classes else "num_labels"
            raise ShapeError(
                f"{name}: preds {tuple(preds.shape)} do not have {option}={self.count} along "
                "their second axis"
            )
        if classes and (target.dtype.is_floating or preds.dtype.is_floating != scores):
            raise DTypeError(
                f"{name}: preds are {preds.dtype.name} and target is {target.dtype.name}; targets "
                "are integers, and preds scores (N, C, ...) or integers of the target's shape"
            )
        if self.validate_args and not context.trace.get() and target.size:
            self._check_labels(preds, target)

    def _check_labels(self, preds: Tensor, target: Tensor) -> None:
        highest = max(self.count, 2) - 1
        given = {"target": target if self.kept(target) is None else f.where(
            target == self.ignore_index, f.zeros_like(target), target)}  # fmt: skip
        if not preds.dtype.is_floating:
            given["preds"] = preds
        found = []
        for each in given.values():
            number = each.astype("float32")
            part = (number - f.trunc(number)).abs().max()
            found += [number.min(), number.max(), part]
        try:
            values = host_values([f.stack(found)])[0].tolist()
        except RealizeError:  # a browser where nothing can be waited for
            return
        for at, name in enumerate(given):
            low, high, part = values[3 * at : 3 * at + 3]
            if low < 0 or high > highest or part:
                had = "a fraction" if part else f"labels from {low:g} to {high:g}"
                also = f" or ignore_index={self.ignore_index}" if self.ignore_index else ""
                raise OptionError(
                    f"{type(self).__name__}: {name} has {had}; task={self.task!r} allows 0 to "
                    f"{highest}{also}"
                )

    def kept(self, target: Tensor) -> Tensor | None:
        """Which targets count, as truth values; None if all do."""
        return None if self.ignore_index is None else target != self.ignore_index

    def labels(self, preds: Tensor, target: Tensor, top_k: int = 1) -> Tensor:
        """The predicted classes, integers of the target's shape (N, X): of scores (N, C, X) the
        highest; with top_k above 1 the target's class where it is among the top_k highest."""
        if preds.ndim == target.ndim:
            return preds
        best = f.argmax(preds, 1)
        if top_k == 1:
            return best
        at = f.arange(self.count).reshape((1, self.count, 1))
        aim = f.expand_dims(target, 1)
        score = f.where(at == aim, preds.astype("float32"), 0.0).sum(1, keepdim=True)
        ahead = (preds > score) | ((preds == score) & (at < aim))
        return f.where(ahead.astype("int32").sum(1) < top_k, target, best.astype(target.dtype))

    def truths(
        self, preds: Tensor, target: Tensor, threshold: float = 0.5, top_k: int = 1
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """What is predicted, what is so, and what counts: truth values (N, L, X)."""
        self.check(preds, target)
        if self.task == "multiclass":
            aim = flat(target, 1)
            preds = self.labels(flat(preds, preds.ndim - target.ndim + 1), aim, top_k)
            at = f.arange(self.count).reshape((1, self.count, 1))
            kept = self.kept(aim)
            kept = None if kept is None else f.expand_dims(kept, 1)
            return f.expand_dims(preds, 1) == at, f.expand_dims(aim, 1) == at, kept
        labels = self.task == "multilabel"
        preds, target = (
            flat(x, 2) if labels else f.expand_dims(flat(x, 1), 1) for x in (preds, target)
        )
        if preds.dtype.is_floating:
            preds = probabilities(preds) > threshold
        return preds.astype("bool"), target == 1, self.kept(target)


def of_tasks(metric: Any) -> list[Any]:
    """The classes of single tasks, such as BinaryAccuracy, as torchmetrics has them: their first
    argument is what the task needs, and they average "macro" unless told otherwise.

    metric: the class of all tasks.
    """
    found = []
    for task in metric.tasks:
        first = {"multiclass": "num_classes", "multilabel": "num_labels"}.get(task)

        def begin(self: Any, *given: Any, _task: str = task, _first: Any = first, **options: Any):  # type: ignore[no-untyped-def]
            if len(given) > (_first is not None):
                raise TypeError(f"{type(self).__name__}: give options by name")
            if given:
                options[_first] = given[0]
            if _task != "binary" and "average" in metric.__init__.__code__.co_varnames:
                options.setdefault("average", "macro")
            metric.__init__(self, _task, **options)

        name = f"{task.capitalize()}{metric.__name__}"
        text = f"`{metric.__name__}` in the task {task!r}."
        found.append(type(name, (metric,), {"__init__": begin, "__doc__": text}))
    return found
