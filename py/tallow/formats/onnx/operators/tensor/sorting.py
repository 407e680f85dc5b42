"""Selections: the largest, distinct or nonzero elements, and boxes that do not overlap.

Apart from the largest elements, the number of results depends on the data, so the host computes
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..... import functions as f
from .....core import dtype as dt
from .....core.hostarray import from_values
from .....core.shape import check_axis, strides_of
from .....errors import OnnxFormatError
from .....ops.arrange import argsort
from .....tensor import Tensor, asarray
from ...call import Call
from ...registry import host_operator, operator

if TYPE_CHECKING:
    from .....arrays import Array, NumPy


@operator("TopK")
def top_k(call: Call, x: Tensor, k: Tensor | None = None) -> list[Tensor]:
    """Values and indices; among equal values the first comes first. They are always sorted, whether
    or not `sorted` asks for it."""
    call.ignore("sorted")
    count = call.get("k", int) if k is None else call.known_integer(k, "k")
    axis = check_axis(call.get("axis", int, -1), x.ndim, "top_k")
    if not 0 <= count <= x.shape[axis]:
        raise OnnxFormatError(f"k is {count}, but axis {axis} has {x.shape[axis]} elements")
    indices = f.argsort(x, axis, call.flag("largest", True), count)
    return [f.take_along_axis(x, indices, axis), indices.astype(dt.int64)]


@host_operator("TopK")
def top_k_on_host(call: Call, np: NumPy, x: Array, k: Array | None = None) -> tuple[Array, Array]:
    """For a k that is not known when the model is loaded."""
    call.ignore("sorted")
    count = call.get("k", int) if k is None else int(k.reshape(-1)[0])
    axis = check_axis(call.get("axis", int, -1), x.ndim, "top_k")
    if not 0 <= count <= x.shape[axis]:
        raise OnnxFormatError(f"k is {count}, but axis {axis} has {x.shape[axis]} elements")
    last = np.moveaxis(x, axis, -1)
    indices = np.moveaxis(argsort.numpy(np, last, call.flag("largest", True), count), -1, axis)
    return np.take_along_axis(x, indices, axis), indices.astype(np.int64)


@operator("NonZero", since=9)
def non_zero(call: Call, x: Tensor) -> Tensor:
    """For known values, from which exporters compute shapes."""
    known = call.known(x, "its input")
    strides = strides_of(x.shape)
    offsets = [offset for offset, value in enumerate(known.flat()) if value]
    rows = [o // s % n for s, n in zip(strides, x.shape, strict=True) for o in offsets]
    return asarray(from_values(rows, (x.ndim, len(offsets)), dt.int64))


@host_operator("NonZero", since=9)
def non_zero_on_host(call: Call, np: NumPy, x: Array) -> Array:
    """Where x, of n axes, is not 0: (n, count), int64, in row-major order."""
    found = np.nonzero(x) if x.ndim else ()
    return np.array(found, np.int64).reshape(x.ndim, -1 if x.ndim else int(bool(x)))


@host_operator("Compress", since=9)
def compress_on_host(call: Call, np: NumPy, x: Array, condition: Array) -> Array:
    """As `compress`, for a condition that is not known when the model is loaded."""
    axis = call.get("axis", int, None)
    axis = None if axis is None else check_axis(axis, x.ndim, "compress")
    length = x.size if axis is None else x.shape[axis]
    if condition.size > length:
        raise OnnxFormatError(f"{condition.size} conditions for {length} elements")
    return np.compress(condition, x, axis)


@host_operator("Unique", since=11)
def unique_on_host(call: Call, np: NumPy, x: Array) -> tuple[Any, ...]:
    """Distinct elements or, with an axis, slices; their first indices; the index among them of each
    element of x; and how often each occurs. Without `sorted`, in order of first occurrence."""
    axis = call.get("axis", int, None)
    in_order = call.flag("sorted", True)
    axis = None if axis is None else check_axis(axis, x.ndim, "unique")
    values, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not in_order:
        order = np.argsort(first, kind="stable")
        values = np.take(values, order, axis or 0)
        first, counts = first[order], counts[order]
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        inverse = rank[inverse]
    return values, *(part.astype(np.int64) for part in (first, inverse, counts))


@host_operator("NonMaxSuppression", since=10)
def non_max_suppression_on_host(
    call: Call,
    np: NumPy,
    boxes: Array,
    scores: Array,
    max_boxes: Array | None = None,
    overlap: Array | None = None,
    min_score: Array | None = None,
) -> Array:
    """Rows (batch, class, box): per class the best boxes, without those that overlap a better
    one by more than the threshold (intersection over union)."""
    centred = call.flag("center_point_box")
    if boxes.ndim != 3 or boxes.shape[2] != 4 or scores.ndim != 3:
        raise OnnxFormatError(
            f"boxes {boxes.shape} and scores {scores.shape} do not have the right axes"
        )
    if boxes.shape[:2] != (scores.shape[0], scores.shape[2]):
        raise OnnxFormatError(f"boxes {boxes.shape} do not fit scores {scores.shape}")
    limit = 0 if max_boxes is None else int(max_boxes.reshape(-1)[0])
    threshold = 0.0 if overlap is None else float(overlap.reshape(-1)[0])
    floor = None if min_score is None else float(min_score.reshape(-1)[0])
    rows: list[tuple[int, int, int]] = []
    for batch in range(boxes.shape[0]):
        low, high = _corners(np, boxes[batch], centred)
        area = (high - low).prod(1)
        for label in range(scores.shape[1]):
            score = scores[batch, label]
            left = np.argsort(-score, kind="stable")
            if floor is not None:
                left = left[score[left] > floor]
            taken = 0
            while left.size and taken < limit:
                best, left = left[0], left[1:]
                rows.append((batch, label, int(best)))
                taken += 1
                sides = np.minimum(high[best], high[left]) - np.maximum(low[best], low[left])
                shared = np.maximum(sides, 0).prod(1)
                union = area[best] + area[left] - shared
                ratio = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
                left = left[ratio <= threshold]
    return np.array(rows, np.int64).reshape(-1, 3)


def _corners(np: NumPy, boxes: Array, centred: bool) -> tuple[Array, Array]:
    """The lower and upper corners of boxes, given as two corners or as centre and size."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if centred:
        return first - second / 2, first + second / 2
    return np.minimum(first, second), np.maximum(first, second)
