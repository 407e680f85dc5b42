"""Weights of few bits in panels: each panel becomes float32 just before rows are multiplied by it,
in memory of the kernel's own."""

from __future__ import annotations

from ....codegen.index import Coord
from ....graph import Node
from ....ops import panels
from ....ops.kinds import Elementwise
from .expression import Expression

_AT_ONCE = 4  # rows of a panel that are written without a loop around each


def is_coded(weight: Node) -> bool:
    """Whether a right operand is computed from panels, element by element."""
    return isinstance(weight.op, Elementwise) and any(
        child.op is panels.unpack_panels or is_coded(child) for child in weight.inputs
    )


class Coded:
    """The panels of a right operand that is computed from panels, `width` elements at a time where
    a row has whole vectors. address: the local with that of the memory for one of them."""

    def __init__(self, body: Expression, weight: Node, address: int, width: int) -> None:
        self._body, self._weight, self._address = body, weight, address
        self._depth, columns = weight.shape[1:]
        self._lanes = width if columns % width == 0 else 1
        self.size = 4 * self._depth * panels.COLUMNS

    def bring(self, n: Coord, column: Coord) -> None:
        """Unpacks a panel."""
        body, step = self._body, _AT_ONCE if self._depth % _AT_ONCE == 0 else 1
        columns = self._weight.shape[2]
        left = columns - column if isinstance(column, int) else panels.COLUMNS
        lanes = self._lanes

        def some(first: Coord) -> None:
            for k in range(step):
                for across in range(0, min(left, panels.COLUMNS), lanes):
                    at = (n, first + k, column + across)
                    value = body.value(self._weight, at, lanes)
                    body.push_sum(self._address, (first + k) * (4 * panels.COLUMNS) + 4 * across)
                    body.apply("v128.store" if lanes == 4 else "f32.store", value, offset=0)

        body.loop(self._depth, some, step)

    def point(self, n: Coord, column: Coord) -> int:
        """A local with the panel's address."""
        self._body.emit("local.get", self._address)
        return self._body.keep("i32")
