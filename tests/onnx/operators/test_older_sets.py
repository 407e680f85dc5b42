"""Operator sets before 7: unchanged and changed definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import defs

import tallow as tl
from tallow.formats.onnx import registry
from tallow.formats.onnx.registry import OLDEST, find, operators

from ..case import floats
from ..graphs import Node, model, node, value, weight

HISTORY: dict[str, list[int]] = {}
for _schema in defs.get_all_schemas_with_history():
    if _schema.domain == "" and not _schema.deprecated and _schema.since_version <= OLDEST:
        HISTORY.setdefault(_schema.name, []).append(_schema.since_version)

X = floats(2, 3, 4)


def run(broken: Node, opset: int, *inputs: np.ndarray) -> np.ndarray:
    """The output of a model of one node, with a as the input and b, c ... as weights."""
    names = broken.input[1:]
    weights = [weight(name, array) for name, array in zip(names, inputs[1:], strict=True)]
    proto = model([broken], [value("a", inputs[0].shape)], "y", weights, opset)
    (result,) = (
        tl.onnx.load(proto.SerializeToString()).session("numpy").run({"a": inputs[0]}).values()
    )
    return result


def test_what_did_not_change_is_as_the_standard_has_it() -> None:
    table = {name: v for v, names in registry._UNCHANGED.items() for name in names.split()}
    assert table == {name: max(v) for name, v in HISTORY.items() if max(v) < OLDEST}


def test_what_changed_is_the_last_definition_before() -> None:
    changed = {name: sorted(v)[-2] for name, v in HISTORY.items() if max(v) == OLDEST and v[1:]}
    older = {name: entry.since for (_, name), entry in registry._OLDER.items()}
    assert set(older) <= {name for _, name in operators()}
    assert older == {name: changed[name] for name in older}


@pytest.mark.parametrize(
    ("name", "opset", "since"), [("Relu", 5, 6), ("Add", 5, 6), ("Cos", 6, 7), ("Pad", 1, 2)]
)
def test_definitions_that_are_older_still(name: str, opset: int, since: int) -> None:
    with pytest.raises(
        tl.OnnxUnsupportedError, match=f"first defined in operator set {since}|sets {since} to"
    ):
        find("", name, opset)


@pytest.mark.parametrize(
    ("shape", "attributes", "along"),
    [
        ((2, 3, 4), {}, (2, 3, 4)),
        ((4,), {"broadcast": 1}, (1, 1, 4)),
        ((3,), {"broadcast": 1, "axis": 1}, (1, 3, 1)),
        ((2, 3), {"broadcast": 1, "axis": 0}, (2, 3, 1)),
        ((1,), {"broadcast": 1}, (1, 1, 1)),
        ((3, 4), {"broadcast": 1, "axis": -2}, (1, 3, 4)),
    ],
)
@pytest.mark.parametrize("op", ["Add", "Mul", "Sub", "Div", "Pow"])
def test_two_operands(op: str, shape: Any, attributes: Any, along: Any) -> None:
    numpy = {
        "Add": np.add,
        "Mul": np.multiply,
        "Sub": np.subtract,
        "Div": np.divide,
        "Pow": np.power,
    }
    x, y = np.abs(X) + 1, floats(*shape, low=1, high=2)
    got = run(node(op, "a b", "y", **attributes), 6, x, y)
    np.testing.assert_allclose(got, numpy[op](x, y.reshape(along)), rtol=1e-5)


@pytest.mark.parametrize(
    ("broken", "arrays", "words"),
    [
        (node("Add", "a b", "y"), [X, floats(4)], "broadcast is not set"),
        (node("Add", "a b", "y", broadcast=1, axis=2), [X, floats(3, 4)], "from axis 2 on"),
        (node("Add", "a b", "y", broadcast=1), [floats(4), X], "does not align with"),
        (node("PRelu", "a b", "y"), [X, floats(4)], "one per channel"),
        (node("Dropout", "a", "y"), [X], "training mode"),
        (
            node("BatchNormalization", "a b c d e", "y"),
            [X, *[floats(3)] * 4],
            "training mode",
        ),
    ],
)
def test_what_contradicts_itself_or_trains(broken: Node, arrays: Any, words: str) -> None:
    with pytest.raises(tl.OnnxError, match=words):
        run(broken, 6, *arrays)


def test_prelu_has_a_slope_per_channel() -> None:
    slope = floats(3)
    wanted = np.where(X < 0, X * slope[:, None], X)
    np.testing.assert_allclose(run(node("PRelu", "a b", "y"), 6, X, slope), wanted, rtol=1e-6)


def test_the_modes_after_training() -> None:
    np.testing.assert_array_equal(run(node("Dropout", "a", "y", is_test=1), 6, X), X)
    scale, bias, mean, var = floats(3), floats(3) * 2, floats(3) / 2, floats(3, low=1, high=2)
    norm = node("BatchNormalization", "a b c d e", "y", is_test=1, epsilon=0.0)
    got = run(norm, 6, X, scale, bias, mean, var)
    s, b, m, v = (part[:, None] for part in (scale, bias, mean, var))
    np.testing.assert_allclose(got, (X - m) / np.sqrt(v) * s + b, rtol=1e-4, atol=1e-5)


def test_what_only_lost_an_attribute() -> None:
    a, b, c = floats(2, 3), floats(3, 4), floats(4)
    got = run(node("Gemm", "a b c", "y", broadcast=1), 6, a, b, c)
    np.testing.assert_allclose(got, a @ b + c, rtol=1e-5)
    got = run(node("AveragePool", "a", "y", kernel_shape=[2]), 6, X)
    np.testing.assert_allclose(got, (X[..., 1:] + X[..., :-1]) / 2, rtol=1e-5)
