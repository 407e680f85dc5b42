"""Writes ops that do not depend on the channel layout as one or more ONNX operators.

Most ops name their operator in their record; this file has the others.
"""

from __future__ import annotations

from .... import functions as f
from ....core import dtype as dt
from ....core.hostarray import from_values
from ....core.shape import broadcast_shapes
from ....errors import OnnxUnsupportedError, ShapeError
from ....graph import Graph, Node, constant, make, rebuild
from ....ops import (
    arrange,
    division,
    formulas,
    gather,
    logic,
    movement,
    positions,
    recurrence,
    reduce,
    source,
    window,
)
from ....ops import elementwise as e
from ....ops.kinds import Elementwise, Op
from ....tensor import Tensor
from . import position_forms, recurrence_forms
from .forms import (
    Form,
    Inputs,
    Rule,
    attributes_of,
    cast,
    form,
    integers,
    is_form,
    number,
    wide_enough,
)


def elements(graph: Graph) -> Graph:
    """The graph with forms only; raises OnnxUnsupportedError for ops without one."""
    return graph.rewrite(_element)


def _element(node: Node, inputs: Inputs) -> Node:
    if node.is_input or node.is_constant or isinstance(node.op, Form):
        return rebuild(node, inputs)
    if node.op in ELEMENTS:
        return ELEMENTS[node.op](node, inputs)
    if not node.op.onnx:
        raise OnnxUnsupportedError(
            f"save: {node.op.name} has no ONNX form; compose it of Tallow's functions to save it"
        )
    return form(node.op.onnx, *broadcast(node, inputs), shape=node.shape, dtype=node.dtype)


def broadcast(node: Node, inputs: Inputs) -> Inputs:
    """The operands without the expansions that ONNX's own broadcasting performs."""
    if not isinstance(node.op, Elementwise) or len(inputs) == 1:
        return inputs
    bare = tuple(_bare(child) for child in inputs)
    for chosen in (bare, *(_bare_except(inputs, bare, i) for i in range(len(inputs)))):
        try:
            if broadcast_shapes(*(child.shape for child in chosen)) == node.shape:
                return chosen
        except ShapeError:  # axes that were inserted in between do not broadcast
            continue
    return inputs


def _bare_except(inputs: Inputs, bare: Inputs, index: int) -> Inputs:
    return tuple(inputs[i] if i == index else child for i, child in enumerate(bare))


def _bare(node: Node) -> Node:
    """The node before it was expanded and before leading axes of length 1 were added."""
    while is_form(node, "Expand") or (is_form(node, "Reshape") and _only_leads(node)):
        node = node.inputs[0]
    if node.is_constant and node.size == 1 and node.shape:
        data = node.attrs["data"]
        return constant(type(data)(data.data, (), data.dtype))
    return node


def _only_leads(node: Node) -> bool:
    shape, inner = node.shape, node.inputs[0].shape
    extra = len(shape) - len(inner)
    return extra > 0 and shape[extra:] == inner and set(shape[:extra]) == {1}


def _cast(node: Node, inputs: Inputs) -> Node:
    return cast(inputs[0], node.dtype)


def _to_half(node: Node, inputs: Inputs) -> Node:
    return cast(cast(inputs[0], dt.float16), node.dtype)


def _trunc(node: Node, inputs: Inputs) -> Node:
    (x,) = inputs
    below = form("Less", x, number(0.0, x.dtype), dtype=dt.bool_)
    return form("Where", below, form("Ceil", x), form("Floor", x), shape=x.shape, dtype=x.dtype)


def _expm1(node: Node, inputs: Inputs) -> Node:
    """x * (u - 1) / log(u) with u = exp(x), whose rounding cancels (Higham 2002, 1.14.1)."""
    (x,) = inputs
    one, half = number(1.0, x.dtype), number(0.5, x.dtype)
    u = form("Exp", x)
    above = form("Sub", u, one)
    near = form("Div", form("Mul", x, above), form("Log", u))
    small = form("Less", form("Abs", x), half, dtype=dt.bool_)
    nothing = form("Equal", above, number(0.0, x.dtype), dtype=dt.bool_)
    large = form("Where", small, near, above, dtype=x.dtype)
    return form("Where", nothing, x, large, dtype=x.dtype)


