"""Composition: ops that only NumPy has whole, as a GPU computes them.

Sorting and small scatters compare everything with everything: n * n and n * j steps, in which no
thread waits for another, no order of arrival shows in the result, and nothing is stored on the way.
A large scatter, as the gradient of an embedding is one, sorts its indices first. A
recurrent layer and its gradient: see recurrences.py beside this file.
The gradient of a convolution's weight is a product of what its filters meet and the gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ... import functions as f
from ...core import dtype as dt
from ...core.shape import size_of
from ...functional.attention import attended, attention_scores, masked_softmax
from ...graph import Graph, Node, make
from ...ops import arrange, attention, source, trees, window
from ...ops import recurrence_gradient as gradients
from ...ops.kinds import Op
from ...ops.window import WEIGHT_TILE
from ...tensor import Tensor
from .columns import columns_of, conv2d_by_columns
from .recurrences import MAX_BACK, Layers, gradient_composed


def compose(graph: Graph) -> Graph:
    """The graph without composites."""
    layers = Layers(graph, most=MAX_BACK)
    return _composed(graph, _COMPOSED, layers.rules())


def compose_recurrences(graph: Graph) -> Graph:
    """The graph for WebAssembly, which has kernels for all composites but these: a recurrent layer
    and its gradient become products and one op for all steps, a weight's gradient a product."""
    return _composed(
        graph, {window.conv2d_weight: _conv2d_weight}, Layers(graph, whole=True).rules()
    )


def compose_gradients(graph: Graph) -> Graph:
    """The graph with products instead of gradients of a convolution's weight, the steps instead of
    the gradient of a recurrent layer, and trees that are walked by gathering."""
    return _composed(
        graph,
        {
            window.conv2d_weight: _conv2d_weight,
            gradients.recurrence_gradient: gradient_composed,
            trees.walk_trees: _walk_trees,
            attention.attention: _attention,
        },
    )


def _composed(
    graph: Graph,
    compositions: Mapping[Op, Callable[..., Tensor]],
    rules: Mapping[Op, Callable[[Node, tuple[Node, ...]], Node]] = MappingProxyType({}),
) -> Graph:
    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node.op in rules:
            return rules[node.op](node, inputs)
        return compositions[node.op](*(Tensor(child) for child in inputs), **node.attrs).node

    return graph.rewrite(rule, {*rules, *compositions})


def _line(shape: tuple[int, ...], axis: int) -> Tensor:
    """The coordinate along an axis."""
    return Tensor(make(source.iota, shape=shape, dtype=dt.int32, axis=axis))


def _argsort(x: Tensor, descending: bool, count: int) -> Tensor:
    """Whole numbers in the order of the elements, sorted as one block or, where there are many, as
    blocks that are merged."""
    if not x.shape[-1] or not count:
        return f.zeros((*x.shape[:-1], count), dt.int32)
    if x.dtype == dt.bool_:
        x = x.astype(dt.int32)
    elif x.dtype.is_floating:
        x = _in_order(x)
    elif x.dtype.size == 8:  # whose numbers have to fit 32 bits here, for whatever is computed
        x = x.astype(dt.int32 if x.dtype.kind == "i" else dt.uint32)
    keys = f.bitwise_invert(x) if descending else x
    return _ranked(keys, count) if x.shape[-1] <= _MOST_RANKED else _merged(keys)[..., :count]


_MOST_RANKED, _BLOCK = 4096, 256
"""The most keys of a row that are ranked among all of them, and those of a block otherwise."""


def _ranked(keys: Tensor, count: int) -> Tensor:
    """The first of the indices in the order of the keys. A key's rank is the number of keys that
    come before it."""
    size, axis = keys.shape[-1], keys.ndim - 1
    this, other = f.expand_dims(keys, axis + 1), f.expand_dims(keys, axis)
    square = (*keys.shape, size)
    earlier = f.logical_and(f.equal(other, this), _line(square, axis + 1) < _line(square, axis))
    rank = f.sum(f.logical_or(other < this, earlier).astype(dt.int32), axis=-1)  # (..., size)
    found = f.equal(f.expand_dims(rank, axis), _line((*keys.shape[:-1], count, size), axis))
    indices = _line((*keys.shape[:-1], count, size), axis + 1)
    return f.max(f.where(found, indices, 0), axis=-1)


