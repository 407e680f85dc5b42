"""Running sums and products."""

from __future__ import annotations

from collections.abc import Callable

from ..... import functions as f
from .....compile.passes.fold import host_value
from .....core.shape import check_axis
from .....errors import OnnxFormatError
from .....functions.indexing import position
from .....tensor import Tensor
from ...call import Call
from ...registry import operator


def along(
    axis: Tensor, rank: int, function: Callable[[int], Tensor], allowed: int | None = None
) -> Tensor:
    """function(axis), for an axis that may be known only when the model runs: then the result is
    computed for every axis, and one is selected. All results must have the same shape. allowed:
    only the first `allowed` axes are valid."""
    if axis.size != 1 or not axis.dtype.is_integer:
        raise OnnxFormatError(
            f"the axis must be a whole number, not {axis.dtype.name} {axis.shape}"
        )
    known = host_value(axis.node)
    if known is not None:
        number = check_axis(known.item(), rank, "axis")
        if allowed is not None and number >= allowed:
            raise OnnxFormatError(f"axis {known.item()} is not one of the first {allowed}")
        return function(number)
    count = rank if allowed is None else allowed
    index = position(position(f.reshape(axis, ()), rank), count)
    result = function(0)
    for other in range(1, count):
        result = f.where(f.equal(index, other), function(other), result)
    return result


def _running(call: Call, x: Tensor, axis: Tensor, function: Callable[..., Tensor]) -> Tensor:
    if not x.ndim:
        raise OnnxFormatError("its input has no axis")
    reverse, exclusive = call.flag("reverse"), call.flag("exclusive")

    def run(axis: int) -> Tensor:
        ordered = f.flip(x, axis) if reverse else x
        result = function(ordered, axis, x.dtype, exclusive)
        if exclusive:
            result = result[tuple(slice(0, dim) for dim in x.shape)]
        return f.flip(result, axis) if reverse else result

    return along(axis, x.ndim, run)


@operator("CumSum", since=11)
def cum_sum(call: Call, x: Tensor, axis: Tensor) -> Tensor:
    """Running sums along an axis."""
    return _running(call, x, axis, f.cumulative_sum)


@operator("CumProd", since=26)
def cum_prod(call: Call, x: Tensor, axis: Tensor) -> Tensor:
    """Running products along an axis."""
    return _running(call, x, axis, f.cumulative_prod)
