"""Images of another size: torch.nn.functional.interpolate, one axis at a time."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from .. import functions as f
from ..errors import OptionError, ShapeError
from ..tensor import Tensor
from .adaptive import averaged
from .lines import Row, mapped

_AXES = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
"""The number of spatial axes of modes that say it."""

_CUBIC = -0.75
"""The parameter of cubic convolution (Keys 1981) that PyTorch uses."""


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Sequences, images or volumes at another size.

    input: numbers, (n, c, *spatial), with one to three spatial axes.
    size: the lengths of the spatial axes; one number is all.
    scale_factor: what the lengths are multiplied by, instead of size; one number, or one for each
      axis.
    mode: "nearest", "nearest-exact" (by the centres of the pixels), "linear", "bilinear",
      "bicubic", "trilinear" or "area".
    align_corners: the centres of the outermost pixels stay where they are, rather than their outer
      edges. None is False.
    recompute_scale_factor: coordinates follow the sizes, not scale_factor.
    antialias: must be False.
    Returns: (n, c, *lengths).
    Raises: OptionError for options that do not go together and for antialias, ShapeError for shapes
      that do not fit.
    Source: PyTorch, `torch.nn.functional.interpolate`; Keys 1981, for "bicubic".
    """
    axes = input.ndim - 2
    if axes not in (1, 2, 3) or 0 in input.shape[2:]:
        raise ShapeError(f"interpolate: expected an input (n, c, ...), got {input.shape}")
    smooth = mode in _AXES
    if not smooth and mode not in ("nearest", "nearest-exact", "area"):
        raise OptionError(f"interpolate: the mode {mode!r} is unknown")
    if smooth and _AXES[mode] != axes:
        raise ShapeError(f"interpolate: the mode {mode!r} for an input of shape {input.shape}")
    if align_corners is not None and not smooth:
        raise OptionError(f"interpolate: align_corners does not go with the mode {mode!r}")
    if antialias:
        raise OptionError("interpolate: antialias must be False; it is not supported")
    sizes, scales = _lengths(input, size, scale_factor, bool(recompute_scale_factor))
    if mode == "area":
        return averaged(input, sizes)
    order = sorted(range(axes), key=lambda axis: sizes[axis] / input.shape[2 + axis])
    for axis in order:
        before, after, scale = input.shape[2 + axis], sizes[axis], scales[axis]
        if mode == "nearest" and after % before == 0 and scale == before / after:
            input = f.repeat(input, after // before, 2 + axis)
            continue
        rows = _rows(before, after, scale, mode, bool(align_corners))
        input = mapped(input, 2 + axis, rows)
    return input


def _lengths(
    x: Tensor,
    size: int | Sequence[int] | None,
    scale_factor: float | Sequence[float] | None,
    recompute: bool,
) -> tuple[list[int], list[float]]:
    """The lengths of the result, and how far apart its elements are in x."""
    before = x.shape[2:]
    if (size is None) == (scale_factor is None):
        raise OptionError("interpolate: give either size or scale_factor")
    if size is not None:
        if recompute:
            raise OptionError("interpolate: recompute_scale_factor needs a scale_factor")
        sizes = [size] * len(before) if isinstance(size, int) else list(size)
        scales: list[float] = []
    else:
        assert scale_factor is not None
        if isinstance(scale_factor, (int, float)):
            factors = [float(scale_factor)] * len(before)
        else:
            factors = [float(factor) for factor in scale_factor]
        if len(factors) != len(before) or any(not factor > 0 for factor in factors):
            raise ShapeError(f"interpolate: scale_factor {scale_factor} for {x.shape}")
        sizes = [math.floor(n * factor) for n, factor in zip(before, factors, strict=True)]
        scales = [] if recompute else [1.0 / factor for factor in factors]
    if len(sizes) != len(before) or min(sizes) < 1:
        raise ShapeError(f"interpolate: an output of {tuple(sizes)} from {x.shape}")
    return sizes, scales or [n / count for n, count in zip(before, sizes, strict=True)]


def _single(value: float) -> float:
    """The number rounded to float32, in which PyTorch computes coordinates."""
    return array("f", [value])[0]


def _rows(before: int, after: int, scale: float, mode: str, align_corners: bool) -> list[Row]:
    """The elements that each result is the weighted sum of."""
    step = _single(scale)
    if mode == "nearest":
        return [[(min(math.floor(_single(i * step)), before - 1), 1.0)] for i in range(after)]
    if mode == "nearest-exact":
        return [
            [(min(math.floor(_single((i + 0.5) * step)), before - 1), 1.0)] for i in range(after)
        ]
    if align_corners:
        step = _single((before - 1) / (after - 1)) if after > 1 else 0.0
        centres = [step * i for i in range(after)]
    else:
        centres = [step * (i + 0.5) - 0.5 for i in range(after)]
    if mode == "bicubic":
        return [_cubic(at, before) for at in centres]
    return [_linear(max(at, 0.0), before) for at in centres]


def _linear(at: float, length: int) -> list[tuple[int, float]]:
    """The two elements around a position."""
    low = min(math.floor(at), length - 1)
    share = min(at - low, 1.0)
    high = min(low + 1, length - 1)
    return [(low, 1.0)] if not share or low == high else [(low, 1.0 - share), (high, share)]


def _cubic(at: float, length: int) -> list[tuple[int, float]]:
    """Four neighbours of a coordinate, for cubic convolution; at the ends, the last ones repeat."""
    low, a = math.floor(at), _CUBIC
    found: dict[int, float] = {}
    for index in range(low - 1, low + 3):
        x = abs(at - index)
        if x <= 1:
            weight = ((a + 2) * x - (a + 3)) * x * x + 1
        else:
            weight = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        nearest = min(max(index, 0), length - 1)
        found[nearest] = found.get(nearest, 0.0) + weight
    return [(nearest, weight) for nearest, weight in found.items() if weight]
