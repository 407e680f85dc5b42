"""The checks of official cases against the list: verdicts, list, page and runners."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from . import listed, report
from .cases import Case
from .outcomes import Outcome, judge
from .runners import ProcessRunner
from .worker import encode

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def case(name: str = "test_neg", *, wanted: object = None, op: str = "Neg") -> Case:
    """A case whose model negates X."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"])],
        name,
        [value("x", TensorProto.FLOAT, [2, 3])],
        [value("y", TensorProto.FLOAT, [2, 3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    runs = [({"x": X}, [-X if wanted is None else wanted])]
    return Case(name, op, model.SerializeToString(), runs, 1e-3, 1e-7, for_gpu=True)


def said(outputs: list[object], **other: object) -> dict[str, object]:
    """The worker's answer for a case that ran."""
    encoded = [[encode(value) for value in outputs]]
    ran = {"error": None, "refused": False, "outputs": encoded, "device": "numpy"}
    return {**ran, "dispatches": 0, "seconds": 0.0, **other}


def outcome(status: str, name: str = "test_neg", dispatches: int = 0) -> Outcome:
    """An outcome of a case with that name."""
    return Outcome(case(name), status, "" if status == "passed" else "why", dispatches, 0.0)


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        (X, X.copy()),
        (X, X * np.float32(1.0005)),
        ([X, X[0]], [X, X[0]]),
        (None, -X),
        (np.array(["a", "é"], object), np.array(["a", "é"])),
        (np.array([], np.int64), np.array([], np.int64)),
    ],
)
def test_right_answers_pass(wanted: object, got: object) -> None:
    assert judge(case(wanted=wanted), said([got]), "numpy").passed


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        (X, X * np.float32(1.01)),
        (X, X.astype(np.float64)),
        (X, X.reshape(3, 2)),
        (X, None),
        (X, [X]),
        ([X], X),
        ([X, X], [X]),
        ([X], [X, X]),
        (np.array(["a"], object), np.array(["b"])),
    ],
)
def test_wrong_answers_fail(wanted: object, got: object) -> None:
    verdict = judge(case(wanted=wanted), said([got]), "numpy")
    assert verdict.status == "failed"
    assert "wrong answer" in verdict.reason


def test_another_number_of_outputs_fails() -> None:
    assert judge(case(), said([-X, -X]), "numpy").status == "failed"
    assert judge(case(), said([]), "numpy").status == "failed"


def test_an_answer_of_another_device_fails() -> None:
    verdict = judge(case(), said([-X]), "webgpu")
    assert (verdict.status, verdict.reason) == ("failed", "it ran on numpy")


def test_the_list_is_held_to() -> None:
    entries = listed.read("# about\n\nnumpy test_a*  needs a\nall test_b  needs b\n")
    good = [outcome("refused", "test_a1"), outcome("failed", "test_b"), outcome("passed", "test_c")]
    assert listed.deviations(good, "numpy", entries) == []
    (passes,) = listed.deviations([outcome("passed", "test_a1")], "numpy", entries)
    assert passes == "test_a1 passes on numpy: take it out of not_passing.txt, line 3, 'test_a*'"
    (fails,) = listed.deviations([outcome("refused", "test_a1")], "webgpu", entries)
    assert "'webgpu test_a1 REASON'" in fails
    assert listed.idle([case("test_a1")], entries) == [
        "not_passing.txt, line 4: there is no case 'test_b'; take the line out"
    ]


def test_what_the_machine_decides_counts_as_failed() -> None:
    entries = listed.read("webgpu? test_a  rounds\n")
    for status in ("passed", "failed"):
        some = [outcome(status, "test_a", dispatches=1), outcome("passed", "test_b", dispatches=1)]
        settled = listed.settled(some, "webgpu", entries)
        assert report.Counts.of(settled) == report.Counts(1, 1, 0, 1)
        assert listed.deviations(settled, "webgpu", entries) == []
        assert listed.text(listed.updated(settled, "webgpu", entries)) == listed.text(entries)
        assert listed.settled(some, "numpy", entries) == some
    assert listed.text(entries).endswith("\nwebgpu? test_a  rounds\n")


