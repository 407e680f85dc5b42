"""Sampling at a grid of positions, distances between rows, channels in another order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .. import functions as f
from ..core.shape import size_of
from ..errors import OptionError, ShapeError
from ..functions.reduction import powers, root
from ..tensor import Tensor, asarray
from .sampling import Taps, cubic_taps, gathered, linear_taps, nearest_tap

_TAPS: dict[str, Callable[[Tensor], Taps]] = {
    "nearest": nearest_tap,
    "bilinear": linear_taps,
    "bicubic": cubic_taps,
}


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The elements of an image or volume at the positions of a grid.

    input: numbers, (n, c, h, w) or (n, c, d, h, w).
    grid: positions from -1 to 1: (x, y) in (n, h', w', 2), or (x, y, z) in (n, d', h', w', 3).
    mode: "bilinear", "nearest", or "bicubic" for images.
    padding_mode: what lies beyond the input: "zeros", "border" or "reflection".
    align_corners: -1 and 1 are the centres of the outermost elements rather than their edges. None
      is False.
    Returns: (n, c, h', w') or (n, c, d', h', w').
    Raises: ShapeError for a grid that does not fit, OptionError for another mode.
    Source: Jaderberg et al. 2015; PyTorch, `torch.nn.functional.grid_sample`.
    """
    axes = input.ndim - 2
    if axes not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != axes:
        raise ShapeError(f"grid_sample: a grid {grid.shape} for an input {input.shape}")
    if grid.shape[0] != input.shape[0]:
        raise ShapeError(f"grid_sample: {grid.shape[0]} grids for {input.shape[0]} inputs")
    if mode not in _TAPS or (mode == "bicubic" and axes == 3):
        raise OptionError(f"grid_sample: {mode!r} is not bilinear, nearest or (images) bicubic")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise OptionError(
            f"grid_sample: padding_mode {padding_mode!r} is not zeros, border or reflection"
        )
    centres = bool(align_corners)
    positions = f.reshape(grid, (grid.shape[0], size_of(grid.shape[1:-1]), axes))
    taps = []
    for axis, size in enumerate(input.shape[2:]):
        share = (positions[..., axes - 1 - axis] + 1) * 0.5  # x comes first
        at = share * (size - 1) if centres else share * size - 0.5
        if padding_mode == "reflection":
            at = f.where(f.isinf(at), 0.0, at)
        else:  # what is further out has the same value; an infinite position has no parts
            at = f.clip(at, -4.0, size + 3.0)
        taps.append(_TAPS[mode](at))
    found = gathered(input, taps, padding_mode, centres)
    return f.reshape(found, (*input.shape[:2], *grid.shape[1:-1]))


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` that matrices make of the grid of an output.

    theta: matrices, (n, 2, 3) for images or (n, 3, 4) for volumes.
    size: the shape of the output, (n, c, h, w) or (n, c, d, h, w).
    align_corners: -1 and 1 are the centres of the outermost elements rather than their edges. None
      is False.
    Returns: (n, h, w, 2) or (n, d, h, w, 3).
    Raises: ShapeError for matrices that do not fit the size.
    Source: Jaderberg et al. 2015; PyTorch, `torch.nn.functional.affine_grid`.
    """
    axes = len(size) - 2
    if axes not in (2, 3) or theta.shape != (size[0], axes, axes + 1):
        raise ShapeError(f"affine_grid: matrices {theta.shape} for a size {tuple(size)}")
    lines = []
    for axis, length in enumerate(size[2:]):
        line = f.linspace(-1, 1, length) if length > 1 else f.zeros((1,))
        line = line if align_corners else line * ((length - 1) / length)
        shape = [length if other == axis else 1 for other in range(axes)]
        lines.append(f.broadcast_to(f.reshape(line, shape), size[2:]))
    base = f.stack([*reversed(lines), f.ones(size[2:])], axes)
    flat = f.reshape(base, (1, size_of(size[2:]), axes + 1)).astype(theta.dtype)
    return f.reshape(flat @ theta.mT, (size[0], *size[2:], axes))


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of each two rows.

    input: rows, (n, features).
    p: which norm, 0 or more: 2 is the Euclidean distance, infinity the largest difference, 0 counts
      the elements that differ.
    Returns: a line of n * (n - 1) / 2 distances, in the order (0, 1), (0, 2), ... (n - 2, n - 1).
    Raises: ShapeError for an input of other axes, OptionError for a negative p.
    Source: PyTorch, `torch.nn.functional.pdist`.
    """
    if input.ndim != 2:
        raise ShapeError(f"pdist: {input.shape} is not (n, features)")
    if p < 0:
        raise OptionError(f"pdist: p must not be negative: {p}")
    pairs = [(i, j) for i in range(input.shape[0]) for j in range(i + 1, input.shape[0])]
    rows = [asarray([pair[n] for pair in pairs], "int32") for n in (0, 1)]
    first, second = (f.take(input, each, axis=0) for each in rows)
    size = f.abs(first - second)
    if p == 0:
        return f.sum((size != 0).astype(input.dtype), 1)
    if p == math.inf:
        return f.max(size, 1)
    if p == 2:
        squares = f.sum(size * size, 1)
        apart = squares > 0  # two equal rows have the gradient 0
        return f.where(apart, f.sqrt(f.where(apart, squares, 1.0)), 0.0)
    return root(f.sum(powers(size, p), 1), p)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels in another order: one of each group after the other.

    input: numbers, (n, c, ...), with one axis or more after the channels.
    groups: the number of groups.
    Returns: the shape of input.
    Raises: ShapeError if groups does not divide the channels.
    Source: Zhang et al. 2018.
    """
    if input.ndim < 3 or groups < 1 or input.shape[1] % groups:
        raise ShapeError(f"channel_shuffle: {input.shape} in {groups} groups")
    n, channels, *rest = input.shape
    split = f.reshape(input, (n, groups, channels // groups, *rest))
    order = (0, 2, 1, *range(3, split.ndim))
    return f.reshape(f.permute_dims(split, order), input.shape)
