"""Products of vectors and matrices, norms, distances."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..core.shape import check_axis
from ..errors import OptionError, ShapeError
from ..tensor import Scalar, Tensor, asarray
from . import elementwise, manipulation, reduction
from .indexing import take
from .linear_algebra import matmul
from .manipulation import expand_dims, reshape
from .reduction import Axis
from .shapes import diagonal


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


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of an element of one vector and one of another. ShapeError for other tensors."""
    if input.ndim != 1 or vec2.ndim != 1:
        raise ShapeError(f"outer: {input.shape} and {vec2.shape} must be vectors")
    return input[:, None] * vec2[None, :]


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors' elements. Raises ShapeError for other tensors."""
    if input.ndim != 1 or input.shape != tensor.shape:
        raise ShapeError(f"dot: {input.shape} and {tensor.shape} must be vectors of one length")
    product = input * tensor
    return reduction.sum(product, dtype=product.dtype)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector. Raises ShapeError for other tensors."""
    if input.ndim != 2 or vec.ndim != 1:
        raise ShapeError(f"mv: {input.shape} @ {vec.shape}: must be a matrix and a vector")
    return matmul(input, vec)


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
    return input * beta + matmul(mat1, mat2) * alpha


def norm(input: Tensor, p: float | str = "fro", dim: Axis = None, keepdim: bool = False) -> Tensor:
    """The p-norm of the elements along axes; "fro" is 2. p: a number, inf or -inf. The gradient of
    zeros is 0. Raises OptionError for another p."""
    if p in ("fro", 2):
        return reduction.root(reduction.sum(input * input, dim, keepdim))
    if isinstance(p, str):
        raise OptionError(f"norm: p {p!r} is not 'fro' or a number")
    size = abs(input)
    if p == math.inf:
        return reduction.max(size, dim, keepdim)
    if p == -math.inf:
        return reduction.min(size, dim, keepdim)
    if p == 0:
        return reduction.sum((size != 0).astype(input.dtype), dim, keepdim)
    if p == 1:
        return reduction.sum(size, dim, keepdim)
    return reduction.root(reduction.sum(reduction.powers(size, p), dim, keepdim), p)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products along the last axes. Raises ShapeError if they differ."""
    if not input.ndim or not other.ndim:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise ShapeError(f"inner: the last axes of {input.shape} and {other.shape} differ")
    return tensordot(input, other, ([-1], [-1]))


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] = 2) -> Tensor:
    """Products summed over axes of both: the last `dims` of a and the first of b, or two lists.
    Raises ShapeError if their lengths differ."""
    if isinstance(dims, int):
        left, right = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        left = [check_axis(axis, a.ndim, "tensordot") for axis in dims[0]]
        right = [check_axis(axis, b.ndim, "tensordot") for axis in dims[1]]
    shared = [a.shape[axis] for axis in left]
    if shared != [b.shape[axis] for axis in right]:
        raise ShapeError(f"tensordot: axes {left} of {a.shape} and {right} of {b.shape} differ")
    rows = [axis for axis in range(a.ndim) if axis not in left]
    columns = [axis for axis in range(b.ndim) if axis not in right]
    length = math.prod(shared)
    high, wide = [a.shape[axis] for axis in rows], [b.shape[axis] for axis in columns]
    first = reshape(manipulation.permute_dims(a, (*rows, *left)), (math.prod(high), length))
    second = reshape(manipulation.permute_dims(b, (*right, *columns)), (length, math.prod(wide)))
    return reshape(matmul(first, second), (*high, *wide))


def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix, in the types of `sum`."""
    return reduction.sum(diagonal(input))


def cross(input: Tensor, other: Tensor, dim: int = -1) -> Tensor:
    """The cross products of vectors of three elements along an axis."""
    axis = check_axis(dim, input.ndim, "cross")
    if input.shape[axis] != 3 or other.shape[axis] != 3:
        raise ShapeError(f"cross: axis {dim} of {input.shape} and {other.shape} must have 3")
    after, before = asarray([1, 2, 0]), asarray([2, 0, 1])
    return take(input, after, axis) * take(other, before, axis) - take(input, before, axis) * take(
        other, after, axis
    )


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: each element of input times all of other."""
    rank = max(input.ndim, other.ndim)
    a = reshape(input, (*(1,) * (rank - input.ndim), *input.shape))
    b = reshape(other, (*(1,) * (rank - other.ndim), *other.shape))
    wide = reshape(a, tuple(size for dim in a.shape for size in (dim, 1)))
    tall = reshape(b, tuple(size for dim in b.shape for size in (1, dim)))
    shape = tuple(m * n for m, n in zip(a.shape, b.shape, strict=True))
    return reshape(wide * tall, shape)


def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta * input + alpha * (mat @ vec)."""
    return input * beta + mat.mv(vec) * alpha


def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2), for batches of matrices."""
    return input * beta + batch1.bmm(batch2) * alpha


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of all rows of x1 (..., n, m) and of x2 (..., k, m)."""
    if x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(f"cdist: the rows of {x1.shape} and {x2.shape} differ in length")
    return (expand_dims(x1, -2) - expand_dims(x2, -3)).norm(p, -1)


def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2)."""
    return input * beta + outer(vec1, vec2) * alpha


def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta * input + alpha * the sum of the products of two batches of matrices."""
    return input * beta + reduction.sum(bmm(batch1, batch2), 0) * alpha


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Slices along an axis, of which those with a p-norm above maxnorm are shortened to it."""
    axis = check_axis(dim, input.ndim, "renorm")
    others = [each for each in range(input.ndim) if each != axis]
    length = norm(input, p, others, True)
    over = length > maxnorm
    return input * elementwise.where(over, maxnorm / (length + 1e-7), 1.0)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of a difference."""
    return norm(input - other, p)
