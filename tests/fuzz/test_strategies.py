"""The strategies and the judgement: no operator is forgotten, and no wrong answer passes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tallow.formats.onnx import registry

from ..onnx.conformance.worker import encode
from . import __main__ as command
from . import findings
from .case import Case, Graph, Kind, Node
from .coding import read, written
from .judgement import Verdict, judge
from .search import drawn, key
from .strategies import FAMILIES, cases

LEFT_OUT = {
    "Bernoulli": "random", "Multinomial": "random", "RandomNormal": "random",
    "RandomNormalLike": "random", "RandomUniform": "random", "RandomUniformLike": "random",
    "ImageDecoder": "pictures: the tests of files have it",
    "Scatter": "the older name of ScatterElements, whose function it is",
    "ai.onnx.preview.training.Gradient": "tests/onnx/run/test_gradient.py compares derivatives",
    "ai.onnx.ml.ZipMap": "maps: tests/onnx/operators/test_trees.py compares them",
    "ai.onnx.ml.TreeEnsemble": "the same trees as TreeEnsembleRegressor's, in other lists",
    **{f"com.microsoft.{name}": "tests/onnx/operators/test_quantized.py compares it" for name in (
        "QuantizeLinear", "DequantizeLinear", "QLinearConv", "QLinearConcat", "QLinearWhere",
        "QLinearSoftmax", "QLinearReduceMean", "QLinearAveragePool", "QLinearGlobalAveragePool",
        "QGemm", "QAttention", "Attention", "EmbedLayerNormalization", "QEmbedLayerNormalization",
    )},
}  # fmt: skip
"""Operators that no strategy draws, and why."""


def _registered() -> set[str]:
    tables = (registry.operators(), registry.host_operators(), registry.control_operators())
    return {f"{domain}.{name}" if domain else name for table in tables for domain, name in table}


def test_every_operator_has_a_strategy() -> None:
    covered = {name for table in FAMILIES.values() for name in table}
    assert _registered() - covered - set(LEFT_OUT) == set(), "write a strategy, or say why not"
    assert covered & set(LEFT_OUT) == set()
    assert set(LEFT_OUT) - _registered() == set()
    others = {name for name in covered - _registered() if ":" not in name}
    assert others == set(), "Tallow has no such operators"


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_number_draws_the_same_cases(family: str) -> None:
    strategy = cases(family, list(FAMILIES[family]))
    first, second = (list(map(key, drawn(strategy, 3, 5))) for _ in range(2))
    assert first == second
    assert list(map(key, drawn(strategy, 4, 5))) != first


@pytest.mark.parametrize("family", FAMILIES)
def test_a_case_is_read_as_it_was_written(family: str) -> None:
    for case in drawn(cases(family, list(FAMILIES[family])), 5, 5):
        again = read(json.loads(json.dumps(written(case))))
        assert key(again) == key(case)
        assert again.encoded() == case.encoded()


X = np.array([1.5, -2, 0], np.float32)
CASE = Case(
    "elementwise", "Neg",
    Graph([Node("Neg", ("x",), ("y",))], {"x": Kind("float32", (3,))}, ["y"]),
    {"x": X}, {"": 21},
)  # fmt: skip


def said(value: Any, error: str | None = None) -> dict[str, Any]:
    """A worker's answer."""
    return {"error": error, "outputs": [[encode(value)]]}


def answer(value: Any) -> dict[str, Any]:
    """An oracle's answer."""
    return {"outputs": [encode(value)]}


WRONG, NONE = X + 1, {"error": "it has no such operator"}


@pytest.mark.parametrize(
    ("mine", "runtime", "reference", "status", "kind"),
    [
        (said(X), answer(X), answer(X), "agreed", ""),
        (said(X), answer(X), NONE, "agreed", ""),
        (said(X), answer(WRONG), answer(X), "agreed", ""),
        (said(X), answer(X * np.float32(1 + 1e-6)), NONE, "agreed", ""),
        (said(X), answer(X * np.float32(1 + 1e-4)), NONE, "finding", "values"),
        (said(WRONG), answer(X), answer(X), "finding", "values"),
        (said(WRONG), answer(X), NONE, "finding", "values"),
        (said(WRONG), NONE, answer(X), "finding", "values"),
        (said(X * np.nan), answer(X), NONE, "finding", "values"),
        (said(X[:2]), answer(X), NONE, "finding", "shape"),
        (said(X.astype(float)), answer(X), NONE, "finding", "type"),
        (said([X]), answer(X), NONE, "finding", "type"),
        (said(X - 1), answer(X), answer(WRONG), "disputed", "values"),
        (said(X), NONE, NONE, "unjudged", ""),
        (said(X), {"error": "Fail: indices element out of data bounds"}, NONE, "finding", "range"),
        (said(X, "OnnxUnsupportedError: no"), answer(X), NONE, "refused", "answered"),
        (said(X, "FeedError: no"), NONE, NONE, "refused", ""),
        (said(X, "IndexError: 3"), answer(X), NONE, "finding", "IndexError"),
        (said(X, "IndexError: 3"), NONE, NONE, "finding", "IndexError"),
        ({"ended": "it ended the process"}, answer(X), NONE, "finding", "ended"),
    ],
)
def test_verdicts(mine: Any, runtime: Any, reference: Any, status: str, kind: str) -> None:
    verdict = judge(CASE, mine, {"onnxruntime": runtime, "reference": reference})
    assert (verdict.status, verdict.kind) == (status, kind)


@pytest.mark.parametrize(
    ("words", "runtime", "status", "kind"),
    [
        ("the input 'v0' holds the index 7, which is out of range for axis 0 of 3 elements", NONE,
         "refused", ""),
        ("the input 'v0' holds the index 7, which is out of range for an axis of 3 elements", NONE,
         "finding", "words"),
        ("index 7 is out of bounds for axis 0", NONE, "finding", "words"),
        ("the input 'v0' holds the index 2, which is out of range for axis 0 of 3 elements",
         answer(X), "finding", "range"),
    ],
)  # fmt: skip
def test_what_is_said_of_an_index_that_is_fed(words, runtime, status, kind) -> None:
    case = replace(CASE, family="fed_indices")
    verdict = judge(case, said(X, f"IndexRangeError: {words}"), {"onnxruntime": runtime})
    assert (verdict.status, verdict.kind) == (status, kind)


def test_exact_answers_are_exact() -> None:
    near = said(X * np.float32(1 + 1e-6))
    assert judge(replace(CASE, slack=0), near, {"onnxruntime": answer(X)}).status == "finding"
    whole = np.array([3, 200], np.uint8)
    off = said(whole + np.uint8(1))
    assert judge(CASE, off, {"onnxruntime": answer(whole)}).status == "finding"
    assert judge(replace(CASE, steps=1), off, {"onnxruntime": answer(whole)}).status == "agreed"


def test_what_was_found_is_a_file_that_is_the_case(tmp_path: Path) -> None:
    path = findings.write(Verdict(CASE, "finding", "values", "wrong"), "numpy", tmp_path)
    assert key(findings.load(path)) == key(CASE)
    assert path.name.startswith("neg-values-")


def test_operators_and_families_are_chosen_by_name() -> None:
    assert command.chosen("Reduce*") == {
        "reductions": [name for name in FAMILIES["reductions"] if name.startswith("Reduce")]
    }
    assert command.chosen("texts") == {"texts": list(FAMILIES["texts"])}
    assert command.main(["--only", "NoSuchOperator"]) == 2
