"""The table of operators, compared with the definitions in the onnx package."""

from __future__ import annotations

import pytest
from onnx import defs

from tallow.errors import GraphError
from tallow.formats.onnx.registry import NEWEST, OLDEST, Operator, operator, operators

from ..case import NEWEST as NEWEST_TESTED

STANDARD = sorted(
    (entry for (domain, _), entry in operators().items() if not domain), key=lambda e: e.name
)

HISTORY: dict[str, list[defs.OpSchema]] = {}
for _schema in sorted(defs.get_all_schemas_with_history(), key=lambda s: s.since_version):
    if _schema.domain == "":
        HISTORY.setdefault(_schema.name, []).append(_schema)

# The operators of image networks.
DEMANDED = (
    "Conv Gemm MatMul Add Sub Mul Div Pow Sqrt Exp Log Neg Abs Erf Relu LeakyRelu Sigmoid Tanh "
    "Clip HardSwish HardSigmoid Softmax LogSoftmax BatchNormalization GlobalAveragePool "
    "AveragePool MaxPool Flatten Reshape Transpose Concat Split Slice Gather Squeeze Unsqueeze "
    "Pad Dropout Identity Constant ConstantOfShape Shape Cast ReduceMean ReduceSum ReduceMax "
    "ArgMax LRN Sum"
)


def test_the_operators_of_networks_that_look_at_pictures_are_there() -> None:
    assert set(DEMANDED.split()) - {entry.name for entry in STANDARD} == set()


def test_known_operator_sets() -> None:
    assert (OLDEST, NEWEST) == (7, NEWEST_TESTED)
    assert defs.onnx_opset_version() >= NEWEST


@pytest.mark.parametrize("entry", STANDARD, ids=lambda entry: entry.name)
def test_entry_agrees_with_the_standard(entry: Operator) -> None:
    first, *_ = versions = [s.since_version for s in HISTORY[entry.name]]
    assert entry.since <= OLDEST if first <= OLDEST else entry.since == first
    oldest = max(v for v in versions if v <= max(first, OLDEST))
    current = [s for s in HISTORY[entry.name] if s.since_version >= oldest]
    assert entry.min_inputs == min(s.min_input for s in current)
    most = max(s.max_input for s in current)
    assert entry.max_inputs == (None if most > 1000 else most)


def test_an_operator_is_entered_once() -> None:
    with pytest.raises(GraphError, match="'Relu' is registered twice"):
        operator("Relu")(lambda call, x: x)
