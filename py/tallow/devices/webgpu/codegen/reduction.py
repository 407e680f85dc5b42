"""Reductions as WGSL: the loops that fold elements, and how a workgroup shares one fold.

One invocation alone folds in a plain loop. A team, the invocations of a workgroup, strides over the
elements, neighbours reading neighbouring ones; then it combines what each has folded, after which
every one of them has the result. Combining stands in helper functions of the module:

    workgroup  in workgroup memory, in two steps of sqrt(size) values each: three barriers where a
               binary tree has log2(size), since barriers are what costs on software adapters
    subgroup   by subgroup operations, and workgroup memory between the subgroups; how many these
               are, and which invocations they hold, need not be known
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ....codegen.index import Coord, Coords, lane_axis, variable
from ....codegen.picks import ending
from ....core.dtype import DType, int32
from ....core.shape import Shape, strides_of
from ....graph import Node
from ....ops import movement
from ....ops.kinds import Reduce
from . import literal
from .arithmetic import across, combination
from .index_text import text_of
from .literal import is_nan, magnitude, number, splat, suffix_of, type_of


@dataclass(frozen=True)
class Team:
    """The invocations that compute one output, or one row, together.

    size: how many; 1, or the whole workgroup, a power of 4. subgroups: whether they combine by
    subgroup operations. The entry point of a team's module names an invocation's number `lane`.
    """

    size: int = 1
    subgroups: bool = False

    @property
    def alone(self) -> bool:
        """Whether it is one invocation."""
        return self.size == 1

    def loop(self, name: str, count: int | str) -> str:
        """The head of the loop over an invocation's share of 0 .. count - 1; the count may be an
        expression."""
        end = f"{count}u" if isinstance(count, int) else count
        if self.alone:
            return f"for (var {name} = 0u; {name} < {end}; {name}++)"
        return f"for (var {name} = lane; {name} < {end}; {name} += TEAM)"

    def combined(
        self, helpers: dict[str, str], op: Reduce, dtype: DType, width: int, *mine: str
    ) -> str:
        """The fold of what all have, as an expression; must stand in uniform control flow.

        mine: the invocation's own fold, of `width` elements of the type `dtype`; of an indexed op,
        its best element and the index of that.
        """
        if self.alone:
            return mine[-1]
        kind, suffix = type_of(dtype, width), suffix_of(dtype, width)
        self._memory(helpers, kind, suffix)
        if op.indexed:
            self._memory(helpers, "i32", "indices")
        text = _INDEXED if op.indexed else _PLAIN
        start = splat(start_of(op, dtype), dtype, width)
        name = f"together_{op.name}_{suffix}"

        def fold(a: str, b: str) -> str:
            return folded(helpers, op, dtype, width, a, b)

        helpers[name] = text[self.subgroups].format(
            name=name,
            kind=kind,
            memory=f"team_{suffix}",
            start=start,
            across=_across_subgroup(helpers, op, dtype, width) if self.subgroups else "",
            root=f"{math.isqrt(self.size)}u",
            fold=fold("all", "other"),
            back=fold("other", "all"),
            behind=fold("mine", "part"),
            behind_all=fold("all", "best"),
        )
        return f"{name}({', '.join(['lane', *mine])})"

    def _memory(self, helpers: dict[str, str], kind: str, suffix: str) -> None:
        if self.subgroups:
            helpers["enable"] = "enable subgroups;"
        helpers["team"] = f"const TEAM = {self.size}u;"
        helpers[f"team_{suffix}"] = f"var<workgroup> team_{suffix}: array<{kind}, TEAM>;"


ALONE = Team()


class Body(Protocol):
    """A function's body while it is written, as reductions need it: Expression (expression.py)."""

    helpers: dict[str, str]
    team: Team

    def line(self, text: str) -> None:
        """Writes a line."""

    def fresh(self, prefix: str = "v") -> str:
        """A name that nothing has."""

    def let(self, text: str) -> str:
        """The name of a value."""

    def named(self, coord: Coord) -> Coord:
        """A coordinate as a variable."""

    def know(self, shape: Shape, coords: Coords, linear: Coord) -> None:
        """Records the flat index of coordinates in a shape."""

    def end(self, filled: Node) -> Coord:
        """Where `fill_from` begins to fill."""

    def block(self, head: str, write: Callable[[], None]) -> None:
        """Writes a block."""

    def value(self, node: Node, coords: Coords, width: int) -> str:
        """An expression for elements of a node."""


