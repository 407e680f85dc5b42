"""Cases for the kernels of products by weights in blocks: each width, signed or not, blocks of each
kind of length, with minima and without."""

from __future__ import annotations

from typing import Any

import numpy as np
from kernel_case import Case
from op_cases import normal

from tallow.graph import make
from tallow.ops.blocks import block_matmul
from tallow.ops.numpy_blocks import unpacked
from tallow.tensor import Tensor

numpy: Any = np


def blocks() -> list[Case]:
    """Of few forms; columns that are no multiple of a tile, or fewer."""
    return [
        _product((1, 64, 9), 32, 4),
        _product((1, 1056, 70), 32, 4, zero=8, minima=True),
        _product((3, 96, 4), 16, -4, minima=True),
        _product((4, 544, 37), 16, -8),
        _product((1, 256, 130), 64, 8, zero=128, half=True),
        _product((2, 320, 21), 320, -8, half=True),
        _product((1, 512, 12), 128, -4, half=True, minima=True),
        _product((37, 160, 45), 32, 4, half=True, minima=True),
        _product((18, 96, 67), 16, -8),
        _product((5, 256, 8), 256, 8, zero=3),
    ]


def _product(
    sizes: tuple[int, int, int],
    block: int,
    bits: int,
    *,
    zero: int = 0,
    minima: bool = False,
    half: bool = False,
) -> Case:
    rows, depth, columns = sizes
    draws = np.random.default_rng(depth)
    words = draws.integers(0, 1 << 32, (columns, depth * abs(bits) // 32), np.uint32)
    shape, kind = (columns, depth // block), np.float16 if half else np.float32
    factors = [draws.random(shape).astype(kind) for _ in range(1 + minima)]
    attrs = {"block": block, "bits": bits, "zero": zero}

    def build(*operands: Tensor) -> Tensor:
        x, *weight, added = (each.node for each in operands)
        return Tensor(make(block_matmul, x, *weight, **attrs)) * 2.0 + Tensor(added)

    def expected(x: Any, words: Any, scale: Any, *rest: Any) -> Any:
        *minimum, added = rest
        codes = words.astype(np.uint32).view(np.int8 if bits == -8 else np.uint8)
        weight = unpacked(numpy, codes.reshape(*shape, -1), bits).astype(float) - zero
        weight = weight * scale[..., None] + sum(each[..., None] for each in minimum)
        return 2 * (x @ weight.reshape(columns, -1).T) + added

    label = f"weight in blocks {sizes} of {block}, {bits} bits less {zero}"
    arrays = normal(1, rows, depth), words, *factors, normal(columns)
    return Case(label, arrays, build, expected)
