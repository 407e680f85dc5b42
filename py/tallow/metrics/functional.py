"""The metrics as functions of one batch: `functional.accuracy(preds, target, task="binary")`.

A function takes what its class does, behind predictions and targets, and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import counts, curves, image, matrices, regression, text
from .intervals import Interval as Interval
from .intervals import auroc_interval as auroc_interval
from .intervals import wilson_interval as wilson_interval
from .metric import Summed


def _of(metric: type[Summed]) -> Callable[..., Any]:
    def once(preds: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        return metric(*args, **kwargs).once(preds, target)

    once.__doc__ = f"`{metric.__name__}` of one batch."
    return once


accuracy = _of(counts.Accuracy)
hamming_distance = _of(counts.HammingDistance)
precision = _of(counts.Precision)
recall = _of(counts.Recall)
specificity = _of(counts.Specificity)
fbeta_score = _of(counts.FBetaScore)
f1_score = _of(counts.F1Score)
jaccard_index = _of(counts.JaccardIndex)
confusion_matrix = _of(matrices.ConfusionMatrix)
cohen_kappa = _of(matrices.CohenKappa)
calibration_error = _of(matrices.CalibrationError)
auroc = _of(curves.AUROC)
average_precision = _of(curves.AveragePrecision)
mean_absolute_error = _of(regression.MeanAbsoluteError)
mean_squared_error = _of(regression.MeanSquaredError)
mean_absolute_percentage_error = _of(regression.MeanAbsolutePercentageError)
r2_score = _of(regression.R2Score)
cosine_similarity = _of(regression.CosineSimilarity)
peak_signal_noise_ratio = _of(image.PeakSignalNoiseRatio)
structural_similarity_index_measure = _of(image.StructuralSimilarityIndexMeasure)
dice_score = _of(image.DiceScore)
perplexity = _of(text.Perplexity)
char_error_rate = _of(text.CharErrorRate)
word_error_rate = _of(text.WordErrorRate)
bleu_score = _of(text.BLEUScore)
rouge_score = _of(text.ROUGEScore)
