"""torch.linalg's names: functions/linalg.py with PyTorch's arguments.

Results that are several have PyTorch's names too. Eigenvalues of matrices that are not symmetric
are complex and missing, as are the factorisations with pivots (`lu` and the like).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from ..core.dtype import DType
from ..core.results import printed_as
from ..core.shape import check_axes, size_of
from ..errors import LinAlgError, OptionError, ShapeError
from ..functions import linalg as of
from ..functions import manipulation, shapes
from ..functions.creation import zeros
from ..functions.linalg import (
    CholeskyExResult,
    EighResult,
    InvExResult,
    LstsqResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)
from ..tensor import Tensor
from .rooms import missing

Dim = int | Sequence[int] | None
Order = of.Order
Bound: TypeAlias = of.Bound
Half = Literal["L", "U"]


# ---- norms --------------------------------------------------------------------------------------


def norm(
    A: Tensor,
    ord: Order | None = None,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: DType | str | None = None,
) -> Tensor:
    """The norm of vectors or matrices: `vector_norm` along one axis, or where ord is None;
    `matrix_norm` along two. Without dim, ord needs a tensor of one or two axes: ShapeError."""
    axes = (dim,) if isinstance(dim, int) else dim if dim is None else tuple(dim)
    if ord is None:
        return vector_norm(A, 2, axes, keepdim, dtype=dtype)
    if axes is None:
        if A.ndim not in (1, 2):
            raise ShapeError(f"norm: ord needs dim, or a vector or a matrix instead of {A.shape}")
        axes = tuple(range(A.ndim))
    if len(axes) == 2:
        return matrix_norm(A, ord, axes, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise OptionError(f"norm: ord {ord!r} is for matrices; give two axes as dim, not {dim}")
    return vector_norm(A, ord, axes, keepdim, dtype=dtype)


def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: DType | str | None = None,
) -> Tensor:
    """The norm of the elements along axes, or of all. dtype: what x is cast to first."""
    return of.vector_norm(_cast(x, dtype), axis=dim, keepdims=keepdim, ord=ord)


def matrix_norm(
    A: Tensor,
    ord: Order = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | str | None = None,
) -> Tensor:
    """The norms of the matrices in two axes. dtype: what A is cast to first. Raises ShapeError for
    other axes."""
    axes = [axis % A.ndim for axis in check_axes(dim, A.ndim, "matrix_norm")]
    first, second = (axis % A.ndim for axis in dim) if len(axes) == 2 else (0, 0)
    if first == second:
        raise ShapeError(f"matrix_norm: dim must be two axes, not {dim}")
    others = [axis for axis in range(A.ndim) if axis not in (first, second)]
    moved = manipulation.permute_dims(_cast(A, dtype), (*others, first, second))
    found = of.matrix_norm(moved, ord=ord)
    for axis in sorted(axes) if keepdim else ():
        found = manipulation.expand_dims(found, axis)
    return found


def _cast(x: Tensor, dtype: DType | str | None) -> Tensor:
    return x if dtype is None else x.astype(dtype)


def cond(A: Tensor, p: Order | None = None) -> Tensor:
    """The condition numbers of matrices. LinAlgError for a singular one, where p needs its
    inverse."""
    return of.cond(A, p)


def matrix_rank(
    A: Tensor, *, atol: Bound = None, rtol: Bound = None, hermitian: bool = False
) -> Tensor:
    """How many singular values are above the larger one of atol and rtol times the largest:
    int32."""
    return of.matrix_rank(A, rtol=rtol, atol=atol, hermitian=hermitian)


# ---- determinants and factorisations ------------------------------------------------------------


def det(A: Tensor) -> Tensor:
    """The determinants of square matrices (..., n, n), in the shape before the last two axes.
    Raises ShapeError for others."""
    return of.det(A)


@printed_as("linalg_slogdet")
def slogdet(A: Tensor) -> SlogdetResult:
    """(sign, logabsdet) of square matrices (..., n, n): the determinant is sign * exp(logabsdet).
    Raises ShapeError for others."""
    return of.slogdet(A)


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower, or upper, triangular factor of positive-definite matrices. LinAlgError for
    others, when the result is computed."""
    return of.cholesky(A, upper=upper)


@printed_as("linalg_cholesky_ex")
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> CholeskyExResult:
    """(L, info): NaN and 1 instead of an error for a matrix that has no factor. PyTorch's info is
    the order of the first minor that is not positive."""
    if not check_errors:
        return of.cholesky_ex(A, upper=upper)
    found = of.cholesky(A, upper=upper)
    return CholeskyExResult(found, _none(found))


def _none(found: Tensor) -> Tensor:
    """The info of matrices that all passed."""
    return zeros(found.shape[:-2], "int32")


@printed_as("linalg_qr")
def qr(A: Tensor, mode: Literal["reduced", "complete", "r"] = "reduced") -> QRResult:
    """(Q, R); "r": an empty Q, and the R of "reduced"."""
    if mode == "r":
        return QRResult(zeros((0,), A.dtype), of.qr(A).R)
    return of.qr(A, mode=mode)


@printed_as("linalg_eigh")
def eigh(A: Tensor, UPLO: Half = "L") -> EighResult:
    """(eigenvalues, eigenvectors) of symmetric matrices (..., n, n): the values in ascending order,
    the vectors as columns. UPLO: the half that is read, "L" or "U"."""
    return of.eigh(A, lower=_is_lower(UPLO, "eigh"))


