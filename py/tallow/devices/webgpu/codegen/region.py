"""The kernel of `update_at` where the rest of its result is there already. Most pages need none."""

from __future__ import annotations

from collections.abc import Sequence

from ....codegen.index import Coord, Coords, is_multiple, lane_axis, variable
from ....core.shape import strides_of
from ....graph import Node
from ....ops import positions
from .choice import Traits
from .expression import Expression
from .generated import dispatch, has_lanes, main_function, team_of, unravelled
from .lines import Line
from .module import Kernel, Module, Result


def starts_of(body: Expression, update: Node) -> list[Coord]:
    """Where `update_at` begins to write, along each axis."""

    def read(operand: int, at: Coords, size: int, region: int | None = None) -> Coord:
        return body.start(update.inputs[operand], size, region or 1)

    return positions.starts_of([child.shape for child in update.inputs], update.attrs, read)


def region(
    result: Result, members: Sequence[Node], reads: Sequence[Node], traits: Traits
) -> Kernel:
    """The kernel of `update_at` that writes the region alone: the rest is there."""
    root, new = result.root, result.root.inputs[1]
    axis = lane_axis(new.shape) if new.shape else 0
    by_fours = has_lanes(new, members) and axis == lane_axis(root.shape)
    for width in (4, 1) if by_fours else (1,):
        module = Module(reads, result, traits.builtins)
        count = -(-new.size // width)
        team = team_of(members, count, traits)
        x, y, which = dispatch(count, team)
        guard = [f"let i = {which};", f"if (i >= {count}u) {{ return; }}"]
        head: list[Line] = []
        linear: Coord = variable("i", count) * width
        coords = unravelled(new.shape, linear, head)
        body = module.body(known=(new.shape, coords, linear), team=team)
        at: Coord = 0
        for coord, start, stride in zip(
            coords, starts_of(body, root), strides_of(root.shape), strict=True
        ):
            at = at + (start + coord) * stride
        if is_multiple(at, width):
            break
    store = module.store(at, width, body.value(new, coords, width))
    body.line(store if team.alone else f"if (lane == 0u) {{ {store} }}")
    main = main_function(guard, head, body.lines, team)
    text = module.text(" ".join(node.op.name for node in members), [main], width)
    return Kernel(text, (x, y, 1), list(module.params.values.values()))
