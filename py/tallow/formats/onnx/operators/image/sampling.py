"""Samples pictures at coordinates that the model computes: grids and deformable convolution."""

from __future__ import annotations

import math

from ..... import functions as f
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....functional.deformable import deformed
from .....functional.sampling import (
    MAX_CORNERS,
    cubic_taps,
    gathered,
    linear_taps,
    nearest_tap,
    reflected,
)
from .....tensor import Tensor
from ...call import Call
from ...registry import operator
from ..nn.convolution import with_bias
from ..nn.spatial import Window, given_pads, per_axis, spatial_axes, working

_TAPS = {"nearest": nearest_tap, "linear": linear_taps, "cubic": cubic_taps}
_OLD_MODES = {"bilinear": "linear", "bicubic": "cubic"}


@operator("GridSample", since=16)
def grid_sample(call: Call, x: Tensor, grid: Tensor) -> Tensor:
    """x (n, c, *spatial) at grid (n, *points, axes): coordinates from -1 to 1, the last axis first
    (Jaderberg et al. 2015). Non-finite coordinates count as -1, as in PyTorch and onnxruntime."""
    axes = spatial_axes(x)
    mode = call.choice("mode", "linear", "nearest", "cubic", "bilinear", "bicubic")
    mode = _OLD_MODES.get(mode, mode)
    padding = call.choice("padding_mode", "zeros", "border", "reflection")
    align = call.flag("align_corners")
    if grid.ndim != x.ndim or grid.shape[0] != x.shape[0] or grid.shape[-1] != axes:
        raise OnnxFormatError(f"the grid {grid.shape} does not fit the input {x.shape}")
    if 0 in x.shape[2:]:
        raise OnnxFormatError(f"there is nothing to sample in {x.shape}")
    if len(_TAPS[mode](f.zeros(()))) ** axes > MAX_CORNERS:
        raise OnnxUnsupportedError(f"mode {mode} over {axes} axes combines too many elements")
    points = working(f.reshape(grid, (x.shape[0], -1, axes)))
    taps = []
    for axis, size in enumerate(x.shape[2:]):
        at = points[:, :, axes - 1 - axis] + 1.0
        at = at * (0.5 * (size - 1)) if align else (at * float(size) - 1.0) * 0.5
        low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
        at = f.where(f.logical_or(f.isnan(at), f.isinf(at)), low, at)
        if mode == "nearest":
            at = f.round(at)
        if padding == "border" and mode != "cubic":
            at = f.where(f.logical_and(at >= low, at <= high), at, f.clip(at, 0.0, size - 1.0))
        elif padding == "reflection":
            at = f.where(f.logical_and(at >= low, at <= high), at, reflected(at, size, align))
            at = f.trunc(at) if mode == "nearest" else at
        taps.append(_TAPS[mode](at))
    kind = x.dtype
    result = gathered(x if mode == "nearest" else working(x), taps, padding, align)
    return f.reshape(result, (*x.shape[:2], *grid.shape[1:-1])).astype(kind)


@operator("AffineGrid", since=20)
def affine_grid(call: Call, theta: Tensor, size: Tensor) -> Tensor:
    """A grid for GridSample, transformed by theta (n, axes, axes + 1)."""
    wanted = call.known_integers(size, "size")
    axes = len(wanted) - 2
    align = call.flag("align_corners")
    if axes not in (2, 3) or min(wanted) < 1 or theta.shape != (wanted[0], axes, axes + 1):
        raise OnnxFormatError(f"theta {theta.shape} does not fit the output {wanted}")
    lengths = wanted[2:]
    columns = []
    for axis, length in reversed(list(enumerate(lengths))):
        step = (2.0 / (length - 1) if length > 1 else 0.0) if align else 2.0 / length
        start = -1.0 if align else -1.0 + step / 2
        line = [1] * axes
        line[axis] = length
        at = f.arange(length).astype(theta.dtype) * step + start
        columns.append(f.broadcast_to(f.reshape(at, line), lengths))
    columns.append(f.ones(lengths, theta.dtype))
    base = f.reshape(f.stack(columns, axes), (math.prod(lengths), axes + 1))
    return f.reshape(f.matmul(base, theta.mT), (wanted[0], *lengths, axes))


@operator("DeformConv", since=19)
def deform_conv(
    call: Call,
    x: Tensor,
    weight: Tensor,
    offset: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Convolution whose taps are moved by `offset` (n, groups * taps * axes, *positions) and scaled
    by `mask` (Dai et al. 2017; Zhu et al. 2019): samples, then multiplies by the weight."""
    axes = spatial_axes(x)
    groups, parts = call.get("group", int, 1), call.get("offset_group", int, 1)
    kernel = call.ints("kernel_shape", weight.shape[2:])
    n, channels = x.shape[:2]
    if weight.ndim != x.ndim or kernel != weight.shape[2:] or not all(kernel):
        raise OnnxFormatError(
            f"the kernel {kernel} and the weight {weight.shape} do not fit {x.shape}"
        )
    if groups < 1 or channels != weight.shape[1] * groups or weight.shape[0] % groups:
        raise OnnxFormatError(f"{x.shape} and {weight.shape} do not fit in {groups} groups")
    strides, dilations = per_axis(call, "strides", axes), per_axis(call, "dilations", axes)
    window = Window(kernel, strides, dilations, given_pads(call, axes))
    counts, taps = window.counts(x.shape[2:]), math.prod(kernel)
    if parts < 1 or channels % parts or min(counts) < 1 or 0 in x.shape[1:]:
        raise OnnxFormatError(
            f"{x.shape} does not fit {parts} offset groups and {counts} positions"
        )
    if offset.shape != (n, parts * taps * axes, *counts):
        raise OnnxFormatError(
            f"the offset {offset.shape} does not fit {taps} taps at {counts} positions"
        )
    if 2**axes > MAX_CORNERS:
        raise OnnxUnsupportedError(f"offsets over {axes} axes combine too many elements")
    if mask is not None and mask.shape != (n, parts * taps, *counts):
        raise OnnxFormatError(
            f"the mask {mask.shape} does not fit {taps} taps at {counts} positions"
        )
    result = deformed(
        working(x), weight, working(offset), mask, strides, window.pads, dilations, groups, parts
    )
    return with_bias(result, bias, x.dtype)
