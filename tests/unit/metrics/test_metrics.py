"""Metrics in compiled functions, in a learner, by name, together, and of bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import metrics, nn, optim
from tallow.errors import DTypeError, NonFiniteError, OptionError, ShapeError
from tallow.metrics import functional
from tallow.metrics.named import resolve
from tallow.train import Learner
from tallow_build.paths import ROOT

from .cases import CASES, DATA
from .test_recorded import given, made, near

_FIRST = {
    (case.metric, case.options.get("task"), case.data == "rows"): name
    for name, case in reversed(CASES.items())
    if case.data not in ("texts", "references") and not made(case).collects
}
COMPILED = list(_FIRST.values())
"""The first case of each metric and task."""


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("device", ["numpy", "wasm"], indirect=True)
def test_the_same_in_a_compiled_function(name: str, device: str) -> None:
    metric = made(CASES[name])

    @tl.jit
    def step(*batch: tl.Tensor) -> None:
        metric.update(*batch)

    for batch in DATA[CASES[name].data] * 2:  # the first round is traced, the second replayed
        step(*given(batch))
    metric.reset()
    for batch in DATA[CASES[name].data]:
        step(*given(batch))
    near(name, metric.compute())


@pytest.mark.parametrize("metric", ["AUROC", "AveragePrecision"])
def test_curves_sort_on_the_device(metric: str, device: str) -> None:
    name = next(n for n, c in CASES.items() if (c.metric, c.data) == (metric, "classes, ties"))
    one = made(CASES[name])
    for batch in DATA["classes, ties"]:
        one.update(*given(batch))
    near(name, one.compute())


def test_the_value_of_a_batch_and_of_all() -> None:
    metric = metrics.Accuracy("binary")
    right, wrong = tl.asarray([1, 0]), tl.asarray([0, 1])
    assert metric(right, right).item() == 1
    assert metric(right, wrong).item() == 0
    assert metric.compute().item() == 0.5
    metric.reset()
    assert metric(right, wrong).item() == 0


def test_classes_of_one_task() -> None:
    preds, target = given(DATA["classes"][0])
    found = metrics.MulticlassAccuracy(5)(preds, target)
    assert found.item() == functional.accuracy(
        preds, target, "multiclass", num_classes=5, average="macro"
    ).item()  # fmt: skip
    assert isinstance(metrics.BinaryF1Score(threshold=0.3), metrics.F1Score)
    with pytest.raises(TypeError, match="give options by name"):
        metrics.MulticlassAccuracy(5, 2)


def test_r2_of_targets_far_from_zero() -> None:
    rng = np.random.default_rng(0)
    target = rng.normal(size=600) + 5000
    preds = target + 0.3 * rng.normal(size=600)
    metric = metrics.R2Score()
    for part in range(0, 600, 200):
        metric.update(
            *(tl.asarray(x[part : part + 200].astype(np.float32)) for x in (preds, target))
        )
    expected = 1 - ((target - preds) ** 2).sum() / ((target - target.mean()) ** 2).sum()
    assert metric.compute().item() == pytest.approx(expected, abs=2e-3)
    assert np.isnan(functional.r2_score(tl.asarray([1.0]), tl.asarray([2.0])).item())


def test_functions_have_gradients() -> None:
    preds = tl.asarray([1.0, 3.0], requires_grad=True)
    functional.mean_squared_error(preds, tl.asarray([0.0, 1.0])).backward()
    assert preds.grad is not None
    assert preds.grad.tolist() == [1, 2]


# ---- intervals ---------------------------------------------------------------------------------


def test_intervals() -> None:
    # Wilson's interval of 81 of 263, in Newcombe 1998, "Two-sided confidence intervals for the
    # single proportion", table I.
    lower, upper = functional.wilson_interval(81, 263)
    assert (round(lower.item(), 4), round(upper.item(), 4)) == (0.2553, 0.3662)
    lower, upper = functional.wilson_interval(0, 20)
    assert (round(lower.item(), 4), round(upper.item(), 4)) == (0.0, 0.1611)
    # The standard error of Hanley and McNeil 1982 for the area 0.8 of 50 and 50 is 0.0446.
    interval = functional.auroc_interval(0.8, 50, 50, level=0.6826895)
    assert interval.upper.item() - 0.8 == pytest.approx(0.0446, abs=3e-4)
    assert interval.lower.item() + interval.upper.item() == pytest.approx(1.6)
    assert functional.wilson_interval(0, 0).upper.item() == 1
    with pytest.raises(OptionError, match="level=95 is outside"):
        functional.auroc_interval(0.8, 50, 50, level=95)


# ---- collections -------------------------------------------------------------------------------


def test_a_collection() -> None:
    both = metrics.MetricCollection(
        [metrics.Accuracy("binary"), metrics.AUROC("binary")], prefix="valid_"
    )
    assert both.collects
    batches = [given(batch) for batch in DATA["binary"]]
    for batch in batches:
        both.update(*batch)
    found = both.compute()
    assert list(found) == both.keys() == ["valid_Accuracy", "valid_AUROC"]
    assert both.values() == [both["valid_Accuracy"], both["valid_AUROC"]]
    alone = metrics.AUROC("binary")
    for batch in batches:
        alone.update(*batch)
    assert found["valid_AUROC"].item() == alone.compute().item()
    both.reset()
    assert both(*batches[0])["valid_Accuracy"].item() == metrics.Accuracy("binary")(*batches[0])
    nested = metrics.MetricCollection({"other": metrics.Recall("binary")}, both)
    assert list(nested) == ["other", "Accuracy", "AUROC"]
    with pytest.raises(OptionError, match="two metrics are named 'Accuracy'"):
        metrics.MetricCollection(metrics.Accuracy("binary"), metrics.Accuracy("binary"))


# ---- names -------------------------------------------------------------------------------------

SHAPES: list[tuple[str, tuple[int, ...], tuple[int, ...], type, Callable[[Any], bool]]] = [
    ("accuracy", (8, 5), (8,), int, lambda m: m.task == "multiclass" and m.average == "micro"),
    ("f1", (8, 5), (8,), int, lambda m: m.count == 5 and m.average == "macro"),
    ("top5", (8, 7), (8,), int, lambda m: m.top_k == 5),
    ("iou", (8, 3, 4, 4), (8, 4, 4), int, lambda m: m.task == "multiclass" and m.count == 3),
    ("dice", (8, 1, 4, 4), (8, 1, 4, 4), float, lambda m: m.task == "binary"),
    ("recall", (8,), (8,), int, lambda m: m.task == "binary"),
    ("auroc", (8,), (8,), float, lambda m: m.task == "binary" and m.collects),
    ("hamming", (8, 3), (8, 3), int, lambda m: m.task == "multilabel" and m.count == 3),
    ("rmse", (8, 2), (8, 2), float, lambda m: not m.squared),
    ("perplexity", (2, 3, 4), (2, 3), int, lambda m: isinstance(m, metrics.Perplexity)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "preds", "target", "kind", "fits"), SHAPES)
def test_names_tell_the_task(name: str, preds: Any, target: Any, kind: type, fits: Any) -> None:
    targets = tl.zeros(target, dtype="int32" if kind is int else "float32")
    metric = resolve(name, tl.full(preds, 0.5), targets)
    assert fits(metric)
    metric.update(tl.full(preds, 0.5), targets)
    assert metric.compute().shape == ()


def test_names_that_do_not_fit() -> None:
    with pytest.raises(OptionError, match="no metric 'acc'; the names are accuracy, auroc, "):
        Learner(
            nn.Linear(1, 1), optim.SGD([nn.Parameter(tl.zeros(1))], 1.0), lambda p, t: p, ["acc"]
        )
    with pytest.raises(ShapeError, match=r"preds \(4, 1\) and target \(4,\) are neither"):
        resolve("f1", tl.zeros((4, 1)), tl.zeros(4, dtype="int32"))
    with pytest.raises(OptionError, match="do not tell how many classes"):
        resolve("f1", tl.zeros(4, dtype="int32"), tl.zeros(4, dtype="int32"))
    with pytest.raises(OptionError, match="'multilabel' is not one of 'binary', 'multiclass'"):
        resolve("kappa", tl.zeros((4, 3)), tl.zeros((4, 3), dtype="int32"))
    with pytest.raises(OptionError, match="top_k=5 of 3 classes"):
        resolve("top5", tl.zeros((4, 3)), tl.zeros(4, dtype="int32"))


class Recorded(nn.Module):
    """Gives the predictions that are its input."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(tl.ones(1))

    def forward(self, x: tl.Tensor) -> tl.Tensor:
        return x * self.scale


