"""The cases of every operator on WebGPU: all of them on the desktop's, and in Chromium, which takes
ten times as long, one of each operator that has no official case with a kernel there: those of the
others run in tests/onnx/conformance. Every test asserts that WebGPU ran it.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tallow as tl

from ..case import Case, assert_agrees, expected, model_of
from ..cases import CASES
from ..conformance import report
from ..conformance.cases import group_of

HERE = Path(__file__).parent

BY_OPERATOR: dict[str, dict[str, Case]] = {}
for _number, _case in enumerate(CASES):
    BY_OPERATOR.setdefault(_case.op, {})[str(_number)] = _case

# Known when the model is loaded, or the same bytes in another shape: nothing remains to compute.
FREE = {
    "BlackmanWindow", "Constant", "ConstantOfShape", "Dropout", "EyeLike", "Flatten",
    "HammingWindow", "HannWindow", "Identity", "MelWeightMatrix", "NonZero", "Range", "Reshape",
    "Shape", "Size", "Squeeze", "Unsqueeze",
}  # fmt: skip


ROWS = report.parse(report.PAGE.read_text("utf-8"))


def has_official_kernel(op: str) -> bool:
    """Whether an official case of the operator runs a kernel in Chromium, as the page says."""
    domain = next(iter(BY_OPERATOR[op].values())).domain
    row = ROWS.get(("webgpu", group_of(domain, op)))
    return row is not None and row.native > 0


# The first case of each.
IN_CHROMIUM = {
    op: dict(list(cases.items())[:1])
    for op, cases in sorted(BY_OPERATOR.items())
    if not has_official_kernel(op)
}


def codes(array: np.ndarray) -> np.ndarray:
    """The array without ml_dtypes: types that NumPy lacks become codes."""
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.isbuiltin == 2 else array


def newest_model(case: Case) -> onnx.ModelProto:
    """The case as a model, in the newest operator set that all oracles know."""
    return model_of(case, max([v for v in case.versions if v <= 23], default=case.versions[0]))


def tolerance(case: Case) -> tuple[float, float]:
    """rtol and atol for a GPU."""
    return max(case.rtol, 1e-3), max(case.atol, 1e-4)


@pytest.mark.parametrize("op", sorted(BY_OPERATOR))
def test_operator_agrees_on_the_desktop(op: str, native: str) -> None:
    dispatches = 0
    for case in BY_OPERATOR[op].values():
        model = newest_model(case)
        shapes = {name: array.shape for name, array in case.feeds.items()}
        loaded = tl.onnx.load(model.SerializeToString())
        with loaded.session("webgpu", shapes) as session:
            got = session.run(case.feeds)
            assert (session.device, session.adapter) == ("webgpu", native)
            assert session.stats["runs"] == 1 or not session.stats["dispatches"]  # all was known
            dispatches += session.stats["dispatches"]
        rtol, atol = tolerance(case)
        loose = replace(case, rtol=rtol, atol=atol)
        assert_agrees(loose, list(got.values()), expected(case, model))
    assert op in FREE or dispatches


@pytest.fixture(scope="module")
def python(browser_python: Callable[[str], Any]) -> Any:
    """The browser's Python on WebGPU, with the cases in its current folder."""
    arrays: dict[str, np.ndarray] = {}
    for cases in IN_CHROMIUM.values():
        for name, case in cases.items():
            model = newest_model(case)
            arrays[f"{name}/model"] = np.frombuffer(model.SerializeToString(), np.uint8)
            arrays[f"{name}/tolerance"] = np.array(tolerance(case))
            arrays |= {f"{name}/feed/{key}": codes(array) for key, array in case.feeds.items()}
            wanted = expected(case, model)
            arrays |= {f"{name}/want/y{i}": codes(array) for i, array in enumerate(wanted)}
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    python = browser_python("webgpu")
    python.write("cases.npz", packed.getvalue())
    python.write("in_browser.py", (HERE / "in_browser.py").read_bytes())
    python.run("import sys; sys.path.insert(0, '.'); import in_browser")
    python.run("archive = in_browser.Archive('cases.npz')")
    return python


@pytest.mark.parametrize("op", IN_CHROMIUM)
def test_operator_agrees_in_chromium(op: str, python: Any) -> None:
    cases = IN_CHROMIUM[op]
    outcomes = python.run(f"await archive.run_all({list(cases)}, 'webgpu')")
    named = zip(cases.values(), outcomes, strict=True)
    wrong = [f"{case.id}: {outcome['wrong']}" for case, outcome in named if outcome["wrong"]]
    assert not wrong, "\n".join(wrong)
    for outcome in outcomes:
        assert outcome["device"] == "webgpu"
        assert outcome["adapter"]
        assert outcome["runs"] == 1 or not outcome["dispatches"]  # all of it was known
    assert op in FREE or any(outcome["dispatches"] for outcome in outcomes)
