"""The operator Gradient: derivatives of a part of the graph, named by its tensors."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import tallow as tl
from tallow_build.paths import ROOT

from ..graphs import model, node, value, weight
from .running import graph, session_of

DOMAIN = "ai.onnx.preview.training"
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((2, 3), dtype=np.float32)
W = RANDOM.standard_normal((3, 4), dtype=np.float32)
Z = RANDOM.standard_normal((4, 5), dtype=np.float32)


def gradient(inputs: str, outputs: str, xs: str, y: str, zs: str = "") -> onnx.NodeProto:
    names = {"zs": zs.split()} if zs else {}
    return node("Gradient", inputs, outputs, domain=DOMAIN, xs=xs.split(), y=y, **names)


def with_gradient(
    nodes: list[Any], inputs: dict[str, Any], outputs: str, **more: Any
) -> onnx.ModelProto:
    sets = [("", 17), (DOMAIN, 1), ("own", 1)]
    infos = [
        value(name, x.shape, helper.np_dtype_to_tensor_dtype(x.dtype)) for name, x in inputs.items()
    ]
    opsets = [helper.make_opsetid(*each) for each in sets]
    return model(nodes, infos, outputs, opset_imports=opsets, **more)


def run(
    nodes: list[Any], inputs: dict[str, Any], outputs: str, device: str = "numpy", **more: Any
) -> list[np.ndarray]:
    session = session_of(with_gradient(nodes, inputs, outputs, **more), device)
    return list(session.run(inputs).values())


NETWORK = [node("MatMul", "x w", "h"), node("Tanh", "h", "t"), node("MatMul", "t z", "y")]
FEEDS = {"x": X, "w": W, "z": Z}


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_derivatives_by_inputs_of_a_network(device: str) -> None:
    """y is not a single number: it is the derivative of its sum."""
    nodes = [*NETWORK, gradient("w z x", "dw dz", "w z", "y", "x")]
    dw, dz = run(nodes, FEEDS, "dw dz", device)
    tanh = np.tanh(X @ W)
    slope = (1 - tanh**2) * (np.ones((2, 5), np.float32) @ Z.T)
    np.testing.assert_allclose(dw, X.T @ slope, 1e-4, 1e-5)
    np.testing.assert_allclose(dz, tanh.T @ np.ones((2, 5)), 1e-4, 1e-5)


def test_by_what_is_computed_and_what_is_not_listed() -> None:
    """h is independent then; z is an initializer that the node does not name. The second output is
    left out."""
    nodes = [*NETWORK, gradient("h x", "dh _", "h x", "y")]
    outputs = run(nodes, {"x": X, "w": W}, "dh", weights=[weight("z", Z)])
    tanh = np.tanh(X @ W)
    np.testing.assert_allclose(outputs[0], (1 - tanh**2) * Z.sum(1), 1e-4, 1e-5)


def test_at_other_values_than_the_graphs() -> None:
    other = np.full((2, 4), 0.5, np.float32)
    nodes = [*NETWORK, gradient("other z", "dh _", "h z", "y")]
    y, dh = run(nodes, {**FEEDS, "other": other}, "y dh")
    np.testing.assert_allclose(y, np.tanh(X @ W) @ Z, 1e-4, 1e-5)
    np.testing.assert_allclose(dh, (1 - np.tanh(other) ** 2) * Z.sum(1), 1e-4, 1e-5)


def test_an_intermediate_value_with_another_name_is_another_variable() -> None:
    """c equals x, but y = c * x has the derivative x by c alone."""
    nodes = [node("Identity", "x", "c"), node("Mul", "c x", "y"), gradient("c", "dc", "c", "y")]
    np.testing.assert_array_equal(run(nodes, {"x": X}, "dc")[0], X)


def test_one_of_several_outputs_of_a_node() -> None:
    """a stays what is given, though the node that makes b makes an a, too."""
    nodes = [
        node("Split", "x halves", "a b", axis=1), node("Mul", "a b", "y"),
        gradient("one x", "da dx", "a x", "y"),
    ]  # fmt: skip
    one, halves = np.full((2, 2), 3, np.float32), np.array([2, 2])
    x = RANDOM.standard_normal((2, 4), dtype=np.float32)
    da, dx = run(nodes, {"x": x, "one": one}, "da dx", weights=[weight("halves", halves)])
    np.testing.assert_array_equal(da, x[:, 2:])
    np.testing.assert_array_equal(dx, np.hstack([np.zeros((2, 2)), one]))


def test_no_dependence_is_zero() -> None:
    nodes = [node("Relu", "x", "y"), gradient("w x", "dw _", "w x", "y")]
    np.testing.assert_array_equal(run(nodes, {"x": X, "w": W}, "dw")[0], np.zeros_like(W))


def test_second_order() -> None:
    """y = w ** 3 * x: the second derivative by w is 6 w x, and the mixed one 3 w ** 2."""
    nodes = [
        node("Mul", "w w", "s"), node("Mul", "s w", "c"), node("Mul", "c x", "y"),
        gradient("w", "dw", "w", "y"), gradient("w x", "dww dwx", "w x", "dw"),
    ]  # fmt: skip
    dww, dwx = run(nodes, {"w": X, "x": X + 1}, "dww dwx")
    np.testing.assert_allclose(dww, 6 * X * (X + 1), 1e-4, 1e-5)
    np.testing.assert_allclose(dwx, 3 * X**2, 1e-4, 1e-5)


def test_in_functions_and_branches() -> None:
    inner = [node("Mul", "a a", "s"), node("Mul", "s b", "m"), gradient("a", "d", "a", "m")]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    function = helper.make_function("own", "Slope", ["a", "b"], ["d"], inner, opsets)
    nodes = [
        node("Slope", "x w", "once", domain="own"), node("Slope", "once w", "twice", domain="own")
    ]  # fmt: skip
    (twice,) = run(nodes, {"x": X, "w": X + 2}, "twice", functions=[function])
    np.testing.assert_allclose(twice, 2 * (2 * X * (X + 2)) * (X + 2), 1e-4, 1e-5)

    square = graph(
        [node("Mul", "x x", "q"), gradient("x", "dq", "x", "q")], [], [value("dq", None)]
    )
    other = graph([node("Neg", "x", "n")], [], [value("n", None)])
    for condition in ("known", "fed"):
        on = np.array(True)
        proto = with_gradient(
            [node("If", "on", "y", then_branch=square, else_branch=other)],
            {"x": X} if condition == "known" else {"x": X, "on": on}, "y",
            weights=[weight("on", on)] if condition == "known" else [],
        )  # fmt: skip
        feeds = {"x": X} if condition == "known" else {"x": X, "on": on}
        np.testing.assert_allclose(session_of(proto).run(feeds)["y"], 2 * X, 1e-4, 1e-5)


@pytest.mark.parametrize("within", ["the graph", "a function"])
def test_the_derivative_of_what_draws_is_of_the_same_draw(within: str) -> None:
    nodes = [node("Dropout", "x ratio on", "y"), gradient("x", "dx", "x", "y")]
    weights = [weight("ratio", np.float32(0.5)), weight("on", np.array(True))]
    functions = []
    if within == "a function":
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
        names = ["x", "ratio", "on"], ["y", "dx"]
        functions = [helper.make_function("own", "Dropped", *names, nodes, opsets)]
        nodes = [node("Dropped", "x ratio on", "y dx", domain="own")]
    x = np.full((20, 20), 3, np.float32)
    y, dx = run(nodes, {"x": x}, "y dx", weights=weights, functions=functions)
    assert 0 < np.count_nonzero(y) < y.size
    np.testing.assert_allclose(dx * 3, y)


def test_after_what_the_host_computes() -> None:
    """The host's result is a value of the derivative, though nothing passes it."""
    nodes = [
        node("NonZero", "x", "where"), node("Cast", "where", "f", to=1),
        node("ReduceSum", "f", "sum", keepdims=0), node("Mul", "w sum", "y"),
        gradient("w", "dw", "w", "y"),
    ]  # fmt: skip
    x = np.array([[0, 1, 0], [0, 0, 1]], np.float32)
    (dw,) = run(nodes, {"x": x, "w": W}, "dw")
    np.testing.assert_array_equal(dw, np.full_like(W, 4))


