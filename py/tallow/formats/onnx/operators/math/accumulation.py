"""Running sums and products."""

from __future__ import annotations

from collections.abc import Callable

from ..... import functions as f
from .....compile.passes.fold import host_value
from .....errors import OnnxFormatError
from .....shape import check_axis
from .....tensor import Tensor
from ...call import Call
from ...registry import operator


def along(
    axis: Tensor, rank: int, function: Callable[[int], Tensor], most: int | None = None
) -> Tensor:
    """function(axis), for an axis that may be known only when the model runs: then it is made for
    every axis, of which one is chosen. Its results must have one shape. most: so many axes, from
    the first on, can be meant."""
    if axis.size != 1 or not axis.dtype.is_integer:
        raise OnnxFormatError(
            f"the axis must be a whole number, not {axis.dtype.name} {axis.shape}"
        )
    known = host_value(axis.node)
    if known is not None:
        place = check_axis(known.item(), rank, "axis")
        if most is not None and place >= most:
            raise OnnxFormatError(f"axis {known.item()} is none of the first {most}")
        return function(place)
    count = rank if most is None else most
    index = f.position(f.position(f.reshape(axis, ()), rank), count)
    result = function(0)
    for other in range(1, count):
        result = f.where(f.equal(index, other), function(other), result)
    return result


def _running(call: Call, x: Tensor, axis: Tensor, function: Callable[..., Tensor]) -> Tensor:
    if not x.ndim:
        raise OnnxFormatError("its input has no axis")
    reverse, exclusive = call.flag("reverse"), call.flag("exclusive")

    def run(place: int) -> Tensor:
        turned = f.flip(x, place) if reverse else x
        made = function(turned, place, include_initial=exclusive)
        if exclusive:
            made = made[tuple(slice(0, dim) for dim in x.shape)]
        return f.flip(made, place) if reverse else made

    return along(axis, x.ndim, run)


@operator("CumSum", since=11)
def cum_sum(call: Call, x: Tensor, axis: Tensor) -> Tensor:
    return _running(call, x, axis, f.cumulative_sum)


@operator("CumProd", since=26)
def cum_prod(call: Call, x: Tensor, axis: Tensor) -> Tensor:
    return _running(call, x, axis, f.cumulative_prod)
