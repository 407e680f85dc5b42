"""Regions of feature maps at one size: RoIAlign and RoIPool."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ... import functions as f
from ...core import context
from ...core import dtype as dt
from ...errors import OptionError, ShapeError, TracingError
from ...nn import Module
from ...tensor import Tensor, host_values
from .boxes import checked

Boxes = Tensor | Sequence[Tensor]


def _size(given: int | Sequence[int], what: str) -> tuple[int, int]:
    values = [given] * 2 if isinstance(given, int) else [*given]
    if len(values) != 2 or min(values) < 1:
        raise OptionError(f"{what}: output_size={given!r} is not one number or (h, w) above 0")
    return values[0], values[1]


def _rows(input: Tensor, boxes: Boxes, what: str) -> tuple[Tensor, Tensor]:
    """The image of each region, (n,), and its two corners, (n, 4)."""
    if input.ndim != 4:
        raise ShapeError(f"{what}: {input.shape} is no feature map (b, c, h, w)")
    if isinstance(boxes, Tensor):
        if boxes.ndim != 2 or boxes.shape[1] != 5:
            raise ShapeError(f"{what}: boxes {boxes.shape} are not (n, 5)")
        return boxes[:, 0].astype(dt.int32), boxes[:, 1:]
    if len(boxes) != input.shape[0] or any(each.ndim != 2 for each in boxes):
        raise ShapeError(
            f"{what}: {len(boxes)} lists of boxes for {input.shape[0]} images; give (n, 4) for each"
        )
    numbers = [f.full((each.shape[0],), k, dtype=dt.int32) for k, each in enumerate(boxes)]
    return f.concat(numbers, axis=0), f.concat([checked(each, what) for each in boxes], axis=0)


def _longest(lengths: Tensor, what: str) -> int:
    """How many elements the largest cell has. Reads, and blocks."""
    if context.draws.get() is not None:
        raise TracingError(f"{what}: under @tl.jit give a sampling_ratio above 0")
    if not lengths.size:
        return 1
    (read,) = host_values([f.max(f.ceil(lengths))])
    return max(int(read.flat()[0]), 1)


def _gathered(input: Tensor, batch: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """input[batch, :, y, x] as (c, n, ph, sy, pw, sx); y: (n, ph, sy), x: (n, pw, sx), within the
    map."""
    b, c, h, w = input.shape
    flat = f.reshape(f.permute_dims(input, (1, 0, 2, 3)), (c, b * h * w))
    rows = f.reshape(batch, (-1, 1, 1)) * h + y
    index = f.expand_dims(rows * w, (3, 4)) + f.expand_dims(x, (1, 2))
    return f.reshape(f.take(flat, f.reshape(index, (-1,)), axis=1), (c, *index.shape))


def roi_align(
    input: Tensor,
    boxes: Boxes,
    output_size: int | Sequence[int],
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Tensor:
    """Means of samples in each cell of regions (He et al. 2017).

    input: feature maps, (b, c, h, w).
    boxes: (n, 5), the image's number and two corners, or a tensor (n, 4) for each image.
    output_size: the cells, (h, w) or one number.
    spatial_scale: what corners are multiplied by.
    sampling_ratio: samples along each axis of a cell. Without one above 0 there are as many as a
      cell has elements, which reads the boxes, and blocks.
    aligned: corners are shifted by half an element, to where their pixels are.
    Returns: (n, c, *output_size).
    Raises: ShapeError for other shapes, OptionError for another size, TracingError without a
      sampling_ratio under `@tl.jit`.
    Source: `torchvision.ops.roi_align`.
    """
    cells = _size(output_size, "roi_align")
    batch, corners = _rows(input, boxes, "roi_align")
    edges = corners * spatial_scale - (0.5 if aligned else 0.0)
    lines = []
    for axis, length in enumerate(input.shape[2:]):
        start, size = edges[:, 1 - axis], edges[:, 3 - axis] - edges[:, 1 - axis]
        size = size if aligned else f.maximum(size, 1.0)
        lines.append(_samples(start, size, cells[axis], sampling_ratio, length))
    total: Tensor | None = None
    for y, down in lines[0]:
        for x, across in lines[1]:
            weight = f.expand_dims(down, (3, 4)) * f.expand_dims(across, (1, 2))
            part = f.sum(_gathered(input, batch, y, x) * weight.astype(input.dtype), (3, 5))
            total = part if total is None else total + part
    assert total is not None
    return f.permute_dims(total, (1, 0, 2, 3))


def _samples(
    start: Tensor, size: Tensor, cells: int, ratio: int, length: int
) -> list[tuple[Tensor, Tensor]]:
    """The elements before and after each sample, and their weights, (n, cells, samples)."""
    start, cell = f.reshape(start, (-1, 1, 1)), f.reshape(size / cells, (-1, 1, 1))
    if ratio > 0:
        most, count = ratio, f.full((1, 1, 1), float(ratio))
    else:
        most, count = _longest(cell, "roi_align"), f.maximum(f.ceil(cell), 1.0)
    number = f.arange(most).astype(dt.float32)
    cell_number = f.reshape(f.arange(cells).astype(dt.float32), (-1, 1))
    at = start + cell_number * cell + (number + 0.5) * cell / count
    inside = f.logical_and(f.logical_and(at >= -1.0, at <= float(length)), number < count)
    at = f.clip(at, 0.0, length - 1.0)
    low = f.floor(at)
    share = at - low
    high = f.minimum(low + 1.0, length - 1.0)
    ends = ((low, 1.0 - share), (high, share))
    return [(end.astype(dt.int32), f.where(inside, w, 0.0) / count) for end, w in ends]


def roi_pool(
    input: Tensor, boxes: Boxes, output_size: int | Sequence[int], spatial_scale: float = 1.0
) -> Tensor:
    """The greatest element in each cell of regions (Girshick 2015). Reads the boxes, and blocks,
    but under `@tl.jit`, where each cell is taken to be as large as the map.

    input, boxes, output_size, spatial_scale: as `roi_align`.
    Returns: (n, c, *output_size); 0 for a cell outside of the map.
    Raises: ShapeError for other shapes, OptionError for another size.
    Source: `torchvision.ops.roi_pool`.
    """
    cells = _size(output_size, "roi_pool")
    batch, corners = _rows(input, boxes, "roi_pool")
    scaled = corners * spatial_scale
    rounded = f.sign(scaled) * f.floor(f.abs(scaled) + 0.5)  # halves away from 0
    places, inside = [], []
    for axis, length in enumerate(input.shape[2:]):
        start = f.reshape(rounded[:, 1 - axis], (-1, 1))
        end = f.reshape(rounded[:, 3 - axis], (-1, 1))
        cell = f.maximum(end - start + 1.0, 1.0) / cells[axis]
        number = f.arange(cells[axis]).astype(dt.float32)
        low = f.clip(f.floor(number * cell) + start, 0, length)
        high = f.clip(f.ceil((number + 1.0) * cell) + start, 0, length)
        traced = context.draws.get() is not None
        most = length if traced else min(_longest(high - low, "roi_pool"), length)
        at = f.expand_dims(low, -1) + f.arange(most).astype(dt.float32)
        inside.append(at < f.expand_dims(high, -1))
        places.append(f.clip(at, 0, length - 1).astype(dt.int32))
    both = f.logical_and(f.expand_dims(inside[0], (3, 4)), f.expand_dims(inside[1], (1, 2)))
    found = f.where(both, _gathered(input, batch, *places), -math.inf)
    best = f.max(found, (3, 5))
    best = f.where(f.any(both, axis=(2, 4)), best, 0.0)
    return f.permute_dims(best, (1, 0, 2, 3)).astype(input.dtype)


class RoIAlign(Module):
    """`roi_align` as a module."""

    def __init__(
        self,
        output_size: int | Sequence[int],
        spatial_scale: float,
        sampling_ratio: int,
        aligned: bool = False,
    ) -> None:
        super().__init__()
        self.output_size = _size(output_size, "RoIAlign")
        self.spatial_scale, self.sampling_ratio = spatial_scale, sampling_ratio
        self.aligned = aligned

    def forward(self, input: Tensor, rois: Boxes) -> Tensor:
        """See `roi_align`."""
        options = self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned
        return roi_align(input, rois, *options)


class RoIPool(Module):
    """`roi_pool` as a module."""

    def __init__(self, output_size: int | Sequence[int], spatial_scale: float) -> None:
        super().__init__()
        self.output_size = _size(output_size, "RoIPool")
        self.spatial_scale = spatial_scale

    def forward(self, input: Tensor, rois: Boxes) -> Tensor:
        """See `roi_pool`."""
        return roi_pool(input, rois, self.output_size, self.spatial_scale)
