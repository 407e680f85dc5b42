"""Finds groups of Tallow nodes that ONNX expresses as one node, before a graph is saved."""

from __future__ import annotations

import math

from ....compile.passes import rewrite
from ....graph import Graph, Node, consumers, rebuild
from ....ops import elementwise as e
from ....ops import movement, reduce
from .forms import attributes_of, form, integers, is_form, number


def idioms(graph: Graph) -> Graph:
    """The graph with Conv and Gemm that add their bias, Relu, Clip, Softmax, ReduceMean, and MatMul
    over many axes. Expects a graph from window_forms.tidy."""
    readers = consumers(graph.nodes())
    shared = {node for node, reads in readers.items() if len(reads) != 1}
    shared |= set(graph.outputs.values())
    shared_new: set[Node] = set()

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        new = rebuild(node, inputs)
        found = _found(new, shared_new) or new
        if node in shared:
            shared_new.add(found)
        return found

    return graph.rewrite(rule)


def _found(node: Node, shared: set[Node]) -> Node | None:
    if is_form(node, "MatMul"):
        return _transposed(node)
    if node.op is movement.reshape and node.inputs[0] not in shared:
        return _many_axes(node)
    if not node.dtype.is_floating or len(node.inputs) != 2:
        return None
    if node.op is e.divide:
        return _softmax(node)
    for value, other in (node.inputs, node.inputs[::-1]):
        if node.op is e.add and value not in shared:
            made = _biased(value, other)
        else:
            made = _with_number(node, value, _scalar(other), shared)
        if made is not None:
            return made
    return None


def _scalar(node: Node) -> float | None:
    """The number of which all elements of a node consist, if it is constant."""
    while node.op in (movement.expand, movement.reshape):
        node = node.inputs[0]
    return float(node.attrs["data"].item()) if node.is_scalar_constant else None


def _with_number(node: Node, value: Node, other: float | None, shared: set[Node]) -> Node | None:
    """Idioms of a value and a number."""
    if other is None:
        return None
    if node.op is e.maximum and other == 0:
        return form("Relu", value)
    if node.op is e.minimum and value not in shared:
        return _clipped(value, other)
    if node.op is e.multiply and value not in shared:
        return _mean(value, other)
    return None


def _clipped(value: Node, high: float) -> Node | None:
    """min(max(x, low), high)."""
    if is_form(value, "Relu"):
        x, low = value.inputs[0], 0.0
    elif value.op is e.maximum:
        known = [(x, _scalar(y)) for x, y in (value.inputs, value.inputs[::-1])]
        x, found = next(((x, y) for x, y in known if y is not None), (value, None))
        if found is None:
            return None
        low = found
    else:
        return None
    if not low <= high:
        return None
    return form("Clip", x, number(low, x.dtype), number(high, x.dtype))


def _mean(value: Node, factor: float) -> Node | None:
    """A sum times 1 / count; or a mean times the count, times 1 / count."""
    if value.op is movement.reshape:  # keepdims=False
        inner = _mean(value.inputs[0], factor)
        return None if inner is None else rewrite.reshape(inner, value.shape)
    if value.op is reduce.sum_ and value.size:
        count = value.inputs[0].size // value.size
        if count and math.isclose(factor * count, 1, rel_tol=1e-6):
            x, axes = value.inputs[0], value.attrs["axes"]
            if len(x.shape) == 4 and axes == (2, 3):
                return form("GlobalAveragePool", x, shape=value.shape)
            return form("ReduceMean", x, integers(*axes), shape=value.shape, keepdims=1)
    if value.op is e.multiply:
        for inner, other in (value.inputs, value.inputs[::-1]):
            known = _scalar(other)
            if known and math.isclose(factor * known, 1, rel_tol=1e-6):
                return inner
    return None


def _softmax(node: Node) -> Node | None:
    """exp(x - max(x)) / sum(exp(x - max(x))) along an axis."""
    top, total = node.inputs[0], _before_expand(node.inputs[1])
    if top.op is not e.exp or total.op is not reduce.sum_ or total.inputs != (top,):
        return None
    shifted = top.inputs[0]
    if shifted.op is not e.subtract:
        return None
    x, largest = shifted.inputs[0], _before_expand(shifted.inputs[1])
    alike = largest.attrs.get("axes") == total.attrs["axes"] and len(total.attrs["axes"]) == 1
    if largest.op is not reduce.max_ or largest.inputs != (x,) or not alike:
        return None
    return form("Softmax", x, axis=total.attrs["axes"][0])


def _before_expand(node: Node) -> Node:
    return node.inputs[0] if node.op is movement.expand else node


def _transposed(node: Node) -> Node | None:
    """A MatMul with a transposed right side, as a Gemm."""
    a, b = node.inputs
    if len(node.shape) != 2 or not node.dtype.is_floating or b.op is not movement.permute:
        return None
    return form("Gemm", a, b.inputs[0], shape=node.shape, transB=1)


def _many_axes(node: Node) -> Node | None:
    """A matrix product of flattened axes, as a product over many axes."""
    product = node.inputs[0]
    gemm = is_form(product, "Gemm") and len(product.inputs) == 2
    if not gemm and not is_form(product, "MatMul"):
        return None
    a, b = (x.inputs[0] if x.op is movement.reshape else x for x in product.inputs[:2])
    inner, columns = product.inputs[0].shape[-1], product.shape[-1]
    if len(a.shape) < 2 or a.shape[-1] != inner or node.shape != (*a.shape[:-1], columns):
        return None
    if len(product.shape) == 2:
        b = product.inputs[1]
        return form("MatMul", a, rewrite.permute(b, (1, 0)) if gemm else b, shape=node.shape)
    if b.shape != (*a.shape[:-2], inner, columns):
        return None
    return form("MatMul", a, b, shape=node.shape)


def _biased(value: Node, other: Node) -> Node | None:
    """A Conv, Gemm or MatMul with a bias per channel or column."""
    while other.op is movement.expand:
        other = other.inputs[0]
    if is_form(value, "Conv") and len(value.inputs) == 2:
        channels = value.shape[1]
        if other.shape != (1, channels, 1, 1):
            return None
        bias = rewrite.reshape(other, (channels,))
        return form("Conv", *value.inputs, bias, shape=value.shape, **attributes_of(value))
    if len(value.shape) != 2 or len(value.inputs) != 2:
        return None
    if not (is_form(value, "Gemm") or is_form(value, "MatMul")):
        return None
    if other.shape != (1, value.shape[1]):
        return None
    attributes = attributes_of(value)
    bias = rewrite.reshape(other, other.shape[1:])
    return form("Gemm", *value.inputs, bias, shape=value.shape, **attributes)
