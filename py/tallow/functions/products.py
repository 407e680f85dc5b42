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
    """Multiplies two matrices.

    input: a matrix (m, k).
    mat2: a matrix (k, n).
    Returns: the product (m, n), in the promoted type.
    Raises: ShapeError for other tensors.
    Source: PyTorch's documentation, `torch.mm`.
    """
    if input.ndim != 2 or mat2.ndim != 2:
        raise ShapeError(f"mm: {input.shape} @ {mat2.shape}: both must be matrices")
    return matmul(input, mat2)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiplies two batches of as many matrices.

    input: matrices (b, m, k).
    mat2: matrices (b, k, n).
    Returns: the products (b, m, n), in the promoted type.
    Raises: ShapeError for other tensors.
    Source: PyTorch's documentation, `torch.bmm`.
    """
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0]:
        raise ShapeError(f"bmm: {input.shape} @ {mat2.shape}: both must be (n, rows, columns)")
    return matmul(input, mat2)


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiplies each element of one vector by each of another.

    input: a vector (m,).
    vec2: a vector (n,).
    Returns: the products (m, n), in the promoted type.
    Raises: ShapeError for other tensors.
    Source: PyTorch's documentation, `torch.outer`.
    """
    if input.ndim != 1 or vec2.ndim != 1:
        raise ShapeError(f"outer: {input.shape} and {vec2.shape} must be vectors")
    return input[:, None] * vec2[None, :]


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Sums the products of two vectors' elements.

    input, tensor: vectors of one length.
    Returns: the sum, a single number, in the promoted type.
    Raises: ShapeError for other tensors.
    Source: PyTorch's documentation, `torch.dot`.
    """
    if input.ndim != 1 or input.shape != tensor.shape:
        raise ShapeError(f"dot: {input.shape} and {tensor.shape} must be vectors of one length")
    product = input * tensor
    return reduction.sum(product, dtype=product.dtype)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Multiplies a matrix by a vector.

    input: a matrix (m, n).
    vec: a vector (n,).
    Returns: the product (m,), in the promoted type.
    Raises: ShapeError for other tensors.
    Source: PyTorch's documentation, `torch.mv`.
    """
    if input.ndim != 2 or vec.ndim != 1:
        raise ShapeError(f"mv: {input.shape} @ {vec.shape}: must be a matrix and a vector")
    return matmul(input, vec)


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """Adds a matrix product: beta * input + alpha * (mat1 @ mat2).

    input: numbers that broadcast with the product.
    mat1: a matrix (m, k).
    mat2: a matrix (k, n).
    beta, alpha: the factors of input and of the product.
    Returns: the sums (m, n).
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch's documentation, `torch.addmm`.
    """
    return input * beta + matmul(mat1, mat2) * alpha


def norm(input: Tensor, p: float | str = "fro", dim: Axis = None, keepdim: bool = False) -> Tensor:
    """Computes the p-norm of the elements along axes. The gradient of zeros is 0.

    input: numbers, of any shape.
    p: the order, a number, inf or -inf; 0 counts what is not 0, and "fro" is 2.
    dim: the axis or axes; None takes all.
    keepdim: keeps these axes, with length 1.
    Returns: the norms, of the shape of input without these axes.
    Raises: OptionError for another p; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.norm`.
    """
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
    """Sums products along the last axes.

    input, other: numbers, as long along the last axis; one without axes multiplies the other.
    Returns: the sums, with the other axes of input, then those of other.
    Raises: ShapeError if the last axes differ in length.
    Source: PyTorch's documentation, `torch.inner`.
    """
    if not input.ndim or not other.ndim:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise ShapeError(f"inner: the last axes of {input.shape} and {other.shape} differ")
    return tensordot(input, other, ([-1], [-1]))


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] = 2) -> Tensor:
    """Sums products over axes of two tensors.

    a, b: the tensors.
    dims: how many of the last axes of a and of the first axes of b; or two lists, of axes of a and
      of b.
    Returns: the sums, with the other axes of a, then those of b.
    Raises: ShapeError for axes of different lengths; AxisError for an axis that a tensor doesn't
      have.
    Source: PyTorch's documentation, `torch.tensordot`.
    """
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise ShapeError(f"tensordot: {dims} axes of {a.shape} and {b.shape}")
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
    """Sums the diagonal of a matrix, in the types of `sum`.

    input: a matrix (m, n).
    Returns: the sum, a single number.
    Raises: AxisError for fewer than two axes.
    Source: PyTorch's documentation, `torch.trace`.
    """
    return reduction.sum(diagonal(input))


