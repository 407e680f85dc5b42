"""Boxes as tensors (..., 4): areas, conversions, overlaps, and losses of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ... import functions as f
from ...core import dtype as dt
from ...errors import OptionError, ShapeError
from ...tensor import Tensor

_FORMATS = ("xyxy", "xywh", "cxcywh")


def checked(boxes: Tensor, what: str) -> Tensor:
    """Boxes whose last axis has 4 numbers. Raises ShapeError for others."""
    if not isinstance(boxes, Tensor) or not boxes.ndim or boxes.shape[-1] != 4:
        shape = getattr(boxes, "shape", type(boxes).__name__)
        raise ShapeError(f"{what}: {shape} are no boxes (..., 4)")
    return boxes if boxes.dtype.is_floating else boxes.astype(dt.float32)


def box_convert(boxes: Tensor, in_fmt: str, out_fmt: str) -> Tensor:
    """Boxes in another format.

    boxes: (..., 4).
    in_fmt, out_fmt: "xyxy" (two corners), "xywh" (a corner and the size) or "cxcywh" (the middle
      and the size).
    Returns: (..., 4).
    Raises: OptionError for another format, ShapeError for other boxes.
    """
    for each in (in_fmt, out_fmt):
        if each not in _FORMATS:
            raise OptionError(f"box_convert: {each!r} is not one of {', '.join(_FORMATS)}")
    checked(boxes, "box_convert")
    first, second = boxes[..., :2], boxes[..., 2:]
    if in_fmt == out_fmt:
        return boxes
    if in_fmt == "xywh":
        first, second = first, first + second
    elif in_fmt == "cxcywh":
        first, second = first - 0.5 * second, first + 0.5 * second
    if out_fmt == "xywh":
        first, second = first, second - first
    elif out_fmt == "cxcywh":
        first, second = (first + second) * 0.5, second - first
    return f.concat([first, second], axis=-1)


def box_area(boxes: Tensor, fmt: str = "xyxy") -> Tensor:
    """Areas of boxes (..., 4). Raises as `box_convert`."""
    corners = box_convert(checked(boxes, "box_area"), fmt, "xyxy")
    return (corners[..., 2] - corners[..., 0]) * (corners[..., 3] - corners[..., 1])


def clip_boxes_to_image(boxes: Tensor, size: Sequence[int]) -> Tensor:
    """Boxes (..., 4), cut where an image of size (h, w) ends. Raises ShapeError for others."""
    checked(boxes, "clip_boxes_to_image")
    height, width = size
    limits = (width, height, width, height)
    parts = [f.clip(boxes[..., k], 0, limit) for k, limit in enumerate(limits)]
    return f.stack(parts, -1)


def large_boxes(boxes: Tensor, min_size: float) -> Tensor:
    """Which boxes (n, 4) have no side below min_size: booleans (n,)."""
    sizes = boxes[:, 2:] - boxes[:, :2]
    return f.all(sizes >= min_size, axis=1)


def remove_small_boxes(boxes: Tensor, min_size: float) -> Tensor:
    """The indices of boxes (n, 4) without a side below min_size. Reads, and blocks. Raises
    ShapeError for other boxes."""
    if checked(boxes, "remove_small_boxes").ndim != 2:
        raise ShapeError(f"remove_small_boxes: {boxes.shape} is not (n, 4)")
    large = large_boxes(boxes, min_size)
    found: Tensor = f.nonzero(large, as_tuple=True)[0]
    return found


def _parts(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """What two boxes share, and what they cover, elementwise."""
    sides = f.minimum(one[..., 2:], other[..., 2:]) - f.maximum(one[..., :2], other[..., :2])
    sides = f.maximum(sides, 0.0)
    shared = sides[..., 0] * sides[..., 1]
    return shared, box_area(one) + box_area(other) - shared


def _hull(one: Tensor, other: Tensor) -> Tensor:
    """The sides of the smallest box around two."""
    sides = f.maximum(one[..., 2:], other[..., 2:]) - f.minimum(one[..., :2], other[..., :2])
    return f.maximum(sides, 0.0)


def _distance(one: Tensor, other: Tensor, eps: float) -> Tensor:
    """The square of the distance of two middles, relative to the diagonal of what encloses them."""
    hull = _hull(one, other)
    apart = (one[..., :2] + one[..., 2:] - other[..., :2] - other[..., 2:]) * 0.5
    return f.sum(apart * apart, -1) / (f.sum(hull * hull, -1) + eps)


def _aspect(one: Tensor, other: Tensor, iou: Tensor, eps: float) -> Tensor:
    """How different the proportions of two boxes are (Zheng et al. 2020)."""
    angles = []
    for each in (one, other):
        size = each[..., 2:] - each[..., :2]
        angles.append(f.atan(size[..., 0] / size[..., 1]))
    value = (4 / math.pi**2) * (angles[1] - angles[0]) ** 2
    weight = (value / (1.0 - iou + value + eps)).detach()
    return weight * value


def _pairs(boxes1: Tensor, boxes2: Tensor, what: str) -> tuple[Tensor, Tensor]:
    """Each of (n, 4) beside each of (m, 4)."""
    one, other = checked(boxes1, what), checked(boxes2, what)
    if one.ndim < 2 or other.ndim < 2:
        raise ShapeError(f"{what}: {one.shape} and {other.shape} are not (n, 4) and (m, 4)")
    return f.expand_dims(one, -2), f.expand_dims(other, -3)


def box_iou(boxes1: Tensor, boxes2: Tensor, fmt: str = "xyxy") -> Tensor:
    """Intersection over union of each of (n, 4) with each of (m, 4): (n, m). Raises ShapeError or
    OptionError as `box_convert`."""
    one, other = (box_convert(checked(x, "box_iou"), fmt, "xyxy") for x in (boxes1, boxes2))
    shared, covered = _parts(*_pairs(one, other, "box_iou"))
    return shared / covered


def generalized_box_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """IoU less the part of the enclosing box that neither covers (Rezatofighi et al. 2019): (n, m)
    of (n, 4) and (m, 4). Raises ShapeError for others."""
    one, other = _pairs(boxes1, boxes2, "generalized_box_iou")
    shared, covered = _parts(one, other)
    sides = _hull(one, other)
    whole = sides[..., 0] * sides[..., 1]
    return shared / covered - (whole - covered) / whole


def distance_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """IoU less the relative distance of the middles (Zheng et al. 2020): (n, m) of (n, 4) and (m,
    4). Raises ShapeError for others."""
    one, other = _pairs(boxes1, boxes2, "distance_box_iou")
    shared, covered = _parts(one, other)
    return shared / covered - _distance(one, other, eps)


def complete_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """`distance_box_iou` less how different the proportions are (Zheng et al. 2020): (n, m). Raises
    ShapeError for other boxes."""
    one, other = _pairs(boxes1, boxes2, "complete_box_iou")
    shared, covered = _parts(one, other)
    iou = shared / covered
    return iou - _distance(one, other, eps) - _aspect(one, other, iou, eps)


def reduced(loss: Tensor, reduction: str, what: str) -> Tensor:
    """A loss, its mean or its sum. Raises OptionError for another reduction."""
    if reduction not in ("none", "mean", "sum"):
        raise OptionError(f"{what}: reduction={reduction!r} is not none, mean or sum")
    return loss if reduction == "none" else (f.mean if reduction == "mean" else f.sum)(loss)


def _matched(boxes1: Tensor, boxes2: Tensor, what: str) -> tuple[Tensor, Tensor]:
    one, other = checked(boxes1, what), checked(boxes2, what)
    if one.shape != other.shape:
        raise ShapeError(f"{what}: boxes {one.shape} beside {other.shape}")
    return one, other


def generalized_box_iou_loss(
    boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7
) -> Tensor:
    """1 less the generalized IoU of each two boxes (..., 4). Raises ShapeError for boxes that do
    not match, OptionError for another reduction."""
    one, other = _matched(boxes1, boxes2, "generalized_box_iou_loss")
    shared, covered = _parts(one, other)
    sides = _hull(one, other)
    whole = sides[..., 0] * sides[..., 1]
    loss = 1.0 - shared / (covered + eps) + (whole - covered) / (whole + eps)
    return reduced(loss, reduction, "generalized_box_iou_loss")


def distance_box_iou_loss(
    boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7
) -> Tensor:
    """1 less the distance IoU of each two boxes (..., 4). Raises as
    `generalized_box_iou_loss`."""
    one, other = _matched(boxes1, boxes2, "distance_box_iou_loss")
    shared, covered = _parts(one, other)
    loss = 1.0 - shared / (covered + eps) + _distance(one, other, eps)
    return reduced(loss, reduction, "distance_box_iou_loss")


def complete_box_iou_loss(
    boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7
) -> Tensor:
    """1 less the complete IoU of each two boxes (..., 4). Raises as
    `generalized_box_iou_loss`."""
    one, other = _matched(boxes1, boxes2, "complete_box_iou_loss")
    shared, covered = _parts(one, other)
    iou = shared / (covered + eps)
    loss = 1.0 - iou + _distance(one, other, eps) + _aspect(one, other, iou, eps)
    return reduced(loss, reduction, "complete_box_iou_loss")


def masks_to_boxes(masks: Tensor) -> Tensor:
    """The boxes (n, 4) around what is not 0 in masks (n, h, w): the first and the last column and
    row. Raises ShapeError for other masks."""
    if masks.ndim != 3:
        raise ShapeError(f"masks_to_boxes: {masks.shape} are no masks (n, h, w)")
    inside = masks != 0
    ends = []
    for axis in (1, 2):  # any row, for columns; any column, for rows
        line = f.any(inside, axis=axis)
        at = f.arange(line.shape[1]).astype(dt.float32)
        ends.append((f.min(f.where(line, at, math.inf), 1), f.max(f.where(line, at, -math.inf), 1)))
    (left, right), (top, bottom) = ends
    return f.stack([left, top, right, bottom], 1)
