"""Kernels that are generated whole: of elementwise ops, movements and reductions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ....codegen.groups import is_flat, is_per_row
from ....codegen.index import Coord, Coords, Index, lane_axis, variable
from ....core.shape import Shape
from ....errors import DeviceMemoryError
from ....graph import Node
from ....ops import movement
from ....ops.kinds import Elementwise, Reduce
from .choice import Traits, reduction_schedule
from .index_text import atom_text
from .lines import Line, block, let, line
from .module import MAX_WORKGROUPS, Kernel, Module, Result
from .reduction import ALONE, Team

WORKGROUP = 64  # invocations of a generated kernel's workgroup, unless it is a team
MAX_TEAM = 256  # invocations of a workgroup on every WebGPU device

_WORD = re.compile(r"\w+")


def has_lanes(root: Node, members: Sequence[Node]) -> bool:
    """Whether the kernel can compute four elements at once along the root's lane axis."""
    if not root.shape or root.shape[lane_axis(root.shape)] % 4:
        return False
    reductions = [node for node in members if isinstance(node.op, Reduce)]
    return all(
        not node.op.indexed and lane_axis(node.inputs[0].shape) == lane_axis(node.shape)
        for node in reductions
        if isinstance(node.op, Reduce)
    )


def team_of(members: Sequence[Node], outputs: int, traits: Traits) -> Team:
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


def generated(
    result: Result, members: Sequence[Node], reads: Sequence[Node], traits: Traits
) -> Kernel:
    """The kernel of a group, in generated WGSL."""
    root, module = result.root, Module(reads, result, traits.builtins)
    flat = is_flat(root, members, reads)
    width = 4 if flat or has_lanes(root, members) else 1
    count = -(-root.size // width)
    team = team_of(members, count, traits)
    x, y, which = dispatch(count, team)
    guard = [f"let i = {which};", f"if (i >= {count}u) {{ return; }}"]
    head: list[Line] = []
    # Flat kernels of odd sizes run into the end of their buffers, which are padded to 16 bytes.
    linear: Coord = variable("i", count) * width
    if flat:
        coords: Coords = (linear,)
        body = module.body(flat=True)
    else:
        coords = unravelled(root.shape, linear, head)
        body = module.body(known=(root.shape, coords, linear), team=team)
    value = body.value(root, coords, width)
    store = module.store(linear, width, value)
    body.line(store if team.alone else f"if (lane == 0u) {{ {store} }}")
    title = " ".join(node.op.name for node in members)
    main = main_function(guard, head, body.lines, team)
    text = module.text(title, [main], width)
    return Kernel(text, (x, y, 1), list(module.params.values.values()))


def generated_rows(
    result: Result,
    members: Sequence[Node],
    reads: Sequence[Node],
    row: tuple[int, ...],
    traits: Traits,
) -> Kernel:
    """An invocation, or a team, computes a row: each reduction in a loop over it, then the
    results."""
    root, module = result.root, Module(reads, result, traits.builtins)
    outer, inner = root.shape[: row[0]], root.shape[row[0] :]
    rows, length = math.prod(outer), math.prod(inner)
    width = 4 if root.shape[lane_axis(root.shape)] % 4 == 0 else 1
    team = team_of(members, rows, traits)
    x, y, which = dispatch(rows, team)
    guard = [f"let row = {which};", f"if (row >= {rows}u) {{ return; }}"]
    head: list[Line] = []
    outer_coords = unravelled(outer, variable("row", max(rows, 2)), head, "row")
    in_row = variable("i", max(length // width, 2)) * width
    coords = (*outer_coords, *movement.reshape_coords(inner, (length,), (in_row,)))
    linear = variable("row", max(rows, 2)) * length + in_row
    body = module.body(known=(root.shape, coords, linear), team=team)
    per_row = tuple(0 if axis >= row[0] else coord for axis, coord in enumerate(coords))
    loop = team.loop("i", length // width)
    for node in members:
        if isinstance(node.op, Reduce):
            body.fold(node, per_row, coords, width, loop)
        elif isinstance(node.op, Elementwise) and is_per_row(node, root, row):
            body.value(node, per_row, 1)

    def write() -> None:
        value = body.value(root, coords, width)
        body.line(module.store(linear, width, value))

    body.block(loop, write)
    main = main_function(guard, head, body.lines, team)
    text = module.text(" ".join(node.op.name for node in members), [main], width)
    return Kernel(text, (x, y, 1), list(module.params.values.values()))


def dispatch(count: int, team: Team) -> tuple[int, int, str]:
    """Workgroups over two dispatch axes, and what numbers the `count` things to compute: an
    invocation, or a team."""
    size, name = (WORKGROUP, "id") if team.alone else (1, "group")
    x, y = _spread(-(-count // size))
    return x, y, f"{name}.x + {name}.y * {x * size}u" if y > 1 else f"{name}.x"


def main_function(guard: list[str], head: list[Line], lines: list[Line], team: Team) -> list[Line]:
    """The entry point, without names that nothing uses."""
    kept: list[Line] = []
    used: set[str] = set()
    for each in reversed([*head, *lines]):
        if not each.name or each.name in used:
            kept.insert(0, each)
            for text in each.texts():
                used.update(_WORD.findall(text))
    size, taken = WORKGROUP, "@builtin(global_invocation_id) id: vec3u"
    if not team.alone:
        size = team.size
        taken = "@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32"
    body = [*map(line, guard), *kept]
    return [line(f"@compute @workgroup_size({size})"), *block(f"fn main({taken})", body)]


def unravelled(shape: Shape, linear: Coord, head: list[Line], name: str = "i") -> Coords:
    """Coordinates of the element at a flat index, a sum of `name`, each computed once."""
    coords = movement.reshape_coords(shape, (math.prod(shape),), (linear,))
    named: list[Coord] = []
    for axis, coord in enumerate(coords):
        factor, first = coord.terms[0] if isinstance(coord, Index) else (1, None)
        if first is not None and first.name != name:
            head.append(let(f"c{axis}", atom_text(first)))
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
