"""`tl.onnx.register`: operators of a user's own domain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import tallow as tl
from tallow.errors import OnnxFormatError, OnnxUnsupportedError, OptionError
from tallow.formats.onnx import registry

from ..graphs import model, node, value

DOMAIN = "com.example"
X = np.linspace(-2, 2, 6, dtype=np.float32)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Removes operators that a test registers."""
    yield
    for key in registry._REGISTERED:
        registry._OPERATORS.pop(key, None)
    registry._REGISTERED.clear()


def custom(*nodes: onnx.NodeProto, version: int | None = 1, outputs: str = "y") -> tl.onnx.Model:
    """A model with nodes of the custom domain; version: None if it does not import the domain."""
    imports = [helper.make_opsetid("", 21)]
    if version is not None:
        imports.append(helper.make_opsetid(DOMAIN, version))
    proto = model(nodes, [value("x", [6])], outputs, opset_imports=imports)
    return tl.onnx.load(proto.SerializeToString())


def swish(call: tl.onnx.Call, x: tl.Tensor, scale: tl.Tensor | None = None) -> tl.Tensor:
    result = x * tl.functional.sigmoid(x * call.get("beta", float, 1.0))
    return result if scale is None else result * scale


def test_an_operator_of_a_domain_of_ones_own() -> None:
    assert tl.onnx.register(DOMAIN, "Swish")(swish) is swish
    loaded = custom(node("Swish", "x", "y", domain=DOMAIN, beta=2.0))
    assert loaded.unsupported == []
    with loaded.session("numpy") as session:
        (got,) = session.run({"x": X}).values()
    np.testing.assert_allclose(got, X / (1 + np.exp(-2 * X)), rtol=1e-5)
    assert session.report().host == ()


def test_several_outputs_and_any_number_of_inputs() -> None:
    @tl.onnx.register(DOMAIN, "Extremes")
    def extremes(call: tl.onnx.Call, *tensors: tl.Tensor) -> list[tl.Tensor]:
        stacked = tl.stack(tensors)
        return [tl.min(stacked, axis=0), tl.max(stacked, axis=0)]

    loaded = custom(node("Neg", "x", "n"), node("Extremes", "x n", "y z", domain=DOMAIN),
                    outputs="y z")  # fmt: skip
    with loaded.session("numpy") as session:
        got = session.run({"x": X})
    np.testing.assert_array_equal(got["y"], -np.abs(X))
    np.testing.assert_array_equal(got["z"], np.abs(X))


def test_the_same_name_again_replaces() -> None:
    for factor in (2.0, 3.0):
        tl.onnx.register(DOMAIN, "Times")(lambda call, x, by=factor: x * by)
    with custom(node("Times", "x", "y", domain=DOMAIN)).session("numpy") as session:
        np.testing.assert_allclose(session.run({"x": X})["y"], X * 3)


@pytest.mark.parametrize(
    ("domain", "words"),
    [("", "standard domain 'ai.onnx'"), ("ai.onnx.ml", "standard domain 'ai.onnx.ml'")],
)
def test_the_standards_domains_are_refused(domain: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        tl.onnx.register(domain, "Relu")


def test_operators_that_tallow_has_are_refused() -> None:
    registry.operator("Own", domain="org.tallow")(swish)
    try:
        with pytest.raises(OptionError, match=r"already has the operator 'Own' of 'org\.tallow'"):
            tl.onnx.register("org.tallow", "Own")
    finally:
        del registry._OPERATORS["org.tallow", "Own"]


@pytest.mark.parametrize(("name", "since"), [("", 1), ("Swish", 0)])
def test_senseless_names_and_versions(name: str, since: int) -> None:
    with pytest.raises(OptionError, match="the version"):
        tl.onnx.register(DOMAIN, name, since)


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (None, "does not import its operator set"),
        (1, "first defined in operator set 2"),
    ],
)
def test_a_model_that_does_not_import_the_domain(version: Any, words: str) -> None:
    tl.onnx.register(DOMAIN, "Swish", since=2)(swish)
    loaded = custom(node("Swish", "x", "y", domain=DOMAIN), version=version)
    (problem,) = loaded.unsupported
    assert f"Swish ({DOMAIN}" in problem
    assert words in problem
    with pytest.raises(OnnxUnsupportedError, match=words):
        loaded.session("numpy")


def test_wrong_inputs_and_attributes_are_said() -> None:
    tl.onnx.register(DOMAIN, "Swish")(swish)
    with pytest.raises(OnnxFormatError, match="it has 3 inputs; expected 1 to 2"):
        custom(node("Swish", "x x x", "y", domain=DOMAIN)).session("numpy")
    with pytest.raises(OnnxUnsupportedError, match="attribute 'gamma' is unknown"):
        custom(node("Swish", "x", "y", domain=DOMAIN, gamma=1)).session("numpy")
