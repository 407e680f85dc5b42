"""Measures that add up over batches, with torchmetrics' names and arguments."""

from . import functional
from .aggregation import MaxMetric, MeanMetric, MinMetric, SumMetric
from .collection import MetricCollection
from .counts import (
    Accuracy,
    BinaryAccuracy,
    BinaryF1Score,
    BinaryFBetaScore,
    BinaryHammingDistance,
    BinaryJaccardIndex,
    BinaryPrecision,
    BinaryRecall,
    BinarySpecificity,
    F1Score,
    FBetaScore,
    HammingDistance,
    JaccardIndex,
    MulticlassAccuracy,
    MulticlassF1Score,
    MulticlassFBetaScore,
    MulticlassHammingDistance,
    MulticlassJaccardIndex,
    MulticlassPrecision,
    MulticlassRecall,
    MulticlassSpecificity,
    MultilabelAccuracy,
    MultilabelF1Score,
    MultilabelFBetaScore,
    MultilabelHammingDistance,
    MultilabelJaccardIndex,
    MultilabelPrecision,
    MultilabelRecall,
    MultilabelSpecificity,
    Precision,
    Recall,
    Specificity,
)
from .curves import (
    AUROC,
    AveragePrecision,
    BinaryAUROC,
    BinaryAveragePrecision,
    MulticlassAUROC,
    MulticlassAveragePrecision,
    MultilabelAUROC,
    MultilabelAveragePrecision,
)
from .image import DiceScore, PeakSignalNoiseRatio, StructuralSimilarityIndexMeasure
from .matrices import (
    BinaryCalibrationError,
    BinaryCohenKappa,
    BinaryConfusionMatrix,
    CalibrationError,
    CohenKappa,
    ConfusionMatrix,
    MulticlassCalibrationError,
    MulticlassCohenKappa,
    MulticlassConfusionMatrix,
    MultilabelConfusionMatrix,
)
from .metric import Metric
from .regression import (
    CosineSimilarity,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    R2Score,
)
from .text import BLEUScore, CharErrorRate, Perplexity, ROUGEScore, WordErrorRate

__all__ = [
    "AUROC", "Accuracy", "AveragePrecision", "BLEUScore", "BinaryAUROC", "BinaryAccuracy",
    "BinaryAveragePrecision", "BinaryCalibrationError", "BinaryCohenKappa",
    "BinaryConfusionMatrix", "BinaryF1Score", "BinaryFBetaScore", "BinaryHammingDistance",
    "BinaryJaccardIndex", "BinaryPrecision", "BinaryRecall", "BinarySpecificity",
    "CalibrationError", "CharErrorRate", "CohenKappa", "ConfusionMatrix", "CosineSimilarity",
    "DiceScore", "F1Score", "FBetaScore", "HammingDistance", "JaccardIndex", "MaxMetric",
    "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanMetric", "MeanSquaredError",
    "Metric", "MetricCollection", "MinMetric", "MulticlassAUROC", "MulticlassAccuracy",
    "MulticlassAveragePrecision", "MulticlassCalibrationError", "MulticlassCohenKappa",
    "MulticlassConfusionMatrix", "MulticlassF1Score", "MulticlassFBetaScore",
    "MulticlassHammingDistance", "MulticlassJaccardIndex", "MulticlassPrecision",
    "MulticlassRecall", "MulticlassSpecificity", "MultilabelAUROC", "MultilabelAccuracy",
    "MultilabelAveragePrecision", "MultilabelConfusionMatrix", "MultilabelF1Score",
    "MultilabelFBetaScore", "MultilabelHammingDistance", "MultilabelJaccardIndex",
    "MultilabelPrecision", "MultilabelRecall", "MultilabelSpecificity", "PeakSignalNoiseRatio",
    "Perplexity", "Precision", "R2Score", "ROUGEScore", "Recall", "Specificity",
    "StructuralSimilarityIndexMeasure", "SumMetric", "WordErrorRate", "functional",
]  # fmt: skip
