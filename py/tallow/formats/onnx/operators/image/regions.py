"""RoiAlign: resizes regions of pictures to one size."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..... import functions as f
from .....core import dtype as dt
from .....core.hostarray import HostArray, from_values
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....functions.indexing import position
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import operator
from ..nn.spatial import working
from .resampling_tables import single

_MAX_SAMPLES = 4096
"""Samples along an axis of one cell."""


@dataclass(frozen=True, slots=True)
class _Samples:
    """Samples along one axis, each tensor (regions, cells, samples). ends: the elements before and
    after each sample with their weights, 0 outside the picture; taken: which samples count (None:
    all); count: how many count, as a number or a tensor (regions, 1, 1)."""

    ends: tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]
    taken: Tensor | None
    count: Tensor | float


def _samples(
    start: Tensor, cell: Tensor, cells: int, ratio: int, counts: list[int], length: int
) -> _Samples:
    """start, cell: (regions,), the start of each region and the length of its cells. ratio: the
    samples per cell, or 0 if `counts` has them for each region."""
    start, cell = (f.reshape(tensor, (-1, 1, 1)) for tensor in (start, cell))
    longest = ratio or max(counts, default=0) or 1
    sample = f.reshape(f.arange(longest), (1, 1, -1))
    taken: Tensor | None = None
    count: Tensor | float = float(longest)
    if not ratio and min(counts, default=longest) < longest:
        each = asarray(from_values(counts, (len(counts), 1, 1), dt.int32))
        taken, count = sample < each, f.maximum(each.astype(dt.float32), 1.0)
    numbers = f.reshape(f.arange(cells), (1, -1, 1)).astype(dt.float32)
    at = start + numbers * cell + (sample.astype(dt.float32) + 0.5) * cell / count
    inside = f.logical_and(at >= -1.0, at <= float(length))
    if taken is not None:
        inside = f.logical_and(inside, taken)
    at = f.clip(f.where(inside, at, 0.0), 0.0, length - 1.0)  # NaN is not inside
    low = f.floor(at)
    high = f.minimum(low + 1.0, length - 1.0)
    ends = [(low, 1.0 - (at - low)), (high, at - low)]
    (a, b) = ((end.astype(dt.int32), f.where(inside, share, 0.0)) for end, share in ends)
    return _Samples((a, b), taken, count)


def _counts(regions: HostArray, scale: float, axis: int, cells: int, half_pixel: bool) -> list[int]:
    """The samples per cell of each region: the cell's number of elements, rounded up."""
    flat = regions.flat()
    result = []
    for start, end in zip(flat[1 - axis :: 4], flat[3 - axis :: 4], strict=True):
        length = single(single(end * scale) - single(start * scale))
        length = length if half_pixel else max(length, 1.0)
        if not abs(length) <= cells * _MAX_SAMPLES:
            raise OnnxUnsupportedError(f"a region from {start} to {end} is too large")
        result.append(max(math.ceil(single(length / cells)), 0))
    return result


@operator("RoiAlign", since=10)
def roi_align(call: Call, x: Tensor, rois: Tensor, batch: Tensor) -> Tensor:
    """Means or maxima of samples in each cell of regions (x0, y0, x1, y1) (He et al. 2017).

    Without sampling_ratio the number of samples depends on the regions, which must be known.
    """
    cells = call.get("output_height", int, 1), call.get("output_width", int, 1)
    ratio = call.get("sampling_ratio", int, 0)
    scale = call.get("spatial_scale", float, 1.0)
    mean = call.choice("mode", "avg", "max") == "avg"
    kinds = ("half_pixel", "output_half_pixel")
    half_pixel = call.opset >= 16 and (
        call.choice("coordinate_transformation_mode", *kinds) == "half_pixel"
    )
    count = batch.shape[0] if batch.ndim else 0
    if x.ndim != 4 or 0 in x.shape or rois.shape != (count, 4) or batch.shape != (count,):
        raise OnnxFormatError(
            f"regions {rois.shape} of pictures {batch.shape} do not fit {x.shape}"
        )
    if min(cells) < 1 or not 0 <= ratio <= _MAX_SAMPLES:
        raise OnnxFormatError(f"an output of {cells} with sampling_ratio {ratio} is invalid")
    regions: HostArray | None = None
    if not ratio:
        constant = rois.node.is_constant  # of any size, if it was deferred to run time
        regions = rois.node.attrs["data"] if constant else call.known(rois, "rois")
    edges = rois.astype(dt.float32) * scale - (0.5 if half_pixel else 0.0)
    both = []
    for axis in range(2):
        start, end = edges[:, 1 - axis], edges[:, 3 - axis]
        length = end - start if half_pixel else f.maximum(end - start, 1.0)
        counts = _counts(regions, scale, axis, cells[axis], half_pixel) if regions else []
        both.append(
            _samples(start, length / cells[axis], cells[axis], ratio, counts, x.shape[2 + axis])
        )
    return _pooled(working(x), batch, both[0], both[1], mean).astype(x.dtype)


def _pooled(x: Tensor, batch: Tensor, down: _Samples, across: _Samples, mean: bool) -> Tensor:
    """(regions, c, cells down, cells across) of x (n, c, h, w)."""
    n, channels, height, width = x.shape
    pixels = f.reshape(f.permute_dims(x, (1, 0, 2, 3)), (channels, n * height * width))
    first = position(f.where(batch < 0, n, batch), n)  # negative indices are invalid
    picture = f.reshape(f.minimum(first, n - 1), (-1, 1, 1, 1, 1)).astype(dt.int32)

    def wide(tensor: Tensor, axis: int) -> Tensor:
        """The tensor over (regions, cells down, samples, cells across, samples)."""
        r, cells, samples = tensor.shape
        shape = (r, cells, samples, 1, 1) if axis == 0 else (r, 1, 1, cells, samples)
        return f.reshape(tensor, shape)

    parts = []
    for y, y_weight in down.ends:
        for column, x_weight in across.ends:
            row = (picture * height + wide(y, 0)) * width
            weight = wide(y_weight, 0) * wide(x_weight, 1)
            parts.append(f.take(pixels, row + wide(column, 1), 1) * weight.astype(x.dtype))
    if mean:
        total = f.sum(parts[0] + parts[1] + parts[2] + parts[3], (3, 5))
        count: Tensor | float = 1.0
        for axis, samples in enumerate((down, across)):
            each = samples.count
            count = count * (wide(each, axis)[:, :, 0, :, 0] if isinstance(each, Tensor) else each)
        result = total / count
    else:
        # The maximum is over the four weighted elements around each sample, not over their sum.
        best = f.maximum(f.maximum(parts[0], parts[1]), f.maximum(parts[2], parts[3]))
        for axis, samples in enumerate((down, across)):
            if samples.taken is not None:
                best = f.where(wide(samples.taken, axis), best, -3.0e38)
        best = f.max(best, (3, 5))
        result = f.where(best == -3.0e38, 0.0, best)
    return f.permute_dims(result, (1, 0, 2, 3))
