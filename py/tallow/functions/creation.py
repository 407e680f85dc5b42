"""Creation functions. Nothing is stored: a filled tensor is a broadcast number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import dtype as dt
from ..dtype import DType, as_dtype
from ..errors import ShapeError
from ..graph import make
from ..hostarray import from_values
from ..ops import source
from ..shape import check_shape
from ..tensor import Scalar, Tensor, asarray
from .elementwise import dtype_cast, expand_node

TypeLike = DType | str | None


def full(
    shape: int | Sequence[int],
    fill_value: Scalar,
    dtype: TypeLike = None,
    *,
    requires_grad: bool = False,
) -> Tensor:
    """`fill_value` everywhere. The default dtype follows the value: bool, int32 or float32.
    requires_grad: `backward` gives it a gradient, here and in the functions below; GradientError if
    it is not floating."""
    dims = check_shape([shape] if isinstance(shape, int) else shape, "full")
    wanted = asarray(fill_value).dtype if dtype is None else as_dtype(dtype)
    scalar = asarray(from_values([dtype_cast(fill_value, wanted)], (), wanted))
    made = Tensor(expand_node(scalar.node, dims))
    return made.requires_grad_() if requires_grad else made


def _filled(value: int, shape: tuple[Any, ...], dtype: TypeLike, requires_grad: bool) -> Tensor:
    """A shape in one of the forms that `zeros` takes."""
    first, *rest = shape or ((),)
    if rest and (isinstance(first, int) and all(isinstance(each, int) for each in rest)):
        first, rest = shape, []
    if len(rest) > 1:
        raise ShapeError(f"{shape} is not a shape")
    return full(first, value, rest[0] if rest else dtype, requires_grad=requires_grad)


def zeros(
    *shape: int | Sequence[int] | TypeLike,
    dtype: TypeLike = dt.float32,
    requires_grad: bool = False,
) -> Tensor:
    """0 everywhere: zeros((2, 3)), zeros(2, 3), zeros((2, 3), "int32")."""
    return _filled(0, shape, dtype, requires_grad)


def ones(
    *shape: int | Sequence[int] | TypeLike,
    dtype: TypeLike = dt.float32,
    requires_grad: bool = False,
) -> Tensor:
    """1 everywhere; the shape as for `zeros`."""
    return _filled(1, shape, dtype, requires_grad)


def empty(
    *shape: int | Sequence[int] | TypeLike,
    dtype: TypeLike = dt.float32,
    requires_grad: bool = False,
) -> Tensor:
    """Unspecified elements: zeros."""
    return _filled(0, shape, dtype, requires_grad)


def full_like(x: Tensor, fill_value: Scalar, dtype: TypeLike = None) -> Tensor:
    """`fill_value` in the shape of x, and by default in its type."""
    return full(x.shape, fill_value, dtype or x.dtype)


def zeros_like(x: Tensor, dtype: TypeLike = None) -> Tensor:
    """0 in the shape of x."""
    return full_like(x, 0, dtype)


def ones_like(x: Tensor, dtype: TypeLike = None) -> Tensor:
    """1 in the shape of x."""
    return full_like(x, 1, dtype)


def _iota(shape: tuple[int, ...], axis: int) -> Tensor:
    return Tensor(make(source.iota, shape=shape, dtype=dt.int32, axis=axis))


def arange(
    start: float, stop: float | None = None, step: float = 1, dtype: TypeLike = None
) -> Tensor:
    """start, start + step, ... up to but excluding stop; with one argument, it is the stop."""
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ShapeError("arange: the step must not be 0")
    count = max(0, math.ceil((stop - start) / step))
    whole = all(isinstance(value, int) for value in (start, stop, step))
    wanted = as_dtype(dtype) if dtype is not None else dt.int32 if whole else dt.float32
    line = _iota((count,), 0)
    if not whole:
        line = line.astype(dt.float32)
    if step != 1:
        line = line * step
    if start != 0:
        line = line + start
    return line.astype(wanted)


def linspace(start: float, stop: float, num: int, endpoint: bool = True) -> Tensor:
    """num evenly spaced float32 numbers from start to stop."""
    steps = num - 1 if endpoint else num
    step = (stop - start) / steps if steps > 0 else 0.0
    return _iota((check_shape([num], "linspace")[0],), 0).astype(dt.float32) * step + start


def eye(n: int, m: int | None = None, k: int = 0, dtype: TypeLike = dt.float32) -> Tensor:
    """1 on the k-th diagonal of an n by m matrix, 0 elsewhere."""
    shape = check_shape([n, n if m is None else m], "eye")
    return (_iota(shape, 1) == _iota(shape, 0) + k).astype(as_dtype(dtype or dt.float32))


def _triangle(x: Tensor, k: int, lower: bool) -> Tensor:
    if x.ndim < 2:
        raise ShapeError(f"tril and triu need at least two axes, but the shape is {x.shape}")
    shape = x.shape[-2:]
    column, row = _iota(shape, 1), _iota(shape, 0) + k
    mask = column <= row if lower else column >= row
    from .elementwise import broadcast

    nodes = broadcast("triangle", [x, asarray(0).astype(x.dtype)])
    expanded = expand_node(mask.node, x.shape)
    from ..ops.elementwise import where

    return Tensor(make(where, expanded, *nodes))


def tril(x: Tensor, k: int = 0, *, diagonal: int | None = None) -> Tensor:
    """The elements on and below the k-th diagonal of the last two axes; 0 above.
    diagonal: PyTorch's name of k."""
    return _triangle(x, k if diagonal is None else diagonal, True)


def triu(x: Tensor, k: int = 0, *, diagonal: int | None = None) -> Tensor:
    """The elements on and above the k-th diagonal of the last two axes; 0 below.
    diagonal: PyTorch's name of k."""
    return _triangle(x, k if diagonal is None else diagonal, False)
