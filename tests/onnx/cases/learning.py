"""Operators of the domain ai.onnx.ml."""

from typing import Any

import numpy as np
from onnx import numpy_helper

from ..case import Case, floats, integers
from .texts import texts

ML = "ai.onnx.ml"


def case(op: str, inputs: list[Any], attributes: dict[str, Any], **fields: Any) -> Case:
    return Case(op, inputs, attributes, domain=ML, **{"opsets": (1, 5), **fields})


def tensor(*values: Any, dtype: Any = np.float32) -> Any:
    return numpy_helper.from_array(np.array(values, dtype))


_X = floats(4, 3)
_GAPS = np.array([[1, np.nan, 3], [0, 5, 6]], np.float32)
_COEFFICIENTS = floats(9).tolist()
SIMPLE = [
    case("Binarizer", [_X], {"threshold": 0.5}),
    case("Scaler", [_X], {"scale": [2.0], "offset": [0.5]}),
    case("Scaler", [_X], {"scale": [2.0, 1.0, 0.5], "offset": [0.5, 0.0, 1.0]}),
    *[case("Normalizer", [abs(_X)], {"norm": norm}) for norm in ("MAX", "L1", "L2")],
    *[case("Normalizer", [_X], {"norm": norm}) for norm in ("L1", "L2")],
    case("Imputer", [_GAPS], {"imputed_value_floats": [9.0], "replaced_value_float": np.nan}),
    case("Imputer", [_GAPS], {"imputed_value_floats": [7.0, 8.0, 9.0],
                              "replaced_value_float": 0.0}),
    case("Imputer", [integers(2, 3)], {"imputed_value_int64s": [9], "replaced_value_int64": 1}),
    case("FeatureVectorizer", [_X, floats(4, 2)], {"inputdimensions": [3, 2]}),
    *[case("LinearRegressor", [_X], {"coefficients": _COEFFICIENTS, "targets": 3,
           "intercepts": [0.5, 1.0, -1.0], "post_transform": post})
      for post in ("NONE", "SOFTMAX", "LOGISTIC")],
    *[case("LinearClassifier", [_X], {"coefficients": _COEFFICIENTS, "intercepts": [0.5, 1.0, -1.0],
           "classlabels_ints": [4, 7, 9], "post_transform": post}, outputs=2)
      for post in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")],
    *[case("LinearClassifier", [floats(60, 3, low=-1, high=1)],
           {"coefficients": [1.0, -1.0, 0.5], "intercepts": [0.1], "classlabels_ints": [4, 7],
            "post_transform": post}, outputs=2)
      for post in ("NONE", "LOGISTIC")],
    *[case("LinearClassifier", [floats(9, 3)],
           {"coefficients": [0.1, -0.2, 0.3], "intercepts": [0.5], "classlabels_ints": [1, 5],
            "post_transform": post}, outputs=2)
      for post in ("SOFTMAX", "SOFTMAX_ZERO")],
    case("OneHotEncoder", [integers(4, low=0, high=4)], {"cats_int64s": [0, 1, 3]}),
    case("LabelEncoder", [integers(9, low=0, high=4)],
         {"keys_int64s": [1, 2], "values_floats": [0.5, 1.5], "default_float": 7.0},
         opsets=(2, 5)),
    case("LabelEncoder", [np.array([1, np.nan, 2], np.float32)],
         {"keys_floats": [np.nan, 1.0], "values_int64s": [5, 6]}, opsets=(4, 5)),
    case("LabelEncoder", [integers(9, low=0, high=4)],
         {"keys_tensor": tensor(1, 3, dtype=np.int64),
          "values_tensor": tensor(9, 8, dtype=np.int64),
          "default_tensor": tensor(2, dtype=np.int64)}, opsets=(4, 5)),
]  # fmt: skip

# Two trees: x0 <= 0 ? (x1 > 1 ? a : b) : c, and x2 < 0.5 ? d : e.
_TREES = {
    "tree_roots": [0, 2], "nodes_featureids": [0, 1, 2],
    "nodes_splits": tensor(0.0, 1.0, 0.5), "nodes_modes": tensor(0, 3, 1, dtype=np.uint8),
    "nodes_truenodeids": [1, 0, 3], "nodes_trueleafs": [0, 1, 1],
    "nodes_falsenodeids": [2, 1, 4], "nodes_falseleafs": [1, 1, 1],
    "leaf_targetids": [0, 1, 0, 1, 1], "leaf_weights": tensor(1.0, 2.0, 4.0, 8.0, -3.0),
    "n_targets": 2,
}  # fmt: skip
_NAMED = {
    "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
    "nodes_featureids": [0, 1, 0, 0, 0, 2, 0, 0],
    "nodes_values": [0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0],
    "nodes_truenodeids": [1, 2, 0, 0, 0, 1, 0, 0], "nodes_falsenodeids": [4, 3, 0, 0, 0, 2, 0, 0],
    "target_treeids": [0, 0, 0, 1, 1, 1], "target_nodeids": [2, 3, 4, 1, 2, 2],
    "target_ids": [0, 1, 0, 1, 1, 0], "target_weights": [1.0, 2.0, 4.0, 8.0, -3.0, 0.5],
    "n_targets": 2,
}  # fmt: skip
_ROWS = np.concatenate([floats(30, 3), np.full((1, 3), np.nan, np.float32)])
TREES = [
    *[case("TreeEnsemble", [_ROWS], {**_TREES, "aggregate_function": how}, opsets=(5, 5))
      for how in (1, 2, 3)],
    case("TreeEnsemble", [_ROWS], {**_TREES, "nodes_missing_value_tracks_true": [1, 0, 1]},
         opsets=(5, 5)),
    *[case("TreeEnsembleRegressor", [_ROWS], {**_NAMED, "aggregate_function": how}, opsets=(1, 4))
      for how in ("SUM", "AVERAGE", "MIN", "MAX")],
    case("TreeEnsembleRegressor", [_ROWS], {**_NAMED, "base_values": [0.0, -2.0],
         "post_transform": "SOFTMAX"}, opsets=(1, 4)),
]  # fmt: skip

_CLASSES = {
    **{name: each for name, each in _NAMED.items() if name.startswith("nodes_")},
    **{f"class_{name}": _NAMED[f"target_{name}"] for name in ("treeids", "nodeids", "weights")},
    "class_ids": [0, 1, 2, 0, 1, 2],
}
_VECTORS = {
    "kernel_type": "RBF", "kernel_params": [0.25, 0.0, 3.0], "vectors_per_class": [1, 1, 2],
    "support_vectors": floats(12).tolist(), "coefficients": floats(8).tolist(),
    "rho": [0.5, -0.25, 0.125],
}  # fmt: skip
TREES += [
    case("TreeEnsembleClassifier", [_ROWS], {**_CLASSES, "classlabels_int64s": [5, 3, 4]},
         opsets=(1, 4), outputs=2),
    case("SVMClassifier", [_X], {**_VECTORS, "classlabels_ints": [5, 3, 4]}, outputs=2),
    case("SVMRegressor", [_X], {"kernel_type": "POLY", "kernel_params": [0.25, 0.5, 2.0],
         "n_supports": 2, "support_vectors": floats(6).tolist(), "coefficients": [0.5, -1.0],
         "rho": [0.25]}),
]  # fmt: skip

CASES = [*SIMPLE, *TREES]

ON_HOST = [
    case("OneHotEncoder", [texts("a", "c", "x")], {"cats_strings": ["a", "b", "c"]}),
    case("ArrayFeatureExtractor", [texts(["a", "b"], ["c", "d"]), np.array([1], np.int64)], {}),
    case("TreeEnsembleClassifier", [_ROWS], {**_CLASSES, "classlabels_strings": ["c", "a", "b"]},
         opsets=(1, 4), outputs=2),
    case("SVMClassifier", [_X], {**_VECTORS, "classlabels_strings": ["c", "a", "b"]}, outputs=2),
    case("CategoryMapper", [texts("a", "z", "b")],
         {"cats_strings": ["a", "b"], "cats_int64s": [7, 8], "default_int64": -3}),
    case("CategoryMapper", [np.array([[7], [9]], np.int64)],
         {"cats_strings": ["a", "b"], "cats_int64s": [7, 8], "default_string": "none"}),
    case("LabelEncoder", [texts("a", "z")],
         {"classes_strings": ["a", "b"], "default_int64": -5}, opsets=(1, 1)),
    *[case("LinearClassifier", [floats(9, 3)],
           {"coefficients": coefficients, "intercepts": intercepts, "classlabels_strings": labels,
            "post_transform": "LOGISTIC"}, outputs=2)
      for coefficients, intercepts, labels in (
          (_COEFFICIENTS, [0.5, 1.0, -1.0], ["a", "b", "c"]),
          ([0.1, -0.2, 0.3], [0.5], ["no", "yes"]))],
    case("LabelEncoder", [texts(["a", "b"], ["c", "d"])],
         {"keys_strings": ["a", "c"], "values_int64s": [3, 4]}, opsets=(2, 5)),
    case("LabelEncoder", [integers(5, low=0, high=3)],
         {"keys_int64s": [0, 1], "values_strings": ["null", "eins"]}, opsets=(2, 5)),
    case("LabelEncoder", [texts("a", "z")],
         {"keys_tensor": numpy_helper.from_array(texts("a", "b")),
          "values_tensor": tensor(1, 2, dtype=np.int16),
          "default_tensor": tensor(9, dtype=np.int16)}, opsets=(4, 5)),
]  # fmt: skip
