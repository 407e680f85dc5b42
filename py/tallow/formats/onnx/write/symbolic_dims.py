"""Dimensions that stay symbolic in a saved file.

Tallow's graphs have concrete shapes, so what is saved is built twice, with two different lengths
for each symbolic dimension. Parts that are the same in both hold for every length; parts that
differ must be expressible without a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....core.dtype import int64
from ....core.hostarray import from_values
from ....errors import OnnxUnsupportedError
from ....graph import Graph, Node, constant, make
from ..dimensions import Shapes, given_lengths
from ..records import Dimension, ValueInfo
from .forms import is_form

Lengths = Mapping[str, tuple[int, int]]


def symbolic_dimensions(inputs: Sequence[ValueInfo], shapes: Shapes | None) -> Lengths:
    """Two lengths for each dimension that `shapes` does not give, all different, none 1."""
    given = given_lengths(inputs, shapes or {})
    names = dict.fromkeys(
        dim for info in inputs for dim in info.shape or () if isinstance(dim, str)
    )
    symbolic = [name for name in names if name not in given]
    return {name: (2 + i, 3 + len(symbolic) + i) for i, name in enumerate(symbolic)}


def merged(
    first: Graph, second: Graph, lengths: Lengths
) -> tuple[Graph, dict[str, tuple[Dimension, ...]]]:
    """Merges the graphs of forms for two lengths into one for every length; also returns the
    shapes of its inputs and outputs, with names. Raises OnnxUnsupportedError for the first node
    that depends on a length."""
    order = list(zip(first.nodes(), second.nodes(), strict=False))
    if len(first.nodes()) != len(second.nodes()):
        raise _depends_on_length("the graph", lengths)
    partner: dict[Node, Node] = dict(zip(first.inputs, second.inputs, strict=True))
    new: dict[Node, Node] = {}
    for one, other in order:
        partner[one] = other
        new[one] = _merged_node(one, other, partner, new, lengths)
    for name, node in first.outputs.items():
        if node.is_constant and _differ(node, partner[node]):
            raise _depends_on_length(f"the output {name!r}", lengths)
    names = {pair: name for name, pair in lengths.items()}
    shapes: dict[str, tuple[Dimension, ...]] = {}
    ends = [(node.attrs["name"], node) for node in first.inputs] + list(first.outputs.items())
    for name, node in ends:
        pairs = zip(node.shape, partner[node].shape, strict=True)
        shapes[name] = tuple(
            pair[0] if pair[0] == pair[1] else names.get(pair, f"{name}_{axis}")
            for axis, pair in enumerate(pairs)
        )
    outputs = {name: new[node] for name, node in first.outputs.items()}
    inputs = tuple(new.get(node, node) for node in first.inputs)
    return Graph(inputs, outputs, first.name), shapes


def _merged_node(
    one: Node, other: Node, partner: dict[Node, Node], new: dict[Node, Node], lengths: Lengths
) -> Node:
    if one.is_input:
        return one
    same = one.op is other.op and [partner[x] for x in one.inputs] == list(other.inputs)
    if not same:
        raise _depends_on_length(one.op.onnx or "a constant", lengths)
    if one.is_constant:
        return one  # its readers decide whether it may differ
    if one.attrs["attributes"] != other.attrs["attributes"]:
        raise _depends_on_length(one.op.onnx, lengths)
    inputs = [new[child] for child in one.inputs]
    differing = [i for i, x in enumerate(one.inputs) if x.is_constant and _differ(x, partner[x])]
    if differing:
        wanted = _without_length(one.inputs[-1], partner[one.inputs[-1]])
        if not is_form(one, "Reshape") or differing != [1] or wanted is None:
            raise _depends_on_length(one.op.onnx, lengths)
        inputs[1] = wanted
    return make(one.op, *inputs, **one.attrs)


def _differ(one: Node, other: Node) -> bool:
    a, b = one.attrs["data"], other.attrs["data"]
    return a.data is not b.data and (a.shape != b.shape or a.data != b.data)


def _without_length(one: Node, other: Node) -> Node | None:
    """A Reshape's shape, with -1 for the single length that differs."""
    values: list[Any] = [
        a if a == b else None
        for a, b in zip(one.attrs["data"].flat(), other.attrs["data"].flat(), strict=True)
    ]
    if values.count(None) != 1 or 0 in values:
        return None
    whole = [-1 if value is None else value for value in values]
    return constant(from_values(whole, (len(whole),), int64))


def _depends_on_length(what: str, lengths: Lengths) -> OnnxUnsupportedError:
    names = ", ".join(map(repr, lengths))
    first = next(iter(lengths))
    return OnnxUnsupportedError(
        f"save: {what} depends on the length of {names}, which cannot stay symbolic: pass it, as "
        f"in shapes={{{first!r}: 1}}, or for a function in `inputs`"
    )
