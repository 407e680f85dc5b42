"""`tl.onnx.save`: every op, shipped models, functions; valid, and the same in onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from op_cases import CASES, OF_WEBASSEMBLY
from run_case import difference, feeds_of, graph_of

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.core.hostarray import from_buffer
from tallow.errors import OnnxUnsupportedError, OptionError
from tallow.formats.onnx.write import element_forms, window_forms
from tallow.formats.onnx.write import writer as writing
from tallow.graph import Graph, constant, input_node, make
from tallow.ops import window
from tallow.ops.dynamic_recurrence import OF_WEBGPU
from tallow.ops.kinds import REGISTRY
from tallow.ops.linalg import Hosted

from ..graphs import model, node, value
from .saving import RANDOM, answers, numbers, operators_of, saved

# ---- every op ----------------------------------------------------------------------------------


_UNLIKE = ("nan-arg", "nan-max-", "nan-min-", "nan-max_pool2d", "recurrence-ends")
"""Cases in which onnxruntime loses NaN (docs/differences.md), or digits near 0: those are compared
with what they are after loading alone."""


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    graph = graph_of(name)
    saved(tmp_path / "model.onnx", graph)
    if not name.startswith(_UNLIKE):
        got = answers(tmp_path / "model.onnx", feeds_of(name))["output"]
        wrong = difference(CASES[name], got)
        assert wrong is None, wrong
    with tl.onnx.load(tmp_path / "model.onnx").session("numpy") as session:
        wrong = difference(CASES[name], session.run(feeds_of(name))["output"])
    assert wrong is None, f"and loaded again: {wrong}"


def test_every_op_has_a_form() -> None:
    sources = {"input", "constant", "buffer"}
    # Passes make these in graphs that are compiled, not in graphs that are saved.
    sources |= {record.name for record in (*OF_WEBASSEMBLY, *OF_WEBGPU)}
    sources |= {"conv2d_weight", "conv2d_weight_parts", "recurrence_gradient", "after"}
    sources |= {"matmul_to"}
    sources |= {"recurrence_kept", "recurrence_back"}
    sources |= {"dynamic_steps", "walk_trees"}  # saved step by step, and as gathers
    sources |= {"attention"}  # saved as products
    sources |= {name for name, op in REGISTRY.items() if isinstance(op, Hosted)}  # refused
    tables = {op.name for op in (*window_forms.WINDOWS, *element_forms.ELEMENTS)}
    named = {name for name, op in REGISTRY.items() if op.onnx}
    assert set(REGISTRY) - sources == tables | named
    assert not tables & named
    known = {schema.name for schema in onnx.defs.get_all_schemas()}
    assert {REGISTRY[name].onnx for name in named} <= known


def test_what_stays_on_a_device_is_saved_with_its_value(tmp_path: Path) -> None:
    """Realized tensors and variables are constants of the file."""
    weight = tl.asarray([[1.0, 2.0], [3.0, 4.0]]).realize()
    bias = tl.Variable([0.5, -0.5]).assign([10.0, 20.0])
    path = tmp_path / "kept.onnx"
    tl.onnx.save(lambda x: x @ weight + bias, path, inputs={"x": ((1, 2), "float32")})
    onnx.checker.check_model(str(path), full_check=True)
    with tl.onnx.load(path).session("numpy") as session:
        (found,) = session.run({"x": [[1.0, 1.0]]}).values()
    assert found.tolist() == [[14.0, 26.0]]


def test_what_has_no_form_is_refused_by_name(tmp_path: Path) -> None:
    x = input_node("x", (1, 4, 4, 1), tl.int32)
    kernel: dict[str, Any] = {
        "kernel": (2, 2),
        "stride": (2, 2),
        "padding": ((0, 0), (0, 0)),
        "dilation": (1, 1),
    }
    with pytest.raises(OnnxUnsupportedError, match=r"sum_pool2d of int32 \(1, 4, 4, 1\) has no"):
        graph = Graph((x,), {"y": make(window.sum_pool2d, x, **kernel)})
        tl.onnx.save(graph, tmp_path / "no.onnx")
    assert not (tmp_path / "no.onnx").exists()


# ---- types that are not in the op suite --------------------------------------------------------

SMALL = [np.int8, np.uint8, np.int16, np.uint16]


@pytest.mark.parametrize("kind", SMALL)
def test_sums_of_small_integers_widen_and_products_wrap(kind: Any, tmp_path: Path) -> None:
    x = RANDOM.integers(0, 100, (3, 4)).astype(kind)
    path = tmp_path / "model.onnx"
    saved(path, lambda x: {"sum": tl.sum(x, axis=1), "product": tl.matmul(x, x.mT)}, inputs=[x])
    got = answers(path, {"x": x})
    wide = np.int32 if np.issubdtype(kind, np.signedinteger) else np.uint32
    assert got["sum"].dtype == wide
    np.testing.assert_array_equal(got["sum"], x.sum(1, dtype=wide))
    np.testing.assert_array_equal(got["product"], x @ x.T)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
def test_shifts_of_signed_integers(kind: Any, tmp_path: Path) -> None:
    x = np.array([-7, -1, 0, 5, 100], kind)
    saved(tmp_path / "model.onnx", lambda x: {"left": x << 2, "right": x >> 1}, inputs=[x])
    reference = ReferenceEvaluator(onnx.load(tmp_path / "model.onnx"))
    left, right = reference.run(["left", "right"], {"x": x})
    np.testing.assert_array_equal(left, x << 2)
    np.testing.assert_array_equal(right, x >> 1)


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_pools_of_small_integers(kind: Any, tmp_path: Path) -> None:
    x = RANDOM.integers(-100, 100, (1, 2, 6, 6)).astype(kind)
    saved(tmp_path / "model.onnx", lambda x: F.max_pool2d(x, 2, 2, 1), inputs=[x])
    with np.errstate(all="ignore"):
        padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=np.iinfo(kind).min)
    wanted = padded.reshape(1, 2, 4, 2, 4, 2).max((3, 5))
    (got,) = answers(tmp_path / "model.onnx", {"x": x}).values()
    np.testing.assert_array_equal(got, wanted)


def test_empty_results(tmp_path: Path) -> None:
    x = numbers(3, 4)
    saved(tmp_path / "model.onnx", lambda x: tl.reshape(x[1:1, ::-1], (0, 2, 2)), inputs=[x])
    (got,) = answers(tmp_path / "model.onnx", {"x": x}).values()
    assert got.shape == (0, 2, 2)


def test_a_pool_whose_padding_is_wider_than_its_kernel(tmp_path: Path) -> None:
    x = input_node("x", (1, 5, 5, 2), tl.float32)
    pads = ((0, 3), (2, 0))
    pooled = {
        op.name: make(op, x, kernel=(2, 2), stride=(2, 2), padding=pads, dilation=(1, 1))
        for op in (window.max_pool2d, window.sum_pool2d)
    }
    graph = Graph((x,), pooled)
    saved(tmp_path / "model.onnx", graph)
    feeds = {"x": numbers(1, 5, 5, 2)}
    got = answers(tmp_path / "model.onnx", feeds)
    with tl.compile_session(graph, "numpy") as session:
        for name, wanted in session.run(feeds).items():
            np.testing.assert_allclose(got[name], wanted, rtol=1e-5)


def test_long_lists_of_numbers_are_not_stored(tmp_path: Path) -> None:
    x = numbers(5000)
    proto = saved(tmp_path / "model.onnx", lambda x: x + tl.arange(5000), inputs=[x])
    assert operators_of(proto) == {"Range": 1, "Cast": 2, "Add": 1}
    (got,) = answers(tmp_path / "model.onnx", {"x": x}).values()
    np.testing.assert_allclose(got, x + np.arange(5000, dtype=np.float32))


# ---- models ------------------------------------------------------------------------------------


def test_stored_types_are_kept(tmp_path: Path) -> None:
    table = RANDOM.integers(-9, 9, (300, 40)).astype(np.int8)

    def lookup(rows: tl.Tensor) -> tl.Tensor:
        return tl.take(tl.asarray(table), rows, axis=0).astype("float32") * 0.5

    saved(tmp_path / "m.onnx", lookup, inputs=[((4,), "int64")])
    assert (tmp_path / "m.onnx").stat().st_size < table.nbytes + 1000
    rows = np.array([0, 299, -1, 7])
    (got,) = answers(tmp_path / "m.onnx", {"rows": rows}).values()
    np.testing.assert_array_equal(got, table[rows] * np.float32(0.5))


# ---- functions and graphs ----------------------------------------------------------------------


def test_a_function_is_saved_as_it_is_called(tmp_path: Path) -> None:
    weights = tl.asarray(numbers(6, 3, 3, 3))

    def network(image: tl.Tensor, scale: tl.Tensor) -> dict[str, tl.Tensor]:
        features = F.relu(F.conv2d(image * scale, weights, padding=1))
        return {"features": features, "classes": F.softmax(F.global_avg_pool(features), 1)}

    feeds = {"image": numbers(1, 3, 8, 8), "scale": numbers(1)}
    path = tmp_path / "network.onnx"
    by_name = {"scale": ((1,), tl.float32), "image": feeds["image"]}
    proto = saved(path, network, inputs=by_name)
    assert [i.name for i in proto.graph.input] == ["scale", "image"]
    assert proto.graph.name == "network"
    assert operators_of(proto) == {
        "Mul": 1, "Conv": 1, "Relu": 1, "GlobalAveragePool": 1, "Softmax": 1,
    }  # fmt: skip
    proto = saved(path, network, inputs=list(feeds.values()))
    assert [i.name for i in proto.graph.input] == ["image", "scale"]
    got = answers(path, feeds)
    wanted = network(*map(tl.asarray, feeds.values()))
    for name, tensor in wanted.items():
        np.testing.assert_allclose(got[name], tensor.numpy("numpy"), rtol=1e-4, atol=1e-5)


def test_outputs_that_are_inputs_constants_or_twice_the_same(tmp_path: Path) -> None:
    x = input_node("x", (2,), tl.float32)
    doubled = make(REGISTRY["add"], x, x)
    known = constant(from_buffer(np.float32([3, 4])))
    unused = input_node("unused", (1,), tl.int64)
    outputs = {"same": x, "known": known, "one": doubled, "two": doubled}
    saved(tmp_path / "m.onnx", Graph((x, unused), outputs))
    got = answers(tmp_path / "m.onnx", {"x": np.array([1, 2], np.float32), "unused": np.array([0])})
    assert {name: y.tolist() for name, y in got.items()} == {
        "same": [1, 2], "known": [3, 4], "one": [2, 4], "two": [2, 4],
    }  # fmt: skip


def test_names_of_nodes_keep_clear_of_the_users_names(tmp_path: Path) -> None:
    x = input_node("Exp_0", (2,), tl.float32)
    graph = Graph((x,), {"constant_0": make(REGISTRY["exp"], make(REGISTRY["exp"], x))})
    saved(tmp_path / "m.onnx", graph)


def test_sequences_of_results(tmp_path: Path) -> None:
    proto = saved(tmp_path / "m.onnx", lambda x, /: (x + 1, x * 2), inputs=[[1.0, 2.0]])
    assert [o.name for o in proto.graph.output] == ["output_0", "output_1"]


def test_metadata_is_kept(tmp_path: Path) -> None:
    proto = model([node("Exp", "x", "y")], [value("x", [2])], [value("y", [2])], doc_string="why")
    proto.metadata_props.add(key="licence", value="MIT")
    again = saved(tmp_path / "m.onnx", tl.onnx.load(proto.SerializeToString()))
    assert again.doc_string == "why"
    assert [(p.key, p.value) for p in again.metadata_props] == [("licence", "MIT")]
    assert again.opset_import[0].version == writing.OPSET


# ---- large weights -----------------------------------------------------------------------------


# ---- bad arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        (3, {}, "int is not a loaded model"),
        (abs, {}, "a function needs `inputs`"),
        (abs, {"inputs": [1.0], "shapes": {}}, "`shapes` is for loaded models"),
        (abs, {"inputs": [1.0], "weights": "int4"}, "'int4' is neither"),
        (lambda x: 3, {"inputs": [1.0]}, "'output' is a int, not a tensor"),
        (lambda x: [], {"inputs": [1.0]}, "returns no tensor"),
        (Graph((), {}), {"inputs": []}, "`inputs` is for functions"),
    ],
)
def test_arguments_that_do_not_fit(what: Any, options: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=words):
        tl.onnx.save(what, tmp_path / "m.onnx", **options)


def test_a_model_that_the_host_computes_is_refused(tmp_path: Path) -> None:
    proto = model([node("NonZero", "x", "y")], [value("x", [4])],
                  [value("y", [1, None], onnx.TensorProto.INT64)])  # fmt: skip
    with pytest.raises(OnnxUnsupportedError, match="NonZero"):
        tl.onnx.save(tl.onnx.load(proto.SerializeToString()), tmp_path / "m.onnx")