# Why: docs/decisions/engine.md, "Sorting and scattering are one op each, which a GPU composes"
def _merged(keys: Tensor) -> Tensor:
    """All indices in the order of the keys, and some beyond the last one behind them: blocks are
    ranked, then two neighbours at a time are merged. Each position of a merged run finds by halving
    how many keys before it are from the left one (Odeh, Green, Mwassi, Shmueli and Birk 2012,
    "Merge Path")."""
    *outer, size = keys.shape
    whole = _BLOCK << (-(-size // _BLOCK) - 1).bit_length()
    pads = [(0, 0)] * len(outer) + [(0, whole - size)]
    keys = f.reshape(f.pad(keys, pads, _greatest(keys)), (*outer, -1, _BLOCK))
    order = _ranked(keys, _BLOCK)
    keys = f.take_along_axis(keys, order, -1)
    indices = order + _line(order.shape, order.ndim - 2) * _BLOCK
    width = _BLOCK
    while width < whole:
        keys, indices = (f.reshape(each, (*outer, -1, 2 * width)) for each in (keys, indices))
        at = _from_both(keys, width)
        keys, indices = (f.take_along_axis(each, at, -1) for each in (keys, indices))
        width *= 2
    return f.reshape(indices, (*outer, whole))


def _greatest(keys: Tensor) -> int:
    least = -(1 << keys.dtype.bits - 1) if keys.dtype.kind == "i" else 0
    return least + (1 << keys.dtype.bits) - 1


def _from_both(runs: Tensor, width: int) -> Tensor:
    """Where the keys of two sorted runs of a width, one behind the other, come from if these are
    merged."""
    position = _line(runs.shape, runs.ndim - 1)
    left = f.maximum(position - width, 0)  # so many, at least, are from the left run
    most = f.minimum(position, width)
    step = width
    while step:
        tried = left + step
        one = f.take_along_axis(runs, f.minimum(tried, width) - 1, -1)
        other = f.take_along_axis(runs, f.clip(position - tried, 0, width - 1) + width, -1)
        left = f.where(f.logical_and(tried <= most, one <= other), tried, left)
        step //= 2
    right = position - left
    one = f.take_along_axis(runs, f.minimum(left, width - 1), -1)
    other = f.take_along_axis(runs, f.minimum(right, width - 1) + width, -1)
    from_left = f.logical_and(left < width, f.logical_or(right >= width, one <= other))
    return f.where(from_left, left, right + width)


def _in_order(x: Tensor) -> Tensor:
    """Integers in the order of floating numbers, every NaN last, zeros equal."""
    bits = f.bitcast(x.astype(dt.float32), dt.int32)
    magnitude = f.bitwise_and(bits, 0x7FFFFFFF)
    signed = f.where(bits < 0, -magnitude, magnitude)
    return f.where(magnitude > 0x7F800000, 0x7FFFFFFF, signed)


def _scatter(data: Tensor, indices: Tensor, updates: Tensor, reduction: str) -> Tensor:
    """Every row of the result looks for the updates that are meant for it, among all or, where
    these are many, in their order."""
    batch, rows, length = data.shape
    count = updates.shape[1]
    if not count or not data.size:
        return data
    indices = indices.astype(dt.int32)
    if batch * rows * count * (1 if reduction == "none" else length) > _FEW_STEPS:
        return _scatter_in_order(data, indices, updates, reduction)
    if reduction == "none":
        wide = (batch, rows, count)
        hit = f.equal(f.expand_dims(indices, 1), _line(wide, 1))
        last = f.max(f.where(hit, _line(wide, 2), -1), axis=2)
        row = f.maximum(last, 0) + _line(last.shape, 0) * count
        moved = f.take(f.reshape(updates, (batch * count, length)), row)
        return f.where(f.expand_dims(last >= 0, 2), moved, data)
    # Compared anew for every element of a row: a table of hits would have to be stored.
    full = (batch, rows, count, length)
    hit, rest = f.equal(f.expand_dims(indices, (1, 3)), _line(full, 1)), f.expand_dims(updates, 1)
    if reduction in ("add", "mul"):
        fold, join = (f.sum, f.add) if reduction == "add" else (f.prod, f.multiply)
        return join(data, fold(f.where(hit, rest, int(reduction == "mul")), axis=2))
    extreme, join = (f.max, f.maximum) if reduction == "max" else (f.min, f.minimum)
    return join(data, extreme(f.where(hit, rest, f.expand_dims(data, 2)), axis=2))


_FEW_STEPS = 1 << 22
"""Of a scatter that compares every row with every index: one kernel, where sorting takes dozens."""

_JOINED = {"add": f.add, "mul": f.multiply, "max": f.maximum, "min": f.minimum}


# Why: docs/decisions/engine.md, "A large scatter on a GPU sorts its indices"
def _scatter_in_order(data: Tensor, indices: Tensor, updates: Tensor, reduction: str) -> Tensor:
    """The updates in the order of their indices, so that those of a row are neighbours, and the
    last of them is found by halving.

    They are joined by a scan in segments (Hillis and Steele 1986, "Data parallel algorithms"):
    after each step, one holds twice as many of those before it. Beside sorting, that takes
    j * s * log(j) + n * (s + log(j)) steps.
    """
    batch, rows, _ = data.shape
    count = updates.shape[1]
    order = _argsort(indices, False, count)
    keys = _rows_at(f.expand_dims(indices, 2), order)  # (batch, count, 1)
    joined = _rows_at(updates, order)
    shift = 1
    while shift < count and reduction != "none":
        pads = [(0, 0), (shift, -shift), (0, 0)]
        same = f.equal(f.pad(keys, pads, -1), keys)
        before = f.pad(joined, pads)
        joined = f.where(same, _JOINED[reduction](before, joined), joined)
        shift *= 2
    row = _line((batch, rows), 1)
    below = f.zeros((batch, rows), dt.int32)  # so many keys, at least, are not above the row
    step = 1 << (count.bit_length() - 1)
    while step:
        tried = below + step
        key = f.squeeze(_rows_at(keys, f.minimum(tried, count) - 1), 2)
        below = f.where(f.logical_and(tried <= count, key <= row), tried, below)
        step //= 2
    last = f.maximum(below - 1, 0)
    found = f.logical_and(below > 0, f.equal(f.squeeze(_rows_at(keys, last), 2), row))
    moved = _rows_at(joined, last)
    new = moved if reduction == "none" else _JOINED[reduction](data, moved)
    return f.where(f.expand_dims(found, 2), new, data)


def _rows_at(x: Tensor, indices: Tensor) -> Tensor:
    """x (b, n, s) at the indices (b, j): (b, j, s)."""
    batch, count, length = x.shape
    line = _line(indices.shape, 0) * count
    return f.take(f.reshape(x, (batch * count, length)), indices + line)


def _walk_trees(
    x: Tensor,
    nodes: Tensor,
    splits: Tensor,
    roots: Tensor,
    depth: int,
    modes: tuple[int, ...],
    missing: bool,
) -> Tensor:
    """All rows take a step in all trees, as many times as the deepest leaf needs."""
    compared = [f.less_equal, f.less, f.greater_equal, f.greater, f.equal, f.not_equal]
    count, rows = nodes.shape[0], x.shape[0]
    at = f.broadcast_to(f.expand_dims(roots, 0), (rows, roots.shape[0]))
    for _ in range(depth):
        here = f.minimum(at, count - 1)
        feature, code, yes, no = (f.take(nodes[:, column], here) for column in range(4))
        value, split = f.take_along_axis(x, feature, 1), f.take(splits, here)
        truth = compared[modes[0]](value, split)
        for mode in modes[1:]:
            is_meant = f.equal(f.bitwise_and(code, trees.MISSING - 1), mode)
            truth = f.where(is_meant, compared[mode](value, split), truth)
        if missing:
            truth = f.logical_or(truth, f.logical_and(code >= trees.MISSING, f.isnan(value)))
        at = f.where(at < count, f.where(truth, yes, no), at)
    return f.permute_dims(f.maximum(at - count, 0), (1, 0))


def with_scores(node: Node, inputs: tuple[Node, ...]) -> Node:
    """Attention of other inputs, as products and all scores between them."""
    query, key, value, reach = map(Tensor, inputs)
    return _attention(query, key, value, reach, **node.attrs).node


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    reach: Tensor,
    scale: float,
    causal: bool,
    window: int,
) -> Tensor:
    scores = attention_scores(query, key, scale)
    ends = f.reshape(reach, (-1, 1, 1, 1))
    if causal:
        ends = ends + f.reshape(f.arange(scores.shape[2], dtype="int32"), (-1, 1))
    places = f.arange(scores.shape[3], dtype="int32")
    seen = places < ends
    if window:
        seen = f.logical_and(seen, places >= ends - window)
    return attended(masked_softmax(f.where(seen, scores, -math.inf)), value)


_TURNS, _INVOCATIONS = 1 << 14, 1 << 10
"""Of the kernels of weights' gradients: the most turns of an invocation's loop, which drivers may
end after 65,535, and as many invocations as keep a small GPU busy."""

_FEW_CHANNELS = 5
"""Below that, most lanes of the kernels of weights' gradients would stand idle."""


def _weight_kernel(x: Tensor, gradient: Tensor, **attrs: Any) -> Tensor:
    """One kernel, for parts of the images, whose results are added up; where none fits, a
    product, or one for each image."""
    n, oh, ow, filters = gradient.shape
    shape = (*attrs["kernel"], x.shape[3] // attrs["groups"], filters)
    few = x.shape[3] < _FEW_CHANNELS
    block = (_FEW_CHANNELS - 1 if few else 2 * WEIGHT_TILE[0]) // x.shape[3]
    columns = columns_of(block, x.shape, shape, gradient.shape, **attrs)
    if columns:
        image = columns.image(x, attrs["padding"][1], ow)
        wide = f.reshape(gradient, (n, oh, ow // columns.together, columns.together * filters))
        changed = {"kernel": (shape[0], columns.taps), **columns.attrs}
        return columns.weight_gradient(_weight_kernel(image, wide, **changed), shape)
    if few and attrs["groups"] == 1 and oh * ow >= filters and x.size:
        return _weight_by_image(x, gradient, **attrs)
    if few or attrs["groups"] > 1 or oh * ow > _TURNS or not x.size or not gradient.size:
        return _conv2d_weight(x, gradient, **attrs)
    rows, across = WEIGHT_TILE
    tiles = size_of(attrs["kernel"]) * -(-x.shape[3] // rows) * -(-filters // across)
    least = max(-(-n * oh * ow // _TURNS), -(-_INVOCATIONS // tiles))
    each = max(1, n // least)
    del attrs["groups"]
    parts = -(-n // each)
    node = make(window.conv2d_weight_parts, x.node, gradient.node, parts=parts, **attrs)
    return f.sum(Tensor(node), axis=0)


def _weight_by_image(x: Tensor, gradient: Tensor, groups: int, **attrs: Any) -> Tensor:
    """As _conv2d_weight of one group, image by image, and the sum of these: a product of so few
    results alone, each a sum over all pixels, would leave most of a device idle. An image's
    products must not take more memory than what its filters meet."""
    (n, oh, ow, filters), channels = gradient.shape, x.shape[3]
    met = Tensor(make(window.patches, x.node, value=0, **attrs))
    elements = size_of(attrs["kernel"]) * channels
    left = f.permute_dims(f.reshape(met, (n, oh * ow, elements)), (0, 2, 1))
    products = left @ f.reshape(gradient, (n, oh * ow, filters))
    return f.reshape(f.sum(products, axis=0), (*attrs["kernel"], channels, filters))


def _conv2d_weight(
    x: Tensor,
    gradient: Tensor,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    padding: tuple[tuple[int, int], tuple[int, int]],
    dilation: tuple[int, int],
    groups: int,
) -> Tensor:
    """What each element of the filters meets, side by side, times the gradient."""
    (n, oh, ow, filters), channels = gradient.shape, x.shape[3]
    each, inner = filters // groups, channels // groups
    options = {"stride": stride, "padding": padding, "dilation": dilation, "value": 0}
    met = Tensor(make(window.patches, x.node, kernel=kernel, **options))
    pixels, elements = n * oh * ow, size_of(kernel)
    if inner == 1 and groups > 1:
        seen = f.reshape(met, (pixels, elements, channels, 1))
        products = seen * f.reshape(gradient, (pixels, 1, channels, each))
        return f.reshape(f.sum(products, axis=0), (*kernel, 1, filters))
    columns = f.reshape(met, (pixels, elements, groups, inner))
    left = f.reshape(f.permute_dims(columns, (2, 1, 3, 0)), (groups, elements * inner, pixels))
    right = f.permute_dims(f.reshape(gradient, (pixels, groups, each)), (1, 0, 2))
    products = f.reshape(left @ right, (groups, elements, inner, each))
    return f.reshape(f.permute_dims(products, (1, 2, 0, 3)), (*kernel, inner, filters))


_COMPOSED: dict[Op, Callable[..., Tensor]] = {
    arrange.argsort: _argsort,
    arrange.scatter: _scatter,
    window.conv2d: conv2d_by_columns,
    window.conv2d_weight: _weight_kernel,
}
