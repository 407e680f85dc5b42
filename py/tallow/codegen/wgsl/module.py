"""A fused group as a WGSL module: text, override constants and dispatch size. Pure functions.

Elementwise, movement and reduction groups are generated whole. A group around a contraction or
window is a hand-written kernel (kernels.py) whose load_* and store_* functions are written anew,
so that what is fused happens where the values are read and written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import DeviceMemoryError
from ...graph import Node, make
from ...op import Contraction, Elementwise, Reduce
from ...ops import movement
from ...shape import Shape, strides_of
from ..index import Coord, Coords, Index, lane, lane_axis, variable
from ..layout import Region
from . import storage
from .choice import Traits, choose, reduction_schedule
from .expression import Expression, finish
from .index_text import atom_text, text_of
from .kernels import Load, Schedule, kernel_file
from .literal import PRIVATE_BITS, type_of
from .params import Params
from .reduction import ALONE, Team

_MAIN = re.compile(r"^fn main\([^{]*\{\n", re.M)
_RESULT = "result"  # the name of the binding that is written

WORKGROUP = 64  # invocations of a generated kernel's workgroup, unless it is a team
MAX_TEAM = 256  # invocations of a workgroup on every WebGPU device
MAX_WORKGROUPS = 65535  # along one dispatch axis, on every WebGPU device

ANY_DEVICE = Traits()

_ENABLE = re.compile(r"^enable [^;]+;\n+", re.M)
_LET = re.compile(r" *let (\w+) = ")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Result:
    """What a kernel computes, and where it writes it.

    region: where it is in its binding, if that holds more. over: the reads that lie in its binding,
    over which it is written element by element.
    """

    root: Node
    region: Region | None = None
    over: Collection[Node] = ()

    def flat_index(self, linear: Coord) -> Coord:
        """Where the element at a flat index of the root is written."""
        return self.region.flat_index(linear) if self.region else linear


@dataclass(frozen=True)
class Kernel:
    """A WGSL module with entry point `main`, and what a dispatch of it needs.

    params: the fields of its uniform, bound after everything else. constants: values for its
    override constants.
    """

    text: str
    workgroups: tuple[int, int, int]
    params: list[int] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)


def kernel_for(
    result: Result,
    members: Sequence[Node],
    reads: Sequence[Node],
    row: tuple[int, ...] = (),
    traits: Traits = ANY_DEVICE,
) -> Kernel:
    """The kernel that computes a result from `reads`.

    Those that are not in place are bound in this order, then the result. members: the nodes that
    it computes, the root among them, in the order of computation. row: the axes of a row, if
    values per row are reduced and spread again. traits: the kind of device, which decides between
    hand-written kernels, and which invocations reduce together.
    """
    if row:
        return _rows(result, members, reads, row, traits)
    anchors = [node for node in members if isinstance(node.op, Contraction)]
    if anchors:
        return _hand_written(result, anchors[0], reads, traits)
    return _generated(result, members, reads, traits)


class _Module:
    """What the functions of one module share."""

    def __init__(self, reads: Sequence[Node], result: Result) -> None:
        self.result = result
        self.bound = [node for node in reads if node not in result.over]
        self.reads = {node: f"b{binding}" for binding, node in enumerate(self.bound)}
        self.reads |= dict.fromkeys(result.over, _RESULT)
        self.declared: dict[str, int] = {}
        self.helpers: dict[str, str] = {}
        self.params = Params()

    def body(self, **options: Any) -> Expression:
        return Expression(self.reads, self.declared, self.helpers, **options)

    def text(self, title: str, functions: str, result_width: int, kept: str = "") -> str:
        """The finished module: generated functions, and what a kernel file adds to them."""
        bindings = []
        for binding, node in enumerate(self.bound):
            kind = storage.array_type(node.dtype, self.declared.get(self.reads[node], 1))
            bindings.append(_binding(binding, "read", self.reads[node], kind))
        self.declared[_RESULT] = result_width
        kind = storage.array_type(self.result.root.dtype, result_width)
        bindings.append(_binding(len(self.bound), "read_write", _RESULT, kind))
        functions = self.params.lift(finish(functions, self.declared))
        bindings.append(self.params.declaration(len(bindings)))
        parts = ["\n".join(bindings).strip(), *self.helpers.values(), functions, kept]
        content = "\n\n".join([parts[0], _naming_all(list(self.reads.values()), parts[1:])])
        enables = map(str.strip, _ENABLE.findall(content))  # these must come before all else
        content = _ENABLE.sub("", content)
        bits = [
            f"var<private> {name}: u32 = {value};"
            for name, value in PRIVATE_BITS.items()
            if re.search(rf"\b{name}\b", content)
        ]
        return "\n".join([f"// {title}", *enables, *bits, content.strip(), ""])

    def store(self, linear: Coord, width: int, value: str) -> str:
        """Writes `width` elements of the root, from its flat index `linear` on."""
        at = text_of(self.result.flat_index(linear) // width)
        return storage.store(_RESULT, self.result.root.dtype, at, width, value)


def _binding(number: int, access: str, name: str, kind: str) -> str:
    return f"@group(0) @binding({number}) var<storage, {access}> {name}: array<{kind}>;"


def _naming_all(names: Sequence[str], parts: Sequence[str]) -> str:
    """The text, with a mention of each binding that it does not read: an index along one element
    is not looked up, but layouts are made of what is mentioned."""
    content = "\n\n".join(parts)
    unread = [name for name in names if not re.search(rf"\b{name}\b", content)]
    mentions = "".join(f"    _ = &{name};\n" for name in unread)
    return _MAIN.sub(lambda found: found[0] + mentions, content, count=1) if mentions else content


def _indent(lines: Sequence[str]) -> str:
    return "\n".join("    " + line for line in lines)


# ---- generated kernels ------------------------------------------------------------------------


def _is_flat(root: Node, members: Sequence[Node], reads: Sequence[Node]) -> bool:
    """Whether every element depends on the elements at its own flat index."""
    if any(node.size != root.size for node in reads):
        return False
    return all(
        isinstance(node.op, Elementwise)
        or node.op is movement.reshape
        or (node.op is movement.expand and node.inputs[0].size == 1)
        for node in members
    )


def _has_lanes(root: Node, members: Sequence[Node]) -> bool:
    """Whether the kernel can compute four elements at once along the root's lane axis."""
    if not root.shape or root.shape[lane_axis(root.shape)] % 4:
        return False
    reductions = [node for node in members if isinstance(node.op, Reduce)]
    return all(
        not node.op.indexed and lane_axis(node.inputs[0].shape) == lane_axis(node.shape)
        for node in reductions
        if isinstance(node.op, Reduce)
    )


