"""Grids, regions and deformable convolution: pictures at computed coordinates."""

import numpy as np

from ..case import Case, Known, floats, known
from .convolution import lists

IMAGE = floats(2, 3, 5, 6)
VOLUME = floats(2, 3, 4, 5, 3)
GRID = floats(2, 4, 3, 2, low=-1.6, high=1.6)
SOLID = floats(2, 3, 2, 4, 3, low=-1.3, high=1.3)
_LOST = np.array([[[[np.nan, 0.1], [0.1, np.nan], [np.inf, 0.1], [-np.inf, np.inf], [0.3, 0.4]]]],
                 np.float32)  # fmt: skip
PADDINGS = ("zeros", "border", "reflection")


def _grid(x: np.ndarray, grid: object, first: int = 20, last: int = 28, oracle: str = "onnxruntime",
          **attributes: object) -> Case:  # fmt: skip
    return Case("GridSample", [x, grid], attributes, (first, last), oracle=oracle, atol=1e-4)


GRIDS = [
    *[_grid(IMAGE, GRID, mode=mode, padding_mode=padding, align_corners=align)
      for mode in ("linear", "nearest", "cubic") for padding in PADDINGS for align in (0, 1)],
    *[_grid(IMAGE, GRID, 16, 19, mode=mode) for mode in ("bilinear", "nearest", "bicubic")],
    *[_grid(VOLUME, SOLID, mode=mode, padding_mode=padding, align_corners=align)
      for mode in ("linear", "nearest") for padding in PADDINGS for align in (0, 1)],
    _grid(IMAGE, Known(GRID)),
    *[_grid(IMAGE[:1], _LOST, mode=mode, padding_mode=padding, align_corners=align)
      for mode in ("linear", "nearest", "cubic") for padding in PADDINGS for align in (0, 1)],
    _grid(IMAGE[:, :, :1, :1], GRID, padding_mode="reflection", align_corners=1),
]  # fmt: skip

AFFINE = [
    Case("AffineGrid", [floats(2, axes, axes + 1), known(*size)], {"align_corners": align})
    for axes, size in ((2, (2, 3, 4, 5)), (3, (2, 3, 4, 5, 2)))
    for align in (0, 1)
]

# The last has samples on an element, but none on the picture's edge, where the last bit decides.
_REGIONS = np.array(
    [[0, 0, 4, 3], [1.3, 0.7, 5.2, 4.4], [3, 2, 3.2, 2.1], [-3, -2, 8.7, 8.4]], np.float32
)
_WHICH = np.array([0, 1, 1, 0])


def _regions(
    first: int = 16, rois: object = _REGIONS, note: str = "", **attributes: object
) -> Case:
    wanted = {"output_height": 3, "output_width": 2, **attributes}
    return Case("RoiAlign", [IMAGE, rois, _WHICH], wanted, (first, 28), note=note)


ROIS = [
    _regions(16, sampling_ratio=2),
    _regions(16, sampling_ratio=3, coordinate_transformation_mode="output_half_pixel"),
    _regions(16, sampling_ratio=2, mode="max"),
    _regions(16, sampling_ratio=1, spatial_scale=0.5),
    *[_regions(16, Known(_REGIONS), "known", mode=mode, coordinate_transformation_mode=kind)
      for mode in ("avg", "max") for kind in ("half_pixel", "output_half_pixel")],
    Case("RoiAlign", [IMAGE, _REGIONS, _WHICH], {"sampling_ratio": 2, "output_height": 2},
         (10, 15)),
]  # fmt: skip


def _deform(x: np.ndarray, weight: np.ndarray, counts: tuple[int, ...], *, parts: int = 1,
            bias: bool = False, mask: bool = False, **attributes: object) -> Case:  # fmt: skip
    taps = int(np.prod(weight.shape[2:]))
    offset = floats(x.shape[0], parts * taps * len(counts), *counts, low=-1.5, high=1.5)
    inputs = [x, weight, offset]
    if bias or mask:
        inputs.append(floats(weight.shape[0]) if bias else None)
    if mask:
        inputs.append(floats(x.shape[0], parts * taps, *counts, low=0, high=1))
    if parts > 1:
        attributes["offset_group"] = parts
    return Case("DeformConv", inputs, attributes, note=lists(attributes), atol=1e-4)


_FOUR = floats(1, 4, 5, 6)
_FAR = floats(1, 2, 5, 6)
_FAR[0, 0, :3, 0] = _FAR[0, 1, 2:, 1] = (np.nan, np.inf, -np.inf)
DEFORMED = [
    _deform(_FOUR, floats(3, 4, 2, 2), (4, 5)),
    _deform(_FOUR, floats(3, 4, 3, 3), (5, 6), bias=True, mask=True, pads=[1, 1, 1, 1]),
    _deform(_FOUR, floats(4, 2, 2, 2), (2, 3), group=2, parts=2, strides=[2, 2]),
    _deform(_FOUR, floats(2, 4, 2, 3), (3, 4), mask=True, dilations=[2, 1]),
    Case("DeformConv", [_FOUR, floats(3, 4, 1, 1), _FAR], note="lost", atol=1e-4),
]

CASES = [*GRIDS, *AFFINE, *ROIS, *DEFORMED]
