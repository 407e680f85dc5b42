"""Random ensembles of trees, on every device, compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper

import tallow as tl
from tallow.formats.onnx.values import from_numpy
from tallow_page.values import flat, output_of

from ..graphs import model, node, value
from ..oracle import runtime

ML = "ai.onnx.ml"
FEATURES = 5
NAMES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
DEVICES = ["numpy", "wasm", "webgpu"]


def draw(seed: int, depth: int, modes: tuple[int, ...] = tuple(range(6)), trees: int = 7) -> Any:
    """Trees as nested tuples (feature, mode, split, tracks, yes, no), with a float as a leaf."""
    rng = np.random.default_rng(seed)

    def grown(left: int) -> Any:
        if not left or rng.random() < 0.2:
            return float(rng.integers(-8, 9)) / 4
        split = float(rng.integers(-4, 5)) / 2
        here = int(rng.integers(FEATURES)), int(rng.choice(modes)), split, int(rng.random() < 0.3)
        return (*here, grown(left - 1), grown(left - 1))

    return [(0, modes[0], 0.0, 0, grown(depth - 1), grown(depth - 2)) for _ in range(trees)]


def rows(seed: int, count: int = 40, dtype: str = "float32") -> np.ndarray:
    """Halves, which may be equal to a split, and some NaN."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-4, 5, (count, FEATURES)) / 2
    return np.where(rng.random(x.shape) < 0.1, np.nan, x).astype(dtype)


def listed(
    trees: Any, targets: int, sets: dict[float, list[float]] | None = None
) -> dict[str, Any]:
    """The attributes of TreeEnsemble, but for the tensors' type."""
    made: dict[str, list[Any]] = {
        name: []
        for name in ("nodes_featureids", "nodes_modes", "nodes_splits", "nodes_truenodeids",
                     "nodes_trueleafs", "nodes_falsenodeids", "nodes_falseleafs",
                     "nodes_missing_value_tracks_true", "leaf_targetids", "leaf_weights",
                     "tree_roots", "membership_values")
    }  # fmt: skip

    def add(tree: Any) -> int:
        feature, mode, split, tracks, *sides = tree
        at = len(made["nodes_modes"])
        for name, number in (("featureids", feature), ("modes", mode), ("splits", split),
                             ("missing_value_tracks_true", tracks), ("truenodeids", 0),
                             ("trueleafs", 0), ("falsenodeids", 0), ("falseleafs", 0)):  # fmt: skip
            made[f"nodes_{name}"].append(number)
        if mode == 6:
            assert sets is not None
            made["membership_values"] += [*sets[split], np.nan]
        for side, below in zip(("true", "false"), sides, strict=True):
            leaf = isinstance(below, float)
            if leaf:
                made["leaf_targetids"].append(len(made["leaf_weights"]) % targets)
                made["leaf_weights"].append(below)
            found = len(made["leaf_weights"]) - 1 if leaf else add(below)
            made[f"nodes_{side}nodeids"][at] = found
            made[f"nodes_{side}leafs"][at] = int(leaf)
        return at

    made["tree_roots"] = [add(tree) for tree in trees]
    return {**made, "n_targets": targets}


def ensemble(attributes: dict[str, Any], dtype: str, **more: Any) -> ModelProto:
    tensors = {"nodes_splits": dtype, "leaf_weights": dtype, "membership_values": dtype,
               "nodes_modes": "uint8"}  # fmt: skip
    made = {
        key: numpy_helper.from_array(np.array(each, tensors[key])) if key in tensors else each
        for key, each in {**attributes, **more}.items()
        if each != []
    }
    return one(node("TreeEnsemble", "x", "y", domain=ML, **made), dtype, 5)


def one(proto: Any, dtype: str, version: int) -> ModelProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    scores = kind if proto.op_type == "TreeEnsemble" else TensorProto.FLOAT
    types = (TensorProto.INT64, TensorProto.FLOAT) if len(proto.output) == 2 else (scores,)
    if any(attribute.name == "classlabels_strings" for attribute in proto.attribute):
        types = (TensorProto.STRING, TensorProto.FLOAT)
    outputs = [value(name, None, kind) for name, kind in zip(proto.output, types, strict=True)]
    made = model([proto], [value("x", ["n", FEATURES], kind)], outputs, opset=20)
    made.opset_import.append(helper.make_opsetid(ML, version))
    return made


