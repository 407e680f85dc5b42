"""Non-maximum suppression: the best boxes, without those that overlap a better one."""

from __future__ import annotations

from ... import functions as f
from ...core import dtype as dt
from ...core.drivers import Steps, run_async, run_sync
from ...core.hostarray import HostArray, from_values
from ...errors import ShapeError
from ...tensor import Tensor, asarray, reading
from .boxes import box_iou, checked


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The indices of the boxes that stay, the best first: each stays unless it overlaps a better
    one that does. Overlaps are computed on the device; reads them, and blocks.

    boxes: two corners each, (n, 4).
    scores: (n,). Of equal ones the first is better.
    iou_threshold: the intersection over union from which on, itself excluded, boxes overlap.
    Returns: as many integers as boxes stay.
    Raises: ShapeError for other shapes; TracingError under `@tl.jit`, as the length depends on
      values.
    Source: `torchvision.ops.nms`.
    """
    return run_sync(_steps(boxes, scores, None, iou_threshold))


async def nms_async(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """As `nms`, without blocking."""
    return await run_async(_steps(boxes, scores, None, iou_threshold))


def batched_nms(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    """`nms` among the boxes of each class. idxs: the class of each box, (n,)."""
    return run_sync(_steps(boxes, scores, idxs, iou_threshold))


async def batched_nms_async(
    boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float
) -> Tensor:
    """As `batched_nms`, without blocking."""
    return await run_async(_steps(boxes, scores, idxs, iou_threshold))


_WORD = 16
"""How many answers one number that is read holds."""


def _steps(boxes: Tensor, scores: Tensor, idxs: Tensor | None, threshold: float) -> Steps[Tensor]:
    what = "nms" if idxs is None else "batched_nms"
    given = checked(boxes, what).detach()
    count = given.shape[0]
    others = [scores] if idxs is None else [scores, idxs]
    if given.ndim != 2 or any(each.shape != (count,) for each in others):
        shapes = ", ".join(str(each.shape) for each in (boxes, *others))
        raise ShapeError(f"{what}: {shapes} are not (n, 4) and (n,)")
    if not count:
        return f.zeros((0,), dt.default_integer())
    order = f.argsort(scores.detach(), descending=True, stable=True)
    best = f.take(given, order, axis=0)
    overlaps = box_iou(best, best) > threshold
    if idxs is not None:
        classes = f.take(idxs, order, axis=0)
        same = f.expand_dims(classes, 0) == f.expand_dims(classes, 1)
        overlaps = f.logical_and(overlaps, same)
    lower = f.expand_dims(f.arange(count), 1) < f.expand_dims(f.arange(count), 0)
    overlaps = f.logical_and(overlaps, lower)  # a box removes only those after it
    rest = -count % _WORD
    bits = f.pad(overlaps.astype(dt.int32), [(0, 0), (0, rest)], 0)
    weights = asarray(from_values([1 << k for k in range(_WORD)], (_WORD,), dt.int32))
    words = f.sum(f.reshape(bits, (count, -1, _WORD)) * weights, 2).astype(dt.uint16)
    numbers, rows = yield from reading([order, words])
    kept = [numbers.flat()[k] for k in _kept(rows)]
    return asarray(from_values(kept, (len(kept),), dt.default_integer()))


def _kept(rows: HostArray) -> list[int]:
    """Which boxes stay: those that no box before them removes which stays itself. rows: a bit for
    each box that a box removes."""
    data, width = rows.data.cast("B"), rows.nbytes // rows.shape[0]
    removed, kept = 0, []
    for number in range(rows.shape[0]):
        if not removed >> number & 1:
            kept.append(number)
            removed |= int.from_bytes(data[number * width : (number + 1) * width], "little")
    return kept