# ---- combining what a team has folded ---------------------------------------------------------
#
# Each begins with a barrier, since the fold before may still be read. By subgroup or not.

_PLAIN = {
    False: """fn {name}(lane: u32, mine: {kind}) -> {kind} {{
    workgroupBarrier();
    {memory}[lane] = mine;
    workgroupBarrier();
    if (lane < {root}) {{
        var all = mine;
        for (var k = lane + {root}; k < TEAM; k += {root}) {{
            let other = {memory}[k];
            all = {fold};
        }}
        {memory}[lane] = all;
    }}
    workgroupBarrier();
    var all = {memory}[0];
    for (var k = 1u; k < {root}; k++) {{
        let other = {memory}[k];
        all = {fold};
    }}
    return all;
}}""",
    True: """fn {name}(lane: u32, mine: {kind}) -> {kind} {{
    let rank = subgroupExclusiveAdd(1u);
    let members = subgroupAdd(1u);
    let part = {across}(mine);
    workgroupBarrier();
    {memory}[lane] = select({start}, part, rank == 0u);
    workgroupBarrier();
    var all = {start};
    for (var k = rank; k < TEAM; k += members) {{
        let other = {memory}[k];
        all = {fold};
    }}
    return {across}(all);
}}""",
}

# The best element, and the first of those that no other beats. Who has met no winner has the start
# value and index 0, which is the answer if none has.
_INDEXED = {
    False: """fn {name}(lane: u32, mine: {kind}, index: i32) -> i32 {{
    workgroupBarrier();
    {memory}[lane] = mine;
    team_indices[lane] = index;
    workgroupBarrier();
    if (lane < {root}) {{
        var all = mine;
        var first = index;
        for (var k = lane + {root}; k < TEAM; k += {root}) {{
            let other = {memory}[k];
            let at = team_indices[k];
            if ({fold} || (at < first && !{back})) {{
                all = other;
                first = at;
            }}
        }}
        {memory}[lane] = all;
        team_indices[lane] = first;
    }}
    workgroupBarrier();
    var all = {memory}[0];
    var first = team_indices[0];
    for (var k = 1u; k < {root}; k++) {{
        let other = {memory}[k];
        let at = team_indices[k];
        if ({fold} || (at < first && !{back})) {{
            all = other;
            first = at;
        }}
    }}
    return first;
}}""",
    True: """fn {name}(lane: u32, mine: {kind}, index: i32) -> i32 {{
    let rank = subgroupExclusiveAdd(1u);
    let members = subgroupAdd(1u);
    let part = {across}(mine);
    let part_index = subgroupMin(select(0x7fffffffi, index, !{behind}));
    workgroupBarrier();
    {memory}[lane] = select({start}, part, rank == 0u);
    team_indices[lane] = select(0x7fffffffi, part_index, rank == 0u);
    workgroupBarrier();
    var all = {start};
    var first = 0x7fffffffi;
    for (var k = rank; k < TEAM; k += members) {{
        let other = {memory}[k];
        let at = team_indices[k];
        if ({fold} || (at < first && !{back})) {{
            all = other;
            first = at;
        }}
    }}
    let best = {across}(all);
    return subgroupMin(select(0x7fffffffi, first, !{behind_all}));
}}""",
}


# ---- folding ----------------------------------------------------------------------------------