@pytest.mark.parametrize("device", ["numpy", "wasm"], indirect=True)
def test_a_learner_with_names(device: str) -> None:
    model = Recorded()
    learner = Learner(
        model, optim.SGD(model.parameters(), 0.0), nn.functional.cross_entropy,
        ["f1", "auroc", metrics.CohenKappa("multiclass", num_classes=5), "accuracy"],
        progress=False,
    )  # fmt: skip
    batches = [tuple(given(batch)) for batch in DATA["classes"]]
    for _ in range(2):  # the second time the task is known, and the step compiled
        found = learner.evaluate(batches)
        assert list(found) == ["loss", "f1", "auroc", "cohen_kappa", "accuracy"]
        options: dict[str, Any] = {"task": "multiclass", "num_classes": 5}
        preds, target = (tl.concat(each) for each in zip(*batches, strict=True))
        expected = {
            "f1": functional.f1_score(preds, target, average="macro", **options),
            "auroc": functional.auroc(preds, target, **options),
            "cohen_kappa": functional.cohen_kappa(preds, target, **options),
            "accuracy": functional.accuracy(preds, target, **options),
        }
        for name, value in expected.items():
            assert found[name] == pytest.approx(value.item(), abs=1e-5)
    history = learner.fit(batches, batches, epochs=1)
    assert history[0]["valid_f1"] == pytest.approx(expected["f1"].item(), abs=1e-5)
    assert learner.better("valid_f1") == "max"


