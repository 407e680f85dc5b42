"""Winograd convolution F(4x4, 3x3) in one op, for targets whose kernels keep its transforms near.

A 3x3 convolution of stride 1 makes each 4x4 tile of its result from a 6x6 patch of the image. In
the transformed domain that is 36 products for each channel, where the definition takes 144: with
V = B^T d B of the patches d, U = G g G^T of the weight g, the result is A^T (UV) A (Lavin and Gray
2015, arXiv:1509.09308, section 4.3). Its numbers go up to 8 and down to 1/24, so that results
differ from those of the definition by some ten times what rounding does there.

ops/winograd.py is F(2x2, 3x3), whose transforms are ops of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.shape import Shape
from ..errors import DTypeError, ShapeError
from .kinds import Attrs, Contraction, Spec
from .winograd import result_size

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


TILE, PATCH = 4, 6
POSITIONS = PATCH * PATCH

# The rows of G, of B^T and of A^T.
_WEIGHT = (
    (1 / 4, 0, 0),
    (-1 / 6, -1 / 6, -1 / 6),
    (-1 / 6, 1 / 6, -1 / 6),
    (1 / 24, 1 / 12, 1 / 6),
    (1 / 24, -1 / 12, 1 / 6),
    (0, 0, 1),
)
_INPUT = (
    (4, 0, -5, 0, 1, 0),
    (0, -4, -4, 1, 1, 0),
    (0, 4, -4, -1, 1, 0),
    (0, -2, -1, 2, 1, 0),
    (0, 2, -1, -2, 1, 0),
    (0, 4, 0, -5, 0, 1),
)
_OUTPUT = (
    (1, 1, 1, 1, 1, 0),
    (0, 1, -1, 2, -2, 0),
    (0, 1, 1, 4, 4, 0),
    (0, 1, -1, 8, -8, 1),
)


def tiles_of(size: Sequence[int]) -> tuple[int, int]:
    """How many 4x4 tiles cover a picture of (height, width), down and across."""
    return -(-size[0] // TILE), -(-size[1] // TILE)


def _weight_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((w, dtype),) = operands
    if not dtype.is_floating or len(w) != 4 or w[:2] != (3, 3):
        raise ShapeError(f"winograd_weight: takes floating filters (3, 3, c, o), not {w}")
    return (POSITIONS, *w[2:]), dtype


def _weight_numpy(np: NumPy, w: Array) -> Array:
    matrix = np.array(_WEIGHT, w.dtype)
    return np.einsum("ai,ijco,bj->abco", matrix, w, matrix).reshape(POSITIONS, *w.shape[2:])


winograd_weight = Contraction("winograd_weight", _weight_numpy, _weight_rule)
"""w (3, 3, c, o) to (36, c, o), G g G^T of each filter."""


def _rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (x, dtype), (u, other) = operands
    if dtype != other or not dtype.is_floating:
        raise DTypeError(
            f"winograd_conv2d: takes one floating type, got {dtype.name} and {other.name}"
        )
    size: Shape = result_size(x, attrs["padding"])
    if len(x) != 4 or min(size) < 1 or len(u) != 3 or u[:2] != (POSITIONS, x[3]):
        raise ShapeError(
            f"winograd_conv2d: {x} (n, h, w, c) with padding {attrs['padding']} and {u} "
            f"({POSITIONS}, c, filters) do not fit"
        )
    return (x[0], *size, u[2]), dtype


def _numpy(np: NumPy, x: Array, u: Array, padding: Sequence[Sequence[int]]) -> Array:
    size = result_size(x.shape, padding)
    down, across = tiles_of(size)
    (top, bottom), (left, right) = padding
    more = TILE * down - size[0], TILE * across - size[1]
    x = np.pad(x, ((0, 0), (top, bottom + more[0]), (left, right + more[1]), (0, 0)))
    into, out = (np.array(matrix, x.dtype) for matrix in (_INPUT, _OUTPUT))
    pictures = np.empty((x.shape[0], TILE * down, TILE * across, u.shape[2]), x.dtype)
    for y in range(down):
        for column in range(across):
            rows = slice(TILE * y, TILE * y + PATCH)
            patch = x[:, rows, TILE * column : TILE * column + PATCH]
            v = np.einsum("ai,nijc,bj->abnc", into, patch, into).reshape(POSITIONS, *x.shape[::3])
            m = np.matmul(v, u).reshape(PATCH, PATCH, x.shape[0], -1)
            tile = np.einsum("ai,ijnc,bj->nabc", out, m, out)
            region = slice(TILE * y, TILE * (y + 1)), slice(TILE * column, TILE * (column + 1))
            pictures[:, region[0], region[1]] = tile
    return np.ascontiguousarray(pictures[:, : size[0], : size[1]])


winograd_conv2d = Contraction("winograd_conv2d", _numpy, _rule)
"""x (n, h, w, c) and u, the transformed weight (36, c, filters), to (n, height, width, filters):
attribute padding, as conv2d's."""
