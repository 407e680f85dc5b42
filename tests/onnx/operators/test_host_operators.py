"""Every host operator, called directly, compared with onnxruntime."""

from typing import Any

import numpy as np
import pytest

from tallow.formats.onnx.call import Call
from tallow.formats.onnx.read import proto, reader
from tallow.formats.onnx.read.external import ExternalFiles
from tallow.formats.onnx.records import NodeRecord
from tallow.formats.onnx.registry import find, host_operators

from ..case import Case, Known, assert_agrees, expected, model_of
from ..cases import ON_HOST
from .test_on_host import CASES as LEFT

RUNS = [
    pytest.param(case, opset, id=f"{case.id}-opset{opset}")
    for case in ON_HOST
    for opset in case.versions
]


@pytest.mark.parametrize(("case", "opset"), RUNS)
def test_operator_agrees(case: Case, opset: int) -> None:
    model = model_of(case, opset)
    record = reader.read_model(proto.parse(model.SerializeToString()), ExternalFiles(None), {})
    call = Call(record.graph.nodes[0], opset)
    entry = host_operators()[case.domain, case.op]
    values: list[Any] = [x.value if isinstance(x, Known) else x for x in case.inputs]
    got = entry.function(call, np, *values)
    assert not call.unknown_attributes()
    wanted = expected(case, model)
    assert_agrees(case, (got if isinstance(got, tuple) else (got,))[: case.outputs], wanted)


# A Case can't have sequences and optionals: see run/test_stages.py and the official cases.
SEQUENCES = (
    "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt "
    "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence"
)
ELSEWHERE = {*SEQUENCES.split(), *(case.op for case in LEFT), "ImageDecoder", "MaxUnpool"}
"""The last two: test_spatial.py."""


def test_every_operator_of_the_host_has_cases() -> None:
    covered = {(case.domain, case.op) for case in ON_HOST} | {("", op) for op in ELSEWHERE}
    covered.add(("ai.onnx.ml", "ZipMap"))  # its results are maps: test_trees.py
    standard = {key for key in host_operators() if key[0] != "com.microsoft"}
    assert standard - covered == set()  # the others: test_contributed.py


def test_the_composed_form_comes_first() -> None:
    assert find("", "TopK", 28) is not host_operators()["", "TopK"]


def test_the_first_label_encoder() -> None:
    """Between strings and indices; the reference lacks it, and its types are not inferred."""
    encode: Any = host_operators()["ai.onnx.ml", "LabelEncoder"].function
    classes = {"classes_strings": ("x", "a")}
    record = NodeRecord("", "LabelEncoder", "ai.onnx.ml", 1, (), (), classes)
    names = np.array(["a", "x", "?"], object)
    assert encode(Call(record, 1), np, names).tolist() == [1, 0, -1]
    got = encode(Call(record, 1), np, np.array([1, 0, 7]))
    assert got.tolist() == ["a", "x", "_Unused"]
