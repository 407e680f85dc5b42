"""The transforms of Winograd F(2x2, 3x3) by the matrices of Lavin and Gray (arXiv:1509.09308), tile
by tile. Needs nothing but NumPy; also used inside the browser."""

from __future__ import annotations

from typing import Any

import numpy as np

INPUT = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])  # B^T
OUTPUT = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])  # A^T


def winograd_input_reference(x: np.ndarray, padding: Any) -> np.ndarray:
    """x (n, h, w, c) to (16, tiles, c)."""
    size = [x.shape[1 + axis] + sum(padding[axis]) - 2 for axis in range(2)]
    (top, bottom), (left, right) = padding
    x = np.pad(x, [(0, 0), (top, bottom + 1), (left, right + 1), (0, 0)])
    patches = [
        np.einsum("ai,ijc,bj->abc", INPUT, picture[y : y + 4, across : across + 4], INPUT)
        for picture in x
        for y in range(0, size[0], 2)
        for across in range(0, size[1], 2)
    ]
    return np.stack(patches, 2).reshape(16, len(patches), x.shape[3]).astype(x.dtype)


def winograd_output_reference(m: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """m (16, tiles, c) to (n, height, width, c)."""
    down, across = -(-size[0] // 2), -(-size[1] // 2)
    pictures = m.shape[1] // (down * across)
    result = np.zeros((pictures, 2 * down, 2 * across, m.shape[2]), m.dtype)
    for tile in range(m.shape[1]):
        picture, index = divmod(tile, down * across)
        y, x = 2 * (index // across), 2 * (index % across)
        products = m[:, tile].reshape(4, 4, -1)
        result[picture, y : y + 2, x : x + 2] = np.einsum(
            "ai,ijc,bj->abc", OUTPUT, products, OUTPUT
        )
    return result[:, : size[0], : size[1]]