def named(trees: Any, what: str, ids: Any) -> dict[str, Any]:
    """The attributes of the older operators. ids(leaf): the targets of a leaf."""
    made: dict[str, list[Any]] = {
        name: []
        for name in ("nodes_treeids", "nodes_nodeids", "nodes_modes", "nodes_featureids",
                     "nodes_values", "nodes_truenodeids", "nodes_falsenodeids",
                     "nodes_missing_value_tracks_true", f"{what}_treeids", f"{what}_nodeids",
                     f"{what}_ids", f"{what}_weights")
    }  # fmt: skip

    def add(number: int, start: int, tree: Any) -> int:
        at = len(made["nodes_modes"])
        leaf = isinstance(tree, float)
        feature, mode, split, tracks = (0, 0, 0.0, 0) if leaf else tree[:4]
        for name, entry in (("treeids", number), ("nodeids", at - start),
                            ("modes", "LEAF" if leaf else f"BRANCH_{NAMES[mode]}"),
                            ("featureids", feature), ("values", split),
                            ("missing_value_tracks_true", tracks), ("truenodeids", 0),
                            ("falsenodeids", 0)):  # fmt: skip
            made[f"nodes_{name}"].append(entry)
        if leaf:
            for target in ids(at):
                for name, entry in (("treeids", number), ("nodeids", at - start),
                                    ("ids", target), ("weights", tree + target / 8)):  # fmt: skip
                    made[f"{what}_{name}"].append(entry)
        else:
            made["nodes_truenodeids"][at] = add(number, start, tree[4])
            made["nodes_falsenodeids"][at] = add(number, start, tree[5])
        return at - start

    for number, tree in enumerate(trees):
        add(number, len(made["nodes_modes"]), tree)
    return made