def test_names_of_objects_in_a_learner() -> None:
    model = Recorded()
    optimizer = optim.SGD(model.parameters(), 0.0)
    objects = [metrics.AUROC("binary"), metrics.R2Score(), metrics.MeanSquaredError()]
    learner = Learner(model, optimizer, nn.functional.mse_loss, objects)
    assert list(learner.metrics) == ["auroc", "r2_score", "mean_squared_error"]
    with pytest.raises(OptionError, match="two metrics are named 'mae'"):
        Learner(model, optimizer, nn.functional.mse_loss, ["mae", "mae"])
    both = metrics.MetricCollection({"a": metrics.R2Score(), "b": metrics.SumMetric()})
    assert list(Learner(model, optimizer, nn.functional.mse_loss, both).metrics) == ["a", "b"]


# ---- bad input ---------------------------------------------------------------------------------

BAD: list[tuple[Any, Any, Any, type[Exception], str]] = [
    (metrics.Accuracy("binary"), [0.5], [2], OptionError,
     "Accuracy: target has labels from 2 to 2; task='binary' allows 0 to 1"),
    (metrics.Accuracy("binary"), [0.5, 0.2], [1.0, 0.5], OptionError, "target has a fraction"),
    (metrics.F1Score("multiclass", num_classes=3), [0, 3], [0, 1], OptionError,
     "F1Score: preds has labels from 0 to 3; task='multiclass' allows 0 to 2"),
    (metrics.F1Score("multiclass", num_classes=3, ignore_index=-1), [0, 1], [-1, -2], OptionError,
     "target has labels from -2 to 0; .* or ignore_index=-1"),
    (metrics.F1Score("multiclass", num_classes=3), [[0.1, 0.2]], [0], ShapeError,
     r"F1Score: preds \(1, 2\) do not have num_classes=3 along their second axis"),
    (metrics.AUROC("multilabel", num_labels=3), [[0.1, 0.2]], [[0, 1]], ShapeError, "num_labels=3"),
    (metrics.Recall("binary"), [0.1, 0.2], [1], ShapeError,
     r"preds \(2,\) and target \(1,\) do not fit"),
    (metrics.Recall("multiclass", num_classes=3), [0.1, 0.2], [1, 0], DTypeError, "float32"),
    (metrics.AUROC("binary"), [1, 0], [1, 0], DTypeError, "AUROC: preds are int32, not scores"),
    (metrics.CalibrationError("binary"), [1], [1], DTypeError, "not scores"),
    (metrics.MeanSquaredError(), [1.0], [1.0, 2.0], ShapeError, "have different shapes"),
    (metrics.R2Score(), [[[1.0]]], [[[1.0]]], ShapeError, r"\(N,\) or \(N, outputs\)"),
    (metrics.CosineSimilarity(), [1.0], [1.0], ShapeError, r"not \(N, D\)"),
    (metrics.DiceScore(3), [[[1.0]]], [[[1.0]]], ShapeError, "num_classes=3"),
    (metrics.Perplexity(), [[1.0]], [1], ShapeError, r"not \(N, S, V\) and \(N, S\)"),
    (metrics.StructuralSimilarityIndexMeasure(), [1.0], [1.0], ShapeError, r"\(N, C, H, W\)"),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "preds", "target", "error", "says"), BAD)