def eigvalsh(A: Tensor, UPLO: Half = "L") -> Tensor:
    """The eigenvalues (..., n) of symmetric matrices (..., n, n), in ascending order. UPLO: the
    half that is read, "L" or "U"."""
    return of.eigvalsh(A, lower=_is_lower(UPLO, "eigvalsh"))


def _is_lower(half: str, name: str) -> bool:
    if half.upper() not in ("L", "U"):
        raise OptionError(f"{name}: UPLO {half!r} is not 'L' or 'U'")
    return half.upper() == "L"


@printed_as("linalg_svd")
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> SVDResult:
    """(U, S, Vh), with A = U * S @ Vh: the singular values S (..., k) of matrices (..., m, n), in
    descending order, and their vectors; full_matrices: all m columns of U and all n rows of Vh,
    not the first k = min(m, n). driver: of CUDA, ignored."""
    return of.svd(A, full_matrices=full_matrices)


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values (..., min(m, n)) of matrices (..., m, n), in descending order. driver: of
    CUDA, ignored."""
    return of.svdvals(A)


# ---- systems ------------------------------------------------------------------------------------


def _is_vectors(A: Tensor, B: Tensor) -> bool:
    """Whether right sides are vectors: one, or one for each matrix."""
    return B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The X with A @ X = B, or X @ A = B with left=False. B: matrices, a vector, or a vector for
    each matrix of A. LinAlgError for a singular matrix, when the result is computed."""
    if _is_vectors(A, B):
        return manipulation.squeeze(of.solve(A, manipulation.expand_dims(B, -1)), -1)
    return of.solve(A, B) if left else of.solve(A.mT, B.mT).mT


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """`solve` with one triangle of A. LinAlgError for a 0 on its diagonal, where PyTorch gives
    infinities."""
    return of.solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular)


@printed_as("linalg_lstsq")
def lstsq(A: Tensor, B: Tensor, rcond: Bound = None, *, driver: str | None = None) -> LstsqResult:
    """(solution, residuals, rank, singular_values) of least squares, by singular values whatever
    the driver; residuals are there whenever A has more rows than columns."""
    if not _is_vectors(A, B):
        return of.lstsq(A, B, rtol=rcond)
    found = of.lstsq(A, manipulation.expand_dims(B, -1), rtol=rcond)
    return found._replace(solution=manipulation.squeeze(found.solution, -1))


def inv(A: Tensor) -> Tensor:
    """The inverses of square matrices (..., n, n). LinAlgError for a singular matrix, when the
    result is computed."""
    return of.inv(A)


@printed_as("linalg_inv_ex")
def inv_ex(A: Tensor, *, check_errors: bool = False) -> InvExResult:
    """(inverse, info): NaN and 1 instead of an error for a singular matrix. PyTorch's info is the
    index of the pivot that is 0."""
    if not check_errors:
        return of.inv_ex(A)
    found = of.inv(A)
    return InvExResult(found, _none(found))


def pinv(A: Tensor, *, atol: Bound = None, rtol: Bound = None, hermitian: bool = False) -> Tensor:
    """The pseudoinverses; see `matrix_rank` for atol and rtol."""
    return of.pinv(A, rtol=rtol, atol=atol, hermitian=hermitian)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of A as a map from its last axes to its first `ind`. Raises ShapeError if their
    sizes differ, OptionError unless ind is positive."""
    if ind < 1:
        raise OptionError(f"tensorinv: ind must be positive: {ind}")
    high, wide = A.shape[:ind], A.shape[ind:]
    if size_of(high) != size_of(wide):
        raise ShapeError(f"tensorinv: {high} and {wide} have different numbers of elements")
    square = manipulation.reshape(A, (size_of(high), size_of(wide)))
    return manipulation.reshape(of.inv(square), (*wide, *high))


def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """The X with tensordot(A, X, X.ndim) = B. dims: axes of A that go behind the others first.
    Raises ShapeError for what does not fit."""
    if dims is not None:
        last = [axis % A.ndim for axis in dims]
        A = manipulation.permute_dims(A, (*(a for a in range(A.ndim) if a not in last), *last))
    wide = A.shape[B.ndim :]
    if A.shape[: B.ndim] != B.shape or size_of(wide) != B.size:
        raise ShapeError(f"tensorsolve: {A.shape} does not fit the right side {B.shape}")
    square = manipulation.reshape(A, (B.size, B.size))
    return manipulation.reshape(of.solve(square, manipulation.reshape(B, (B.size,))), wide)


# ---- products -----------------------------------------------------------------------------------


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of matrices (..., m, k) and (..., k, n), whose other axes broadcast; a vector is
    a row at the left, a column at the right. Raises ShapeError for what does not fit."""
    return of.matmul(input, other)


def matrix_power(A: Tensor, n: int) -> Tensor:
    """The n-th powers of square matrices, those of the inverses if n is negative."""
    return of.matrix_power(A, n)


def matrix_exp(A: Tensor) -> Tensor:
    """The exponentials of square matrices (..., n, n), in their shape. Raises ShapeError for
    others."""
    return of.matrix_exp(A)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of two or more matrices, in the order that takes the fewest multiplications."""
    return of.multi_dot(tensors)


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross products of vectors of three elements along an axis."""
    return of.cross(input, other, axis=dim)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of products along an axis of tensors that broadcast, without that axis."""
    return of.vecdot(x, y, axis=dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A diagonal of two axes, as the last axis of the result."""
    return shapes.diagonal(A, offset, dim1, dim2)


__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "inv_ex",
    "lstsq",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vecdot",
    "vector_norm",
]


def __getattr__(name: str) -> Any:
    raise missing("torch.linalg", name)
