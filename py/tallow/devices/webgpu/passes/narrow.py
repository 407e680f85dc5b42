"""Narrowing: a graph in the types that WGSL computes.

float16, float64, and integers of 8, 16 and 64 bits become float32, int32 or uint32. Small types
stay packed in constants and inputs and are widened where they are read; 64-bit integers become
32-bit ones where it is known that these hold them (ranges.py), and DTypeError says so elsewhere.
"""

from __future__ import annotations

from array import array
from dataclasses import replace

from ....compile.passes import rewrite
from ....compile.passes.pools import integer_max_pool
from ....compile.ranges import is_wide, largest_feed
from ....core.dtype import DType, device_type, float16
from ....core.hostarray import HostArray, elements, from_values
from ....errors import DTypeError, WideIntegerError
from ....functions.elementwise import expand_node
from ....graph import Graph, Node, constant, make
from ....ops import blocks, contract, logic, reduce, window
from ....ops import elementwise as e


def narrow(graph: Graph) -> Graph:
    """The graph for a GPU; inputs keep their names and shapes, 64-bit ones become 32-bit.

    Integers of 64 bits have an attribute `most` then: see ranges.py. Raises DTypeError where 32
    bits might not hold what is computed.
    """
    most = largest_feed(graph)
    inputs = {node: _narrow_input(node, most) for node in graph.inputs}
    new: dict[Node, Node] = {node: _widened(inputs[node]) for node in graph.inputs}
    for node in graph.nodes():
        if node not in new:
            new[node] = _narrow_node(node, tuple(new[child] for child in node.inputs))
    outputs = {name: new[node] for name, node in graph.outputs.items()}
    return replace(graph, inputs=tuple(inputs.values()), outputs=outputs)


def _narrow_input(node: Node, most: int | None) -> Node:
    if node.dtype.size != 8:
        return node
    assured = {"most": most} if is_wide(node.dtype) else {}
    return make(node.op, **{**node.attrs, "dtype": device_type(node.dtype), **assured})


def _widened(node: Node) -> Node:
    """A packed source followed by the cast that unpacks it."""
    wanted = device_type(node.dtype)
    return node if wanted == node.dtype else make(e.cast, node, dtype=wanted)


def _narrow_node(node: Node, inputs: tuple[Node, ...]) -> Node:
    if node.is_constant:
        return _widened(constant(to_32_bits(node.attrs["data"])))
    attrs = dict(node.attrs)
    if "dtype" in attrs:
        attrs["dtype"] = device_type(attrs["dtype"])
    if node.op is e.cast and inputs[0].dtype == attrs["dtype"]:
        return _wrapped(inputs[0], node)
    if node.op is e.bitcast:
        return _reinterpreted(node, inputs[0])
    if node.op is contract.matmul and not inputs[0].dtype.is_floating:
        return _wrapped(_integer_matmul(*inputs), node)
    if node.op is blocks.block_matmul:  # which reads scales of float16 as they are
        packed = [old.is_constant and old.dtype == float16 for old in node.inputs]
        inputs = tuple(x.inputs[0] if is_so else x for x, is_so in zip(inputs, packed, strict=True))
        return make(node.op, *inputs, **attrs)
    if node.op is window.max_pool2d and not inputs[0].dtype.is_floating:
        return integer_max_pool(node, inputs[0])
    return _wrapped(make(node.op, *inputs, **attrs), node)


def _reinterpreted(node: Node, x: Node) -> Node:
    """Bits of a type that is computed in a wider one: whole numbers keep theirs by a cast."""
    before, after = node.inputs[0].dtype, node.dtype
    if before.is_floating != after.is_floating and before.size != 4:
        raise DTypeError(
            f"the GPU does not have the bits of {before.name} as {after.name}: "
            "run this model with device='numpy'"
        )
    if before.is_floating == after.is_floating and before.size != 4:
        return _wrapped(make(e.cast, x, dtype=device_type(after)), node)
    return x if before == after else make(e.bitcast, x, dtype=after)


def _wrapped(new: Node, node: Node) -> Node:
    """Integers of 8 and 16 bits wrap round, casts to float16 round, though 32 bits compute them."""
    dtype = node.dtype
    if node.op is e.cast and dtype == float16:
        source = node.inputs[0].dtype
        rounded = source == float16 or source.size == 1 or new.op is e.to_half
        return new if rounded else make(e.to_half, new)
    if not node.op.overflows or not dtype.is_integer or dtype.size >= 4:
        return new
    bits = constant(from_values([32 - 8 * dtype.size], (), new.dtype))
    shift = expand_node(bits, new.shape)
    return make(logic.bitwise_right_shift, make(logic.bitwise_left_shift, new, shift), shift)


def to_32_bits(data: HostArray) -> HostArray:
    """64-bit elements as 32-bit ones; DTypeError for a value that does not fit."""
    if data.dtype.size != 8:
        return data
    target: DType = device_type(data.dtype)
    values = elements(data.data, data.dtype)
    try:
        packed = array(target.code, values)
    except OverflowError as error:
        least, most = min(values), max(values)
        raise WideIntegerError(
            f"a {data.dtype.name} constant of shape {data.shape} reaches from {least} to {most}; "
            f"the GPU computes {target.name}: run this model with device='numpy'"
        ) from error
    return HostArray(memoryview(packed).cast("B"), data.shape, target)


def _integer_matmul(a: Node, b: Node) -> Node:
    """Kernels for products are written for float32; integers go as a reduction."""
    (batch, rows, inner), columns = a.shape, b.shape[2]
    shape = (batch, rows, columns, inner)
    left = rewrite.expand(rewrite.reshape(a, (batch, rows, 1, inner)), shape)
    turned = rewrite.permute(b, (0, 2, 1))
    right = rewrite.expand(rewrite.reshape(turned, (batch, 1, columns, inner)), shape)
    total = make(reduce.sum_, make(e.multiply, left, right), axes=(3,))
    return rewrite.reshape(total, (batch, rows, columns))