def test_bad_batches(metric: Any, preds: Any, target: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        metric.update(tl.asarray(preds), tl.asarray(target))


OPTIONS: list[tuple[Callable[[], Any], str]] = [
    (lambda: metrics.Accuracy("classes"), "task='classes' is not one of 'binary', "),
    (lambda: metrics.Accuracy("multiclass"), "task='multiclass' needs num_classes of 2 or more"),
    (lambda: metrics.Accuracy("multilabel", num_labels=1), "needs num_labels of 2 or more, not 1"),
    (lambda: metrics.Accuracy("binary", threshold=2), "threshold=2 is outside"),
    (lambda: metrics.Accuracy("binary", average="mean"), "average='mean' is not one of"),
    (lambda: metrics.FBetaScore("binary", beta=0), "beta=0 is not above 0"),
    (lambda: metrics.AUROC("multiclass", num_classes=3, average="micro"), "average='micro'"),
    (lambda: metrics.AUROC("multiclass", num_classes=3, max_fpr=0.5), "max_fpr=0.5"),
    (lambda: metrics.AUROC("binary", thresholds=1), "thresholds=1 is below 2"),
    (lambda: metrics.ConfusionMatrix("binary", normalize="rows"), "normalize='rows'"),
    (lambda: metrics.R2Score(adjusted=-1), "adjusted=-1"),
    (lambda: metrics.MeanAbsoluteError(0), "num_outputs=0"),
    (lambda: metrics.BLEUScore(2, weights=[1.0]), "1 weights for n_gram=2"),
    (lambda: metrics.ROUGEScore(rouge_keys="rougeLsum"), "'rougeLsum' is not one of"),
    (lambda: metrics.ROUGEScore(use_stemmer=True), "use_stemmer"),
    (lambda: metrics.MeanMetric("skip"), "nan_strategy='skip'"),
    (lambda: metrics.CalibrationError("binary", n_bins=0), "n_bins=0"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "says"), OPTIONS)
def test_bad_options(make: Callable[[], Any], says: str) -> None:
    with pytest.raises(OptionError, match=says):
        make()


def test_no_batch() -> None:
    metric = metrics.Accuracy("binary")
    with pytest.raises(OptionError, match=r"Accuracy.compute\(\): update\(\) was given no batch"):
        metric.compute()
    metric.update(tl.asarray([1]), tl.asarray([1]))
    metric.reset()
    with pytest.raises(OptionError, match="was given no batch"):
        metric.compute()
    with pytest.raises(OptionError, match="was given no batch"):
        metrics.AUROC("binary").compute()


def test_nothing_is_checked_without_validate_args() -> None:
    metric = metrics.Accuracy("multiclass", num_classes=3, validate_args=False)
    metric.update(tl.asarray([0, 7]), tl.asarray([0, 7]))
    assert metric.compute().item() == 1


def test_texts_that_do_not_fit() -> None:
    with pytest.raises(ShapeError, match="WordErrorRate: 1 predictions of 2 targets"):
        metrics.WordErrorRate().update("a", ["a", "b"])


def test_nan_of_a_value() -> None:
    with pytest.raises(NonFiniteError, match="MaxMetric: a value is NaN"):
        metrics.MaxMetric("error").update(float("nan"))
    metric = metrics.SumMetric("disable")
    metric.update(float("nan"))
    assert np.isnan(metric.compute().item())


def test_the_page_lists_every_metric() -> None:
    text = (ROOT / "docs" / "training" / "metrics.md").read_text("utf-8")
    table = text.partition("## All metrics")[2]
    tasks = ("Binary", "Multiclass", "Multilabel")
    for name in metrics.__all__:
        if name not in ("Metric", "functional") and not name.startswith(tasks):
            assert f"`{name}`" in table, name
