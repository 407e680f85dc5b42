"""Writes windows and products, which are channels-last in Tallow or have no ONNX equivalent.

Each becomes an ONNX operator, channels first, between permutes that `tidy` removes.
"""

from __future__ import annotations

from ....compile.passes import rewrite
from ....compile.passes.compose import compose_gradients
from ....compile.passes.dynamic import compose_dynamic
from ....compile.passes.fold import fold
from ....compile.passes.layout import layout
from ....compile.passes.pools import integer_max_pool
from ....compile.passes.simplify import simplify
from ....core import dtype as dt
from ....core.hostarray import from_values
from ....core.shape import Shape
from ....graph import Graph, Node, constant, make, rebuild
from ....ops import contract, movement, window, winograd
from ....ops import elementwise as e
from ....ops.kinds import Op
from .forms import Inputs, Rule, form, refused, wide_enough


def tidy(graph: Graph) -> Graph:
    """The graph with ONNX's windows and products, without permutes that cancel each other."""
    graph = simplify(fold(compose_dynamic(compose_gradients(graph))))
    graph = graph.rewrite(_rule)
    return simplify(layout(graph))


def _rule(node: Node, inputs: Inputs) -> Node:
    return WINDOWS.get(node.op, rebuild)(node, inputs)


_TO_FIRST, _TO_LAST = (0, 3, 1, 2), (0, 2, 3, 1)


def _nchw(shape: Shape) -> Shape:
    return tuple(shape[axis] for axis in _TO_FIRST)


def _pads(padding: tuple[tuple[int, int], tuple[int, int]]) -> tuple[int, ...]:
    (top, bottom), (left, right) = padding
    return top, left, bottom, right


def _conv2d(node: Node, inputs: Inputs) -> Node:
    x, weight = inputs
    attrs = node.attrs
    made = form(
        "Conv",
        rewrite.permute(x, _TO_FIRST),
        rewrite.permute(weight, (3, 2, 0, 1)),
        shape=_nchw(node.shape),
        dilations=attrs["dilation"],
        group=attrs["groups"],
        kernel_shape=weight.shape[:2],
        pads=_pads(attrs["padding"]),
        strides=attrs["stride"],
    )
    return rewrite.permute(made, _TO_LAST)


def _pool(name: str, node: Node, x: Node, outside: float, **more: int) -> Node:
    """A pool. Padding as wide as the kernel, which runtimes reject, becomes a Pad before it."""
    attrs = node.attrs
    padding = attrs["padding"]
    wide = any(max(sides) >= size for sides, size in zip(padding, attrs["kernel"], strict=True))
    if wide:
        x = make(movement.pad, x, pads=((0, 0), *padding, (0, 0)), value=outside)
        padding = ((0, 0), (0, 0))
    made = form(
        name,
        rewrite.permute(x, _TO_FIRST),
        shape=_nchw(node.shape),
        dtype=x.dtype,
        dilations=attrs["dilation"],
        kernel_shape=attrs["kernel"],
        pads=_pads(padding),
        strides=attrs["stride"],
        **more,
    )
    return rewrite.permute(made, _TO_LAST)


def _max_pool2d(node: Node, inputs: Inputs) -> Node:
    (x,) = inputs
    if not x.dtype.is_floating and x.dtype.size > 2:
        return integer_max_pool(node, x)
    if not x.dtype.is_floating:  # float32 represents all of them
        return make(e.cast, _pool("MaxPool", node, make(e.cast, x, dtype=dt.float32),
                                  -3.0e38), dtype=x.dtype)  # fmt: skip
    return _pool("MaxPool", node, x, float("-inf"))


def _sum_pool2d(node: Node, inputs: Inputs) -> Node:
    (x,) = inputs
    if not x.dtype.is_floating:
        raise refused(node, "floating types")
    mean = _pool("AveragePool", node, x, 0.0, count_include_pad=1)
    height, width = node.attrs["kernel"]
    count = constant(from_values([height * width], (1, 1, 1, 1), x.dtype))
    return make(e.multiply, mean, rewrite.expand(count, node.shape))


def _matmul(node: Node, inputs: Inputs) -> Node:
    wide = wide_enough(node.dtype)
    a, b = (x if wide == x.dtype else make(e.cast, x, dtype=wide) for x in inputs)
    if node.shape[0] == 1:
        a, b = (rewrite.reshape(x, x.shape[1:]) for x in (a, b))
        made = rewrite.reshape(form("MatMul", a, b, shape=node.shape[1:]), node.shape)
    else:
        made = form("MatMul", a, b, shape=node.shape)
    return made if wide == node.dtype else make(e.cast, made, dtype=node.dtype)


# The rows of B^T and of A^T: see ops/winograd.py.
_INPUT_ROWS = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
_OUTPUT_ROWS = ((1, 1, 1, 0), (0, 1, -1, -1))


def _both_ways(rows: tuple[tuple[int, ...], ...]) -> list[list[float]]:
    """The transform along both axes, as a matrix that acts on row-major patches."""
    return [[float(a * b) for a in down for b in across] for down in rows for across in rows]


def _winograd_input(node: Node, inputs: Inputs) -> Node:
    """A convolution of every channel with 16 filters of 4x4, stride 2."""
    (x,) = inputs
    n, _, _, c = x.shape
    down, across = winograd.tiles_of(winograd.result_size(x.shape, node.attrs["padding"]))
    (top, _), (left, _) = node.attrs["padding"]
    pads = (top, 2 * down + 2 - x.shape[1] - top), (left, 2 * across + 2 - x.shape[2] - left)
    filters = list(zip(*_both_ways(_INPUT_ROWS), strict=True))  # a row for each position in a patch
    weight = constant(from_values([v for row in filters for v in row], (4, 4, 1, 16), x.dtype))
    pictures = rewrite.reshape(rewrite.permute(x, _TO_FIRST), (n * c, *x.shape[1:3], 1))
    made = make(window.conv2d, pictures, weight, stride=(2, 2), padding=pads, dilation=(1, 1),
                groups=1)  # fmt: skip
    conv = _conv2d(made, made.inputs)
    tiles = rewrite.reshape(conv, (n, c, down * across, winograd.POSITIONS))
    return rewrite.reshape(rewrite.permute(tiles, (3, 0, 2, 1)), node.shape)


def _winograd_output(node: Node, inputs: Inputs) -> Node:
    """A product with a 4 x 16 matrix; then tiles are assembled into pictures."""
    (m,) = inputs
    n, height, width, c = node.shape
    down, across = winograd.tiles_of((height, width))
    rows = [value for row in _both_ways(_OUTPUT_ROWS) for value in row]
    matrix = constant(from_values(rows, (4, winograd.POSITIONS), m.dtype))
    flat = rewrite.reshape(m, (winograd.POSITIONS, m.shape[1] * c))
    product = form("MatMul", matrix, flat, shape=(4, m.shape[1] * c))
    tiles = rewrite.reshape(product, (2, 2, n, down, across, c))
    permuted = rewrite.permute(tiles, (2, 3, 0, 4, 1, 5))
    picture = rewrite.reshape(permuted, (n, 2 * down, 2 * across, c))
    return make(movement.slice_, picture, starts=(0,) * 4, steps=(1,) * 4, shape=node.shape)


WINDOWS: dict[Op, Rule] = {
    contract.matmul: _matmul,
    window.conv2d: _conv2d,
    window.max_pool2d: _max_pool2d,
    window.sum_pool2d: _sum_pool2d,
    winograd.winograd_input: _winograd_input,
    winograd.winograd_output: _winograd_output,
}
"""Ops that are channels-last or have no ONNX equivalent; applied before layout."""
