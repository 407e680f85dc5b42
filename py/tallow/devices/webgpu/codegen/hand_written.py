"""Hand-written kernels (kernels.py) for the groups around a contraction or window.

Their load_* and store_* functions are written for each group, so that what is fused happens where
the values are read and written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....codegen.index import Coord, Coords, lane, variable
from ....core.shape import Shape, strides_of
from ....errors import DeviceMemoryError
from ....graph import Node, make
from ....ops import contract, movement
from .choice import Traits, choose
from .expression import Expression
from .index_text import text_of
from .lines import Line, block, line
from .literal import type_of
from .module import MAX_WORKGROUPS, Kernel, Module, Result
from .schedule import Load, Schedule

_DIVISOR = re.compile(r"([/%] \d+)u\b")
_BLOCK_OF_COLUMNS = """\
// Rows 4 * k4 .. of b, four columns wide, of four columns that are read along k.
fn block(batch: u32, k4: u32, col4: u32) -> mat4x4f {
    let col = col4 * 4u;
    return transpose(mat4x4f(load_column(batch, col, k4), load_column(batch, col + 1u, k4),
                             load_column(batch, col + 2u, k4), load_column(batch, col + 3u, k4)));
}"""


def hand_written(result: Result, anchor: Node, reads: Sequence[Node], traits: Traits) -> Kernel:
    """The hand-written kernel for a node, with the loads and stores of what is fused around it."""
    schedule = choose(anchor, traits)
    module = Module(reads, result, traits.builtins)
    functions = {
        load.function: _load_function(module, anchor, load, load.width or schedule.width)
        for load in schedule.loads
        if load.operand < len(anchor.inputs)
    }
    column = schedule.column and _columns(module, anchor, schedule.column, functions["load_b"])
    if column:
        functions["load_b"] = column
    store, result_width = _store_function(module, anchor, schedule)
    if anchor.op is contract.matmul_to:
        functions["end_of_sums"] = _end_function(module, anchor)
    invocations = schedule.extent(anchor, schedule.tile)
    size = _workgroup(schedule.workgroup, invocations[0], traits.lanes)
    values = schedule.overrides(anchor)
    kept = schedule.text(DOWN=bool(column), WORKGROUP=size, **schedule.of_node(anchor))
    kept = re.sub(r"\n{3,}", "\n\n", module.params.lift_overrides(kept, values))
    title = f"{schedule.name} (kernels_wgsl/{schedule.file}.wgsl)"
    text = module.text(title, [*functions.values(), store], result_width, kept.strip())
    groups = [-(-n // length) for n, length in zip(invocations, size, strict=True)]
    if max(groups) > MAX_WORKGROUPS:
        raise DeviceMemoryError(f"{anchor}: {groups} workgroups are beyond what WebGPU runs")
    constants = {name: values[name] for name in re.findall(r"^override (\w+)", kept, re.M)}
    numbers = list(module.params.values.values())
    return Kernel(text, (groups[0], groups[1], groups[2]), numbers, constants)


def _workgroup(size: tuple[int, int, int], across: int, lanes: int) -> tuple[int, int, int]:
    """A kernel's workgroup, made as wide as the device's lanes where that leaves none idle."""
    fills = -(-across // lanes) * lanes == -(-across // size[0]) * size[0]
    return (lanes, 1, 1) if size == (4, 1, 1) and fills else size


def _parameters(params: Sequence[str], space: Shape, width: int) -> Coords:
    """Parameters of a load_* or store_* function as coordinates; the last counts in fours."""
    coords: list[Coord] = [
        variable(name, dim) for name, dim in zip(params[:-1], space[:-1], strict=True)
    ]
    last, dim = params[-1], space[-1]
    if width == 4:
        coords.append(variable(last, max(2, -(-dim // 4))) * 4)
    else:
        coords.append(variable(last, dim))
    return tuple(coords)


def _load_function(module: Module, anchor: Node, load: Load, width: int) -> list[Line]:
    operand = anchor.inputs[load.operand]
    space = load.space(anchor)
    node = _seen_as(operand, space)
    if load.axes:
        node = make(movement.permute, node, axes=load.axes)
        space = node.shape
    kind = type_of(operand.dtype, width)
    coords = _parameters(load.params, space, width)
    body = module.body()
    if width == 1 or space[-1] % 4 == 0:
        result = body.value(node, coords, width)
    else:
        result = _guarded_lanes(body, node, coords, load.params[-1], space[-1])
    for name, dim in zip(load.params, space, strict=True):
        if name in load.guarded and dim % 4:
            # No branch: a load is inlined in dozens of places, and compilers choke on those.
            result = f"select({kind}(), {result}, {name} < {dim}u)"
    if anchor.op is contract.matmul_to:
        within = (
            "k < end" if "k" in load.params else "vec4u(k4 * 4u) + vec4u(0, 1, 2, 3) < vec4u(end)"
        )
        result = f"select({kind}(), {result}, {within})"
    signature = ", ".join(f"{name}: u32" for name in load.params)
    # Loads stand in the innermost loop: there a divisor stays in the text, as no `params` field.
    lines = [*body.lines, line(f"return {result};")]
    undivided = [each.changed(lambda text: _DIVISOR.sub(r"\1", text)) for each in lines]
    return block(f"fn {load.function}({signature}) -> {kind}", undivided)


def _end_function(module: Module, anchor: Node) -> list[Line]:
    """The length at which sums end, which it also puts into the variable `end`, for loads."""
    body = module.body()
    end = body.start(anchor.inputs[2], anchor.inputs[0].shape[2], 0)
    lines = [*body.lines, line(f"end = {text_of(end)};"), line(f"return {text_of(end)};")]
    return [line("var<private> end: u32;"), *block("fn end_of_sums() -> u32", lines)]


def _columns(module: Module, anchor: Node, load: Load, load_b: Sequence[Line]) -> list[Line] | None:
    """`load_column` and `block` made of it, if they read the second factor by fours and `load_b`
    doesn't, as with the weight of a linear layer, whose columns lie along k."""
    if load.space(anchor)[load.axes[-1]] % 4 or not _reads_singly(load_b):
        return None
    column = _load_function(module, anchor, load, 4)
    if _reads_singly(column):
        return None
    return [*column, line(""), *map(line, _BLOCK_OF_COLUMNS.splitlines())]


