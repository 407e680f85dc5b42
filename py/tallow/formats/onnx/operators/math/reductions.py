"""Reductions over axes, and the indices of largest and smallest elements."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..... import functions as f
from .....core import dtype as dt
from .....core.shape import check_axes
from .....tensor import Tensor
from ...call import Call
from ...registry import operator

Axes = tuple[int, ...] | None
Reduction = Callable[[Tensor, Axes, bool], Tensor]


def _log_sum_exp(x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    """Shifted by the largest element, so that exp does not overflow, unless that is infinite."""
    if not _has_elements(x, axes):
        return _log_sum(x, axes, keepdims)
    largest = f.max(x, axes, True)
    shift = f.where(f.isinf(largest), 0.0, largest)  # infinity minus infinity is NaN
    total = f.log(f.sum(f.exp(x - shift), axes, True)) + shift
    return total if keepdims else f.reshape(total, f.sum(x, axes).shape)


def _has_elements(x: Tensor, axes: Axes) -> bool:
    """Whether there are elements along the axes."""
    return all(x.shape[axis] for axis in check_axes(axes, x.ndim, "axes"))


def _extreme(reduction: Reduction, largest: bool) -> Reduction:
    """The largest or smallest element; over an empty axis, the end of the type's range."""

    def reduced(x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        if not _has_elements(x, axes):
            shape = f.sum(x, axes, keepdims).shape
            return f.full(shape, _end(x.dtype, lowest=largest), x.dtype)
        number = x.astype(dt.int32) if x.dtype == dt.bool_ else x
        return reduction(number, axes, keepdims)

    return reduced


def _wide(reduction: Reduction) -> Reduction:
    """Reduces in a wider type, as onnxruntime does: float16 in float32, integers in float64. A GPU
    leaves float64 to NumPy."""

    def reduced(x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        if x.dtype.is_floating:
            wide = x.astype(dt.float32) if x.dtype.size < 4 else x
            return reduction(wide, axes, keepdims).astype(x.dtype)
        return _whole(reduction(x.astype(dt.float64), axes, keepdims), x.dtype)

    return reduced


def _whole(x: Tensor, dtype: dt.DType) -> Tensor:
    """Truncated to integers and clamped to the type's range; NaN becomes the lowest."""
    lowest, highest = _end(dtype, lowest=True), _end(dtype, lowest=False)
    inside = f.where(x < highest, x.astype(dtype), highest)
    return f.where(x > lowest, inside, lowest)


def _end(dtype: dt.DType, lowest: bool) -> float:
    """The lowest or highest value of a type."""
    if dtype.is_floating:
        return -math.inf if lowest else math.inf
    if dtype.kind == "i":
        return -(1 << 8 * dtype.size - 1) if lowest else (1 << 8 * dtype.size - 1) - 1
    return 0 if lowest else 1 if dtype == dt.bool_ else (1 << 8 * dtype.size) - 1


def _register(name: str, axes_input_since: int, reduction: Reduction) -> None:
    @operator(name)
    def reduce(call: Call, x: Tensor, axes: Tensor | None = None) -> Tensor:
        """The axes are an input since `axes_input_since`, and an attribute before."""
        wanted = call.integers("axes", axes)
        keepdims = call.flag("keepdims", True)
        nothing = call.flag("noop_with_empty_axes") and call.opset >= axes_input_since
        chosen = wanted or (() if nothing else None)
        return reduction(x, chosen, keepdims).astype(x.dtype)


def _mean(x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    """Divides float64, used for integers: 49 times 1 / 49 would be less than 1."""
    if x.dtype != dt.float64:
        return f.mean(x, axes, keepdims)
    count = math.prod(x.shape[axis] for axis in check_axes(axes, x.ndim, "axes"))
    return f.sum(x, axes, keepdims) / (count or math.nan)


def _l1(x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    return f.sum(f.abs(x), axes, keepdims)


def _sum_square(x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    return f.sum(x * x, axes, keepdims)


def _l2(x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    return f.sqrt(_sum_square(x, axes, keepdims))


def _log_sum(x: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    return f.log(f.sum(x, axes, keepdims))


for _name, _axes_input_since, _reduction in (
    ("ReduceSum", 13, f.sum),
    ("ReduceMean", 18, _wide(_mean)),
    ("ReduceMax", 18, _extreme(f.max, True)),
    ("ReduceMin", 18, _extreme(f.min, False)),
    ("ReduceProd", 18, f.prod),
    ("ReduceL1", 18, _l1),
    ("ReduceL2", 18, _wide(_l2)),
    ("ReduceSumSquare", 18, _sum_square),
    ("ReduceLogSum", 18, _wide(_log_sum)),
    ("ReduceLogSumExp", 18, _wide(_log_sum_exp)),
):
    _register(_name, _axes_input_since, _reduction)


def _arg_reduction(call: Call, x: Tensor, find: Callable[[Tensor, int, bool], Tensor]) -> Tensor:
    axis, keepdims = call.get("axis", int, 0), call.flag("keepdims", True)
    if not call.flag("select_last_index"):
        return find(x, axis, keepdims).astype(dt.int64)
    last = x.shape[axis] - 1 if -x.ndim <= axis < x.ndim else 0
    return last - find(f.flip(x, axis), axis, keepdims).astype(dt.int64)


@operator("ArgMax")
def _argmax(call: Call, x: Tensor) -> Tensor:
    return _arg_reduction(call, x, f.argmax)


@operator("ArgMin")
def _argmin(call: Call, x: Tensor) -> Tensor:
    return _arg_reduction(call, x, f.argmin)
