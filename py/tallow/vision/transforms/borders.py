"""What a border repeats."""

from __future__ import annotations

import math

from ...errors import ShapeError

PADDING_MODES = ("constant", "edge", "reflect", "symmetric")


def sources(length: int, low: int, high: int, mode: str) -> list[int]:
    """The indices that a line with a border repeats. Raises ShapeError for a border that is too
    wide."""
    most = {"edge": math.inf, "reflect": length - 1, "symmetric": length}[mode]
    if max(low, high) > most:
        raise ShapeError(f"pad: a border of {max(low, high)} mirrors more than {length} pixels")
    if mode == "edge":
        return [min(max(at, 0), length - 1) for at in range(-low, length + high)]
    shift = 0 if mode == "reflect" else 1
    ends = [-at - shift if at < 0 else at for at in range(-low, length + high)]
    return [2 * (length - 1) - at + shift if at >= length else at for at in ends]
