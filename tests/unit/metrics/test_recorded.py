"""Each metric, beside what torchmetrics and scikit-learn gave for the same batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import metrics

from .cases import CASES, DATA, Case, results
from .record import recorded

RECORDED = recorded()


def given(batch: tuple[Any, ...]) -> list[Any]:
    """A batch as Tallow takes it."""
    return [tl.asarray(each) if isinstance(each, np.ndarray) else each for each in batch]


def made(case: Case) -> Any:
    return getattr(metrics, case.metric)(**case.options)


def near(name: str, value: Any) -> None:
    """Compares a value with what was recorded."""
    found = results(value)
    assert {name + key for key in found} == {
        key for key in RECORDED if key.partition("/")[0] == name
    }
    for key, each in found.items():
        expected = RECORDED[name + key]
        assert tuple(each.shape) == expected.shape
        rough = "Similarity" in name  # variances in float32, which are nearly 0 in even images
        np.testing.assert_allclose(each.numpy(), expected, rtol=2e-5, atol=3e-5 if rough else 3e-6)


@pytest.mark.parametrize("name", CASES)
def test_as_torchmetrics(name: str) -> None:
    metric = made(CASES[name])
    for batch in DATA[CASES[name].data]:
        metric.update(*given(batch))
    near(name, metric.compute())


def joined(name: str) -> list[tl.Tensor]:
    return [tl.asarray(np.concatenate(each)) for each in zip(*DATA[name], strict=True)]


OF_CLASSES = {"task": "multiclass", "num_classes": 5}
FUNCTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "accuracy": ("accuracy", "classes, labels", OF_CLASSES),
    "f1": ("f1_score", "classes, labels", {**OF_CLASSES, "average": "macro"}),
    "precision": ("precision", "classes, labels", {**OF_CLASSES, "average": "weighted"}),
    "kappa": ("cohen_kappa", "classes, labels", OF_CLASSES),
    "quadratic kappa": ("cohen_kappa", "classes, labels", {**OF_CLASSES, "weights": "quadratic"}),
    "confusion matrix": ("confusion_matrix", "classes, labels", OF_CLASSES),
    "jaccard": ("jaccard_index", "classes, labels", OF_CLASSES),
    "auroc": ("auroc", "binary", {"task": "binary"}),
    "auroc to 0.2": ("auroc", "binary", {"task": "binary", "max_fpr": 0.2}),
    "average precision": ("average_precision", "binary", {"task": "binary"}),
    "auroc of labels": (
        "auroc", "labels", {"task": "multilabel", "num_labels": 4, "average": None},
    ),
    "r2": ("r2_score", "numbers", {}),
    "mse": ("mean_squared_error", "numbers", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_as_scikit_learn(name: str) -> None:
    function, data, options = FUNCTIONS[name]
    value = getattr(metrics.functional, function)(*joined(data), **options)
    near(f"scikit-learn {name}", value)


def test_every_recorded_value_is_compared() -> None:
    known = {*CASES, *(f"scikit-learn {name}" for name in FUNCTIONS)}
    assert {name.partition("/")[0] for name in RECORDED} == known