def _log1p(node: Node, inputs: Inputs) -> Node:
    """x * log(u) / (u - 1) with u = 1 + x, whose rounding cancels (Goldberg 1991, theorem 4)."""
    (x,) = inputs
    one = number(1.0, x.dtype)
    u = form("Add", x, one)
    above = form("Sub", u, one)
    quotient = form("Mul", form("Log", u), form("Div", x, above))
    whole = form("Equal", above, x, dtype=dt.bool_)  # also true for infinity
    nothing = form("Equal", above, number(0.0, x.dtype), dtype=dt.bool_)
    large = form("Where", whole, form("Log", u), quotient, dtype=x.dtype)
    return form("Where", nothing, x, large, dtype=x.dtype)


def _bitcast(node: Node, inputs: Inputs) -> Node:
    return form("BitCast", inputs[0], dtype=node.dtype, to=node.dtype)


def _argsort(node: Node, inputs: Inputs) -> Node:
    (x,) = inputs
    wide = x if x.dtype.is_floating else cast(x, dt.int64)
    largest = int(node.attrs["descending"])
    count = integers(node.shape[-1])
    indices = form("TopK", wide, count, shape=node.shape, dtype=dt.int64, before=1, largest=largest)
    return cast(indices, node.dtype)


def _scatter(node: Node, inputs: Inputs) -> Node:
    data, indices, updates = inputs
    batch, count = indices.shape
    rows = constant(from_values([b for b in range(batch) for _ in range(count)],
                                (batch, count, 1), dt.int64))  # fmt: skip
    column = form("Reshape", cast(indices, dt.int64), integers(batch, count, 1),
                  shape=(batch, count, 1))  # fmt: skip
    where = form("Concat", rows, column, shape=(batch, count, 2), dtype=dt.int64, axis=2)
    return form("ScatterND", data, where, updates, reduction=node.attrs["reduction"])


def _floor_divide(node: Node, inputs: Inputs) -> Node:
    x, y = inputs
    rest = form("Mod", x, y)
    return form("Div", form("Sub", x, rest), y)


def _remainder(node: Node, inputs: Inputs) -> Node:
    return form("Mod", *inputs)


def _fmod(node: Node, inputs: Inputs) -> Node:
    return form("Mod", *inputs, fmod=1)


def _not_equal(node: Node, inputs: Inputs) -> Node:
    return form("Not", form("Equal", *broadcast(node, inputs), shape=node.shape, dtype=dt.bool_))


_UNSIGNED = {dt.int8: dt.uint8, dt.int16: dt.uint16, dt.int32: dt.uint32, dt.int64: dt.uint64}


def _left_shift(node: Node, inputs: Inputs) -> Node:
    x, y = (cast(value, _UNSIGNED.get(value.dtype, value.dtype)) for value in inputs)
    return cast(form("BitShift", x, y, direction="LEFT"), node.dtype)


def _right_shift(node: Node, inputs: Inputs) -> Node:
    """ONNX shifts only unsigned numbers; for negative x, x >> y equals ~(~x >> y)."""
    x, y = inputs
    unsigned = _UNSIGNED.get(x.dtype)
    if unsigned is None:
        return form("BitShift", x, y, direction="RIGHT")
    below = form("Less", x, number(0, x.dtype), dtype=dt.bool_)

    def flipped(value: Node) -> Node:
        other = form("BitwiseNot", value)
        return form("Where", below, other, value, shape=node.shape, dtype=x.dtype)

    shifted = form("BitShift", cast(flipped(x), unsigned), cast(y, unsigned), direction="RIGHT")
    return flipped(cast(shifted, x.dtype))


def _reduction(name: str) -> Rule:
    def rule(node: Node, inputs: Inputs) -> Node:
        if not node.attrs["axes"]:
            return inputs[0]
        wide = wide_enough(node.dtype)
        axes = integers(*node.attrs["axes"])
        made = form(name, cast(inputs[0], wide), axes, shape=node.shape, dtype=wide, keepdims=1)
        return cast(made, node.dtype)

    return rule


def _arg_reduction(name: str) -> Rule:
    def rule(node: Node, inputs: Inputs) -> Node:
        (axis,) = node.attrs["axes"]
        made = form(name, inputs[0], shape=node.shape, dtype=dt.int64, axis=axis, keepdims=1)
        return cast(made, node.dtype)

    return rule


