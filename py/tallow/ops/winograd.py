"""Winograd convolution F(2x2, 3x3): the transforms of the image, the weight and the result.

A 3x3 convolution of stride 1 makes each 2x2 tile of its result from a 4x4 patch of the image. In
the transformed domain that is 16 products, one for each position in the patch, where the
definition takes 36: with V = B^T d B of the patches d, U = G g G^T of the weight g, the result is
A^T (UV) A (Lavin and Gray 2015, arXiv:1509.09308). The sum over channels is a matmul of 16
matrices.

Images are channels-last. Tiles are counted row-major over the pictures of a batch; positions in
a patch row-major too.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.shape import Shape
from ..errors import DTypeError, ShapeError
from . import numpy_kernels
from .kinds import Attrs, Contraction, Spec

POSITIONS = 16  # in a 4x4 patch

# The rows of G.
_WEIGHT_ROWS = ((1.0, 0.0, 0.0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0.0, 0.0, 1.0))


def weight_matrix() -> list[float]:
    """The 16 x 9 matrix, row-major, that turns a 3x3 filter, row-major, into G g G^T."""
    return [
        down * across
        for row in _WEIGHT_ROWS
        for column in _WEIGHT_ROWS
        for down in row
        for across in column
    ]


def tiles_of(size: Sequence[int]) -> tuple[int, int]:
    """How many 2x2 tiles cover a picture of (height, width), down and across."""
    return -(-size[0] // 2), -(-size[1] // 2)


def result_size(x: Shape, padding: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Height and width of the 3x3 convolution of an image (n, h, w, c)."""
    return x[1] + sum(padding[0]) - 2, x[2] + sum(padding[1]) - 2


def _input_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((x, dtype),) = operands
    if not dtype.is_floating:
        raise DTypeError(f"winograd_input: takes a floating type, not {dtype.name}")
    if len(x) != 4 or min(result_size(x, attrs["padding"])) < 1:
        raise ShapeError(
            f"winograd_input: a 3x3 window does not fit into {x} (n, h, w, c) with padding "
            f"{attrs['padding']}"
        )
    down, across = tiles_of(result_size(x, attrs["padding"]))
    return (POSITIONS, x[0] * down * across, x[3]), dtype


winograd_input = Contraction("winograd_input", numpy_kernels.winograd_input, _input_rule)
"""x (n, h, w, c) to (16, tiles, c), B^T d B of each patch: attribute padding, as conv2d's."""


def _output_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((m, dtype),) = operands
    height, width = attrs["size"]
    down, across = tiles_of((height, width))
    if len(m) != 3 or m[0] != POSITIONS or m[1] % (down * across):
        raise ShapeError(
            f"winograd_output: {m} is not (16, tiles, channels) with {down * across} tiles for "
            f"each picture of {height} x {width}"
        )
    return (m[1] // (down * across), height, width, m[2]), dtype


winograd_output = Contraction("winograd_output", numpy_kernels.winograd_output, _output_rule)
"""m (16, tiles, c) to (n, height, width, c), A^T m A of each tile: attribute size, (height, width);
tiles are cut off where they pass it."""
