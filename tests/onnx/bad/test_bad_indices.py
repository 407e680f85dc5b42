"""Indices out of range: an error that names them, never an element of another row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

import tallow as tl
from tallow.errors import IndexRangeError

from ..case import Case, floats, model_of
from ..graphs import model, node, value, weight

X, CUBE = floats(3, 4), floats(2, 3, 4)
BEYOND = 1 << 32  # 0, if only 32 bits are read
UPDATE = np.full(1, 9, np.float32)
ROW = np.full((1, 4), 9, np.float32)


NUMBERS = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}


def at(*values: Any) -> np.ndarray:
    return np.array(values, np.int64)


# Inputs, of which the second is the indices; attributes; the wrong index, and the length.
FED: list[tuple[str, Sequence[np.ndarray], dict[str, Any], int, int]] = [
    ("Gather", [X, at(0, 3)], {}, 3, 3),
    ("Gather", [X, at(-4)], {}, -4, 3),
    ("Gather", [X, at(4)], {"axis": 1}, 4, 4),
    ("Gather", [X, at(BEYOND)], {}, BEYOND, 3),
    ("Gather", [X[:1], at(1)], {}, 1, 1),
    ("Gather", [X[:, :1], at([0], [-2])], {"axis": 1}, -2, 1),
    ("GatherElements", [X[:1], at([0, 0, 1, 0])], {}, 1, 1),
    ("GatherElements", [X, at([0, 0, 0, 4])], {"axis": 1}, 4, 4),
    ("GatherElements", [X, at([0, 0, 0, -5])], {"axis": 1}, -5, 4),
    ("GatherND", [X, at([0, 4])], {}, 4, 4),
    ("GatherND", [X, at([0, -5])], {}, -5, 4),
    ("GatherND", [X, at([0, BEYOND])], {}, BEYOND, 4),
    ("GatherND", [CUBE, at([[1]], [[3]])], {"batch_dims": 1}, 3, 3),
    ("ScatterND", [X, at(0, 4), UPDATE[0]], {}, 4, 4),
    ("ScatterND", [X, at(-4, 0), UPDATE[0]], {}, -4, 3),
    ("ScatterND", [X, at(0, BEYOND), UPDATE[0]], {"reduction": "add"}, BEYOND, 4),
    ("ScatterElements", [X, at([0, 0, 0, 4]), ROW], {"axis": 1}, 4, 4),
    ("ScatterElements", [X, at([0, 0, 0, -5]), ROW], {"axis": 1}, -5, 4),
    ("ScatterElements", [X, at([0, 0, 0, BEYOND]), ROW], {"axis": 1}, BEYOND, 4),
    ("CumSum", [X, at(2)], {}, 2, 2),
]


@pytest.fixture(params=["numpy", "webgpu"])
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "webgpu":
        request.getfixturevalue("native")
    name: str = request.param
    return name


@pytest.mark.parametrize(("op", "inputs", "attributes", "wrong", "length"), FED)
def test_fed(
    op: str, inputs: Sequence[Any], attributes: dict[str, Any], wrong: int, length: int, device: str
) -> None:
    case = Case(op, [np.asarray(x) for x in inputs], attributes, (18, 20))
    data = model_of(case, case.versions[-1]).SerializeToString()
    with tl.onnx.load(data).session(device=device) as session:
        with pytest.raises(IndexRangeError) as caught:
            session.run(case.feeds)
        text = str(caught.value)
        assert "'x1'" in text and str(wrong) in text and f"{length} elements" in text
        session.run({**case.feeds, "x1": case.feeds["x1"] * 0})
        assert session.report().device == device  # it did not move to NumPy for that
        assert all(plan.device == device for plan in session.plans)


# The same, and a GPU's result: the last element along the axis, or the previous value.
COMPUTED: list[tuple[str, Sequence[np.ndarray], dict[str, Any], np.ndarray]] = [
    ("Gather", [X, at(4, 1)], {"axis": 1}, X[:, [3, 1]]),
    ("Gather", [X, at(-4)], {}, X[[2]]),
    ("GatherElements", [X, at([0, 1, 2, 4])], {"axis": 1}, X[:1]),
    ("GatherND", [X, at([1, 4])], {}, X[1:2, 3]),
    ("GatherND", [X, at([1, -5])], {}, X[1:2, 3]),
    ("GatherND", [CUBE, at([[3]], [[1]])], {"batch_dims": 1}, CUBE[[[0], [1]], [[2], [1]]]),
    ("ScatterND", [X, at(0, 4), UPDATE[0]], {}, X),
    ("ScatterND", [X, at(-4, 0), UPDATE[0]], {}, X),
    ("ScatterND", [X, at(0, 4), UPDATE[0]], {"reduction": "add"}, X),
    ("ScatterElements", [X, at([4, -5, 7, -9]), ROW], {"axis": 1}, X),
    ("CumSum", [X, at(2)], {}, X.cumsum(0)),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "left"), COMPUTED)
def test_computed(
    op: str, inputs: Sequence[Any], attributes: dict[str, Any], left: np.ndarray, device: str
) -> None:
    """For indices that only the device sees."""
    arrays = {name: np.asarray(x) for name, x in zip("xiu", inputs, strict=False)}
    infos = [value(name, list(x.shape), NUMBERS[x.dtype.name]) for name, x in arrays.items()]
    proto = model(
        [node("Add", "i one", "j"), node(op, " ".join("xju"[: len(arrays)]), "y", **attributes)],
        infos,
        weights=[weight("one", np.array(1, np.int64))],
        opset=18,
    )
    feeds = {**arrays, "i": arrays["i"] - 1}
    with tl.onnx.load(proto.SerializeToString()).session(device=device) as session:
        if device == "numpy":
            with pytest.raises(IndexRangeError, match=r"index -?\d+ is out of bounds for"):
                session.run(feeds)
        else:
            np.testing.assert_allclose(session.run(feeds)["y"], left, rtol=1e-6)


def test_a_picture_or_an_update_that_is_not_there_is_refused() -> None:
    """Operators whose indices do not count from the end."""
    four = floats(1, 1, 2, 2)
    regions = np.array([[0, 0, 3, 3]], np.float32)
    cases = [
        Case("RoiAlign", [floats(2, 1, 4, 4), regions, at(wrong)], {"sampling_ratio": 1}, (16, 20))
        for wrong in (2, -1)
    ]
    cases += [
        Case("MaxUnpool", [four, at([[[0, 5], [10, wrong]]])], {"kernel_shape": [2, 2],
             "strides": [2, 2]}, (11, 20))
        for wrong in (16, -1)
    ]  # fmt: skip
    cases += [
        Case("TensorScatter", [CUBE, floats(2, 2, 4), at(wrong, 0)], {}, (24, 24))
        for wrong in (2, -1, BEYOND)
    ]
    cases.append(Case("ReverseSequence", [X, at(BEYOND + 1, 1, 1, 1)], {}, (10, 20)))
    for case in cases:
        data = model_of(case, case.versions[-1]).SerializeToString()
        with (
            tl.onnx.load(data).session(device="numpy") as session,
            pytest.raises(IndexRangeError, match="is out of bounds for "),
        ):
            session.run(case.feeds)
