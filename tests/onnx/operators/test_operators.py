"""Every operator, in every definition since operator set 7, compared with onnxruntime."""

import numpy as np
import pytest

import tallow as tl
from tallow.formats.onnx.registry import operators

from ..case import Case, assert_agrees, definitions, expected, floats, model_of
from ..cases import CASES
from ..graphs import model, node, value, weight

RUNS = [
    pytest.param(case, opset, id=f"{case.id}-opset{opset}")
    for case in CASES
    for opset in case.versions
]

# Others draw other numbers: see test_randomness.py.
RANDOM = {
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike",
}  # fmt: skip


@pytest.mark.parametrize(("case", "opset"), RUNS)
def test_operator_agrees(case: Case, opset: int) -> None:
    model = model_of(case, opset)
    wanted = expected(case, model)
    with tl.onnx.load(model.SerializeToString()).session(device="numpy") as session:
        got = session.run(case.feeds)
    assert list(got) == [f"y{i}" for i in range(case.outputs)]
    assert_agrees(case, list(got.values()), wanted)


def test_every_operator_has_cases_for_every_definition() -> None:
    covered = {(case.op, opset) for case in CASES for opset in case.versions}
    entered = {name for domain, name in operators() if not domain}
    entered -= RANDOM
    expected = {(name, max(v, 7)) for name in entered for v in definitions()[name]}
    assert expected - covered == set()


def test_batch_normalization_of_every_element() -> None:
    """spatial=0, up to opset 8, which neither onnxruntime nor the reference computes."""
    x, kept = floats(2, 3, 4), [floats(3, 4), floats(3, 4) * 2, floats(3, 4), abs(floats(3, 4))]
    names = ("scale", "bias", "mean", "var")
    proto = model(
        [node("BatchNormalization", "x scale bias mean var", "y", spatial=0)],
        [value("x", [2, 3, 4])],
        weights=[weight(name, array) for name, array in zip(names, kept, strict=True)],
        opset=8,
    )
    (got,) = tl.onnx.load(proto.SerializeToString()).session("numpy").run({"x": x}).values()
    scale, bias, mean, var = kept
    wanted = (x - mean) / np.sqrt(var + 1e-5) * scale + bias
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_group_normalization_before_it_was_defined_anew() -> None:
    """From opset 18 to 20 scale and bias are per group, which onnx no longer supports."""
    x, scale, bias = floats(2, 6, 4), floats(3), floats(3) * 2
    proto = model(
        [node("GroupNormalization", "x scale bias", "y", num_groups=3)],
        [value("x", [2, 6, 4])],
        weights=[weight("scale", scale), weight("bias", bias)],
        opset=18,
    )
    (got,) = tl.onnx.load(proto.SerializeToString()).session("numpy").run({"x": x}).values()
    rows = x.reshape(2, 3, 8)
    normal = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-5)
    wanted = normal * scale[:, None] + bias[:, None]
    np.testing.assert_allclose(got, wanted.reshape(2, 6, 4), rtol=1e-4, atol=1e-5)
