"""Classification metrics that follow from true and false positives and negatives."""

from __future__ import annotations

from .. import functions as f
from ..errors import MissingError, OptionError
from ..tensor import Tensor
from .tasks import AVERAGES, TaskMetric, divided, of_tasks, one_of


class Counted(TaskMetric):
    """The base of metrics of four counts for each class or label: `tp`, `fp`, `tn` and `fn`.

    threshold: above which probability a binary prediction, or a label, is 1.
    average: over classes or labels: "micro" counts all together, "macro" takes the mean of those
      that occur, "weighted" weighs them by their targets; None or "none" gives each.
    multidim_average: "global" counts further axes as samples, "samplewise" gives a value for each
      sample, which takes all of them together at the end.
    top_k: a class is found if it is among the `top_k` highest scores (multiclass).
    Other arguments, and errors: `TaskMetric`.
    """

    higher_is_better = True
    rare_by_target = False
    """Whether with top_k "macro" leaves out the classes that no target has."""

    def __init__(
        self,
        task: str,
        threshold: float = 0.5,
        num_classes: int | None = None,
        num_labels: int | None = None,
        average: str | None = "micro",
        multidim_average: str = "global",
        top_k: int = 1,
        ignore_index: int | None = None,
        validate_args: bool = True,
    ) -> None:
        super().__init__(task, num_classes, num_labels, ignore_index, validate_args)
        name = type(self).__name__
        one_of(f"{name}: average", average, AVERAGES)
        one_of(f"{name}: multidim_average", multidim_average, ("global", "samplewise"))
        if not 0 <= threshold <= 1:
            raise OptionError(f"{name}: threshold={threshold} is outside of [0, 1]")
        if top_k < 1 or (task == "multiclass" and top_k > self.count):
            raise OptionError(f"{name}: top_k={top_k} of {self.count} classes")
        self.threshold, self.average, self.top_k = threshold, average, top_k
        self.samplewise = multidim_average == "samplewise"
        for each in ("tp", "fp", "tn", "fn"):
            zeros = f.zeros((self.count,), dtype="int32")
            self.add_state(each, [] if self.samplewise else zeros)

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        p, t, kept = self.truths(preds, target, self.threshold, self.top_k)
        axes = (2,) if self.samplewise else (0, 2)

        def count(truths: Tensor) -> Tensor:
            counted = truths if kept is None else truths & kept
            return counted.astype("int32").sum(axes)

        return [count(p & t), count(p & ~t), count(~p & ~t), count(~p & t)]

    def of_states(self, *states: Tensor) -> Tensor:
        tp, fp, tn, fn = (each.astype("float32") for each in states)
        if self.task == "binary":
            return self.ratio(tp, fp, tn, fn)[..., 0]
        if self.average == "micro":
            return self.ratio(*(each.sum(-1) for each in (tp, fp, tn, fn)))
        score = self.ratio(tp, fp, tn, fn)
        if self.average in (None, "none"):
            return score
        weight = self.weights(tp, fp, fn)
        return (score * divided(weight, weight.sum(-1, keepdim=True))).sum(-1)

    def weights(self, tp: Tensor, fp: Tensor, fn: Tensor) -> Tensor:
        """What each class or label counts in the average."""
        if self.average == "weighted":
            return tp + fn
        if self.task == "multilabel":
            return f.ones_like(tp)
        by_target = self.rare_by_target and self.top_k > 1
        return ((tp + fn if by_target else tp + fp + fn) > 0).astype("float32")

    def ratio(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        """The value for counts, float32, of their shape; every subclass defines it."""
        raise MissingError(f"{type(self).__name__} does not define ratio()")


class Accuracy(Counted):
    """The part of predictions that are right; of classes one by one, the part of each that is
    found. Source: torchmetrics, `Accuracy`; arguments: `Counted`."""

    rare_by_target = True

    def ratio(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        if self.task == "multiclass":
            return divided(tp, tp + fn)
        return divided(tp + tn, tp + fp + tn + fn)


class HammingDistance(Accuracy):
    """The part of predictions that are wrong: 1 - `Accuracy`. Source: torchmetrics,
    `HammingDistance`; arguments: `Counted`."""

    higher_is_better = False
    rare_by_target = False

    def ratio(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        return 1.0 - super().ratio(tp, fp, tn, fn)


class Precision(Counted):
    """The part of positive predictions that are right: tp / (tp + fp). Source: torchmetrics,
    `Precision`; arguments: `Counted`."""

    rare_by_target = True

    def ratio(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        return divided(tp, tp + fp)


class Recall(Counted):
    """The part of positive targets that are found: tp / (tp + fn). Source: torchmetrics,
    `Recall`; arguments: `Counted`."""

    rare_by_target = True

    def ratio(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        return divided(tp, tp + fn)


class Specificity(Counted):
    """The part of negative targets that are found: tn / (tn + fp). Source: torchmetrics,
    `Specificity`; arguments: `Counted`."""

    def ratio(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        return divided(tn, tn + fp)


class FBetaScore(Counted):
    """The weighted harmonic mean of precision and recall.

    beta: how much more recall counts. zero_division: the value where there is nothing to count.
    Source: torchmetrics, `FBetaScore`; other arguments: `Counted`.
    """

    def __init__(
        self,
        task: str,
        beta: float = 1.0,
        threshold: float = 0.5,
        num_classes: int | None = None,
        num_labels: int | None = None,
        average: str | None = "micro",
        multidim_average: str = "global",
        top_k: int = 1,
        ignore_index: int | None = None,
        validate_args: bool = True,
        zero_division: float = 0.0,
    ) -> None:
        super().__init__(
            task, threshold, num_classes, num_labels, average, multidim_average, top_k,
            ignore_index, validate_args,
        )  # fmt: skip
        if beta <= 0:
            raise OptionError(f"{type(self).__name__}: beta={beta} is not above 0")
        self.beta, self.zero_division = beta, zero_division

    def ratio(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        square = self.beta * self.beta
        above = (1 + square) * tp
        return divided(above, above + square * fn + fp, self.zero_division)


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall, 2 tp / (2 tp + fp + fn), which is Dice's
    coefficient too. Source: torchmetrics, `F1Score`; arguments: `FBetaScore`, without beta."""

    def __init__(
        self,
        task: str,
        threshold: float = 0.5,
        num_classes: int | None = None,
        num_labels: int | None = None,
        average: str | None = "micro",
        multidim_average: str = "global",
        top_k: int = 1,
        ignore_index: int | None = None,
        validate_args: bool = True,
        zero_division: float = 0.0,
    ) -> None:
        super().__init__(
            task, 1.0, threshold, num_classes, num_labels, average, multidim_average, top_k,
            ignore_index, validate_args, zero_division,
        )  # fmt: skip


class JaccardIndex(Counted):
    """Intersection over union: tp / (tp + fp + fn). Source: torchmetrics, `JaccardIndex`;
    arguments: `Counted`. A class that is `ignore_index` counts in no average."""

    def __init__(
        self,
        task: str,
        threshold: float = 0.5,
        num_classes: int | None = None,
        num_labels: int | None = None,
        average: str | None = "macro",
        ignore_index: int | None = None,
        validate_args: bool = True,
    ) -> None:
        super().__init__(
            task, threshold, num_classes, num_labels, average,
            ignore_index=ignore_index, validate_args=validate_args,
        )  # fmt: skip

    def ratio(self, tp: Tensor, fp: Tensor, tn: Tensor, fn: Tensor) -> Tensor:
        return divided(tp, tp + fp + fn)

    def of_states(self, *states: Tensor) -> Tensor:
        if self._counted is not None and self.average == "micro":
            states = tuple(f.where(self._counted, each, 0) for each in states)
        return super().of_states(*states)

    def weights(self, tp: Tensor, fp: Tensor, fn: Tensor) -> Tensor:
        found = super().weights(tp, fp, fn)
        return found if self._counted is None else f.where(self._counted, found, 0.0)

    @property
    def _counted(self) -> Tensor | None:
        """Which classes count, where not all do."""
        if self.task != "multiclass" or self.ignore_index is None:
            return None
        return f.arange(self.count) != self.ignore_index


BinaryAccuracy, MulticlassAccuracy, MultilabelAccuracy = of_tasks(Accuracy)
BinaryHammingDistance, MulticlassHammingDistance, MultilabelHammingDistance = of_tasks(
    HammingDistance
)
BinaryPrecision, MulticlassPrecision, MultilabelPrecision = of_tasks(Precision)
BinaryRecall, MulticlassRecall, MultilabelRecall = of_tasks(Recall)
BinarySpecificity, MulticlassSpecificity, MultilabelSpecificity = of_tasks(Specificity)
BinaryFBetaScore, MulticlassFBetaScore, MultilabelFBetaScore = of_tasks(FBetaScore)
BinaryF1Score, MulticlassF1Score, MultilabelF1Score = of_tasks(F1Score)
BinaryJaccardIndex, MulticlassJaccardIndex, MultilabelJaccardIndex = of_tasks(JaccardIndex)
