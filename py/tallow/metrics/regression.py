"""Metrics of numbers: errors, explained variance, similarity."""

from __future__ import annotations

from collections.abc import Sequence

from .. import functions as f
from ..errors import OptionError, ShapeError
from ..tensor import Tensor, asarray
from .metric import Summed
from .tasks import divided, one_of


def floats(name: str, preds: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in float32. Raises ShapeError if their shapes differ."""
    if tuple(preds.shape) != tuple(target.shape):
        raise ShapeError(
            f"{name}: preds {tuple(preds.shape)} and target {tuple(target.shape)} have different "
            "shapes"
        )
    return preds.astype("float32"), target.astype("float32")


class MeanAbsoluteError(Summed):
    """The mean of |preds - target|.

    num_outputs: above 1, a value for each column of (N, num_outputs).
    Raises: ShapeError, as all metrics here, for shapes that differ.
    Source: torchmetrics, `MeanAbsoluteError`.
    """

    higher_is_better = False

    def __init__(self, num_outputs: int = 1) -> None:
        super().__init__()
        if num_outputs < 1:
            raise OptionError(f"{type(self).__name__}: num_outputs={num_outputs} is below 1")
        self.num_outputs = num_outputs
        self.add_state("total", f.zeros(() if num_outputs == 1 else (num_outputs,)))
        self.add_state("count", asarray(0, "int32"))

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        error = self.error(*floats(type(self).__name__, preds, target))
        if self.num_outputs == 1:
            return [error.sum(), asarray(int(error.size), "int32")]
        if error.ndim != 2 or error.shape[1] != self.num_outputs:
            raise ShapeError(
                f"{type(self).__name__}: preds {tuple(preds.shape)} are not "
                f"(N, num_outputs={self.num_outputs})"
            )
        return [error.sum(0), asarray(int(error.shape[0]), "int32")]

    def error(self, preds: Tensor, target: Tensor) -> Tensor:
        """What is averaged."""
        return (preds - target).abs()

    def of_states(self, *states: Tensor) -> Tensor:
        return states[0] / states[1].astype("float32")


class MeanSquaredError(MeanAbsoluteError):
    """The mean of (preds - target)^2, or its root.

    squared: False is the root (RMSE). num_outputs: as for `MeanAbsoluteError`.
    Source: torchmetrics, `MeanSquaredError`.
    """

    def __init__(self, squared: bool = True, num_outputs: int = 1) -> None:
        super().__init__(num_outputs)
        self.squared = squared

    def error(self, preds: Tensor, target: Tensor) -> Tensor:
        return (preds - target) ** 2

    def of_states(self, *states: Tensor) -> Tensor:
        mean = super().of_states(*states)
        return mean if self.squared else f.sqrt(mean)


class MeanAbsolutePercentageError(MeanAbsoluteError):
    """The mean of |preds - target| / |target|, of targets away from 0 by 1.17e-6 at least.

    Source: torchmetrics, `MeanAbsolutePercentageError`.
    """

    def __init__(self) -> None:
        super().__init__()

    def error(self, preds: Tensor, target: Tensor) -> Tensor:
        return (preds - target).abs() / f.clip(target.abs(), min=1.17e-06)


class R2Score(Summed):
    """The part of the targets' variance that is explained, of (N,) or (N, outputs).

    adjusted: how many regressors there were, for the adjusted score; 0 adjusts nothing, and neither
      does a number of them that the samples are too few for.
    multioutput: "uniform_average", "variance_weighted" or "raw_values" of each output.
    Returns: NaN of fewer than two samples.
    Raises: OptionError for other options; ShapeError for other shapes.
    Source: torchmetrics, `R2Score`. The variance is added up as in Chan et al. 1979, "Updating
    formulae and a pairwise algorithm for computing sample variances".
    """

    higher_is_better = True

    def __init__(self, adjusted: int = 0, multioutput: str = "uniform_average") -> None:
        super().__init__()
        allowed = ("raw_values", "uniform_average", "variance_weighted")
        one_of("R2Score: multioutput", multioutput, allowed)
        if adjusted < 0:
            raise OptionError(f"R2Score: adjusted={adjusted} is below 0")
        self.adjusted, self.multioutput = adjusted, multioutput
        for each in ("count", "mean", "spread", "residual"):
            self.add_state(each, asarray(0.0))

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        preds, target = floats("R2Score", preds, target)
        if target.ndim not in (1, 2):
            raise ShapeError(f"R2Score: target {tuple(target.shape)} is not (N,) or (N, outputs)")
        mean = f.mean(target, 0)
        spread, residual = ((x * x).sum(0) for x in (target - mean, target - preds))
        return [asarray(float(target.shape[0])), mean, spread, residual]

    def combine(self, states: Sequence[Tensor], parts: Sequence[Tensor]) -> list[Tensor]:
        count, mean, spread, residual = states
        more, other, other_spread, other_residual = parts
        both, apart = count + more, other - mean
        return [
            both,
            mean + apart * (more / both),
            spread + other_spread + apart * apart * (count * more / both),
            residual + other_residual,
        ]

    def of_states(self, *states: Tensor) -> Tensor:
        count, _, spread, residual = states
        some = residual > 1e-4  # torchmetrics' limit of what is near 0
        score = f.where(spread > 1e-4, 1.0 - divided(residual, spread), 0.0)
        score = f.where(some, score, 1.0)
        if self.multioutput == "uniform_average":
            score = f.mean(score)
        elif self.multioutput == "variance_weighted":
            score = (divided(spread, spread.sum()) * score).sum()
        free = count - (self.adjusted + 1.0)
        if self.adjusted:
            fair = 1.0 - (1.0 - score) * (count - 1.0) / f.where(free > 0, free, 1.0)
            score = f.where(free > 0, fair, score)
        return f.where(count < 2, f.nan, score)


class CosineSimilarity(Summed):
    """The cosine between predictions and targets, (N, D).

    reduction: "sum" or "mean" over all samples; None and "none" give each.
    Raises: OptionError for another reduction; ShapeError for other shapes.
    Source: torchmetrics, `CosineSimilarity`.
    """

    higher_is_better = True

    def __init__(self, reduction: str | None = "sum") -> None:
        super().__init__()
        one_of("CosineSimilarity: reduction", reduction, ("sum", "mean", "none", None))
        self.reduction = reduction
        each = reduction in (None, "none")
        self.add_state("total", [] if each else asarray(0.0))
        if not each:
            self.add_state("count", asarray(0, "int32"))

    def of_batch(self, preds: Tensor, target: Tensor) -> list[Tensor]:
        preds, target = floats("CosineSimilarity", preds, target)
        if preds.ndim != 2:
            raise ShapeError(f"CosineSimilarity: preds {tuple(preds.shape)} are not (N, D)")
        lengths = f.sqrt((preds * preds).sum(-1)) * f.sqrt((target * target).sum(-1))
        cosine = (preds * target).sum(-1) / lengths
        if self.reduction in (None, "none"):
            return [cosine]
        return [cosine.sum(), asarray(int(cosine.size), "int32")]

    def of_states(self, *states: Tensor) -> Tensor:
        if self.reduction == "mean":
            return states[0] / states[1].astype("float32")
        return states[0]
