"""Products of 8-bit integers, added up exactly in int32, for targets with instructions for them.

devices/wasm/passes/dots.py finds them in graphs. The right operand is packed: its columns stand in
groups of eight, as in panels.py, and of each column two elements stand side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core import dtype as dt
from ..core.shape import Shape, size_of
from ..errors import DTypeError, ShapeError
from . import numpy_kernels
from .kinds import Attrs, Contraction, Coordinates, Movement, Pick, Read, Spec
from .panels import COLUMNS, count
from .window import spatial_size

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


def pairs(depth: int) -> int:
    """How many pairs of elements a column has."""
    return -(-depth // 2)


def _pack_numpy(np: NumPy, x: Array) -> Array:
    batch, rows, columns = x.shape
    x = np.pad(x, ((0, 0), (0, rows % 2), (0, -columns % COLUMNS)))
    return x.reshape(batch, -1, 2, x.shape[2] // COLUMNS, COLUMNS).transpose(0, 3, 1, 4, 2)


def _pack_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (((batch, rows, columns), dtype),) = operands
    return (batch, count(columns), pairs(rows), COLUMNS, 2), dtype


def _pack_pick(
    shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read
) -> list[Pick]:
    (_, rows, columns), (n, panel, pair, column, half) = shapes[0], coords
    row, at = pair * 2 + half, panel * COLUMNS + column
    when = ((row, 0, rows),) if rows % 2 else ()
    if columns % COLUMNS:
        when = (*when, (at, 0, columns))
    return [Pick(0, (n, row, at), when)]


pack_pairs = Movement("pack_pairs", _pack_numpy, _pack_rule, _pack_pick)
"""(batch, rows, columns) to (batch, panels, pairs of rows, 8, 2), with zeros where none are."""


def _unpacked(np: NumPy, packed: Array, depth: int, columns: int, zero: Array) -> Array:
    """The matrices (batch, depth, columns) of packed ones, less their zero points, as int32."""
    batch, panels, halves, width, _ = packed.shape
    x = packed.transpose(0, 2, 4, 1, 3).reshape(batch, 2 * halves, panels * width)
    return x[:, :depth, :columns].astype(np.int32) - zero.astype(np.int32)


def _check(name: str, operands: Sequence[Spec], matrices: Shape, results: int) -> None:
    """matrices: the shape of the right operand before it was packed. results: columns of the
    result, each of which may have a zero point."""
    (x, kind), (packed, other), (x_zero, _), (zero, _) = operands
    if any(not dtype.is_integer or dtype.size > 1 for dtype in (kind, other)):
        raise DTypeError(f"{name}: takes 8-bit integers, not {kind.name} and {other.name}")
    batch, depth, columns = matrices
    wanted = (batch, count(columns), pairs(depth), COLUMNS, 2)
    if packed != wanted or x_zero != (1,) or zero not in ((1,), (results,)):
        raise ShapeError(
            f"{name}: {x}, {packed} and zero points {x_zero} and {zero} do not fit; "
            f"expected {wanted}, (1,), and (1,) or ({results},)"
        )


def _matmul_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    batch, rows, depth = operands[0][0]
    columns = attrs["columns"]
    _check("integer_matmul", operands, (batch, depth, columns), columns)
    return (batch, rows, columns), dt.int32


def _matmul_numpy(
    np: NumPy, a: Array, b: Array, a_zero: Array, b_zero: Array, columns: int
) -> Array:
    right = _unpacked(np, b, a.shape[2], columns, b_zero)
    return np.matmul(a.astype(np.int32) - a_zero.astype(np.int32), right)


integer_matmul = Contraction("integer_matmul", _matmul_numpy, _matmul_rule)
"""a (batch, m, k), b as `pack_pairs` packs (batch, k, n), and their zero points (1,), and (1,) or
(n,): (a - a's zero point) @ (b - b's zero point). Attribute columns: n."""


def _conv_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    x, groups, filters = operands[0][0], attrs["groups"], attrs["filters"]
    depth = size_of(attrs["kernel"]) * (x[3] // groups)
    _check("integer_conv2d", operands, (groups, depth, filters // groups), filters)
    return (x[0], *spatial_size(x, attrs["kernel"], attrs), filters), dt.int32


def _conv_numpy(
    np: NumPy,
    x: Array,
    w: Array,
    x_zero: Array,
    w_zero: Array,
    kernel: numpy_kernels.Pair,
    filters: int,
    **attrs: Any,
) -> Array:
    groups = attrs["groups"]
    channels = x.shape[3] // groups
    depth = size_of(kernel) * channels
    matrices = _unpacked(np, w, depth, filters // groups, np.zeros(1, np.int32))
    weight = matrices.transpose(1, 0, 2).reshape(*kernel, channels, filters)
    centred = x.astype(np.int32) - x_zero.astype(np.int32)
    return numpy_kernels.conv2d(np, centred, weight - w_zero.astype(np.int32), **attrs)


integer_conv2d = Contraction("integer_conv2d", _conv_numpy, _conv_rule)
"""x (n, h, w, c), filters as `pack_pairs` packs (groups, kh * kw * c / groups, filters / groups),
and their zero points (1,), and (1,) or (filters,). Attributes of conv2d, kernel and filters."""