def _team(members: Sequence[Node], outputs: int, traits: Traits) -> Team:
    """Who computes one of `outputs` results, or rows: one invocation, or a workgroup."""
    reductions = [node for node in members if isinstance(node.op, Reduce)]
    if not reductions:
        return ALONE
    reduction = reductions[0]
    schedule = reduction_schedule(reduction, outputs, traits, len(reductions) + 1)
    if schedule == "serial":
        return ALONE
    length = reduction.inputs[0].size // max(reduction.size, 1)
    size = WORKGROUP if length < 4 * MAX_TEAM else MAX_TEAM
    return Team(size, subgroups=schedule == "subgroup")


def _generated(
    result: Result, members: Sequence[Node], reads: Sequence[Node], traits: Traits
) -> Kernel:
    root, module = result.root, _Module(reads, result)
    flat = _is_flat(root, members, reads)
    width = 4 if flat or _has_lanes(root, members) else 1
    count = -(-root.size // width)
    team = _team(members, count, traits)
    x, y, which = _dispatch(count, team)
    guard = [f"let i = {which};", f"if (i >= {count}u) {{ return; }}"]
    head: list[str] = []
    # Flat kernels of odd sizes run into the end of their buffers, which are padded to 16 bytes.
    linear: Coord = variable("i", count) * width
    if flat:
        coords: Coords = (linear,)
        body = module.body(flat=True)
    else:
        coords = _unravel(root.shape, linear, head)
        body = module.body(known=(root.shape, coords, linear), team=team)
    value = body.value(root, coords, width)
    store = module.store(linear, width, value)
    body.line(store if team.alone else f"if (lane == 0u) {{ {store} }}")
    title = " ".join(node.op.name for node in members)
    main = _main(guard, head, body.lines, team)
    text = module.text(title, main, width)
    return Kernel(text, (x, y, 1), list(module.params.values.values()))


def _rows(
    result: Result,
    members: Sequence[Node],
    reads: Sequence[Node],
    row: tuple[int, ...],
    traits: Traits,
) -> Kernel:
    """An invocation, or a team, computes a row: each reduction in a loop over it, then the
    results."""
    root, module = result.root, _Module(reads, result)
    outer, inner = root.shape[: row[0]], root.shape[row[0] :]
    rows, length = math.prod(outer), math.prod(inner)
    width = 4 if root.shape[lane_axis(root.shape)] % 4 == 0 else 1
    team = _team(members, rows, traits)
    x, y, which = _dispatch(rows, team)
    guard = [f"let row = {which};", f"if (row >= {rows}u) {{ return; }}"]
    head: list[str] = []
    outer_coords = _unravel(outer, variable("row", max(rows, 2)), head, "row")
    in_row = variable("i", max(length // width, 2)) * width
    coords = (*outer_coords, *movement.reshape_coords(inner, (length,), (in_row,)))
    linear = variable("row", max(rows, 2)) * length + in_row
    body = module.body(known=(root.shape, coords, linear), team=team)
    per_row = tuple(0 if axis >= row[0] else coord for axis, coord in enumerate(coords))
    loop = team.loop("i", length // width)
    for node in members:
        if isinstance(node.op, Reduce):
            body.fold(node, per_row, coords, width, loop)
        elif isinstance(node.op, Elementwise) and _is_per_row(node, root, row):
            body.value(node, per_row, 1)

    def write() -> None:
        value = body.value(root, coords, width)
        body.line(module.store(linear, width, value))

    body.block(loop, write)
    main = _main(guard, head, body.lines, team)
    text = module.text(" ".join(node.op.name for node in members), main, width)
    return Kernel(text, (x, y, 1), list(module.params.values.values()))


def _is_per_row(node: Node, root: Node, row: tuple[int, ...]) -> bool:
    """Whether a node has one value for each row of the root."""
    same_rank = len(node.shape) == len(root.shape)
    return same_rank and node.shape != root.shape and all(node.shape[axis] == 1 for axis in row)


def _dispatch(count: int, team: Team) -> tuple[int, int, str]:
    """Workgroups over two dispatch axes, and what numbers the `count` things to compute: an
    invocation, or a team."""
    size, name = (WORKGROUP, "id") if team.alone else (1, "group")
    x, y = _spread(-(-count // size))
    return x, y, f"{name}.x + {name}.y * {x * size}u" if y > 1 else f"{name}.x"


def _main(guard: list[str], head: list[str], lines: list[str], team: Team) -> str:
    """The entry point, without names that nothing uses."""
    kept: list[str] = []
    used: set[str] = set()
    for line in reversed([*head, *lines]):
        name = _LET.match(line)
        if not name or name[1] in used:
            kept.insert(0, line)
            used.update(_WORD.findall(line))
    size, taken = WORKGROUP, "@builtin(global_invocation_id) id: vec3u"
    if not team.alone:
        size = team.size
        taken = "@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32"
    return f"@compute @workgroup_size({size})\nfn main({taken}) {{\n{_indent(guard + kept)}\n}}"


def _unravel(shape: Shape, linear: Coord, head: list[str], name: str = "i") -> Coords:
    """Coordinates of the element at a flat index, a sum of `name`, each computed once."""
    coords = movement.reshape_coords(shape, (math.prod(shape),), (linear,))
    named: list[Coord] = []
    for axis, coord in enumerate(coords):
        factor, first = coord.terms[0] if isinstance(coord, Index) else (1, None)
        if first is not None and first.name != name:
            head.append(f"let c{axis} = {atom_text(first)};")
            named.append(variable(f"c{axis}", first.bound) * factor)
        else:
            named.append(coord)
    return tuple(named)


def _spread(workgroups: int) -> tuple[int, int]:
    """Workgroups over two dispatch axes, neither too long."""
    if workgroups <= MAX_WORKGROUPS:
        return workgroups, 1
    rows = -(-workgroups // MAX_WORKGROUPS)
    if rows > MAX_WORKGROUPS:
        raise DeviceMemoryError(f"a kernel of {workgroups} workgroups is beyond what WebGPU runs")
    return -(-workgroups // rows), rows


# ---- hand-written kernels ---------------------------------------------------------------------

_DIVISOR = re.compile(r"([/%] \d+)u\b")
_OWN_BINDING = re.compile(r"^@group\(0\) @binding\(\d+\) var<storage[^\n]*\n", re.M)
_OWN_ACCESS = re.compile(r"^fn (?:load|store)_\w+\([^\n]*\{\n(?:.*\n)*?\}\n", re.M)


def _hand_written(result: Result, anchor: Node, reads: Sequence[Node], traits: Traits) -> Kernel:
    schedule = choose(anchor, traits)
    file = kernel_file(schedule.file)
    module = _Module(reads, result)
    kept = re.sub(r"\n{3,}", "\n\n", _OWN_ACCESS.sub("", _OWN_BINDING.sub("", file.text)))
    functions = [
        _load_function(module, anchor, load, load.width or schedule.width)
        for load in schedule.loads
    ]
    store, result_width = _store_function(module, anchor, schedule)
    title = f"kernels_wgsl/{schedule.file}.wgsl"
    values = schedule.overrides(anchor)
    kept = module.params.lift_overrides(kept, values)
    text = module.text(title, "\n\n".join([*functions, store]), result_width, kept.strip())
    invocations = schedule.extent(anchor, file.tile)
    size = _workgroup(file.workgroup, invocations[0], traits.lanes)
    text = text.replace("@workgroup_size(4, 1, 1)", f"@workgroup_size({size[0]}, 1, 1)")
    groups = [-(-n // length) for n, length in zip(invocations, size, strict=True)]
    if max(groups) > MAX_WORKGROUPS:
        raise DeviceMemoryError(f"{anchor}: {groups} workgroups are beyond what WebGPU runs")
    constants = {name: values[name] for name in re.findall(r"^override (\w+)", kept, re.M)}
    numbers = list(module.params.values.values())
    return Kernel(text, (groups[0], groups[1], groups[2]), numbers, constants)


def _workgroup(size: tuple[int, int, int], across: int, lanes: int) -> tuple[int, int, int]:
    """A kernel file's workgroup, made as wide as the device's lanes where that leaves none idle."""
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


def _load_function(module: _Module, anchor: Node, load: Load, width: int) -> str:
    operand = anchor.inputs[load.operand]
    space = load.space(anchor)
    node = _seen_as(operand, space)
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
    signature = ", ".join(f"{name}: u32" for name in load.params)
    # Loads stand in the innermost loop: there a divisor stays in the text, as no `params` field.
    lines = [_DIVISOR.sub(r"\1", line) for line in [*body.lines, f"return {result};"]]
    return f"fn {load.function}({signature}) -> {kind} {{\n{_indent(lines)}\n}}"


def _guarded_lanes(body: Expression, node: Node, coords: Coords, last: str, dim: int) -> str:
    """Four elements side by side, zero for those beyond the end of the axis."""
    parts = []
    for number in range(4):
        value = body.value(node, (*coords[:-1], coords[-1] + number), 1)
        inside = f"{last} * 4u + {number}u < {dim}u"
        parts.append(f"select(0f, {value}, {inside})" if number else value)
    return f"vec4f({', '.join(parts)})"


def _store_function(module: _Module, anchor: Node, schedule: Schedule) -> tuple[str, int]:
    root = module.result.root
    space, width = schedule.space(anchor), schedule.width
    coords = _parameters(schedule.params, space, width)
    linear: Coord = 0
    for coord, stride in zip(coords, strides_of(space), strict=True):
        linear = linear + coord * stride
    inside = coords if space == root.shape else movement.reshape_coords(root.shape, space, coords)
    kind = type_of(anchor.dtype, width)
    signature = ", ".join(f"{name}: u32" for name in schedule.params) + f", value: {kind}"
    lines: list[str] = []
    result_width = 4 if width == 4 and space[-1] % 4 == 0 else 1
    if result_width == width:
        body = module.body(known=(root.shape, inside, linear))
        body.give(anchor, "value")
        value = body.value(root, inside, width)
        lines = [*body.lines, module.store(linear, width, value)]
    else:
        for number in range(4):
            index = linear + number
            at_lane = lane(root.shape, inside, number)
            body = module.body(known=(root.shape, at_lane, index))
            body.give(anchor, f"value.{'xyzw'[number]}")
            value = body.value(root, at_lane, 1)
            block = [*body.lines, module.store(index, 1, value)]
            lines.append(f"if ({schedule.params[-1]} * 4u + {number}u < {space[-1]}u) {{")
            lines += ["    " + line for line in block] + ["}"]
    return f"fn store_out({signature}) {{\n{_indent(lines)}\n}}", result_width


def _seen_as(node: Node, space: Shape) -> Node:
    return node if node.shape == space else make(movement.reshape, node, shape=space)
