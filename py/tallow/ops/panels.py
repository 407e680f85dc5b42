"""Panels: matrices whose columns stand in groups of eight, for kernels that read them in order.

A kernel that keeps eight columns of a product in registers reads from a panel one element after the
other. A matrix whose width is no multiple of eight ends in a panel with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.shape import Shape
from .kinds import Attrs, Coordinates, Movement, Pick, Read, Spec

if TYPE_CHECKING:
    from ..arrays import Array, NumPy

COLUMNS = 8
"""Of a panel."""


def count(columns: int) -> int:
    """How many panels a matrix has."""
    return -(-columns // COLUMNS)


def _pack_numpy(np: NumPy, x: Array, *length: Array) -> Array:
    batch, rows, columns = x.shape
    x = np.pad(x, ((0, 0), (0, 0), (0, -columns % COLUMNS)))
    return x.reshape(batch, rows, -1, COLUMNS).transpose(0, 2, 1, 3)


def _pack_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((batch, rows, columns), dtype), *_ = operands
    return (batch, count(columns), rows, COLUMNS), dtype


def _pack_pick(
    shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read
) -> list[Pick]:
    (_, _, columns), (n, panel, row, column) = shapes[0], coords
    at = panel * COLUMNS + column
    when = ((at, 0, columns),) if columns % COLUMNS else ()
    return [Pick(0, (n, row, at), when)]


pack_panels = Movement("pack_panels", _pack_numpy, _pack_rule, _pack_pick)
"""(batch, rows, columns) to (batch, panels, rows, 8). An optional second operand, an
integer without axes, says how many rows to pack, from the first on. A device may skip the rest."""


def _unpack_numpy(np: NumPy, x: Array, columns: int) -> Array:
    batch, panels, rows, _ = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, rows, panels * COLUMNS)[:, :, :columns]


def _unpack_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (((batch, _, rows, _), dtype),) = operands
    return (batch, rows, attrs["columns"]), dtype


def _unpack_pick(
    shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read
) -> list[Pick]:
    n, row, column = coords
    return [Pick(0, (n, column // COLUMNS, row, column % COLUMNS))]


unpack_panels = Movement("unpack_panels", _unpack_numpy, _unpack_rule, _unpack_pick, view=True)
"""The matrices of which `pack_panels` made the panels, `columns` wide."""
