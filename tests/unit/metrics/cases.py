"""Metrics that torchmetrics and Tallow compute alike, and what they compare: see record.py."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

Batch = tuple[Any, ...]
SIZES = (17, 12, 2, 9)
CLASSES, LABELS = 5, 4


def _made() -> dict[str, list[Batch]]:
    """What is compared, in batches, by name. Class 3 has no target, and one no prediction."""
    rng = np.random.default_rng(20)

    def scores(*shape: int) -> np.ndarray:
        """Probabilities with many ties."""
        return (rng.integers(0, 11, shape) / 10).astype(np.float32)

    def logits(*shape: int) -> np.ndarray:
        return (rng.normal(size=shape) * 2).astype(np.float32)

    def classes(*shape: int) -> np.ndarray:
        return np.array([0, 1, 2, 4])[rng.integers(0, 4, shape)]

    def truths(*shape: int) -> np.ndarray:
        return rng.integers(0, 2, shape)

    def some(target: np.ndarray, other: int) -> np.ndarray:
        """Targets of which a few are ignored."""
        return np.where(rng.random(target.shape) < 0.2, other, target)

    def numbers(*shape: int) -> np.ndarray:
        return (rng.normal(size=shape) * 3 + 1).astype(np.float32)

    def near(target: np.ndarray) -> np.ndarray:
        return (target + rng.normal(size=target.shape)).astype(np.float32)

    def pairs(one: Any, two: Any, *shape: int) -> list[Batch]:
        return [(one(n, *shape), two(n, *shape)) for n in SIZES]

    c, k = CLASSES, LABELS
    found: dict[str, list[Batch]] = {
        "binary": pairs(scores, truths),
        "binary logits": pairs(logits, truths),
        "binary labels": pairs(truths, truths),
        "binary ignored": pairs(scores, lambda n: some(truths(n), -1)),
        "binary images": pairs(logits, truths, 3, 2),
        "binary, no positives": pairs(scores, lambda n: np.zeros(n, np.int64)),
        "binary, no negatives": pairs(scores, lambda n: np.ones(n, np.int64)),
        "classes": [(logits(n, c), classes(n)) for n in SIZES],
        "classes, ties": [(scores(n, c), classes(n)) for n in SIZES],
        "classes, labels": [(np.minimum(classes(n), 2), classes(n)) for n in SIZES],
        "classes ignored outside": [(logits(n, c), some(classes(n), -100)) for n in SIZES],
        "classes ignored": [(logits(n, c), some(classes(n), 1)) for n in SIZES],
        "class images": [(logits(n, c, 3, 2), classes(n, 3, 2)) for n in SIZES],
        "class images ignored": [(logits(n, c, 3, 2), some(classes(n, 3, 2), -1)) for n in SIZES],
        "labels": pairs(scores, truths, k),
        "labels, logits": pairs(logits, truths, k),
        "labels ignored": pairs(scores, lambda *s: some(truths(*s), -1), k),
        "label images": pairs(scores, truths, k, 3),
        "numbers": [(near(t), t) for t in (numbers(n) for n in SIZES)],
        "rows": [(near(t), t) for t in (numbers(n, 3) for n in SIZES)],
        "images": [(np.clip(near(t) / 9, 0, 1), t) for t in (scores(n, 2, 13, 14) for n in (3, 2))],
        "volumes": [(np.clip(near(t) / 9, 0, 1), t) for t in (scores(2, 1, 12, 13, 14),)],
        "masks": [(classes(n, 4, 5), classes(n, 4, 5)) for n in (3, 2)],
        "mixed masks": [(logits(n, c, 4, 5), classes(n, 4, 5)) for n in (3, 2)],
        "tokens": [(logits(n, 6, c), some(classes(n, 6), -100)) for n in (3, 2)],
        "values": [(scores(n),) for n in SIZES],
        "weighted values": [(scores(n), scores(n) + 0.1) for n in SIZES],
        "values with NaN": [(np.array([1, np.nan, 3], np.float32),), (scores(4),)],
    }
    texts = [
        ("the cat is on the mat", "a cat sat on the mat"),
        ("Hello there, general Kenobi", "hello general Kenobi"),
        ("what is this", "what was that, then"),
        ("the the the the", "the cat"),
        ("the quick brown fox jumps", "the quick brown fox jumps over"),
    ]
    found["texts"] = [
        ([p for p, _ in part], [t for _, t in part]) for part in (texts[:2], texts[2:])
    ]
    found["references"] = [
        ([p for p, _ in part], [[t, "the quick brown cat is on the mat"] for _, t in part])
        for part in (texts[:2], texts[2:])
    ]
    return found


DATA = _made()


class Case(NamedTuple):
    """A metric by its name, the name of what it compares, and its options."""

    metric: str
    data: str
    options: dict[str, Any]

    @property
    def name(self) -> str:
        listed = ", ".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.metric}({listed}) of {self.data}"


AVERAGES = ("micro", "macro", "weighted", None)
COUNTED = (
    *("Accuracy", "Precision", "Recall", "Specificity", "F1Score", "FBetaScore"),
    "HammingDistance",
)
_OF_CLASSES = {"task": "multiclass", "num_classes": CLASSES}
_OF_LABELS = {"task": "multilabel", "num_labels": LABELS}
_BINARY = {"task": "binary"}


def _cases() -> list[Case]:
    found: list[Case] = []

    def add(metric: str, data: str, **options: Any) -> None:
        found.append(Case(metric, data, options))

    for metric in (*COUNTED, "JaccardIndex"):
        more = {"beta": 0.5} if metric == "FBetaScore" else {}
        for data in ("binary", "binary logits", "binary labels", "binary images"):
            add(metric, data, **_BINARY, **more)
        add(metric, "binary", **_BINARY, threshold=0.3, **more)
        add(metric, "binary ignored", **_BINARY, ignore_index=-1, **more)
        few = metric in ("Recall", "FBetaScore", "HammingDistance")  # the others have their paths
        for average in ("macro", None) if few else AVERAGES:
            for data in ("classes", "classes, labels", "class images"):
                add(metric, data, **_OF_CLASSES, average=average, **more)
            for data in ("labels", "labels, logits", "label images"):
                add(metric, data, **_OF_LABELS, average=average, **more)
            for data, index in (
                ("classes ignored outside", -100), ("classes ignored", 1),
                ("class images ignored", -1),
            ):  # fmt: skip
                add(metric, data, **_OF_CLASSES, average=average, ignore_index=index, **more)
            add(metric, "labels ignored", **_OF_LABELS, average=average, ignore_index=-1, **more)
            if metric == "JaccardIndex":
                continue
            add(metric, "classes", **_OF_CLASSES, average=average, top_k=2, **more)
            samples = {"average": average, "multidim_average": "samplewise", **more}
            add(metric, "class images ignored", **_OF_CLASSES, ignore_index=-1, **samples)
            add(metric, "label images", **_OF_LABELS, **samples)
    add("Accuracy", "class images", **_OF_CLASSES, top_k=3)
    add("Accuracy", "classes ignored", **_OF_CLASSES, top_k=3, ignore_index=1)
    add("Accuracy", "binary images", **_BINARY, multidim_average="samplewise")
    add("F1Score", "binary, no positives", **_BINARY, threshold=1.0, zero_division=1.0)
    for normalize in (None, "true", "pred", "all"):
        add("ConfusionMatrix", "binary", **_BINARY, normalize=normalize)
        for data in ("classes", "class images"):
            add("ConfusionMatrix", data, **_OF_CLASSES, normalize=normalize)
        add("ConfusionMatrix", "labels", **_OF_LABELS, normalize=normalize)
    add("ConfusionMatrix", "classes ignored", **_OF_CLASSES, ignore_index=1)
    add("ConfusionMatrix", "labels ignored", **_OF_LABELS, ignore_index=-1)
    add("ConfusionMatrix", "binary ignored", **_BINARY, ignore_index=-1)
    for weights in (None, "linear", "quadratic"):
        add("CohenKappa", "binary", **_BINARY, weights=weights)
        for data in ("classes", "classes, labels"):
            add("CohenKappa", data, **_OF_CLASSES, weights=weights)
    for norm, bins in product(("l1", "l2", "max"), (15, 7)):
        for data in ("binary", "binary logits"):
            add("CalibrationError", data, **_BINARY, norm=norm, n_bins=bins)
        for data in ("classes", "class images"):
            add("CalibrationError", data, **_OF_CLASSES, norm=norm, n_bins=bins)
    add("CalibrationError", "classes ignored", **_OF_CLASSES, ignore_index=1)
    for metric, thresholds in product(("AUROC", "AveragePrecision"), (None, 5, [0.25, 0.5, 0.75])):
        for data in (
            "binary", "binary logits", "binary images", "binary, no positives",
            "binary, no negatives",
        ):  # fmt: skip
            add(metric, data, **_BINARY, thresholds=thresholds)
        add(metric, "binary ignored", **_BINARY, thresholds=thresholds, ignore_index=-1)
        for average in ("macro", "weighted", None):
            each: dict[str, Any] = {"average": average, "thresholds": thresholds}
            for data in ("classes", "classes, ties", "class images"):
                add(metric, data, **_OF_CLASSES, **each)
            add(metric, "classes ignored", **_OF_CLASSES, ignore_index=1, **each)
        for average in ("micro", "macro", "weighted", None):
            each = {"average": average, "thresholds": thresholds}
            for data in ("labels", "labels, logits", "label images"):
                add(metric, data, **_OF_LABELS, **each)
            add(metric, "labels ignored", **_OF_LABELS, ignore_index=-1, **each)
    for most in (0.1, 0.35, 1.0):
        add("AUROC", "binary", **_BINARY, max_fpr=most)
        add("AUROC", "binary logits", **_BINARY, max_fpr=most)
    for metric in ("MeanAbsoluteError", "MeanSquaredError", "MeanAbsolutePercentageError"):
        for data in ("numbers", "rows"):
            add(metric, data)
    add("MeanAbsoluteError", "rows", num_outputs=3)
    add("MeanSquaredError", "rows", num_outputs=3)
    add("MeanSquaredError", "numbers", squared=False)
    for kind, adjusted in product(("uniform_average", "variance_weighted", "raw_values"), (0, 4)):
        for data in ("numbers", "rows"):
            add("R2Score", data, multioutput=kind, adjusted=adjusted)
    for reduction in ("sum", "mean", None):
        add("CosineSimilarity", "rows", reduction=reduction)
    for wide in (1.0, (0.2, 0.7)):
        add("PeakSignalNoiseRatio", "images", data_range=wide)
        for reduction in ("elementwise_mean", "sum", None):
            add(
                "PeakSignalNoiseRatio", "images", data_range=wide, dim=(1, 2, 3), base=2.0,
                reduction=reduction,
            )  # fmt: skip
        for data in ("images", "volumes"):
            add("StructuralSimilarityIndexMeasure", data, data_range=wide)
    ssim = "StructuralSimilarityIndexMeasure"
    add(ssim, "images")
    add(ssim, "images", reduction=None)
    add(ssim, "images", reduction="sum", sigma=(0.8, 0.8), k1=0.02, k2=0.05)
    add(ssim, "images", gaussian_kernel=False, kernel_size=5)
    add(ssim, "images", data_range=1.0, return_full_image=True)
    add(ssim, "images", data_range=1.0, return_contrast_sensitivity=True)
    for average, level in product(AVERAGES, ("samplewise", "global")):
        for background, (data, form) in product(
            (True, False), (("masks", "index"), ("mixed masks", "mixed"))
        ):
            add(
                "DiceScore", data, num_classes=CLASSES, average=average, aggregation_level=level,
                include_background=background, input_format=form,
            )  # fmt: skip
    add("Perplexity", "tokens", ignore_index=-100)
    for metric in ("CharErrorRate", "WordErrorRate"):
        add(metric, "texts")
    for options in ({}, {"n_gram": 2, "smooth": True}, {"n_gram": 2, "weights": [0.3, 0.7]}):
        add("BLEUScore", "references", **options)
    keys = ("rouge1", "rouge2", "rougeL")
    for accumulate in ("best", "avg"):
        add("ROUGEScore", "references", accumulate=accumulate, rouge_keys=keys)
    add("ROUGEScore", "texts", rouge_keys="rougeL")
    for metric in ("MeanMetric", "SumMetric", "MaxMetric", "MinMetric"):
        add(metric, "values")
        add(metric, "values with NaN", nan_strategy="ignore")
        add(metric, "values with NaN", nan_strategy=2.5)
    add("MeanMetric", "weighted values")
    return found


CASES = {case.name: case for case in _cases()}


def results(value: Any) -> dict[str, Any]:
    """The tensors of a value, by what they are called in the records."""
    if isinstance(value, dict):
        return {f"/{key}": each for key, each in value.items()}
    if isinstance(value, tuple):
        return {f"/{at}": each for at, each in enumerate(value)}
    return {"": value}
