"""Shrinks weights, and evaluates arithmetic on weights, before a model is saved."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ....compile.partition import static_nodes
from ....compile.passes.fold import fold
from ....compile.passes.layout import layout
from ....compile.passes.scale import fold_scales
from ....compile.passes.simplify import simplify
from ....core import dtype as dt
from ....core.hostarray import HostArray, from_buffer
from ....graph import Graph, Node, constant, consumers, make, rebuild
from ....ops import elementwise as e
from ....ops import movement
from ....ops.kinds import Contraction, Elementwise, Reduce
from .forms import form, is_form

MIN_ELEMENTS = 1024
"""Smaller weights are not worth shrinking."""


def folded(graph: Graph) -> Graph:
    """The graph with batch norm folded into convolutions, and arithmetic on weights evaluated."""
    graph = fold_scales(simplify(layout(simplify(fold(graph)))))
    return simplify(_evaluated(graph))


def _evaluated(graph: Graph) -> Graph:
    """Evaluates arithmetic on constants, unless the results would be larger."""
    import numpy as np

    static = static_nodes(graph)
    values: dict[Node, Any] = {}
    largest: dict[Node, int] = {}

    def value(node: Node) -> Any:
        if node not in values:
            if node.is_constant:
                values[node] = node.attrs["data"].numpy()
            else:
                attrs = dict(node.attrs)
                values[node] = node.op.numpy(np, *map(value, node.inputs), **attrs)
        return values[node]

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node in static:
            sizes = (largest[child] for child in node.inputs)
            largest[node] = node.size if node.is_constant else max(sizes, default=0)
            computes = isinstance(node.op, (Elementwise, Reduce, Contraction))
            if computes and node.op is not e.cast and node.size <= largest[node]:
                array = np.ascontiguousarray(value(node), node.dtype.name)
                return constant(from_buffer(array))
        return rebuild(node, inputs)

    with np.errstate(all="ignore"):
        return graph.rewrite(rule)


def stored_transposed(graph: Graph, kept: Collection[HostArray] = ()) -> Graph:
    """Stores constants transposed if they are only read that way. kept: those that are not."""
    fixed = {id(data) for data in kept}
    nodes = graph.nodes()
    readers = consumers(nodes)
    for node in nodes:
        if node.is_constant and id(node.attrs["data"]) in fixed:
            del readers[node]

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node.op is movement.permute and node.inputs[0] in readers:
            moved = _transposed(node.inputs[0], node.attrs["axes"], readers)
            if moved is not None:
                return moved
        return rebuild(node, inputs)

    return graph.rewrite(rule)


def _transposed(node: Node, axes: Sequence[int], readers: Mapping[Node, list[Node]]) -> Node | None:
    if len(readers.get(node, ())) != 1:
        return None
    if node.op is e.cast:
        inner = _transposed(node.inputs[0], axes, readers)
        return None if inner is None else make(e.cast, inner, dtype=node.dtype)
    if not node.is_constant:
        return None
    import numpy as np

    return constant(from_buffer(np.ascontiguousarray(node.attrs["data"].numpy().transpose(axes))))


def halved(graph: Graph) -> Graph:
    """Turns large float32 constants into float16 and a cast, unless they overflow."""
    import numpy as np

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        if not _is_large(node):
            return rebuild(node, inputs)
        array = node.attrs["data"].numpy()
        if not np.abs(array).max() <= np.finfo(np.float16).max:
            return node
        half = constant(from_buffer(array.astype(np.float16)))
        return make(e.cast, half, dtype=dt.float32)

    return graph.rewrite(rule)


def _is_large(node: Node) -> bool:
    matrix = len(node.shape) > 1  # biases are small, and their errors do not average out
    return node.is_constant and node.dtype == dt.float32 and matrix and node.size >= MIN_ELEMENTS


def quantised(graph: Graph) -> Graph:
    """Turns the weights of Conv, Gemm and MatMul, in a graph of forms, into int8 with a scale per
    channel, symmetric about 0. DequantizeLinear turns them back into float32."""
    made: dict[tuple[Node, int], Node] = {}

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        new = rebuild(node, inputs)
        names = ("Conv", "Gemm", "MatMul")
        if not any(is_form(new, name) for name in names) or new.dtype != dt.float32:
            return new
        transposed = ("transB", 1) in new.attrs["attributes"]
        axis = 0 if is_form(new, "Conv") or transposed else len(new.inputs[1].shape) - 1
        key = new.inputs[1], axis
        if key not in made:
            made[key] = _quantised(*key)
        return rebuild(new, (new.inputs[0], made[key], *new.inputs[2:]))

    return graph.rewrite(rule)


def _quantised(weight: Node, axis: int) -> Node:
    import numpy as np

    source = weight.inputs[0] if is_form(weight, "Cast") else weight
    if not source.is_constant or not source.dtype.is_floating or source.size < MIN_ELEMENTS:
        return weight
    array = source.attrs["data"].numpy().astype(np.float32)
    others = tuple(i for i in range(array.ndim) if i != axis)
    scale = np.abs(array).max(axis=others, keepdims=True) / np.float32(127)
    if not np.isfinite(scale).all():
        return weight
    scale = np.where(scale == 0, np.float32(1), scale).astype(np.float32)
    whole = np.clip(np.rint(array / scale), -127, 127).astype(np.int8)
    return form(
        "DequantizeLinear",
        constant(from_buffer(whole)),
        constant(from_buffer(np.ascontiguousarray(scale.ravel()))),
        dtype=dt.float32,
        axis=axis,
    )
