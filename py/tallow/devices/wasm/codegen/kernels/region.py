"""The kernel of `update_at` where the rest of its result is there already."""

from __future__ import annotations

from .....codegen.index import Coord, Coords, lane_axis
from .....core.shape import strides_of
from .....graph import Node
from .....ops import positions
from .. import storage
from ..expression import Expression
from ..values import UnsupportedError
from .rows import nested


def starts_of(body: Expression, update: Node) -> list[Coord]:
    """Where `update_at` begins to write, along each axis."""

    def read(number: int, at: Coords, size: int, region: int | None = None) -> Coord:
        return body.start(update.inputs[number], size, region or 1)

    return positions.starts_of([child.shape for child in update.inputs], update.attrs, read)


def write_region(body: Expression, root: Node, address: int, width: int) -> None:
    """What `update_at` writes. A row may end with elements that are written twice."""
    new = root.inputs[1]
    lanes = lane_axis(new.shape) if new.shape else 0
    if width > 1 and strides_of(root.shape)[lanes : lanes + 1] != (1,):
        raise UnsupportedError("neighbours that are written apart")
    starts = starts_of(body, root)

    def write(coords: Coords, count: int) -> None:
        at: Coord = 0
        for coord, start, stride in zip(coords, starts, strides_of(root.shape), strict=True):
            at = at + (start + coord) * stride
        value = body.value(new, coords, count)
        offset = body.push_address(address, root.dtype, at)
        body.emit("local.get", value)
        storage.store(body.function, root.dtype, offset, count)

    nested(body, new.shape, write, width, again=True)