def _gathering(name: str) -> Rule:
    def rule(node: Node, inputs: Inputs) -> Node:
        x, indices = inputs
        if indices.dtype not in (dt.int32, dt.int64):
            indices = cast(indices, dt.int64)
        return form(name, x, indices, shape=node.shape, axis=node.attrs["axis"])

    return rule


def _position(node: Node, inputs: Inputs) -> Node:
    index, length = inputs
    below = form("Less", index, number(0, index.dtype), shape=index.shape, dtype=dt.bool_)
    above = form("Add", index, length)
    return form("Where", below, above, index, shape=index.shape, dtype=index.dtype)


def _reshape(node: Node, inputs: Inputs) -> Node:
    x, shape = inputs[0], integers(*node.shape)
    if 0 in node.shape:
        return form("Reshape", x, shape, shape=node.shape, allowzero=1)
    return form("Reshape", x, shape, shape=node.shape)


def _permute(node: Node, inputs: Inputs) -> Node:
    return form("Transpose", inputs[0], shape=node.shape, perm=node.attrs["axes"])


def _expand(node: Node, inputs: Inputs) -> Node:
    return form("Expand", inputs[0], integers(*node.shape), shape=node.shape)


def _parts_between(join: Node, start: int, end: int, axis: int, step: int) -> Inputs:
    """The parts of a join that a slice takes; empty if it cuts through a part."""
    if axis != attributes_of(join)["axis"] or step != 1:
        return ()
    borders = [0]
    for part in join.inputs:
        borders.append(borders[-1] + part.shape[axis])
    if start not in borders or end not in borders:
        return ()
    return join.inputs[borders.index(start) : borders.index(end)]


def _slice(node: Node, inputs: Inputs) -> Node:
    (x,) = inputs
    parts: list[tuple[int, int, int, int]] = []  # start, end, axis, step
    starts, steps = node.attrs["starts"], node.attrs["steps"]
    for axis, (dim, size) in enumerate(zip(x.shape, node.shape, strict=True)):
        start, step = starts[axis], steps[axis]
        end = start + step * size
        if size == 0:
            parts.append((0, 0, axis, 1))
        elif (start, step, size) != (0, 1, dim):
            parts.append((start, end if end >= 0 else -dim - 1, axis, step))
    if not parts:
        return x
    if is_form(x, "Concat") and len(parts) == 1:
        whole = _parts_between(x, *parts[0])
        if whole:
            axis = parts[0][2]
            return form("Concat", *whole, shape=node.shape, axis=axis) if whole[1:] else whole[0]
    lists = [integers(*values) for values in zip(*parts, strict=True)]
    return form("Slice", x, *lists, shape=node.shape)


def _pad(node: Node, inputs: Inputs) -> Node:
    pads = node.attrs["pads"]
    flat = integers(*(low for low, _ in pads), *(high for _, high in pads))
    return form("Pad", inputs[0], flat, number(node.attrs["value"], node.dtype), shape=node.shape)


def _concat(node: Node, inputs: Inputs) -> Node:
    return form("Concat", *inputs, shape=node.shape, axis=node.attrs["axis"])


def _patches(node: Node, inputs: Inputs) -> Node:
    """Slices of the image, one for each element of a window."""
    attrs, (n, oh, ow, kh, kw, c) = node.attrs, node.shape
    x = f.pad(Tensor(inputs[0]), [(0, 0), *attrs["padding"], (0, 0)])
    (sy, sx), (dy, dx) = attrs["stride"], attrs["dilation"]
    seen = [
        x[:, i * dy : i * dy + sy * (oh - 1) + 1 : sy, j * dx : j * dx + sx * (ow - 1) + 1 : sx]
        for i in range(kh)
        for j in range(kw)
    ]
    whole = f.reshape(f.stack(seen, axis=3), (n, oh, ow, kh, kw, c))
    return elements(Graph((), {"": whole.node})).outputs[""]


