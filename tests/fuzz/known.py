"""Known differences that are not mistakes of Tallow: errors of others, and decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .case import Case, Node
from .values import INTEGERS

ROUGH_ON_GPU = dict.fromkeys(("Acos", "Asin", "Atan"), 2e-4)
"""WGSL only requires an absolute error of about 7e-5 for these."""


@dataclass(frozen=True)
class Misled:
    """Cases that an oracle gets wrong. applies: whether a case is one of them."""

    oracle: str
    applies: Callable[[Case], bool]
    reason: str


def _has(*operators: str, before: int = 1000) -> Callable[[Case], bool]:
    """Whether a case has one of the operators, in an operator set before the given one."""
    return lambda case: case.opsets[""] < before and not set(operators).isdisjoint(case.operators)


def _given(case: Case, op: str, *positions: int) -> bool:
    """Whether a node of that operator has one of these inputs."""
    return any(
        any(node.inputs[i : i + 1] not in ((), ("",)) for i in positions)
        for node in case.graph.every_node()
        if node.op == op
    )


def _set(case: Case, op: str, *names: str) -> bool:
    """Whether a node of that operator has one of these attributes."""
    return any(
        not set(names).isdisjoint(node.attributes)
        for node in case.graph.every_node()
        if node.op == op
    )


def _nodes(applies: Callable[[Node], bool], *operators: str) -> Callable[[Case], bool]:
    """Whether a case has a node of one of these operators to which it applies."""
    return lambda case: any(
        node.op in operators and applies(node) for node in case.graph.every_node()
    )


def _valid_and_dilated(node: Node) -> bool:
    dilations = node.attributes.get("dilations", [1])
    return node.attributes.get("auto_pad") == "VALID" and max(dilations) > 1


def _raw_products(node: Node) -> bool:
    """Whether its products are asked for as they are before the softcap."""
    attributes = node.attributes
    return "softcap" in attributes and not attributes.get("qk_matmul_output_mode")


def _recurrent(case: Case) -> bool:
    beyond = ("activations", "clip", "direction", "input_forget")
    return any(_given(case, op, 4) or _set(case, op, *beyond) for op in ("RNN", "GRU", "LSTM"))


def _fed(case: Case, dtype: str) -> bool:
    return any(kind.dtype == dtype for kind in case.graph.inputs.values()) or any(
        value.dtype.name == dtype for value in case.graph.known.values()
    )


def _no_turns(case: Case) -> bool:
    """Whether a Loop without turns is in a model with symbolic lengths."""
    values = {**case.graph.known, **case.feeds}
    first = [values.get(x) for n in case.graph.nodes if n.op == "Loop" for x in n.inputs[:2]]
    open_ = any(isinstance(n, str) for k in case.graph.inputs.values() for n in k.shape or ())
    return open_ and any(value is not None and not np.any(value) for value in first)


def _whole_exponentials(case: Case) -> bool:
    return _has("ReduceLogSumExp")(case) and any(_fed(case, dtype) for dtype in INTEGERS)


_REFERENCE = tuple(
    Misled("reference", applies, reason)
    for applies, reason in (
        (_has("Softmax", "LogSoftmax", "Hardmax", before=13),
         "it takes the chosen axis alone, as later sets do"),
        (_has("GlobalMaxPool"), "of one spatial axis it reduces the channels too"),
        (_nodes(_valid_and_dilated, "AveragePool", "LpPool"),
         "the lengths it gives are those of no dilation"),
        (_nodes(_raw_products, "Attention"), "it caps the products of mode 0, too"),
        (lambda case: _has("ReduceSumSquare", "ReduceMean")(case)
            and (_fed(case, "uint32") or _fed(case, "int32")),
         "it adds in another type than NumPy's sum of int32, which is int64"),
        (lambda case: _set(case, "LpPool", "ceil_mode"),
         "it repeats the last elements where a window leaves the image"),
        (_recurrent, "it has no lengths, and the usual activations in one direction alone"),
        (lambda case: _given(case, "ConvTranspose", 2) and _set(case, "ConvTranspose", "group"),
         "of groups it adds the first channel's bias to all"),
        (_has("StringNormalizer"), "it strips accents and drops empty texts"),
        (lambda case: _has("Erf", "Gelu")(case) and _fed(case, "float64"),
         "it computes erf in float32"),
        (_has("LRN"), "it leaves the last channels as they are"),
        (lambda case: _set(case, "Unique", "sorted"), "it sorts in any case"),
        (_has("AffineGrid"), "of float16 it makes float32"),
        (_has("Optional"), "it takes a sequence for the optional itself"),
        (_has("ai.onnx.preview.training.Adam"), "it computes in float64"),
        (lambda case: _has("Pad")(case) and (_fed(case, "string") or _fed(case, "object")),
         "it fills texts with '0'"),
    )
)  # fmt: skip

MISLED = (
    *_REFERENCE,
    Misled("onnxruntime", _no_turns, "rows of no turn have the length 0 where the file fixes none"),
    Misled("onnxruntime", _whole_exponentials, "exponentials of integers become integers"),
)


def misled(oracle: str, case: Case) -> bool:
    """Whether the oracle must not be asked about a case."""
    return any(entry.oracle == oracle and entry.applies(case) for entry in MISLED)


@dataclass(frozen=True)
class Deviation:
    """applies: whether it concerns a node. reason: why Tallow's answer is right."""

    op: str
    applies: Callable[[Node], bool]
    reason: str


def _pool(node: Node) -> bool:
    dilations = node.attributes.get("dilations", [1])
    return node.attributes.get("auto_pad", "").startswith("SAME") and max(dilations) > 1


def _gaps(node: Node) -> bool:
    """Whether SAME padding is requested and strides are longer than the window."""
    pairs = zip(node.attributes.get("strides", ()), node.attributes["kernel_shape"], strict=False)
    return node.attributes.get("auto_pad", "").startswith("SAME") and any(s > k for s, k in pairs)


DEVIATIONS = (
    Deviation(
        "Resize",
        lambda node: node.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize",
        "the standard's formula for the region; others take it for whole, or copy",
    ),
    Deviation(
        "Pad",
        lambda node: node.attributes.get("mode") == "wrap",
        "what is wrapped is the input, not what negative pads leave of it",
    ),
    *(
        Deviation(op, _pool, "SAME pads until the lengths are those of no dilation")
        for op in ("MaxPool", "AveragePool", "LpPool")
    ),
    *(
        Deviation(op, _gaps, "the standard has no negative padding; others drop elements by it")
        for op in ("MaxPool", "AveragePool", "LpPool")
    ),
)
"""What strategies draw, and others answer otherwise. They do not draw at all: NaN for Max, Min,
TopK, Unique and what searches; slices backwards to INT_MAX; ScaledTanh without its numbers."""


def deviation(case: Case) -> Deviation | None:
    """The known deviation that explains a difference, if any."""
    for node in case.graph.every_node():
        for entry in DEVIATIONS:
            if entry.op == node.op and entry.applies(node):
                return entry
    return None