def test_in_float64_and_within_no_grad() -> None:
    w = W.astype(np.float64)
    with tl.no_grad():
        (dw,) = run([node("Exp", "w", "y"), gradient("w", "dw", "w", "y")], {"w": w}, "dw")
    np.testing.assert_allclose(dw, np.exp(w), 1e-14)


@pytest.mark.parametrize("on", [True, False])
def test_through_an_if_that_chooses(on: bool) -> None:
    then = graph([node("Exp", "x", "a")], [], [value("a", None)])
    other = graph([node("Neg", "x", "b")], [], [value("b", None)])
    nodes = [
        node("If", "on", "y", then_branch=then, else_branch=other),
        gradient("x", "d", "x", "y"),
    ]
    (d,) = run(nodes, {"x": X, "on": np.array(on)}, "d")
    np.testing.assert_allclose(d, np.exp(X) if on else np.full_like(X, -1), rtol=1e-5)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([node("Unique", "x", "y"), gradient("x", "d", "x", "y")],
         "node 'd': Gradient .*: node 'y': Unique .*: .* only be computed on the host"),
        ([node("SequenceConstruct", "x x", "s"), node("SequenceLength", "s", "l"),
          node("Cast", "l", "y", to=1), gradient("x", "d", "x", "y")], "node 's': Seq"),
        ([node("If", "on", "y", then_branch=graph([node("Neg", "x", "n")], [], [value("n", None)]),
               else_branch=graph([node("ReduceMax", "x", "n")], [], [value("n", None)])),
          gradient("x", "d", "x", "y")], "node 'y': If .*: it decides what is computed"),
        ([node("ArgMax", "x", "y"), gradient("x", "d", "x", "y")],
         "'y' can't be differentiated.*not int64"),
        ([node("Relu", "x", "y"), gradient("i x", "d _", "i x", "y")],
         "'y' can't be differentiated.*not int64"),
    ],
)  # fmt: skip
def test_what_has_no_derivative_is_refused(nodes: list[Any], message: str) -> None:
    inputs = {"x": X, "i": np.array([1]), "on": np.array(True)}
    with pytest.raises(tl.OnnxUnsupportedError, match=message):
        run(nodes, inputs, "d")


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([gradient("x", "d", "x", "q")], "node 'd'.* differentiates 'q', which no node"),
        ([node("Relu", "x", "y"), gradient("x w", "d", "x", "y")], "2 inputs for the 1 of xs"),
        ([node("Relu", "x", "y"), gradient("x x", "d _", "x x", "y")], "name a tensor twice"),
        ([node("Add", "x d", "y"), gradient("x", "d", "x", "y")], "differentiates itself"),
        ([node("Add", "x b", "y"), node("Neg", "y", "b"), gradient("x", "d", "x", "y")], "a cycle"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_said(nodes: list[Any], message: str) -> None:
    with pytest.raises(tl.OnnxFormatError, match=message):
        run(nodes, {"x": X, "w": W}, "d")


def test_loading_models_imports_no_derivatives() -> None:
    """The page's first snapshot has the operators but not what differentiates."""
    code = "import sys; import tallow.onnx; print('tallow.autodiff.reverse' in sys.modules)"
    there = {"PYTHONPATH": str(ROOT / "py")}
    assert subprocess.check_output([sys.executable, "-c", code], env=there, text=True) == "False\n"


def test_the_report_counts_no_node_twice() -> None:
    proto = with_gradient([*NETWORK, gradient("w z x", "dw dz", "w z", "y", "x")], FEEDS, "y dw dz")
    summary = tl.onnx.load(proto.SerializeToString()).summary()
    assert {use.operator: use.count for use in summary.uses}["MatMul"] == 2
    assert summary.unsupported == ()