def reduce(body: Body, node: Node, coords: Coords, width: int) -> str:
    """Writes the reduction of one element, or of four side by side; returns its name."""
    op, (child,) = node.op, node.inputs
    assert isinstance(op, Reduce)
    axes = [axis for axis in node.attrs["axes"] if child.shape[axis] != 1]
    last, until, end = lane_axis(child.shape), ending(node), ""
    if until in axes and (body.team.alone or len(axes) == 1):
        end = text_of(body.end(child))
        (child, _) = child.inputs
    by_lane = width == 1 and last in axes and child.shape[last] % 4 == 0 and not op.indexed
    by_lane = by_lane and not (end and last == until)
    inner = 4 if by_lane else width
    total = _accumulator(body, op, child.dtype, inner)
    if op.indexed:
        return _winner(body, node, coords, total)

    def step(at: Coords) -> None:
        item = body.value(child, at, inner)
        body.line(f"{total} = {folded(body.helpers, op, child.dtype, inner, total, item)};")

    steps = {axis: 4 if axis == last and by_lane else 1 for axis in axes}
    if body.team.alone or not axes or end:
        _nested(body, child, coords, steps, step, {until: end} if until is not None and end else {})
    else:
        _strided(body, child, coords, steps, step)
    mine = total if inner == width else _across_four(body.helpers, op, child.dtype, total)
    if not axes:  # every invocation has all of it
        return mine
    return body.let(body.team.combined(body.helpers, op, child.dtype, width, mine))


def fold_row(body: Body, node: Node, over: Coords, width: int, loop: str) -> str:
    """Writes the reduction of a row; returns its name.

    over: the coordinates of the row's elements in terms of the loop's variable; the loop passes
    `width` elements at a time.
    """
    op, (child,) = node.op, node.inputs
    assert isinstance(op, Reduce)
    total = _accumulator(body, op, child.dtype, width)

    def step() -> None:
        item = body.value(child, over, width)
        body.line(f"{total} = {folded(body.helpers, op, child.dtype, width, total, item)};")

    body.block(loop, step)
    mine = _across_four(body.helpers, op, child.dtype, total) if width == 4 else total
    return body.let(body.team.combined(body.helpers, op, child.dtype, 1, mine))


def _across_four(helpers: dict[str, str], op: Reduce, dtype: DType, total: str) -> str:
    """The four lanes of a sum (or other fold) as one."""
    x, y, z, w = (f"{total}.{lane}" for lane in "xyzw")
    pairs = folded(helpers, op, dtype, 1, x, y), folded(helpers, op, dtype, 1, z, w)
    return folded(helpers, op, dtype, 1, *pairs)


def folded(helpers: dict[str, str], op: Reduce, dtype: DType, width: int, a: str, b: str) -> str:
    """`b` folded into `a`, as an expression; of an indexed op, whether b wins."""
    template = combination(op, dtype, width)
    helpers.update(template.functions)
    if not dtype.is_floating or not (op.indexed or template.loses_nan):
        return template.text.format(a, b)
    kind, name = type_of(dtype, width), f"{op.name}_of_two_{suffix_of(dtype, width)}"
    combined = template.text.format("a", "b")
    if op.indexed:
        test = f"!{is_nan('a', width)} && ({is_nan('b', width)} || {combined})"
        helpers[name] = f"fn {name}(a: {kind}, b: {kind}) -> bool {{\n    return {test};\n}}"
    else:
        size = f"max({magnitude('a', width)}, {magnitude('b', width)})"
        helpers[name] = _keeping_nan(name, f"a: {kind}, b: {kind}", kind, size, combined)
    return f"{name}({a}, {b})"


def _across_subgroup(helpers: dict[str, str], op: Reduce, dtype: DType, width: int) -> str:
    """The function that folds what the invocations of a subgroup have."""
    operation = across(op, dtype)
    if not dtype.is_floating or not (op.indexed or combination(op, dtype, width).loses_nan):
        return operation
    kind, name = type_of(dtype, width), f"{op.name}_across_{suffix_of(dtype, width)}"
    size = f"subgroupMax({magnitude('mine', width)})"
    helpers[name] = _keeping_nan(name, f"mine: {kind}", kind, size, f"{operation}(mine)")
    return name