def _recurrence(node: Node, inputs: Inputs) -> Node:
    """ONNX's operator, behind what puts the gates in its order."""
    order = recurrence.plain_order(node.attrs["cell"])
    if node.attrs["order"] == order:
        return recurrence_forms.layer(node, inputs)
    turned = recurrence.ordered(f, [Tensor(each) for each in inputs], node.attrs)
    plain = make(node.op, *(each.node for each in turned), **{**node.attrs, "order": order})
    return elements(Graph((), {"": plain})).outputs[""]


def _recurrence_steps(node: Node, inputs: Inputs) -> Node:
    return elements(Graph((), {"": recurrence_forms.steps(node, inputs).node})).outputs[""]


def _slice_at(node: Node, inputs: Inputs) -> Node:
    begin, end = position_forms.ends(node, inputs)
    found = elements(Graph((), {"begin": begin.node, "end": end.node})).outputs
    return position_forms.cut(node, inputs[0], found["begin"], found["end"])


def _fill_from(node: Node, inputs: Inputs) -> Node:
    return elements(Graph((), {"": position_forms.filled(node, inputs).node})).outputs[""]


def _update_at(node: Node, inputs: Inputs) -> Node:
    return elements(Graph((), {"": position_forms.update(node, inputs).node})).outputs[""]


_MAX_CONSTANT = 1024


def _iota(node: Node, inputs: Inputs) -> Node:
    """The indices along an axis; long lists are computed when the model runs."""
    axis = node.attrs["axis"]
    length = node.shape[axis]
    if length <= _MAX_CONSTANT:
        line = constant(from_values(range(length), (length,), dt.int64))
    else:
        ends = (number(value, dt.int64) for value in (0, length, 1))
        line = form("Range", *ends, shape=(length,))
    line = cast(line, node.dtype)
    along_axis = tuple(length if i == axis else 1 for i in range(len(node.shape)))
    for name, shape in (("Reshape", along_axis), ("Expand", node.shape)):
        if line.shape != shape:
            line = form(name, line, integers(*shape), shape=shape)
    return line


def _philox(node: Node, inputs: Inputs) -> Node:
    """Each word from its own counter."""
    index, low, high, draw = map(Tensor, inputs)

    def upper(x: Tensor, factor: int) -> Tensor:
        return (x.astype("uint64") * factor >> 32).astype("uint32")

    none = f.zeros_like(index)
    counter = (index >> 2, draw, none, none)
    a, b, c, d = formulas.philox_rounds(counter, (low, high), upper)
    odd = (index & 1) == 1
    chosen = f.where((index & 2) == 0, f.where(odd, b, a), f.where(odd, d, c))
    return elements(Graph((), {"": chosen.node})).outputs[""]


ELEMENTS: dict[Op, Rule] = {
    arrange.argsort: _argsort,
    arrange.scatter: _scatter,
    e.bitcast: _bitcast,
    logic.bitwise_left_shift: _left_shift,
    logic.bitwise_right_shift: _right_shift,
    e.cast: _cast,
    division.floor_divide: _floor_divide,
    division.fmod: _fmod,
    division.remainder: _remainder,
    e.exp2: lambda node, inputs: form("Pow", number(2.0, node.dtype), *inputs, shape=node.shape),
    e.expm1: _expm1,
    e.log1p: _log1p,
    logic.not_equal: _not_equal,
    logic.philox: _philox,
    e.to_half: _to_half,
    e.trunc: _trunc,
    gather.take: _gathering("Gather"),
    gather.position: _position,
    gather.checked: lambda node, inputs: inputs[0],
    gather.take_along_axis: _gathering("GatherElements"),
    movement.concat: _concat,
    movement.expand: _expand,
    movement.pad: _pad,
    movement.permute: _permute,
    movement.reshape: _reshape,
    movement.slice_: _slice,
    recurrence.recurrence: _recurrence,
    recurrence.recurrence_steps: _recurrence_steps,
    window.patches: _patches,
    reduce.argmax: _arg_reduction("ArgMax"),
    reduce.argmin: _arg_reduction("ArgMin"),
    reduce.max_: _reduction("ReduceMax"),
    reduce.min_: _reduction("ReduceMin"),
    reduce.prod: _reduction("ReduceProd"),
    reduce.sum_: _reduction("ReduceSum"),
    source.iota: _iota,
    positions.fill_from: _fill_from,
    positions.slice_at: _slice_at,
    positions.update_at: _update_at,
}
"""Ops without a single ONNX equivalent."""