def agrees(proto: ModelProto, x: np.ndarray, device: str) -> None:
    wanted = runtime(proto.SerializeToString()).run(None, {"x": x})
    with tl.onnx.load(proto.SerializeToString()).session(device) as session:
        found = list(session.run({"x": x}).values())
    assert len(found) == len(wanted)
    for got, expected in zip(found, wanted, strict=True):
        if expected.dtype.kind == "f":
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)
        else:
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("seed", "aggregate"), [(1, 1), (2, 0), (3, 2), (4, 3)])
def test_ensembles(device: str, dtype: str, seed: int, aggregate: int) -> None:
    """All comparisons, several targets, and NaN, which some nodes let pass by their true branch."""
    attributes = listed(draw(seed, 6), 1 if seed % 2 else 3)
    proto = ensemble(attributes, dtype, aggregate_function=aggregate)
    agrees(proto, rows(seed, dtype=dtype), device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", range(6))
def test_one_comparison(device: str, mode: int) -> None:
    """Ensembles of one kind of node, as converters write them, with NaN among the features."""
    trees = draw(mode, 5, (mode,))
    agrees(ensemble(listed(trees, 1), "float32"), rows(mode), device)
    without = {**listed(trees, 1), "nodes_missing_value_tracks_true": []}
    agrees(ensemble(without, "float32"), rows(mode), device)


@pytest.mark.parametrize("device", DEVICES)
def test_membership(device: str) -> None:
    """Sets of small integers: onnxruntime takes no others."""
    sets = {
        split: [float(index), *np.arange(index % 4) * 2.0]
        for index, split in enumerate(np.arange(-4, 5) / 2)
    }
    attributes = listed(draw(6, 4, (0, 6)), 2, sets)
    attributes["nodes_missing_value_tracks_true"] = []
    x = np.random.default_rng(6).integers(0, 10, (40, FEATURES)).astype(np.float32)
    agrees(ensemble(attributes, "float32"), x, device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_regressors(device: str, aggregate: str) -> None:
    made = named(draw(9, 6), "target", lambda leaf: [leaf % 2])
    proto = node("TreeEnsembleRegressor", "x", "y", domain=ML, n_targets=2, **made,
                 aggregate_function=aggregate, base_values=[0.5, -1.0])  # fmt: skip
    agrees(one(proto, "float32", 3), rows(9), device)


def test_a_split_that_float32_does_not_have() -> None:
    """Features that are float64 are compared as such: cast to float32, this one would be equal."""
    split = float(np.float32(0.1))
    attributes = {"nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0] * 3,
                  "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [split, 0, 0],
                  "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
                  "target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0],
                  "target_weights": [1.0, 2.0], "n_targets": 1}  # fmt: skip
    proto = one(node("TreeEnsembleRegressor", "x", "y", domain=ML, **attributes), "float64", 3)
    x = np.zeros((2, FEATURES))
    x[:, 0] = split, split + 1e-12
    for device in DEVICES:
        agrees(proto, x, device)
        with tl.onnx.load(proto.SerializeToString()).session(device) as session:
            assert session.run({"x": x})["y"].tolist() == [[1], [2]]


CLASSES = {
    "one-class": ((0,), 2, []),
    "one-class-base": ((0,), 2, [0.25]),
    "second-alone": ((1,), 2, []),
    "three": ((0, 1, 2), 3, []),
    "three-base": ((0, 1, 2), 3, [0.5, -0.25, 0.125]),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("name", CLASSES)
def test_classifiers(device: str, post: str, positive: bool, name: str) -> None:
    ids, count, base = CLASSES[name]
    made = named(draw(11, 5), "class", lambda leaf: ids)
    if positive:
        made["class_weights"] = [abs(weight) / 8 for weight in made["class_weights"]]
    if base:
        made["base_values"] = base
    for labels in ({"classlabels_int64s": [30, 10, 20][:count]},
                   {"classlabels_strings": ["c", "a", "b"][:count]}):  # fmt: skip
        proto = node("TreeEnsembleClassifier", "x", "y z", domain=ML, **made, **labels,
                     post_transform=post)  # fmt: skip
        agrees(one(proto, "float32", 3), rows(11), device)


@pytest.mark.parametrize("device", DEVICES)
def test_two_classes_that_leaves_know_both(device: str) -> None:
    """The larger score wins. onnxruntime gives numbers that are no labels of the file."""
    made = named(draw(12, 5), "class", lambda leaf: (0, 1))
    attributes = {**made, "classlabels_int64s": [30, 10]}
    proto = one(node("TreeEnsembleClassifier", "x", "y z", domain=ML, **attributes), "float32", 3)
    labels, scores = runtime(proto.SerializeToString()).run(None, {"x": rows(12)})
    with tl.onnx.load(proto.SerializeToString()).session(device) as session:
        found = session.run({"x": rows(12)})
    np.testing.assert_allclose(found["z"], scores, rtol=1e-6)
    assert {*labels.tolist()} <= {0, 1}
    assert found["y"].tolist() == [10 if a < b else 30 for a, b in scores]


def svm(kind: str, **more: Any) -> dict[str, Any]:
    return {"kernel_type": kind, "kernel_params": [0.25, 0.5, 3.0], **more}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_support_vectors(device: str, kind: str) -> None:
    rng = np.random.default_rng(3)

    def numbers(count: int) -> list[float]:
        return np.round(rng.normal(size=count), 2).tolist()

    x = rng.normal(size=(20, FEATURES)).astype(np.float32)
    vectors = numbers(6 * FEATURES)
    regressors = [
        svm(kind, n_supports=6, support_vectors=vectors, coefficients=numbers(6), rho=[0.3]),
        svm(kind, n_supports=6, support_vectors=vectors, coefficients=numbers(6), rho=[0.3],
            one_class=1),
        svm("LINEAR", coefficients=numbers(FEATURES), rho=[0.3]),
    ]  # fmt: skip
    for attributes in regressors:
        agrees(
            one(node("SVMRegressor", "x", "y", domain=ML, **attributes), "float32", 1), x, device
        )
    three = svm(kind, vectors_per_class=[2, 1, 3], support_vectors=vectors,
                coefficients=numbers(12), rho=numbers(3), classlabels_ints=[7, 5, 6])  # fmt: skip
    two = svm(kind, vectors_per_class=[2, 4], support_vectors=vectors, coefficients=numbers(6),
              rho=[0.2], classlabels_ints=[5, 9])  # fmt: skip
    for attributes in (three, two):
        agrees(one(node("SVMClassifier", "x", "y z", domain=ML, **attributes), "float32", 1), x,
               device)  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
def test_probabilities_of_two_classes(device: str) -> None:
    """onnxruntime stops its search for them at an error of some thousandths."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(20, FEATURES)).astype(np.float32)
    vectors, weights = rng.normal(size=(6, FEATURES)), rng.normal(size=6)
    attributes = svm("LINEAR", vectors_per_class=[2, 4], support_vectors=vectors.flatten().tolist(),
                     coefficients=weights.tolist(), rho=[0.2], classlabels_ints=[5, 9],
                     prob_a=[-1.5], prob_b=[0.1])  # fmt: skip
    proto = one(node("SVMClassifier", "x", "y z", domain=ML, **attributes), "float32", 1)
    labels, chances = runtime(proto.SerializeToString()).run(None, {"x": x})
    with tl.onnx.load(proto.SerializeToString()).session(device) as session:
        found = session.run({"x": x})
    np.testing.assert_array_equal(found["y"], labels)
    np.testing.assert_allclose(found["z"], chances, atol=5e-3)
    exact = 1 / (1 + np.exp((x @ (weights @ vectors) + 0.2) * -1.5 + 0.1))
    np.testing.assert_allclose(found["z"][:, 0], np.clip(exact, 1e-7, 1), rtol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_probits(device: str) -> None:
    """The inverse of the normal distribution, which onnxruntime approximates to three digits."""
    attributes = {"coefficients": np.eye(3, FEATURES).flatten().tolist(), "targets": 3,
                  "post_transform": "PROBIT"}  # fmt: skip
    proto = one(node("LinearRegressor", "x", "y", domain=ML, **attributes), "float32", 1)
    x = np.random.default_rng(1).uniform(0.001, 0.999, (20, FEATURES)).astype(np.float32)
    (near,) = runtime(proto.SerializeToString()).run(None, {"x": x})
    with tl.onnx.load(proto.SerializeToString()).session(device) as session:
        found = session.run({"x": x})["y"]
    exact = [[NormalDist().inv_cdf(float(value)) for value in row[:3]] for row in x]
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found, near, rtol=5e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_maps(device: str) -> None:
    """A dict for each row, as onnxruntime gives it; the page shows its entries one by one."""
    x = np.array([[0.25, 0.75], [0.5, 0.125]], np.float32)
    for labels in ({"classlabels_int64s": [3, 5]}, {"classlabels_strings": ["a", "b"]}):
        kind = TensorProto.INT64 if "classlabels_int64s" in labels else TensorProto.STRING
        number = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
        maps = helper.make_sequence_type_proto(helper.make_map_type_proto(kind, number))
        proto = model(
            [node("ZipMap", "x", "y", domain=ML, **labels)],
            [value("x", ["n", 2])],
            [helper.make_value_info("y", maps)],
            opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(ML, 1)],
        )
        (wanted,) = runtime(proto.SerializeToString()).run(None, {"x": x})
        with tl.onnx.load(proto.SerializeToString()).session(device) as session:
            found = session.run({"x": x})["y"]
        assert found == wanted
        shown = flat({"y": [{"a": from_numpy(x[0])}, {"b": from_numpy(x[1])}]})
        assert [name for name, _ in shown] == ["y[0][a]", "y[1][b]"]
        described = output_of("y", [{"a": from_numpy(x[0])}])
        assert described["members"][0]["members"][0]["name"] == "y[0][a]"


def change(made: dict[str, Any], name: str, at: int, to: Any) -> dict[str, Any]:
    values = list(made[name])
    values[at] = to
    return {**made, name: values}


BAD: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "a tree with a cycle": lambda made: change(made, "nodes_truenodeids", 1, 0),
    "leads nowhere: from node 0 of tree 0 to node 999": lambda made: change(
        made, "nodes_truenodeids", 0, 999
    ),
    "its lists have": lambda made: {**made, "nodes_values": made["nodes_values"][:-1]},
    "weights do not fit": lambda made: {**made, "class_ids": made["class_ids"][:-1]},
    "beyond the 2": lambda made: change(made, "class_ids", 0, 2),
    "has no trees": lambda made: {
        key: each if key == "classlabels_int64s" else each[:0] for key, each in made.items()
    },
    "which does not exist": lambda made: change(made, "class_nodeids", 0, 999),
    "a feature beyond the 5": lambda made: change(made, "nodes_featureids", 0, 5),
    "the modes": lambda made: change(made, "nodes_modes", 0, "BRANCH_LIKE"),
    "have one number": lambda made: change(made, "nodes_nodeids", 1, 0),
    "base_values": lambda made: {**made, "base_values": [1.0, 2.0, 3.0]},
    "no labels": lambda made: {**made, "classlabels_int64s": []},
}


@pytest.mark.parametrize("message", BAD)
def test_what_is_no_ensemble(message: str) -> None:
    made = named(draw(5, 4), "class", lambda leaf: (0, 1))
    assert made["nodes_truenodeids"][1], "node 1 of the first tree branches"
    made = BAD[message]({**made, "classlabels_int64s": [1, 2]})
    empty = {name for name, each in made.items() if not each}
    given = {name: each for name, each in made.items() if each}
    classifier = node("TreeEnsembleClassifier", "x", "y z", domain=ML, **given)
    classifier.attribute.extend(
        helper.make_attribute(name, [], attr_type=AttributeProto.INTS) for name in empty
    )
    proto = one(classifier, "float32", 3)
    with pytest.raises(tl.OnnxError, match=message) as caught:
        tl.onnx.load(proto.SerializeToString()).session("numpy").run({"x": rows(5)})
    assert "\n" not in str(caught.value)


def test_strings_instead_of_features() -> None:
    made = named(draw(5, 4), "target", lambda leaf: (0,))
    proto = one(node("TreeEnsembleRegressor", "x", "y", domain=ML, **made), "float32", 3)
    proto.graph.input[0].type.tensor_type.elem_type = TensorProto.STRING
    with pytest.raises(tl.OnnxError, match="is string, but may only be"):
        tl.onnx.load(proto.SerializeToString()).session("numpy").run(
            {"x": np.array([["a"] * FEATURES], object)}
        )
