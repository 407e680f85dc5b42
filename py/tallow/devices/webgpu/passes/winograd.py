"""Winograd: 3x3 convolutions as a transform, a matmul of 16 matrices and a transform back.

The weight is transformed by a matmul with a constant. That depends on weights alone, and so runs in
`prepare`, after whatever was folded into the weight.

The transformed image takes four times the memory of the image, the product four times that of the
result. Where these would decide how much memory a run takes, the convolution stays as it is. So
does one whose weight is packed (packed.py): transformed, it would be seven times as large.
"""

from __future__ import annotations

from typing import Any

from ....codegen.groups import is_plain_3x3
from ....codegen.layout import stored_bytes
from ....compile.partition import static_nodes
from ....compile.passes import rewrite
from ....compile.passes.packed import packed_nodes
from ....core.dtype import float32
from ....core.hostarray import from_values
from ....graph import Graph, Node, constant, make, rebuild
from ....ops import contract, window
from ....ops import winograd as ops
from ....ops.kinds import Contraction
from ..codegen.choice import Traits, winograd_pays
from ..codegen.module import MAX_WORKGROUPS

SMALL = 4 << 20  # bytes of a transformed image and product that are not worth saving


def use_winograd(graph: Graph, traits: Traits, most_bytes: int) -> Graph:
    """The graph with those convolutions rewritten for which that pays on such a device.

    most_bytes: of a buffer that the device can bind. A convolution stays as it is if its
    transformed image, weight or product would not fit, or if image and product would be larger
    than what any op of the graph needs at once, and than `SMALL`.
    """
    static = static_nodes(graph)
    ready = static - packed_nodes(graph, static)
    budget = max(SMALL, _largest(graph, static))
    matrix = constant(from_values(ops.weight_matrix(), (1, ops.POSITIONS, 9), float32))

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        if is_plain_3x3(node) and node.inputs[1] in ready and winograd_pays(node, traits):
            x, weight = inputs
            image, weight, product = _parts(x, weight, matrix, node.attrs["padding"])
            modest = _bytes(image) + _bytes(product) <= budget
            if modest and _fits(image, weight, product, most_bytes):
                return make(ops.winograd_output, product, size=node.shape[1:3])
        return rebuild(node, inputs)

    return graph.rewrite(rule, (window.conv2d,))


def _bytes(node: Node) -> int:
    return stored_bytes(node.dtype, node.size)


def _largest(graph: Graph, static: set[Node]) -> int:
    """The most bytes that the operands and the result of a contraction or window take together."""
    return max(
        (
            _bytes(node) + sum(_bytes(child) for child in node.inputs if child not in static)
            for node in graph.nodes()
            if isinstance(node.op, Contraction) and node not in static
        ),
        default=0,
    )


def _parts(x: Node, weight: Node, matrix: Node, padding: Any) -> tuple[Node, Node, Node]:
    """The transformed image (16, tiles, c) and weight (16, c, o), and their product."""
    channels, filters = weight.shape[2:]
    image = make(ops.winograd_input, x, padding=padding)
    flat = rewrite.reshape(weight, (1, 9, channels * filters))
    transformed = make(contract.matmul, matrix, flat)
    transformed = rewrite.reshape(transformed, (ops.POSITIONS, channels, filters))
    return image, transformed, make(contract.matmul, image, transformed)


def _fits(image: Node, weight: Node, product: Node, most_bytes: int) -> bool:
    """Whether the device can bind the buffers, and every schedule can run in one dispatch."""
    tiles, filters = image.shape[1], weight.size // ops.POSITIONS
    return (
        all(_bytes(node) <= most_bytes for node in (image, weight, product))
        and tiles <= MAX_WORKGROUPS
        and filters <= 16 * MAX_WORKGROUPS
    )
