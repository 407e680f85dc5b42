"""Classifiers of the domain ai.onnx.ml: labels and scores. Labels that are strings are given by the
host, which computes all of the operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..... import functional as nn
from ..... import functions as f
from .....core import dtype as dt
from .....core.devices import EXACT
from .....core.dtype import as_dtype
from .....core.hostarray import from_values
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....graph import Graph, input_node
from .....runtime.session import compile_session
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import host_operator, operator
from ..text.texts import object_array
from .learning import DOMAIN, TRANSFORMS, linear_scores, transformed
from .trees import float_list, named_trees, tree_scores

if TYPE_CHECKING:
    from .....arrays import Array, NumPy

_Scored = Callable[[Call, Tensor, int], tuple[Tensor, Tensor]]
"""function(call, x, classes): the index of each row's label (n,), and its scores."""


def _operators(name: str, integers: str, function: _Scored) -> None:
    """Registers a classifier. integers: the attribute with labels that are integers."""

    def on_device(call: Call, x: Tensor) -> list[Tensor]:
        if call.get("classlabels_strings", tuple, ()):
            raise OnnxUnsupportedError("its labels are strings")
        labels = call.ints(integers, ())
        chosen, scores = function(call, x, len(labels))
        return [f.take(asarray(from_values(labels, (len(labels),), dt.int64)), chosen), scores]

    def on_host(call: Call, np: NumPy, x: Array) -> tuple[Array, Array]:
        labels = call.get("classlabels_strings", tuple, ()) or call.ints(integers, ())
        given = input_node("x", x.shape, as_dtype(x.dtype))
        chosen, scores = function(call, Tensor(given), len(labels))
        graph = Graph((given,), {"chosen": chosen.node, "scores": scores.node}, name)
        with compile_session(graph, EXACT) as session:
            found = session.run({"x": x})
        named = [labels[index] for index in found["chosen"].tolist()]
        if isinstance(labels[0], str):
            return object_array(np, named, (len(named),)), found["scores"]
        return np.array(named, np.int64), found["scores"]

    operator(name, domain=DOMAIN)(on_device)
    host_operator(name, domain=DOMAIN)(on_host)


def _need(classes: int, scores: int) -> None:
    if not classes or classes != scores:
        raise OnnxFormatError(f"{classes} labels for {scores} scores")


def _both(score: Tensor, name: str) -> Tensor:
    """The scores of two classes (n, 2) from that of the second one. A softmax is not for these."""
    both = f.concat([1 - score, score], 1)
    return transformed(both, name) if name == "PROBIT" else both


