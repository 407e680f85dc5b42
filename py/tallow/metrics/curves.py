"""Areas under curves over all thresholds: AUROC and average precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .. import functions as f
from ..errors import DTypeError, OptionError
from ..tensor import Tensor, asarray
from .tasks import TaskMetric, divided, flat, of_tasks, one_of, probabilities


class Steps(NamedTuple):
    """A curve over falling thresholds, in steps: counts before and after each, float32 (L, K)."""

    fp_before: Tensor
    tp_before: Tensor
    fp: Tensor
    tp: Tensor


class Curve(TaskMetric):
    """The base of metrics of scores over all thresholds.

    thresholds: None takes all scores as thresholds, which is exact: it collects all predictions and
      sorts them on the device. A number of thresholds between 0 and 1, or the thresholds, only
      counts, so that memory stays small and `update` can be part of a compiled function.
    average: over classes or labels: "macro", "weighted" by the targets, or "micro" of labels
      (together); None or "none" gives each.
    Other arguments, and errors: `TaskMetric`; DTypeError for predictions that are no scores.
    """

    higher_is_better = True

    def __init__(
        self,
        task: str,
        thresholds: int | Sequence[float] | Tensor | None = None,
        num_classes: int | None = None,
        num_labels: int | None = None,
        average: str | None = "macro",
        ignore_index: int | None = None,
        validate_args: bool = True,
    ) -> None:
        super().__init__(task, num_classes, num_labels, ignore_index, validate_args)
        micro = ("micro",) if task == "multilabel" else ()
        one_of(
            f"{type(self).__name__}: average", average, (*micro, "macro", "weighted", "none", None)
        )
        self.average = average
        self.thresholds: Tensor | None = None
        if thresholds is None:
            for each in ("preds", "positive", "negative"):
                self.add_state(each, [])
            return
        if isinstance(thresholds, int):
            if thresholds < 2:
                raise OptionError(f"{type(self).__name__}: thresholds={thresholds} is below 2")
            thresholds = f.linspace(0, 1, thresholds)
        elif not isinstance(thresholds, Tensor):
            thresholds = sorted(thresholds)
        self.thresholds = asarray(thresholds).astype("float32")
        shape = (self.thresholds.shape[0] + 1, self.count)  # the last row counts all
        for each in ("true_positives", "false_positives"):
            self.add_state(each, f.zeros(shape, dtype="int32"))

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        self.check(preds, target)
        if not preds.dtype.is_floating:
            raise DTypeError(f"{type(self).__name__}: preds are {preds.dtype.name}, not scores")
        if self.task == "binary":
            scores, aim = (flat(x, 0).reshape((-1, 1)) for x in (probabilities(preds), target))
            positive = aim == 1
        else:
            scores = probabilities(preds, 1 if self.task == "multiclass" else None)
            scores = f.moveaxis(scores, 1, -1).reshape((-1, self.count))
            if self.task == "multiclass":
                aim = target.reshape((-1, 1))
                positive = aim == f.arange(self.count)
            else:
                aim = f.moveaxis(target, 1, -1).reshape((-1, self.count))
                positive = aim == 1
        negative, kept = ~positive, self.kept(aim)
        if kept is not None:
            positive, negative = positive & kept, negative & kept
        if self.thresholds is None:
            return [scores, positive, negative]
        levels = f.concat([self.thresholds, asarray([-1.0])])
        above = scores >= levels.reshape((-1, 1, 1))
        return [(above & each).astype("int32").sum(1) for each in (positive, negative)]

    def of_states(self, *states: Tensor) -> Tensor:
        together = self.average == "micro"
        if self.thresholds is None:
            scores, positive, negative = (
                x.reshape((1, -1)) if together else f.matrix_transpose(x) for x in states
            )
            steps = _exact(scores, positive, negative)
            total = [x.astype("float32").sum(-1, keepdim=True) for x in (positive, negative)]
        else:
            tp, fp = (
                f.matrix_transpose(x.sum(1, keepdim=True) if together else x).astype("float32")
                for x in states
            )
            total = [x[:, -1:] for x in (tp, fp)]
            steps = self.binned(f.flip(fp[:, :-1], axis=1), f.flip(tp[:, :-1], axis=1))
        area = self.area(steps, *total)
        if self.task == "binary" or together:
            return area[0]
        if self.average in (None, "none"):
            return area
        known = ~f.isnan(area)
        weight = total[0][:, 0] if self.average == "weighted" else f.ones_like(area)
        weight = f.where(known, weight, 0.0)
        return (f.where(known, area, 0.0) * divided(weight, weight.sum())).sum()

    def binned(self, fp: Tensor, tp: Tensor) -> Steps:
        """The steps between given thresholds, whose counts fp and tp are (L, T), falling."""
        raise NotImplementedError

    def area(self, steps: Steps, positives: Tensor, negatives: Tensor) -> Tensor:
        """The areas (L,) under a curve. positives, negatives: the numbers of targets, (L, 1)."""
        raise NotImplementedError


def _exact(scores: Tensor, positive: Tensor, negative: Tensor) -> Steps:
    """A step for each score, of shape (L, K); equal scores make one step together, at the place of
    the last of them, and steps of nothing at the others."""
    order = f.argsort(scores, -1, descending=True)
    scores = f.take_along_axis(scores, order, -1)
    both = f.stack([negative, positive])
    one = f.take_along_axis(both.astype("int32"), f.broadcast_to(order, both.shape), -1)
    after = f.cumulative_sum(one, -1)
    step = scores[:, 1:] != scores[:, :-1]
    edge = f.ones((scores.shape[0], 1), dtype="bool")
    first, last = f.concat([edge, step], 1), f.concat([step, edge], 1)
    before = _greatest_so_far(f.where(first, after - one, 0))
    before, after = (each.astype("float32") for each in (f.where(last, before, after), after))
    return Steps(before[0], before[1], after[0], after[1])


def _greatest_so_far(x: Tensor) -> Tensor:
    """The running maximum of integers from 0 on along the last axis, in log2(n) steps."""
    shift = 1
    while shift < x.shape[-1]:
        x = f.maximum(x, f.pad(x, [(0, 0)] * (x.ndim - 1) + [(shift, -shift)]))
        shift *= 2
    return x


class AUROC(Curve):
    """The area under the ROC curve: how likely a positive has a higher score than a negative, where
    equal scores count half. It is 0 if there are no positives, or no negatives, also of one class
    in an average; torchmetrics warns of this, which would need a read here.

    max_fpr: only the part up to this rate of false positives counts (binary), scaled so that 0.5
      is chance; None is all.
    Source: Hanley and McNeil 1982; McClish 1989 for max_fpr; torchmetrics, `AUROC`. Other
    arguments: `Curve`.
    """

    def __init__(
        self,
        task: str,
        thresholds: int | Sequence[float] | Tensor | None = None,
        num_classes: int | None = None,
        num_labels: int | None = None,
        average: str | None = "macro",
        max_fpr: float | None = None,
        ignore_index: int | None = None,
        validate_args: bool = True,
    ) -> None:
        super().__init__(
            task, thresholds, num_classes, num_labels, average, ignore_index, validate_args
        )
        if max_fpr is not None and (task != "binary" or not 0 < max_fpr <= 1):
            raise OptionError(f"AUROC: max_fpr={max_fpr} is in (0, 1], in the task 'binary'")
        self.max_fpr = 1.0 if max_fpr is None else max_fpr

    def binned(self, fp: Tensor, tp: Tensor) -> Steps:
        return Steps(fp[:, :-1], tp[:, :-1], fp[:, 1:], tp[:, 1:])

    def area(self, steps: Steps, positives: Tensor, negatives: Tensor) -> Tensor:
        x0, x1 = (divided(each, negatives) for each in (steps.fp_before, steps.fp))
        y0, y1 = (divided(each, positives) for each in (steps.tp_before, steps.tp))
        most = self.max_fpr
        width = f.clip(x1, max=most) - f.clip(x0, max=most)
        y1 = y0 + (y1 - y0) * divided(width, x1 - x0)
        area = (width * (y0 + y1) / 2.0).sum(-1)
        if most == 1:
            return area
        least = most * most / 2
        scaled = 0.5 * (1.0 + (area - least) / (most - least))
        return f.where((positives * negatives)[:, 0] > 0, scaled, area)


class AveragePrecision(Curve):
    """The mean precision over the positives, each at the threshold of its own score: the area under
    the precision-recall curve, in steps. Classes without a target are left out of averages.

    Source: torchmetrics, `AveragePrecision`; arguments: `Curve`.
    """

    def binned(self, fp: Tensor, tp: Tensor) -> Steps:
        before = [f.pad(each[:, :-1], [(0, 0), (1, 0)]) for each in (fp, tp)]
        return Steps(before[0], before[1], fp, tp)

    def area(self, steps: Steps, positives: Tensor, negatives: Tensor) -> Tensor:
        precision = divided(steps.tp, steps.tp + steps.fp)
        absent = self.task == "multiclass" and self.thresholds is None
        part = divided(steps.tp - steps.tp_before, positives, f.nan if absent else 0.0)
        return (part * precision).sum(-1)


BinaryAUROC, MulticlassAUROC, MultilabelAUROC = of_tasks(AUROC)
BinaryAveragePrecision, MulticlassAveragePrecision, MultilabelAveragePrecision = of_tasks(
    AveragePrecision
)