@pytest.mark.parametrize("line", ["numpy test_a", "gpu test_a  why", "? test_a  why"])
def test_lines_that_are_no_entries(line: str) -> None:
    with pytest.raises(ValueError, match="line 1"):
        listed.read(line)


def test_the_list_is_updated() -> None:
    entries = listed.read("all test_a*  needs a\nnumpy test_b  needs b\n")
    now = [outcome("passed", "test_a1"), outcome("failed", "test_a2"), outcome("passed", "test_b")]
    now.append(outcome("refused", "test_c"))
    after = listed.updated(now, "numpy", entries)
    assert [str(entry) for entry in after] == [
        "webgpu test_a*  needs a",
        "numpy  test_a2  needs a",
        "numpy  test_c  why",
    ]
    assert listed.deviations(now, "numpy", listed.read(listed.text(after))) == []


def test_the_page_is_read_as_it_was_written() -> None:
    assert judge(case(), said([-X], dispatches=3), "numpy").dispatches == 0
    assert judge(case(), said([-X], dispatches=3, device="webgpu"), "webgpu").dispatches == 3
    numpy = report.count([outcome("passed"), outcome("failed"), outcome("refused")], "numpy")
    webgpu = report.count([outcome("passed", dispatches=2), outcome("passed")], "webgpu")
    assert numpy["numpy", "Neg"] == report.Counts(1, 1, 1, 0)
    assert webgpu["webgpu", "Neg"] == report.Counts(2, 0, 0, 1)
    rows = numpy | webgpu
    assert report.parse(report.page(rows)) == rows


@pytest.mark.parametrize(
    ("counted", "others", "right"),
    [
        ((5, 1, 1, 3), 0, True),
        ((4, 1, 1, 3), 1, True),
        ((4, 1, 1, 2), 1, True),
        ((5, 0, 1, 3), 1, True),
        ((5, 1, 1, 3), 1, False),
        ((4, 1, 1, 3), 0, False),
        ((4, 2, 1, 3), 0, False),
        ((5, 1, 0, 4), 1, False),
        ((5, 1, 0, 2), 1, False),
        ((2, 1, 1, 0), 3, False),
    ],
)
def test_what_was_counted_fits_the_page(counted: tuple, others: int, right: bool) -> None:
    assert report.Counts(5, 1, 1, 3).leaves(others, report.Counts(*counted)) is right


_FICKLE = """
import json, os, sys, threading
for line in sys.stdin:
    for case in json.load(open(line.strip())):
        if case["id"] == "test_ends":
            os._exit(1)
        if case["id"] == "test_hangs":
            threading.Event().wait()
        said = {"id": case["id"], "error": "so", "refused": True, "seconds": 0}
        print(json.dumps(said), flush=True)
"""


@pytest.mark.parametrize(
    ("name", "reason"),
    [("test_ends", "it ended the process"), ("test_hangs", "no answer for 5 seconds")],
)
def test_a_case_that_is_not_survived_has_failed_alone(
    name: str, reason: str, tmp_path: Path
) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(_FICKLE, "utf-8")
    runner = ProcessRunner("numpy", worker, patience=5)
    outcomes = runner.run([case("test_first"), case(name), case("test_last")])
    runner.close()
    assert [o.status for o in outcomes] == ["refused", "failed", "refused"]
    assert outcomes[1].reason == reason


def test_what_tallow_lacks_is_refused() -> None:
    runner = ProcessRunner("numpy")
    (verdict,) = runner.run([case(op="NoSuchOperator")])
    runner.close()
    assert verdict.status == "refused"
    assert "NoSuchOperator" in verdict.reason


def test_ids_tell_the_set() -> None:
    assert case("test_x").set == "node"
    assert dataclasses.replace(case(), id="light/test_x").set == "light"
