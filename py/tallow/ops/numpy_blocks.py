"""The shape rule of products by weights in blocks (blocks.py), and what NumPy computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core import dtype as dt
from ..core.shape import Shape
from ..errors import DTypeError, ShapeError
from .kinds import Attrs, Spec

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


def rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    """The shape and type of a product. Raises ShapeError and DTypeError."""
    (x, kind), (codes, word), *factors = operands
    block, bits = attrs["block"], attrs["bits"]
    of_bits = dt.uint32, dt.int8 if bits == -8 else dt.uint8
    if kind != dt.float32 or word not in of_bits:
        raise DTypeError(
            f"block_matmul: takes float32 and bytes or words, not {kind.name} and {word.name} of "
            f"{bits} bits"
        )
    if any(dtype not in (dt.float16, dt.float32) for _, dtype in factors):
        raise DTypeError("block_matmul: scales and minima must be float16 or float32")
    batch, rows, depth = x
    columns = codes[0]
    blocks = columns, depth // block
    wanted: Shape = (*blocks, block * abs(bits) // 8)
    if word == dt.uint32:
        wanted = columns, depth * abs(bits) // 32
    shapes = [shape for shape, _ in factors]
    if batch != 1 or depth % block or codes != wanted or set(shapes) != {blocks}:
        raise ShapeError(
            f"block_matmul: {x}, {codes} and {shapes} do not fit; expected {wanted}, {blocks}"
        )
    return (1, rows, columns), dt.float32


def unpacked(np: NumPy, codes: Array, bits: int) -> Array:
    """The elements (columns, blocks, block) of bytes, as float32. bits: see block_matmul."""
    if abs(bits) == 4:
        halves = np.stack([codes & 15, codes >> 4], axis=-1)
        codes = halves.reshape(*codes.shape[:2], 2 * codes.shape[2])
        if bits < 0:
            codes = (codes ^ 8).astype(np.int8) - 8
    return codes.astype(np.float32)


def product(
    np: NumPy, x: Array, codes: Array, scale: Array, *minimum: Array, block: int, bits: int,
    zero: int,
) -> Array:  # fmt: skip
    """Evaluates a product."""
    if codes.dtype == np.uint32:
        codes = codes.view(np.int8 if bits == -8 else np.uint8).reshape(*scale.shape, -1)
    weight = (unpacked(np, codes, bits) - np.float32(zero)) * scale[..., None].astype(np.float32)
    for each in minimum:
        weight = weight + each[..., None].astype(np.float32)
    return np.matmul(x, weight.reshape(len(codes), -1).T)