def _linear(call: Call, x: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """The label with the largest score."""
    call.ignore("multi_class")
    name = call.choice("post_transform", *TRANSFORMS)
    rows = len(call.get("intercepts", tuple, ())) or classes
    scores = linear_scores(call, x, rows)
    if rows == 1 and classes == 2:  # one score for two classes
        chosen = (scores[:, 0] > 0).astype(dt.int32)
        if name == "LOGISTIC":
            scores = nn.sigmoid(scores)
        return chosen, _both(scores, name)
    _need(classes, rows)
    return f.argmax(scores, 1), transformed(scores, name)


_operators("LinearClassifier", "classlabels_ints", _linear)


def _trees(call: Call, x: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """The label with the largest score. Of two classes the leaves may know one alone, which is
    then chosen if its score is beyond a half, as a probability, or beyond 0 if any weight is
    negative; so do onnxruntime and the converters."""
    name = call.choice("post_transform", *TRANSFORMS)
    trees = named_trees(call, "class")
    known = {target for row in trees.weights for target, _ in row}
    base = float_list(call, "base_values")[0]
    if not classes:
        raise OnnxFormatError("it has no labels")
    one = classes == 2 and known == {0} and len(base) < 2
    if base and len(base) != (1 if one else classes):
        raise OnnxFormatError(f"{len(base)} base_values for {classes} classes")
    scores = tree_scores(trees, x, classes, "SUM")
    if base:
        added = base + [0.0] * (classes - len(base))
        scores = scores + asarray(from_values(added, (classes,), scores.dtype))
    positive = all(weight >= 0 for row in trees.weights for _, weight in row)
    if one:
        score = scores[:, :1]
        chosen = (score[:, 0] > (0.5 if positive else 0.0)).astype(dt.int32)
        if name == "LOGISTIC":
            scores = nn.sigmoid(f.concat([-score, score], 1))
        else:
            scores = _both(score, name) if positive else f.concat([-score, score], 1)
        return chosen, scores.astype(dt.float32)
    if classes == 2 and known == {1} and not base:
        chosen = (scores[:, 1] > (0.5 if positive else 0.0)).astype(dt.int32)
    else:
        chosen = f.argmax(scores, 1)
    return chosen, transformed(scores, name).astype(dt.float32)


_operators("TreeEnsembleClassifier", "classlabels_int64s", _trees)


# ---- support vectors ---------------------------------------------------------------------------


def _kernel(call: Call, x: Tensor, vectors: Tensor) -> Tensor:
    """What each row of x and each vector give: (n, vectors)."""
    kind = call.choice("kernel_type", "LINEAR", "POLY", "RBF", "SIGMOID")
    gamma, coef0, degree = call.get("kernel_params", tuple, ()) or (0.0, 0.0, 0.0)
    if kind == "RBF":
        apart = f.expand_dims(x, 1) - f.expand_dims(vectors, 0)
        return f.exp(f.sum(apart * apart, 2) * -gamma)
    product = x @ vectors.mT
    if kind == "LINEAR":
        return product
    inside = product * gamma + coef0
    return f.tanh(inside) if kind == "SIGMOID" else inside**degree


def _matrix(call: Call, name: str, rows: int, columns: int) -> Tensor:
    values = call.get(name, tuple)
    if rows < 1 or columns < 1 or len(values) != rows * columns:
        raise OnnxFormatError(f"{len(values)} {name} are no {rows} rows of {columns}")
    return asarray(from_values(values, (rows, columns), dt.float32))


def _features(x: Tensor) -> Tensor:
    if x.ndim not in (1, 2):
        raise OnnxFormatError(f"an input {x.shape}, not rows of features")
    return f.reshape(x, (-1, x.shape[-1])).astype(dt.float32)


@operator("SVMRegressor", domain=DOMAIN)
def svm_regressor(call: Call, x: Tensor) -> Tensor:
    """one_class: 1 inside, -1 outside."""
    name, count = call.choice("post_transform", *TRANSFORMS), call.get("n_supports", int, 0)
    rho, rows = call.get("rho", tuple), _features(x)
    if not rho:
        raise OnnxFormatError("rho is empty")
    if count > 0:
        vectors = _matrix(call, "support_vectors", count, rows.shape[1])
        weights = _matrix(call, "coefficients", count, 1)
        scores = _kernel(call, rows, vectors) @ weights
    else:
        call.ignore("support_vectors")
        scores = _kernel(call, rows, _matrix(call, "coefficients", 1, rows.shape[1]))
    scores = scores + rho[0]
    if call.flag("one_class"):
        return f.where(scores > 0, 1.0, -1.0).astype(dt.float32)
    return transformed(scores, name)


def _svm(call: Call, x: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """The label for which most pairs of classes vote. The scores are those of the pairs, or
    probabilities, which change no label."""
    name, rows = call.choice("post_transform", *TRANSFORMS), _features(x)
    counts = call.ints("vectors_per_class", ())
    rho = call.get("rho", tuple)
    prob_a, prob_b = call.get("prob_a", tuple, ()), call.get("prob_b", tuple, ())
    if not counts:
        return _without_vectors(call, rows, classes, rho, name)
    pairs = classes * (classes - 1) // 2
    _need(classes, len(counts))
    if classes < 2 or min(counts) < 0 or len(rho) != pairs:
        raise OnnxFormatError(f"{len(rho)} rho and vectors {counts} do not fit {classes} classes")
    if len(prob_a) != len(prob_b) or len(prob_a) not in (0, pairs):
        raise OnnxFormatError(f"{len(prob_a)} prob_a and {len(prob_b)} prob_b for {pairs} pairs")
    if prob_a and classes > 2:
        raise OnnxUnsupportedError("probabilities of more than two classes")
    total = sum(counts)
    kernel = _kernel(call, rows, _matrix(call, "support_vectors", total, rows.shape[1]))
    weights = call.get("coefficients", tuple)
    if len(weights) != (classes - 1) * total:
        raise OnnxFormatError(f"{len(weights)} coefficients for {total} vectors")
    starts = [sum(counts[:index]) for index in range(classes + 1)]
    columns: list[list[float]] = []
    for i in range(classes):
        for j in range(i + 1, classes):
            column = [0.0] * total
            for this, row in ((i, j - 1), (j, i)):
                for at in range(starts[this], starts[this + 1]):
                    column[at] = weights[row * total + at]
            columns.append(column)
    flat = [value for column in columns for value in column]
    table = asarray(from_values(flat, (pairs, total), dt.float32))
    scores = kernel @ table.mT + asarray(from_values(rho, (pairs,), dt.float32))
    votes = [f.zeros((rows.shape[0],), dt.int32)] * classes
    pair = 0
    for i in range(classes):
        for j in range(i + 1, classes):
            won = (scores[:, pair] > 0).astype(dt.int32)
            votes[i], votes[j] = votes[i] + won, votes[j] + (1 - won)
            pair += 1
    chosen = f.argmax(f.stack(votes, axis=1), 1)
    if prob_a:  # Platt scaling
        chance = nn.sigmoid(-(scores * prob_a[0] + prob_b[0]))
        scores = f.clip(f.concat([chance, 1 - chance], 1), 1e-7, 1 - 1e-7)
    elif classes == 2:
        scores = f.concat([-scores, scores], 1)
    return chosen, transformed(scores, name)


def _without_vectors(
    call: Call, rows: Tensor, classes: int, rho: Sequence[float], name: str
) -> tuple[Tensor, Tensor]:
    """A linear model: a score for each class."""
    call.ignore("support_vectors")
    weights = _matrix(call, "coefficients", classes, rows.shape[1])
    if not rho:
        raise OnnxFormatError("rho is empty")
    scores = _kernel(call, rows, weights) + rho[0]
    return f.argmax(scores, 1), transformed(scores, name)


_operators("SVMClassifier", "classlabels_ints", _svm)
