"""Winograd: 3x3 convolutions as a transform, a matmul of 16 matrices and a transform back.

The weight is transformed by a matmul with a constant. That depends on weights alone, and so runs in
`prepare`, after whatever was folded into the weight.
"""

from __future__ import annotations

from ..backends.choice import Traits, winograd_pays
from ..backends.storage import stored_bytes
from ..backends.wgsl import MOST_WORKGROUPS
from ..dtype import float32
from ..graph import Graph, Node, constant, make, rebuild
from ..hostarray import from_values
from ..ops import contract, window
from ..ops import winograd as ops
from . import rewrite
from .partition import static_nodes


def use_winograd(graph: Graph, traits: Traits, most_bytes: int) -> Graph:
    """The graph with those convolutions rewritten for which that pays on such a device.

    most_bytes: of a buffer that the device can bind. A convolution whose transformed image, weight
    or result would not fit stays as it is.
    """
    static = static_nodes(graph)
    matrix = constant(from_values(ops.weight_matrix(), (1, ops.PLACES, 9), float32))

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        if _is_plain(node) and node.inputs[1] in static and winograd_pays(node, traits):
            image, weight, product = _parts(node, *inputs, matrix)
            if _fits(image, weight, product, most_bytes):
                return make(ops.winograd_output, product, size=node.shape[1:3])
        return rebuild(node, inputs)

    return graph.rewrite(rule)


def _is_plain(node: Node) -> bool:
    """Whether the node is a 3x3 convolution of stride 1 and one group."""
    return (
        node.op is window.conv2d
        and node.dtype == float32
        and node.inputs[1].shape[:2] == (3, 3)
        and tuple(node.attrs["stride"]) == (1, 1)
        and tuple(node.attrs["dilation"]) == (1, 1)
        and node.attrs["groups"] == 1
    )


def _parts(conv: Node, x: Node, weight: Node, matrix: Node) -> tuple[Node, Node, Node]:
    """The transformed image (16, tiles, c) and weight (16, c, o), and their product."""
    channels, filters = weight.shape[2:]
    image = make(ops.winograd_input, x, padding=conv.attrs["padding"])
    flat = rewrite.reshape(weight, (1, 9, channels * filters))
    transformed = make(contract.matmul, matrix, flat)
    transformed = rewrite.reshape(transformed, (ops.PLACES, channels, filters))
    return image, transformed, make(contract.matmul, image, transformed)


def _fits(image: Node, weight: Node, product: Node, most_bytes: int) -> bool:
    """Whether the device can bind the buffers, and every schedule can run in one dispatch."""
    tiles, filters = image.shape[1], weight.size // ops.PLACES
    return (
        all(stored_bytes(n.dtype, n.size) <= most_bytes for n in (image, weight, product))
        and tiles <= MOST_WORKGROUPS
        and filters <= 16 * MOST_WORKGROUPS
    )
