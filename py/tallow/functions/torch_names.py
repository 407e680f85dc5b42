"""PyTorch's names for functions of the array API, and what lies behind the methods of tensors.

`tallow` offers those of __all__. Arguments are named as in PyTorch.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import dtype as dt
from ..dtype import DType
from ..errors import DTypeError, OptionError, ShapeError
from ..shape import check_axis
from ..tensor import Scalar, Tensor, asarray
from . import elementwise, manipulation
from .indexing import checked_indices, take_along_axis
from .linear_algebra import matmul

Shape = int | Sequence[int]


class Extremes(NamedTuple):
    """The largest or smallest elements along an axis, and their places along it."""

    values: Tensor
    indices: Tensor


def _numbers(given: Sequence[Shape]) -> list[int]:
    """Numbers that are given one by one or as one sequence."""
    if len(given) == 1 and not isinstance(given[0], int):
        return list(given[0])
    return list(given)  # type: ignore[arg-type]


# ---- making tensors --------------------------------------------------------------------------


def tensor(
    data: Any,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of a number, nested lists or an array, which is copied. Python's integers become
    int32, its floating numbers float32. Raises what `asarray` raises."""
    if hasattr(data, "__array__") and not isinstance(data, Tensor):
        data = data.__array__().copy()
    made = asarray(data, dtype)
    if isinstance(data, Tensor) or made.node.size == 1:  # a number that is no part of an op
        made = made.detach()
    made = made if device is None else made.to(device)
    return made.requires_grad_() if requires_grad else made


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor of an array, which is not copied: do not change it afterwards."""
    if not hasattr(ndarray, "__array__"):
        raise DTypeError(f"from_numpy: {type(ndarray).__name__} is not a NumPy array")
    return asarray(ndarray)


def is_tensor(obj: object) -> bool:
    """Whether this is a tensor."""
    return isinstance(obj, Tensor)


# ---- shapes ----------------------------------------------------------------------------------


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from start_dim to end_dim, inclusive, as one. Raises ShapeError."""
    if not input.ndim:
        return manipulation.reshape(input, (1,))
    first = check_axis(start_dim, input.ndim, "flatten")
    last = check_axis(end_dim, input.ndim, "flatten")
    if first > last:
        raise ShapeError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
    joined = math.prod(input.shape[first : last + 1])
    return manipulation.reshape(input, (*input.shape[:first], joined, *input.shape[last + 1 :]))


def permute(input: Tensor, *dims: Shape) -> Tensor:
    """Axis i of the result is axis dims[i]: permute(x, (1, 0)) or permute(x, 1, 0)."""
    return manipulation.permute_dims(input, _numbers(dims))


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two axes exchanged."""
    order = list(range(input.ndim))
    first = check_axis(dim0, input.ndim, "transpose")
    second = check_axis(dim1, input.ndim, "transpose")
    order[first], order[second] = second, first
    return manipulation.permute_dims(input, order)


def t(input: Tensor) -> Tensor:
    """A matrix transposed; a vector as it is. Raises ShapeError beyond two axes."""
    if input.ndim > 2:
        raise ShapeError(f"t and T: {input.shape} has more than two axes; use mT or transpose")
    return input if input.ndim < 2 else transpose(input, 0, 1)


def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Axes of length 1 removed: all, or those among dim. Unlike the array API's, it leaves an axis
    of another length."""
    if dim is None:
        return manipulation.squeeze(input)
    dims = [dim] if isinstance(dim, int) else dim
    axes = [check_axis(axis, input.ndim, "squeeze") for axis in dims]
    return manipulation.squeeze(input, [axis for axis in axes if input.shape[axis] == 1])


def expand(input: Tensor, *sizes: Shape) -> Tensor:
    """Broadcast to a shape, of which -1 keeps an axis. Raises ShapeError."""
    wanted = _numbers(sizes)
    added = len(wanted) - input.ndim
    if added < 0 or -1 in wanted[:added]:
        raise ShapeError(f"expand: {input.shape} cannot become {tuple(wanted)}")
    own = [1] * added + list(input.shape)
    shape = [mine if size == -1 else size for size, mine in zip(wanted, own, strict=True)]
    return manipulation.broadcast_to(input, shape)


def repeated(input: Tensor, *repeats: Shape) -> Tensor:
    """The whole, repeated with a count per axis. Raises ShapeError for fewer counts than axes."""
    counts = _numbers(repeats)
    if len(counts) < input.ndim:
        raise ShapeError(f"repeat: {len(counts)} counts for the {input.ndim} axes")
    return manipulation.tile(input, counts)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """That many pieces along an axis, or fewer; the last is shorter if it does not divide."""
    if chunks < 1:
        raise OptionError(f"chunk: {chunks} pieces")
    length = input.shape[check_axis(dim, input.ndim, "chunk")]
    return manipulation.split(input, builtins.max(1, -(-length // chunks)), dim)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis."""
    return manipulation.unstack(input, dim)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors joined along an axis."""
    return manipulation.concat(tensors, dim)


# ---- elements and products -------------------------------------------------------------------


def clamp(
    input: Tensor, min: Scalar | Tensor | None = None, max: Scalar | Tensor | None = None
) -> Tensor:
    """The elements clamped to min and max; OptionError if both are None."""
    if min is None and max is None:
        raise OptionError("clamp: needs min, max, or both")
    return elementwise.clip(input, min, max)


def masked_fill(input: Tensor, mask: Tensor, value: Scalar | Tensor) -> Tensor:
    """`value` where the mask, which broadcasts, is true; the elements of input elsewhere."""
    if mask.dtype != dt.bool_:
        raise DTypeError(f"masked_fill: the mask must be bool, not {mask.dtype.name}")
    filled = asarray(value).astype(input.dtype)
    if filled.ndim:
        raise ShapeError(f"masked_fill: the value must be one number, not {filled.shape}")
    chosen: Tensor = elementwise.where(mask, filled, input)
    return chosen


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """result[i, j] = input[index[i, j], j] for dim 0, and so on. The index may be shorter in the
    other axes. Raises ShapeError if it is longer, IndexRangeError for an index out of range."""
    axis = check_axis(dim, input.ndim, "gather")
    if index.ndim == input.ndim:  # NumPy's needs axes of the same length
        ends = zip(index.shape, input.shape, strict=True)
        if all(a == axis or size <= has for a, (size, has) in enumerate(ends)):
            input = input[tuple(slice(None if a == axis else n) for a, n in enumerate(index.shape))]
        index = checked_indices(index, input.shape[axis], "gather: the index")
    return take_along_axis(input, index, axis)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices. Raises ShapeError for other tensors."""
    if input.ndim != 2 or mat2.ndim != 2:
        raise ShapeError(f"mm: {input.shape} @ {mat2.shape}: both must be matrices")
    return matmul(input, mat2)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of two batches of as many matrices. Raises ShapeError for other tensors."""
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0]:
        raise ShapeError(f"bmm: {input.shape} @ {mat2.shape}: both must be (n, rows, columns)")
    return matmul(input, mat2)