def cross(input: Tensor, other: Tensor, dim: int = -1) -> Tensor:
    """Computes the cross products of vectors of three elements along an axis.

    input, other: the vectors, of one shape, 3 long along the axis.
    dim: the axis.
    Returns: the cross products, of that shape.
    Raises: ShapeError for an axis of another length; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.linalg.cross`.
    """
    axis = check_axis(dim, input.ndim, "cross")
    if input.shape[axis] != 3 or other.shape[axis] != 3:
        raise ShapeError(f"cross: axis {dim} of {input.shape} and {other.shape} must have 3")
    after, before = asarray([1, 2, 0]), asarray([2, 0, 1])
    return take(input, after, axis) * take(other, before, axis) - take(input, before, axis) * take(
        other, after, axis
    )


def kron(input: Tensor, other: Tensor) -> Tensor:
    """Computes the Kronecker product: each element of input times all of other.

    input, other: numbers, of any shapes.
    Returns: the products; each axis is as long as those of input and other multiplied.
    Source: PyTorch's documentation, `torch.kron`.
    """
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
    """Adds the product of a matrix and a vector: beta * input + alpha * (mat @ vec).

    input: numbers that broadcast with the product.
    mat: a matrix (m, n).
    vec: a vector (n,).
    beta, alpha: the factors of input and of the product.
    Returns: the sums (m,).
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch's documentation, `torch.addmv`.
    """
    return input * beta + mat.mv(vec) * alpha


def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """Adds products of matrices: beta * input + alpha * (batch1 @ batch2).

    input: numbers that broadcast with the products.
    batch1: matrices (b, m, k).
    batch2: matrices (b, k, n).
    beta, alpha: the factors of input and of the products.
    Returns: the sums (b, m, n).
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch's documentation, `torch.baddbmm`.
    """
    return input * beta + batch1.bmm(batch2) * alpha


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """Computes the p-norms of the differences of all rows of x1 and of x2.

    x1: rows (..., n, m).
    x2: rows (..., k, m).
    p: the order of the norm, a number, inf or -inf.
    Returns: the norms (..., n, k).
    Raises: ShapeError for rows that differ in length, and for batches that do not broadcast.
    Source: PyTorch's documentation, `torch.cdist`.
    """
    if x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(f"cdist: the rows of {x1.shape} and {x2.shape} differ in length")
    return (expand_dims(x1, -2) - expand_dims(x2, -3)).norm(p, -1)


def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """Adds an outer product: beta * input + alpha * outer(vec1, vec2).

    input: numbers that broadcast with the product.
    vec1: a vector (m,).
    vec2: a vector (n,).
    beta, alpha: the factors of input and of the product.
    Returns: the sums (m, n).
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch's documentation, `torch.addr`.
    """
    return input * beta + outer(vec1, vec2) * alpha


def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """Adds the sum of the products of two batches: beta * input + alpha * sum(batch1 @ batch2).

    input: numbers that broadcast with the sum.
    batch1: matrices (b, m, k).
    batch2: matrices (b, k, n).
    beta, alpha: the factors of input and of the sum.
    Returns: the sums (m, n).
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch's documentation, `torch.addbmm`.
    """
    return input * beta + reduction.sum(bmm(batch1, batch2), 0) * alpha


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Shortens slices along an axis whose p-norm is above maxnorm to that norm.

    input: floating numbers, with one axis or more.
    p: the order of the norm, a number, inf or -inf.
    dim: the axis.
    maxnorm: the largest norm that a slice keeps.
    Returns: the slices, of the shape of input.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.renorm`.
    """
    axis = check_axis(dim, input.ndim, "renorm")
    others = [each for each in range(input.ndim) if each != axis]
    length = norm(input, p, others, True)
    over = length > maxnorm
    return input * elementwise.where(over, maxnorm / (length + 1e-7), 1.0)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Computes the p-norm of a difference.

    input, other: numbers, which broadcast.
    p: the order of the norm, a number, inf or -inf.
    Returns: the norm, a single number.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.dist`.
    """
    return norm(input - other, p)
