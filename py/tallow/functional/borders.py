"""Borders around tensors, as in torch.nn.functional.pad: from the last axis backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import functions as f
from ..errors import OptionError, ShapeError
from ..tensor import Tensor
from .lines import mapped

_SOURCES: dict[str, Callable[[int, int], int]] = {
    "reflect": lambda at, size: -at if at < 0 else at if at < size else 2 * (size - 1) - at,
    "replicate": lambda at, size: min(max(at, 0), size - 1),
    "circular": lambda at, size: at % size,
}
"""Which element of an axis stands at a position before or behind it."""


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """The input with a border.

    input: numbers or booleans, of any shape.
    pad: (before, after) of the last axis, then of the one before it, and so on, in one list;
      negative numbers crop.
    mode: "constant", "reflect" (mirrored at the outermost element, which is not repeated),
      "replicate" (the outermost element) or "circular" (the other end).
    value: what fills the border in the mode "constant"; None is 0.
    Returns: the tensor, longer by the border.
    Raises: OptionError for another mode and for a value in a mode that takes none, ShapeError for
      borders that do not fit.
    Source: PyTorch, `torch.nn.functional.pad`.
    """
    widths = tuple(int(width) for width in pad)
    if len(widths) % 2 or len(widths) > 2 * input.ndim:
        raise ShapeError(f"pad: {len(widths)} widths for the {input.ndim} axes of {input.shape}")
    pairs = [(0, 0)] * input.ndim
    for number in range(len(widths) // 2):
        pairs[-1 - number] = (widths[2 * number], widths[2 * number + 1])
    for size, (low, high) in zip(input.shape, pairs, strict=True):
        if size + low + high < 0 or low < -size or high < -size:
            raise ShapeError(f"pad: {widths} crops more than there is in {input.shape}")
    if mode == "constant":
        return f.pad(input, pairs, 0 if value is None else value)
    if mode not in _SOURCES:
        listed = ", ".join(["constant", *_SOURCES])
        raise OptionError(f"pad: the mode {mode!r} is not one of {listed}")
    if value:
        raise OptionError(f"pad: the mode {mode!r} takes no value, got {value}")
    for axis, (low, high) in enumerate(pairs):
        size = input.shape[axis]
        if not low and not high:
            continue
        most = {"reflect": size - 1, "circular": size}.get(mode)
        if not size or (most is not None and max(low, high) > most):
            raise ShapeError(
                f"pad: a border {(low, high)} of mode {mode!r} is too wide for axis {axis} of "
                f"{input.shape}"
            )
        source = _SOURCES[mode]
        rows = [[(source(at, size), 1.0)] for at in range(-low, size + high)]
        input = mapped(input, axis, rows)
    return input