def _keeping_nan(name: str, parameters: str, kind: str, size: str, result: str) -> str:
    """A function that gives `result`, but NaN where the greatest of all magnitudes is one."""
    words = "vec4u" if kind == "vec4f" else "u32"
    return f"""fn {name}({parameters}) -> {kind} {{
    let size = {size};
    return select({result}, bitcast<{kind}>(size), size > {words}(0x7f800000u));
}}"""


def start_of(op: Reduce, dtype: DType) -> str:
    """The value before the first element."""
    if op.start == "lowest":
        return literal.lowest(dtype)
    if op.start == "highest":
        return literal.highest(dtype)
    return number(op.start, dtype)


def _accumulator(body: Body, op: Reduce, dtype: DType, width: int) -> str:
    name = body.fresh("acc")
    body.line(f"var {name} = {splat(start_of(op, dtype), dtype, width)};")
    return name


def _nested(
    body: Body,
    child: Node,
    coords: Coords,
    steps: dict[int, int],
    step: Callable[[Coords], None],
    ends: Mapping[int, str],
) -> None:
    """A loop for each axis of `steps`, which says how many elements the loop takes at a time. ends:
    where an axis ends, if that is not its length."""
    if not steps:
        step(coords)
        return
    (axis, size), *rest = steps.items()
    count, name = child.shape[axis] // size, body.fresh("r")
    at = (*coords[:axis], variable(name, count) * size, *coords[axis + 1 :])
    loop = body.team.loop(name, ends.get(axis, count))
    body.block(loop, lambda: _nested(body, child, at, dict(rest), step, ends))


def _strided(
    body: Body,
    child: Node,
    coords: Coords,
    steps: dict[int, int],
    step: Callable[[Coords], None],
) -> None:
    """One loop over all axes of `steps`, which a team shares."""
    counts = tuple(child.shape[axis] // size for axis, size in steps.items())
    total, name = math.prod(counts), body.fresh("r")
    linear = variable(name, max(total, 2))

    def one() -> None:
        at = list(coords)
        parts = movement.reshape_coords(counts, (total,), (linear,))
        for (axis, size), part in zip(steps.items(), parts, strict=True):
            at[axis] = body.named(part) * size
        index = _row_major(child, coords, steps, linear)
        if index is not None:
            body.know(child.shape, tuple(at), index)
        step(tuple(at))

    body.block(body.team.loop(name, total), one)


def _row_major(child: Node, coords: Coords, steps: dict[int, int], linear: Coord) -> Coord | None:
    """The flat index of an element, if the axes are adjacent and so can be counted as one."""
    longer = [axis for axis, dim in enumerate(child.shape) if dim != 1]
    first = longer.index(min(steps))
    if longer[first : first + len(steps)] != list(steps):
        return None
    strides = strides_of(child.shape)
    last = max(steps)
    index = linear * (strides[last] * steps[last])
    for axis in longer:
        if axis not in steps:
            index = index + coords[axis] * strides[axis]
    return index


def _winner(body: Body, node: Node, coords: Coords, best: str) -> str:
    """The index of the first element that no other beats."""
    op, (child,) = node.op, node.inputs
    assert isinstance(op, Reduce)
    (axis,) = node.attrs["axes"]
    index, name = body.fresh("index"), body.fresh("r")
    body.line(f"var {index} = {number(0, int32)};")
    at = (*coords[:axis], variable(name, max(child.shape[axis], 2)), *coords[axis + 1 :])

    def take(item: str) -> None:
        body.line(f"{best} = {item};")
        body.line(f"{index} = i32({name});")

    def step() -> None:
        item = body.value(child, at, 1)
        wins = folded(body.helpers, op, child.dtype, 1, best, item)
        body.block(f"if ({wins})", lambda: take(item))

    body.block(body.team.loop(name, child.shape[axis]), step)
    return body.let(body.team.combined(body.helpers, op, child.dtype, 1, best, index))
