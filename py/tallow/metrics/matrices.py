"""Metrics of a confusion matrix, how often each target is predicted as what, and calibration."""

from __future__ import annotations

from .. import functions as f
from ..errors import DTypeError, OptionError
from ..tensor import Tensor
from .tasks import TaskMetric, divided, flat, of_tasks, one_of, probabilities


class ConfusionMatrix(TaskMetric):
    """How often each target (the row) is predicted as what (the column).

    The value is int32, (2, 2) in the binary task, (C, C) for classes, (L, 2, 2) for labels; float32
    with normalize.

    threshold: above which probability a binary prediction, or a label, is 1.
    normalize: "true" divides by the sums of rows, "pred" by those of columns, "all" by that of the
      matrix; None and "none" divide by nothing. Where such a sum is 0, the result is 0.
    Source: torchmetrics, `ConfusionMatrix`; other arguments, and errors: `TaskMetric`.
    """

    def __init__(
        self,
        task: str,
        threshold: float = 0.5,
        num_classes: int | None = None,
        num_labels: int | None = None,
        normalize: str | None = None,
        ignore_index: int | None = None,
        validate_args: bool = True,
    ) -> None:
        super().__init__(task, num_classes, num_labels, ignore_index, validate_args)
        allowed = ("true", "pred", "all", "none", None)
        one_of(f"{type(self).__name__}: normalize", normalize, allowed)
        self.threshold, self.normalize = threshold, normalize
        shapes = {"binary": (2, 2), "multilabel": (self.count, 2, 2)}
        shape = shapes.get(task, (self.count, self.count))
        self.add_state("confmat", f.zeros(shape, dtype="int32"))

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        p, t, kept = self.truths(preds, target, self.threshold)
        if self.task == "multiclass":  # truth values (N, C, X): a product counts the pairs
            t = t if kept is None else t & kept
            rows, columns = (
                f.moveaxis(each, 1, 0).reshape((self.count, -1)).astype("float32")
                for each in (t, p)
            )
            return [(rows @ f.matrix_transpose(columns)).astype("int32")]
        p, t = f.stack([~p, p], 1), f.stack([~t, t], 1)  # (N, 2, L, X)
        pairs = f.expand_dims(t, 2) & f.expand_dims(p, 1)
        if kept is not None:
            pairs = pairs & f.expand_dims(f.expand_dims(kept, 1), 1)
        found = f.permute_dims(pairs.astype("int32").sum((0, 4)), (2, 0, 1))
        return [found if self.task == "multilabel" else found[0]]

    def of_states(self, *states: Tensor) -> Tensor:
        (matrix,) = states
        if self.normalize in (None, "none"):
            return matrix
        axes = {"true": (-1,), "pred": (-2,), "all": (-2, -1)}[str(self.normalize)]
        return divided(matrix, matrix.sum(axes, keepdim=True))


class CohenKappa(ConfusionMatrix):
    """How much predictions agree with targets beyond chance; 1 agrees in all.

    weights: "linear" or "quadratic" counts a wrong class by its distance; None and "none" count
      all alike.
    Source: Cohen 1960, "A coefficient of agreement for nominal scales"; torchmetrics,
    `CohenKappa`. Other arguments: `ConfusionMatrix`.
    """

    higher_is_better = True
    tasks = ("binary", "multiclass")

    def __init__(
        self,
        task: str,
        threshold: float = 0.5,
        num_classes: int | None = None,
        weights: str | None = None,
        ignore_index: int | None = None,
        validate_args: bool = True,
    ) -> None:
        super().__init__(
            task, threshold, num_classes, ignore_index=ignore_index, validate_args=validate_args
        )
        allowed = ("linear", "quadratic", "none", None)
        one_of(f"{type(self).__name__}: weights", weights, allowed)
        self.weights = weights

    def of_states(self, *states: Tensor) -> Tensor:
        found = states[0].astype("float32")
        found = found / found.sum()
        by_chance = found.sum(1, keepdim=True) * found.sum(0, keepdim=True)
        at = f.arange(found.shape[0]).astype("float32")
        apart = (at - f.expand_dims(at, 1)).abs()
        if self.weights == "quadratic":
            apart = apart * apart
        elif self.weights != "linear":
            apart = (apart > 0).astype("float32")
        return 1.0 - (apart * found).sum() / (apart * by_chance).sum()


class CalibrationError(TaskMetric):
    """How far confidences are from the part that is right, in bins of confidence.

    n_bins: how many equal bins [0, 1] has.
    norm: "l1" is the mean distance (the expected calibration error), "l2" the root of the mean
      square, "max" the largest one.
    Source: Naeini et al. 2015, "Obtaining well calibrated probabilities using Bayesian binning";
    torchmetrics, `CalibrationError`. Other arguments, and errors: `TaskMetric`; DTypeError for
    predictions that are no scores.
    """

    higher_is_better = False
    tasks = ("binary", "multiclass")

    def __init__(
        self,
        task: str,
        n_bins: int = 15,
        norm: str = "l1",
        num_classes: int | None = None,
        ignore_index: int | None = None,
        validate_args: bool = True,
    ) -> None:
        super().__init__(task, num_classes, None, ignore_index, validate_args)
        one_of(f"{type(self).__name__}: norm", norm, ("l1", "l2", "max"))
        if n_bins < 1:
            raise OptionError(f"{type(self).__name__}: n_bins={n_bins} is below 1")
        self.n_bins, self.norm = n_bins, norm
        for each in ("confidences", "right", "counts"):  # the last bin is that of 1.0 itself
            self.add_state(each, f.zeros((n_bins + 1,)))

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        self.check(preds, target)
        if not preds.dtype.is_floating:
            raise DTypeError(f"{type(self).__name__}: preds are {preds.dtype.name}, not scores")
        target = flat(target, 0)
        if self.task == "multiclass":
            preds = f.moveaxis(probabilities(preds, 1), 1, -1).reshape((-1, self.count))
            confident, right = f.max(preds, -1), f.argmax(preds, -1) == target
        else:
            confident, right = probabilities(flat(preds, 0)), target == 1
        edges = f.linspace(0, 1, self.n_bins + 1)
        bins = (f.expand_dims(confident, 1) >= edges).astype("int32").sum(1) - 1
        member = f.expand_dims(bins, 1) == f.arange(self.n_bins + 1)
        kept = self.kept(target)
        member = member if kept is None else member & f.expand_dims(kept, 1)
        values = (confident, right.astype("float32"), f.ones_like(confident))
        return [f.where(member, f.expand_dims(each, 1), 0.0).sum(0) for each in values]

    def of_states(self, *states: Tensor) -> Tensor:
        confidences, right, counts = states
        apart = divided((right - confidences).abs(), counts)
        if self.norm == "max":
            return f.max(apart)
        part = divided(counts, counts.sum())
        if self.norm == "l1":
            return (apart * part).sum()
        return f.sqrt((apart * apart * part).sum())


BinaryConfusionMatrix, MulticlassConfusionMatrix, MultilabelConfusionMatrix = of_tasks(
    ConfusionMatrix
)
BinaryCohenKappa, MulticlassCohenKappa = of_tasks(CohenKappa)
BinaryCalibrationError, MulticlassCalibrationError = of_tasks(CalibrationError)
