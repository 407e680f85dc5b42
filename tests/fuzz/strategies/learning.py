"""Losses, optimizers, and the operators of ai.onnx.ml."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..case import Case
from ..coding import texts_of
from ..draft import Draft
from .registry import draws

_POST = (None, "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")


@draws("learning", "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss")
def loss(draft: Draft) -> Case:
    draft.opset(13)
    rank = draft.integer(2, 4)
    batch, classes, *rest = draft.shape(rank, rank, zeros=False, long=6)
    x = draft.given(draft.array("float32", (batch, classes, *rest), -3, 0))
    target = draft.array(draft.pick(("int64", "int32")), (batch, *rest), 0, classes - 1)
    target = np.minimum(target, classes - 1).astype(target.dtype)
    ignored = draft.pick((None, None, 0, -1))
    if ignored == -1:
        target.flat[0] = -1
    weights = [draft.given(draft.array("float32", (classes,), 0.25, 2))] if draft.flag() else []
    outputs = 2 if draft.op.startswith("Softmax") and draft.flag() else 1
    return draft.result(
        x, draft.given(target), *weights, outputs=outputs, ignore_index=ignored,
        reduction=draft.pick((None, "none", "sum", "mean")), scaled=True, slack=4,
    )  # fmt: skip


_OPTIMIZERS = " ".join(
    f"ai.onnx.preview.training.{name}" for name in ("Adagrad", "Adam", "Momentum")
)


@draws("learning", _OPTIMIZERS)
def optimizer(draft: Draft) -> Case:
    states = 2 if draft.op == "Adam" else 1
    shapes = [draft.shape(0, 2, zeros=False, long=5) for _ in range(draft.integer(1, 2))]
    count = draft.integer(0, 3)
    inputs = [draft.given(np.array(0.125, np.float32)), draft.given(np.array(count, np.int64))]
    for part in range(2 + states):
        low = 0.25 if part > 1 else -2
        inputs += [draft.given(draft.array("float32", shape, low, 2)) for shape in shapes]
    chosen: dict[str, Any] = {"norm_coefficient": draft.pick((0.0, 0.25))}
    if draft.op == "Momentum":
        chosen |= {"alpha": 0.75, "beta": 0.5, "mode": draft.pick(("standard", "nesterov"))}
    elif draft.op == "Adam":
        chosen |= {"alpha": draft.pick((None, 0.75)), "beta": draft.pick((None, 0.5))}
    else:
        chosen |= {"decay_factor": draft.pick((None, 0.25)), "epsilon": draft.pick((None, 0.125))}
    return draft.result(*inputs, outputs=len(shapes) * (1 + states), **chosen, slack=40)


def _rows(draft: Draft, low: float | None = None) -> np.ndarray:
    shape = (draft.integer(1, 5), draft.integer(1, 5))
    return draft.array("float32", shape, low, edges=False)


@draws("learning", "ai.onnx.ml.Binarizer ai.onnx.ml.Scaler ai.onnx.ml.Normalizer")
def rows(draft: Draft) -> Case:
    x = _rows(draft, 0 if draft.op == "Normalizer" else None)
    n = x.shape[1]
    chosen: dict[str, Any]
    if draft.op == "Binarizer":
        chosen = {"threshold": draft.pick((None, 0.5, -1.0))}
    elif draft.op == "Scaler":
        chosen = {key: [draft.real() for _ in range(n)] for key in ("scale", "offset")}
    else:
        chosen = {"norm": draft.pick((None, "MAX", "L1", "L2"))}
        x = x + np.float32(0.25)
    return draft.result(draft.given(x), **chosen, slack=4)


@draws("learning", "ai.onnx.ml.Imputer")
def imputer(draft: Draft) -> Case:
    x = _rows(draft)
    n = draft.pick((1, x.shape[1]))
    gap = draft.pick((float("nan"), 0.0, 1.0))
    x = np.where(x == 0.5, np.float32(gap), x)
    return draft.result(
        draft.given(x), imputed_value_floats=[draft.real() for _ in range(n)],
        replaced_value_float=gap,
    )  # fmt: skip


@draws("learning", "ai.onnx.ml.FeatureVectorizer ai.onnx.ml.ArrayFeatureExtractor")
def features(draft: Draft) -> Case:
    x = _rows(draft)
    if draft.op == "FeatureVectorizer":
        y = draft.array("float32", (x.shape[0], draft.integer(1, 3)), edges=False)
        sizes = [x.shape[1], y.shape[1]]
        return draft.result(draft.given(x), draft.given(y), inputdimensions=sizes)
    where = draft.array("int64", (1, draft.integer(1, 4)), 0, x.shape[1] - 1)
    return draft.result(draft.given(x), draft.given(np.minimum(where, x.shape[1] - 1)))


@draws("learning", "ai.onnx.ml.LinearRegressor ai.onnx.ml.LinearClassifier")
def linear(draft: Draft) -> Case:
    x = _rows(draft)
    count = draft.integer(2, 3)
    coefficients = [draft.real() for _ in range(count * x.shape[1])]
    intercepts = [draft.real() + 0.03 * i for i in range(count)]
    same: dict[str, Any] = {
        "coefficients": coefficients,
        "intercepts": intercepts,
        "post_transform": None,
    }
    if draft.op == "LinearRegressor":
        same["post_transform"] = draft.pick(_POST[:4])
        return draft.result(draft.given(x), targets=count, **same, scaled=True, slack=8)
    same["post_transform"] = draft.pick(_POST)
    return draft.result(
        draft.given(x), outputs=2, classlabels_ints=list(range(4, 4 + count)), **same, scaled=True,
        slack=8,
    )  # fmt: skip


@draws("learning", "ai.onnx.ml.SVMRegressor ai.onnx.ml.SVMClassifier")
def vectors(draft: Draft) -> Case:
    x = _rows(draft)
    kind = draft.pick(("LINEAR", "RBF", "POLY", "SIGMOID"))
    count, n = draft.integer(2, 4), x.shape[1]
    same: dict[str, Any] = {
        "kernel_type": kind,
        "kernel_params": [0.25, draft.real(), 2.0],
        "support_vectors": [draft.real() for _ in range(count * n)],
        "coefficients": [draft.real() for _ in range(count)],
        "rho": [draft.real() + 0.03],
    }
    if draft.op == "SVMRegressor":
        return draft.result(draft.given(x), n_supports=count, **same, scaled=True, slack=16)
    return draft.result(
        draft.given(x), outputs=2, classlabels_ints=[4, 6], vectors_per_class=[1, count - 1],
        **same, scaled=True, slack=16,
    )  # fmt: skip


@draws("learning", "ai.onnx.ml.CategoryMapper")
def mapper(draft: Draft) -> Case:
    words, numbers = ["a", "b", "c"], [4, 0, 7]
    shape = draft.shape(1, 2, zeros=False, long=6)
    items: list[Any] = [*words, "d"] if draft.flag() else [*numbers, 9]
    flat = [draft.pick(items) for _ in range(int(np.prod(shape)))]
    is_text = isinstance(items[0], str)
    x = texts_of(flat, shape) if is_text else np.reshape(flat, shape).astype(np.int64)
    return draft.result(
        draft.given(x), cats_strings=words, cats_int64s=numbers,
        default_int64=draft.pick((None, 5)), default_string=draft.pick((None, "none")),
    )  # fmt: skip


@draws("learning", "ai.onnx.ml.OneHotEncoder ai.onnx.ml.LabelEncoder")
def encoder(draft: Draft) -> Case:
    words = draft.flag()
    shape = draft.shape(1, 2, zeros=False, long=6)
    count = int(np.prod(shape))
    items = ["a", "b", "c", "d"] if words else [0, 1, 2, 3]
    flat = [draft.pick(items) for _ in range(count)]
    x = texts_of(flat, shape) if words else np.reshape(flat, shape).astype(np.int64)
    keys = items[: draft.integer(1, 3)]
    if draft.op == "OneHotEncoder":
        keys = items if draft.flag() else keys
        key = "cats_strings" if words else "cats_int64s"
        return draft.result(draft.given(x.ravel()), **{key: keys}, zeros=1)
    named: dict[str, Any] = {"keys_strings" if words else "keys_int64s": keys}
    values: dict[str, list[Any]] = {
        "values_floats": [0.5, 1.5, -2.0], "values_int64s": [7, 8, 9],
        "values_strings": ["x", "y", "z"],
    }  # fmt: skip
    to = draft.pick(tuple(values))
    return draft.result(draft.given(x), **named, **{to: values[to][: len(keys)]})


def _tree(draft: Draft, features: int, depth: int) -> Any:
    """A feature, a split, a mode and two trees; or the target and the weight of a leaf."""
    if depth == 0 or draft.seldom():
        return draft.integer(0, 1), draft.real()
    mode = draft.pick(("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE", "BRANCH_EQ"))
    split = draft.real() + draft.pick((0, 0.03))
    branches = [_tree(draft, features, depth - 1) for _ in range(2)]
    return draft.integer(0, features - 1), split, mode, *branches


@draws("learning", "ai.onnx.ml.TreeEnsembleRegressor ai.onnx.ml.TreeEnsembleClassifier")
def trees(draft: Draft) -> Case:
    draft.opsets[draft.domain] = 3
    x = _rows(draft)
    leaf = "class" if draft.op.endswith("Classifier") else "target"
    table: dict[str, list[Any]] = {
        f"nodes_{key}": []
        for key in (
            "treeids",
            "nodeids",
            "featureids",
            "values",
            "modes",
            "truenodeids",
            "falsenodeids",
        )
    }
    table |= {f"{leaf}_{key}": [] for key in ("treeids", "nodeids", "ids", "weights")}
    for number in range(draft.integer(1, 2)):
        _enter(table, leaf, number, _tree(draft, x.shape[1], draft.integer(1, 2)))
    if leaf == "class":
        # Positive: onnxruntime passes over a class of which no leaf knows, whose score is 0.
        table["class_weights"] = [abs(weight) + 0.25 for weight in table["class_weights"]]
        return draft.result(
            draft.given(x), outputs=2, classlabels_int64s=[7, 9, 3], **table, scaled=True, slack=4,
            post_transform=draft.pick((None, "NONE", "SOFTMAX", "LOGISTIC")),
        )  # fmt: skip
    how = draft.pick((None, "SUM", "AVERAGE", "MIN", "MAX"))
    return draft.result(
        draft.given(x), n_targets=2, aggregate_function=how, **table, scaled=True, slack=4,
        post_transform=draft.pick((None, "NONE")),
        base_values=[draft.real(), draft.real()] if draft.flag() else None,
    )  # fmt: skip


def _enter(table: dict[str, list[Any]], leaf: str, number: int, root: Any) -> None:
    """Adds a tree to the operator's lists, the root first. leaf: how the lists of leaves begin."""
    waiting = [root]
    for index, node in enumerate(waiting):
        row: dict[str, Any] = {"treeids": number, "nodeids": index, "modes": "LEAF"}
        row |= dict.fromkeys(("featureids", "truenodeids", "falsenodeids"), 0) | {"values": 0.0}
        if len(node) == 2:
            end = {"treeids": number, "nodeids": index, "ids": node[0], "weights": node[1]}
            for key, value in end.items():
                table[f"{leaf}_{key}"].append(value)
        else:
            row |= dict(zip(("featureids", "values", "modes"), node[:3], strict=True))
            row |= {"truenodeids": len(waiting), "falsenodeids": len(waiting) + 1}
            waiting += node[3:]
        for key, value in row.items():
            table[f"nodes_{key}"].append(value)
