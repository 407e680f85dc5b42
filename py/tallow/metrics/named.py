"""Metrics by name, whose task follows from what is compared: `Learner(metrics=["accuracy"])`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import context
from ..errors import OptionError, ShapeError
from ..tensor import Tensor
from . import counts, curves, image, matrices, regression, text
from .metric import Metric
from .tasks import one_of

_PLAIN: dict[str, Callable[[], Metric]] = {
    "mae": regression.MeanAbsoluteError,
    "mse": regression.MeanSquaredError,
    "rmse": lambda: regression.MeanSquaredError(squared=False),
    "r2": regression.R2Score,
    "mape": regression.MeanAbsolutePercentageError,
    "cosine": lambda: regression.CosineSimilarity("mean"),
    "perplexity": lambda: text.Perplexity(ignore_index=-100),  # as the loss, cross_entropy
    "psnr": lambda: image.PeakSignalNoiseRatio(1.0),
    "ssim": lambda: image.StructuralSimilarityIndexMeasure(data_range=1.0),
}
"""Metrics that need no task."""

_TASKS: dict[str, tuple[Any, dict[str, Any]]] = {
    "accuracy": (counts.Accuracy, {}),
    "top5": (counts.Accuracy, {"top_k": 5}),
    "f1": (counts.F1Score, {"average": "macro"}),
    "dice": (counts.F1Score, {"average": "macro"}),
    "precision": (counts.Precision, {"average": "macro"}),
    "recall": (counts.Recall, {"average": "macro"}),
    "iou": (counts.JaccardIndex, {}),
    "hamming": (counts.HammingDistance, {}),
    "auroc": (curves.AUROC, {}),
    "average_precision": (curves.AveragePrecision, {}),
    "confusion_matrix": (matrices.ConfusionMatrix, {}),
    "kappa": (matrices.CohenKappa, {}),
    "calibration_error": (matrices.CalibrationError, {}),
}
"""Metrics of a task, and their options."""


def check_name(name: str) -> None:
    """Raises OptionError for an unknown name, with all that there are."""
    if name not in _PLAIN and name not in _TASKS:
        listed = ", ".join(sorted({*_PLAIN, *_TASKS}))
        raise OptionError(f"there is no metric {name!r}; the names are {listed}")


def resolve(name: str, preds: Tensor, target: Tensor) -> Metric:
    """The metric of a name, for the task that shapes and types tell: targets (N, ...) with scores
    (N, C, ...) are classes, targets of the scores' shape are labels if there are several along the
    second axis, and else binary.

    Raises: OptionError for an unknown name, for predictions that are labels (which do not tell how
      many there are), and for a metric that the task does not have; ShapeError for shapes of no
      task.
    """
    check_name(name)
    if name in _PLAIN:
        return _PLAIN[name]()
    kind, options = _TASKS[name]
    if preds.ndim == target.ndim + 1 and preds.ndim > 1 and preds.shape[1] > 1:
        task, size = "multiclass", {"num_classes": preds.shape[1]}
    elif tuple(preds.shape) != tuple(target.shape):
        raise ShapeError(
            f"{name!r}: preds {tuple(preds.shape)} and target {tuple(target.shape)} are neither "
            "scores (N, C, ...) with classes (N, ...) nor of the same shape"
        )
    elif not preds.dtype.is_floating and preds.dtype.name != "bool":
        raise OptionError(
            f"{name!r}: preds are {preds.dtype.name}, which do not tell how many classes there "
            f"are; give {kind.__name__}(task=..., num_classes=...)"
        )
    elif preds.ndim > 1 and preds.shape[1] > 1:
        task, size = "multilabel", {"num_labels": preds.shape[1]}
    else:
        task, size = "binary", {}
    one_of(f"{name!r}: task", task, kind.tasks)
    metric: Metric = kind(task, **size, **options)
    return metric


class Named(Metric):
    """A metric by name, which `resolve` makes of the first batch.

    name: one that `resolve` knows.
    Raises: OptionError for another one.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        check_name(name)
        self.name = name
        self.__dict__["_found"] = []  # not an attribute that a traced function depends on

    @property
    def higher_is_better(self) -> bool | None:  # type: ignore[override]
        """That of the metric; None before the first batch."""
        return self._metric.higher_is_better if self._metric else None

    @property
    def collects(self) -> bool:
        """That of the metric; False before the first batch."""
        return bool(self._metric and self._metric.collects)

    @collects.setter
    def collects(self, value: bool) -> None:
        pass  # the base class begins with False

    @property
    def _metric(self) -> Metric | None:
        found = self.__dict__.get("_found")
        return found[0] if found else None

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Takes a batch into account. The first one decides the task; if the metric collects then,
        that of a compiled function does no more."""
        if self._metric is None:
            if not (isinstance(preds, Tensor) and isinstance(target, Tensor)):
                raise OptionError(
                    f"{self.name!r} compares tensors; give step() in a subclass 'preds' and "
                    "'target' in what it returns"
                )
            self.__dict__["_found"].append(resolve(self.name, preds, target))
        metric = self._metric
        assert metric is not None
        if not (metric.collects and context.trace.get()):
            metric.update(preds, target)

    def compute(self) -> Any:
        """The value over all batches since `reset`. Raises OptionError if there was none."""
        if self._metric is None:
            raise OptionError(f"{self.name!r}: update() was given no batch")
        return self._metric.compute()

    def reset(self) -> None:
        """Forgets all batches, and keeps the task."""
        if self._metric is not None:
            self._metric.reset()
