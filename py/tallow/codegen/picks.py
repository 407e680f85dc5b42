"""Where the elements of a movement come from, as far as code generators for all targets ask it."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.shape import Shape
from ..graph import Node
from ..ops.kinds import Pick
from ..ops.positions import end_of
from .index import Coords, Index, is_multiple, lane


def undecided(pick: Pick) -> Pick | None:
    """The pick without its conditions on coordinates that are numbers; None if one of those does
    not hold: its position is then outside of what it picks from."""
    known = [test for test in pick.when if isinstance(test[0], int)]
    if not all(low <= coord < high for coord, low, high in known):
        return None
    return Pick(pick.operand, pick.coords, tuple(t for t in pick.when if t not in known))


def possible(picks: Sequence[Pick]) -> list[Pick]:
    """The picks that are not ruled out, up to the first that always holds."""
    found: list[Pick] = []
    for pick in picks:
        left = undecided(pick)
        if left is not None:
            found.append(left)
            if not left.when:
                break
    return found


def ending(reduction: Node) -> int | None:
    """The axis along which a reduction ends at a position that is read, if there is one: it folds
    `fill_from` then, and need only fold its first operand."""
    (child,) = reduction.inputs
    axes = reduction.attrs["axes"]
    return end_of(reduction.op, axes, child.op, child.attrs, child.dtype)


def inside(shape: Shape, coords: Coords) -> Coords:
    """Coordinates that are known to be inside a shape where they are used."""
    pairs = zip(coords, shape, strict=True)
    return tuple(c.within(dim) if isinstance(c, Index) else c for c, dim in pairs)


def alike(node: Node, first: list[Pick], lanes: list[list[Pick]]) -> str | None:
    """Where four lanes come from: "neighbours" of one source, "one" element, or (None) elements
    that have to be looked up one by one. lanes: the picks of the second lane and those after it."""
    kinds = set()
    for number, picks in enumerate(lanes, 1):
        if len(picks) != len(first):
            return None
        for a, b in zip(first, picks, strict=True):
            source = node.inputs[a.operand].shape
            if b.coords == a.coords:
                kinds.add("one")
            elif b.coords == lane(source, a.coords, number):
                kinds.add("neighbours")
            else:
                return None
            for (c, low, high), (d, _, _) in zip(a.when, b.when, strict=True):
                aligned = is_multiple(c, 4) and low % 4 == 0 and high % 4 == 0
                if c != d and not (d == c + number and aligned):
                    return None
    return kinds.pop() if len(kinds) == 1 else None