def _reads_singly(lines: Sequence[Line]) -> bool:
    """Whether a function reads single elements of a buffer, which four at a time could be."""
    return any(each.is_open for each in lines)


def _guarded_lanes(body: Expression, node: Node, coords: Coords, last: str, dim: int) -> str:
    """Four elements side by side, zero for those beyond the end of the axis."""
    parts = []
    for number in range(4):
        value = body.value(node, (*coords[:-1], coords[-1] + number), 1)
        inside = f"{last} * 4u + {number}u < {dim}u"
        parts.append(f"select(0f, {value}, {inside})" if number else value)
    return f"vec4f({', '.join(parts)})"


def _store_function(module: Module, anchor: Node, schedule: Schedule) -> tuple[list[Line], int]:
    root = module.result.root
    space, width = schedule.space(anchor), schedule.width
    coords = _parameters(schedule.params, space, width)
    linear: Coord = 0
    for coord, stride in zip(coords, strides_of(space), strict=True):
        linear = linear + coord * stride
    inside = coords if space == root.shape else movement.reshape_coords(root.shape, space, coords)
    kind = type_of(anchor.dtype, width)
    signature = ", ".join(f"{name}: u32" for name in schedule.params) + f", value: {kind}"
    lines: list[Line] = []
    result_width = 4 if width == 4 and space[-1] % 4 == 0 else 1
    if result_width == width:
        body = module.body(known=(root.shape, inside, linear))
        body.give(anchor, "value")
        value = body.value(root, inside, width)
        lines = [*body.lines, line(module.store(linear, width, value))]
    else:
        for number in range(4):
            index = linear + number
            at_lane = lane(root.shape, inside, number)
            body = module.body(known=(root.shape, at_lane, index))
            body.give(anchor, f"value.{'xyzw'[number]}")
            value = body.value(root, at_lane, 1)
            inner = [*body.lines, line(module.store(index, 1, value))]
            lines += block(f"if ({schedule.params[-1]} * 4u + {number}u < {space[-1]}u)", inner)
    return block(f"fn store_out({signature})", lines), result_width


def _seen_as(node: Node, space: Shape) -> Node:
    return node if node.shape == space else make(movement.reshape, node, shape=space)
