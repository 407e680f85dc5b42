"""Running sums and products along an axis.

This takes log2(n) steps, which add to every element the one 1, 2, 4 ... positions before it (Hillis
and Steele 1986, "Data parallel algorithms"). Each step is as parallel as there are elements.
"""

from __future__ import annotations

from collections.abc import Callable

from ..casting import in_float32
from ..core.dtype import DType
from ..core.shape import check_axis
from ..errors import ShapeError
from ..tensor import Tensor
from .manipulation import pad, reshape
from .reduction import widened


def _running(
    x: Tensor,
    axis: int | None,
    dtype: DType | str | None,
    include_initial: bool,
    combine: Callable[[Tensor, Tensor], Tensor],
    start: int,
) -> Tensor:
    if axis is None:
        if x.ndim > 1:
            raise ShapeError(f"a running sum or product of {x.shape} needs an axis")
        x, axis = (x if x.ndim else reshape(x, [1])), 0
    axis = check_axis(axis, x.ndim, "a running sum or product")
    x = widened(x, dtype)
    length, shift = x.shape[axis], 1
    while shift < length:
        x = combine(x, _shifted(x, axis, shift, start))
        shift *= 2
    if not include_initial:
        return x
    return pad(x, [(int(a == axis), 0) for a in range(x.ndim)], start)


def _shifted(x: Tensor, axis: int, shift: int, fill: int) -> Tensor:
    """Every element moved `shift` positions on, with `fill` at the beginning."""
    return pad(x, [(shift, -shift) if a == axis else (0, 0) for a in range(x.ndim)], fill)


@in_float32
def cumulative_sum(
    x: Tensor,
    axis: int | None = None,
    dtype: DType | str | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Sums each element and those before it along the axis, in the types of `sum`.

    x: numbers or booleans, of any shape.
    axis: the axis; None for a tensor that has one axis at most.
    dtype: the type in which elements are added, and of the result; None is as for `sum`.
    include_initial: whether the result begins with a 0 and is one element longer.
    Returns: the running sums, of the shape of x, or one longer along the axis.
    Raises: ShapeError for a missing axis; AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `cumulative_sum`.
    """
    return _running(x, axis, dtype, include_initial, lambda a, b: a + b, 0)


@in_float32
def cumulative_prod(
    x: Tensor,
    axis: int | None = None,
    dtype: DType | str | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Multiplies each element and those before it along the axis, in the types of `sum`.

    x: numbers or booleans, of any shape.
    axis: the axis; None for a tensor that has one axis at most.
    dtype: the type in which elements are multiplied, and of the result; None is as for `sum`.
    include_initial: whether the result begins with a 1 and is one element longer.
    Returns: the running products, of the shape of x, or one longer along the axis.
    Raises: ShapeError for a missing axis; AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `cumulative_prod`.
    """
    return _running(x, axis, dtype, include_initial, lambda a, b: a * b, 1)
