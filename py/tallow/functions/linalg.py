"""Linear algebra: the array API's extension `linalg`, and PyTorch's functions beyond it.

`tallow.linalg` offers these; tallow/torch/linalg.py has PyTorch's spelling. Matrices are in the
last two axes, a batch of them in those before. No device has kernels for systems and
factorisations: NumPy computes these steps, whatever the device. On WebGPU the whole plan then runs
on NumPy, and a NoKernelWarning says so. All else is composed and runs where the tensors are.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from .. import casting
from ..core.context import autocast
from ..core.dtype import DType
from ..core.shape import broadcast_shapes, check_axis
from ..errors import DTypeError, OptionError, ShapeError
from ..graph import make
from ..ops import linalg as records
from ..tensor import Tensor, asarray
from . import elementwise, linear_algebra, products, reduction, shapes
from .creation import eye, tril, triu, zeros
from .linear_algebra import matmul, matrix_transpose, unpacked, vecdot
from .manipulation import broadcast_arrays, broadcast_to, expand_dims, squeeze

Axis = int | Sequence[int] | None
Order = float | Literal["fro", "nuc"]
Bound: TypeAlias = float | Tensor | None


class EighResult(NamedTuple):
    """The eigenvalues (..., n), ascending, and the eigenvectors (..., n, n), a column each."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """Q with orthonormal columns and the upper triangular R."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant and the logarithm of its size."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """U, the singular values, descending, and Vh."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class LstsqResult(NamedTuple):
    """Solutions of least squares, the sums of the squares that remain, ranks, singular values."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


class InvExResult(NamedTuple):
    """Inverses, NaN where there is none; info: 1 for these matrices, 0 for the others."""

    inverse: Tensor
    info: Tensor


class CholeskyExResult(NamedTuple):
    """Factors, NaN where there is none; info: 1 for these matrices, 0 for the others."""

    L: Tensor
    info: Tensor


# ---- helpers ------------------------------------------------------------------------------------


def _given(name: str, x: Tensor, square: bool = False) -> Tensor:
    """Matrices as the ops take them, checked; under autocast in float32."""
    if autocast.get():
        x = casting.widened(x)
    records.check_matrices(name, x.shape, x.dtype, square)
    return x


def _systems(a: Tensor, b: Tensor, what: str, strict: bool = True) -> Tensor:
    """The solutions of a @ x = b, matrices whose batches have been broadcast."""
    batch = broadcast_shapes(a.shape[:-2], b.shape[:-2], what=what)
    a, b = (broadcast_to(each, (*batch, *each.shape[-2:])) for each in (a, b))
    return Tensor(make(records.solve, a.node, b.node, what=what, strict=strict))


def _identity(x: Tensor) -> Tensor:
    """An identity matrix for each matrix of x."""
    return broadcast_to(eye(x.shape[-1], dtype=x.dtype), x.shape)


# ---- systems ------------------------------------------------------------------------------------


def solve(x1: Tensor, x2: Tensor) -> Tensor:
    """Solves x1 @ x = x2.

    x1: square matrices (..., n, n), float32 or float64.
    x2: one vector (n,), or matrices (..., n, k), in the type of x1; batches broadcast.
    Returns: the solutions, (..., n) or (..., n, k).
    Raises: ShapeError and DTypeError for what does not fit; LinAlgError for a singular matrix, when
      the result is computed.
    Source: Python array API standard 2024.12, `linalg.solve`.
    """
    x1 = _given("solve", x1, square=True)
    vector = x2.ndim == 1
    right = _given("solve", expand_dims(x2, -1) if vector else x2)
    if right.dtype != x1.dtype:
        raise DTypeError(f"solve: matrices of {x1.dtype.name}, right sides of {right.dtype.name}")
    if right.shape[-2] != x1.shape[-1]:
        raise ShapeError(f"solve: the rows of {x2.shape} do not fit matrices {x1.shape}")
    found = _systems(x1, right, "solve")
    return squeeze(found, -1) if vector else found


def inv(x: Tensor) -> Tensor:
    """Inverts square matrices.

    x: matrices (..., n, n), float32 or float64.
    Returns: the inverses (..., n, n).
    Raises: ShapeError and DTypeError for other tensors; LinAlgError for a singular matrix, when the
      result is computed.
    Source: Python array API standard 2024.12, `linalg.inv`.
    """
    x = _given("inv", x, square=True)
    return _systems(x, _identity(x), "inv")


def inv_ex(x: Tensor) -> InvExResult:
    """Inverts square matrices without an error for singular ones: their inverse is NaN.

    x: matrices (..., n, n), float32 or float64.
    Returns: (inverse, info): the inverses (..., n, n), and int32 (...,), 1 for singular matrices,
      else 0.
    Raises: ShapeError and DTypeError for other tensors.
    Source: PyTorch's documentation, `torch.linalg.inv_ex`.
    """
    x = _given("inv_ex", x, square=True)
    found = _systems(x, _identity(x), "inv_ex", strict=False)
    return InvExResult(found, _lacks(found))


def _lacks(found: Tensor) -> Tensor:
    """Which matrices of a batch have NaN: int32, 1 or 0."""
    if not found.size:
        return zeros(found.shape[:-2], "int32")
    return reduction.max(elementwise.isnan(found).astype("int32"), (-2, -1))


def solve_triangular(
    a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Solves a @ x = b, or x @ a = b, where one triangle of a counts.

    a: matrices (..., n, n), float32 or float64.
    b: right sides (..., n, k), or (..., k, n) without left; batches broadcast.
    upper: which triangle of a is read, the upper or the lower one.
    left: whether a is the left factor.
    unitriangular: whether the diagonal of a counts as 1.
    Returns: the solutions, (..., n, k) or (..., k, n).
    Raises: ShapeError and DTypeError for what does not fit; LinAlgError for a 0 on the diagonal,
      when the result is computed.
    Source: PyTorch's documentation, `torch.linalg.solve_triangular`.
    """
    what = "solve_triangular"
    a, b = _given(what, a, square=True), _given(what, b)
    one = triu(a) if upper else tril(a)
    if unitriangular:
        same = eye(a.shape[-1], dtype=a.dtype)
        one = elementwise.where(same > 0, 1.0, one)
    if left:
        return _systems(one, b, what)
    return _systems(one.mT, b.mT, what).mT


def cholesky_solve(b: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    """Solves a @ x = b from the Cholesky factor of a.

    b: right sides (..., n, k).
    factor: Cholesky factors (..., n, n) of a.
    upper: whether the factors are upper triangular.
    Returns: the solutions (..., n, k).
    Raises: what `solve_triangular` raises.
    Source: PyTorch's documentation, `torch.cholesky_solve`.
    """
    first = solve_triangular(factor.mT if upper else factor, b, upper=False)
    return solve_triangular(factor if upper else factor.mT, first, upper=True)


def lstsq(a: Tensor, b: Tensor, *, rtol: Bound = None) -> LstsqResult:
    """Finds the shortest x that makes the length of a @ x - b least.

    a: matrices (..., m, n), float32 or float64.
    b: right sides (..., m, k).
    rtol: as for `pinv`.
    Returns: (solution, residuals, rank, singular_values): the solutions (..., n, k); the sums of
      squares that remain (..., k), empty unless m > n; the ranks and the singular values of a.
    Raises: ShapeError and DTypeError for what does not fit.
    Source: PyTorch's documentation, `torch.linalg.lstsq`.
    """
    a, b = _given("lstsq", a), _given("lstsq", b)
    if a.shape[-2] != b.shape[-2]:
        raise ShapeError(f"lstsq: the rows of {b.shape} do not fit matrices {a.shape}")
    solution = matmul(pinv(a, rtol=rtol), b)
    rest = b - matmul(a, solution)
    left = reduction.sum(rest * rest, -2) if a.shape[-2] > a.shape[-1] else zeros((0,), a.dtype)
    values = svdvals(a)
    return LstsqResult(solution, left, _rank(values, a, rtol), values)


def pinv(x: Tensor, *, rtol: Bound = None, atol: Bound = None, hermitian: bool = False) -> Tensor:
    """Computes the Moore-Penrose pseudoinverses of matrices.

    x: matrices (..., m, n), float32 or float64.
    rtol, atol: singular values up to rtol times the largest, or up to atol, count as 0; numbers, or
      one for each matrix. Without either, rtol is max(m, n) times the type's epsilon.
    hermitian: whether the matrices are symmetric, of which the lower half is read.
    Returns: the pseudoinverses (..., n, m).
    Raises: ShapeError and DTypeError for other tensors.
    Source: Python array API standard 2024.12, `linalg.pinv`.
    """
    x = _given("pinv", x, square=hermitian)
    bound = _relative(x, rtol, atol)
    if atol is not None and x.size:
        most = reduction.max(_sizes(x, hermitian), -1)
        least = asarray(atol).astype(x.dtype)
        divisor = elementwise.where(most == 0, 1.0, most)
        bound = elementwise.maximum(bound, least / divisor).detach()
    bound = broadcast_to(bound, x.shape[:-2])
    return Tensor(make(records.pinv, x.node, bound.node, hermitian=hermitian))


_EPSILONS = {"float32": 2.0**-23, "float64": 2.0**-52}


def _relative(x: Tensor, rtol: Bound, atol: Bound) -> Tensor:
    """What part of the largest singular value counts as 0, where a caller may have said it."""
    if rtol is not None:
        return asarray(rtol).astype(x.dtype)
    usual = builtins.max(x.shape[-2:]) * _EPSILONS[x.dtype.name]
    if atol is None:
        return asarray(usual).astype(x.dtype)
    return elementwise.where(asarray(atol) > 0, 0.0, usual).astype(x.dtype)


def _sizes(x: Tensor, hermitian: bool) -> Tensor:
    """The singular values; of symmetric matrices those of the lower half, in no order."""
    return abs(eigvalsh(x)) if hermitian else svdvals(x)


# ---- determinants -------------------------------------------------------------------------------


_ELIMINATED = 16
"""Up to how many rows a determinant is computed by elimination, on any device; its graph grows with
them."""


def det(x: Tensor) -> Tensor:
    """Computes the determinants of square matrices.

    Beyond 16 rows they come of `slogdet`: the gradient of a singular matrix is then an error.

    x: matrices (..., n, n), float32 or float64.
    Returns: the determinants (...,).
    Raises: ShapeError and DTypeError for other tensors.
    Source: Python array API standard 2024.12, `linalg.det`.
    """
    x = _given("det", x, square=True)
    if x.shape[-1] <= _ELIMINATED:
        return linear_algebra.det(x)
    sign, size = slogdet(x)
    return sign * elementwise.exp(size)


def slogdet(x: Tensor) -> SlogdetResult:
    """Computes the signs of determinants and the logarithms of their absolute values.

    x: square matrices (..., n, n), float32 or float64.
    Returns: (sign, logabsdet), both (...,); 0 and -inf for a singular matrix, whose gradient is an
      error.
    Raises: ShapeError and DTypeError for other tensors.
    Source: Python array API standard 2024.12, `linalg.slogdet`.
    """
    x = _given("slogdet", x, square=True)
    return SlogdetResult(*unpacked(Tensor(make(records.slogdet, x.node)), ((), ())))


# ---- factorisations -----------------------------------------------------------------------------


def cholesky(x: Tensor, *, upper: bool = False) -> Tensor:
    """Finds the lower triangular L with L @ L.mT = x, or with upper the U with U.mT @ U = x.

    x: symmetric matrices (..., n, n), float32 or float64, of which that half is read.
    upper: whether to find U.
    Returns: the factors (..., n, n).
    Raises: ShapeError and DTypeError for other tensors; LinAlgError for a matrix that is not
      positive-definite, when the result is computed.
    Source: Python array API standard 2024.12, `linalg.cholesky`.
    """
    return _cholesky(x, upper, True)


def cholesky_ex(x: Tensor, *, upper: bool = False) -> CholeskyExResult:
    """Computes `cholesky` without an error for matrices that have no factor: it is NaN.

    x: symmetric matrices (..., n, n), float32 or float64.
    upper: whether the factors are upper triangular.
    Returns: (L, info): the factors (..., n, n), and int32 (...,), 1 for matrices without a factor,
      else 0.
    Raises: ShapeError and DTypeError for other tensors.
    Source: PyTorch's documentation, `torch.linalg.cholesky_ex`.
    """
    found = _cholesky(x, upper, False)
    return CholeskyExResult(found, _lacks(found))


def _cholesky(x: Tensor, upper: bool, strict: bool) -> Tensor:
    x = _given("cholesky", x, square=True)
    half = x.mT if upper else x
    found = Tensor(make(records.cholesky, half.node, strict=strict))
    return found.mT if upper else found


def qr(x: Tensor, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Finds Q with orthonormal columns and the upper triangular R, whose product is x.

    x: matrices (..., m, n), float32 or float64.
    mode: "reduced", Q (..., m, k) and R (..., k, n) for the smaller k of m and n, or "complete", Q
      (..., m, m) and R (..., m, n), which has no derivative if m > n.
    Returns: (Q, R).
    Raises: ShapeError and DTypeError for other tensors; OptionError for another mode.
    Source: Python array API standard 2024.12, `linalg.qr`.
    """
    if mode not in ("reduced", "complete"):
        raise OptionError(f"qr: mode {mode!r} is not 'reduced' or 'complete'")
    x = _given("qr", x)
    complete = mode == "complete" and x.shape[-2] > x.shape[-1]
    node = make(records.qr, x.node, complete=complete)
    return QRResult(*unpacked(Tensor(node), records.qr_parts(x.shape, complete)))


def eigh(x: Tensor, *, lower: bool = True) -> EighResult:
    """Finds the eigenvalues, ascending, and the eigenvectors, a column each, of symmetric matrices.

    The gradient is that of symmetric matrices, as in PyTorch. Eigenvectors of equal eigenvalues
    have no derivative: it is infinite.

    x: matrices (..., n, n), float32 or float64.
    lower: whether the lower half is read, else the upper one.
    Returns: (eigenvalues, eigenvectors), (..., n) and (..., n, n).
    Raises: ShapeError and DTypeError for other tensors; LinAlgError if the iteration does not
      converge, when the result is computed.
    Source: Python array API standard 2024.12, `linalg.eigh`.
    """
    x = _given("eigh", x, square=True)
    node = make(records.eigh, x.node, lower=lower, vectors=True)
    return EighResult(*unpacked(Tensor(node), records.eigh_parts(x.shape, True)))


def eigvalsh(x: Tensor, *, lower: bool = True) -> Tensor:
    """Finds the eigenvalues of `eigh` alone, which takes less time.

    x: symmetric matrices (..., n, n), float32 or float64.
    lower: whether the lower half is read, else the upper one.
    Returns: the eigenvalues (..., n), ascending.
    Raises: ShapeError and DTypeError for other tensors; LinAlgError if the iteration does not
      converge, when the result is computed.
    Source: Python array API standard 2024.12, `linalg.eigvalsh`.
    """
    x = _given("eigvalsh", x, square=True)
    return Tensor(make(records.eigh, x.node, lower=lower, vectors=False))


def svd(x: Tensor, *, full_matrices: bool = True) -> SVDResult:
    """Factorises matrices into U, the singular values S, and Vh: x is U * S @ Vh; with
    full_matrices, once S is filled up with zeros.

    Vectors of equal singular values have no derivative: it is infinite.

    x: matrices (..., m, n), float32 or float64.
    full_matrices: U (..., m, m) and Vh (..., n, n), which have no derivative unless m is n; without
      it U (..., m, k) and Vh (..., k, n) for the smaller k of m and n.
    Returns: (U, S, Vh); S (..., k) is descending.
    Raises: ShapeError and DTypeError for other tensors; LinAlgError for NaN, when the result is
      computed.
    Source: Python array API standard 2024.12, `linalg.svd`.
    """
    x = _given("svd", x)
    full = full_matrices and x.shape[-1] != x.shape[-2]
    node = make(records.svd, x.node, full=full, vectors=True)
    return SVDResult(*unpacked(Tensor(node), records.svd_parts(x.shape, full, True)))


def svdvals(x: Tensor) -> Tensor:
    """Finds the singular values of `svd` alone, which takes less time.

    x: matrices (..., m, n), float32 or float64.
    Returns: the singular values (..., k) for the smaller k of m and n, descending.
    Raises: ShapeError and DTypeError for other tensors; LinAlgError for NaN, when the result is
      computed.
    Source: Python array API standard 2024.12, `linalg.svdvals`.
    """
    x = _given("svdvals", x)
    return Tensor(make(records.svd, x.node, full=False, vectors=False))


# ---- norms --------------------------------------------------------------------------------------


def vector_norm(x: Tensor, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """Computes the norm of the elements along axes, or of all. The gradient of zeros is 0.

    x: floating numbers, of any shape.
    axis: the axis or axes; None takes all.
    keepdims: keeps these axes, with length 1.
    ord: any number, inf or -inf; 0 counts what is not 0.
    Returns: the norms, of the shape of x without these axes.
    Raises: DTypeError for elements that are not floating; OptionError for another ord; AxisError
      for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `linalg.vector_norm`.
    """
    if not x.dtype.is_floating:
        raise DTypeError(f"vector_norm: takes floating elements, not {x.dtype.name}")
    if not isinstance(ord, (int, float)):
        raise OptionError(f"vector_norm: ord {ord!r} is not a number")
    return products.norm(x, ord, axis, keepdims)


def matrix_norm(x: Tensor, *, keepdims: bool = False, ord: Order | None = "fro") -> Tensor:
    """Computes the norms of matrices.

    x: matrices (..., m, n), floating; "nuc", 2 and -2 take float32 or float64.
    keepdims: keeps the last two axes, with length 1.
    ord: "fro", the root of the sum of squares; "nuc", the sum of the singular values; 2 and -2, the
      largest and the smallest of these; 1 and -1, the largest and the smallest sum of absolute
      values of a column; inf and -inf, of a row. None is "fro".
    Returns: the norms, (...,), or (..., 1, 1) with keepdims.
    Raises: ShapeError for fewer than two axes; DTypeError for elements of another type; OptionError
      for another ord.
    Source: Python array API standard 2024.12, `linalg.matrix_norm`.
    """
    if x.ndim < 2:
        raise ShapeError(f"matrix_norm: takes matrices, at least two axes, not {x.shape}")
    if not x.dtype.is_floating:
        raise DTypeError(f"matrix_norm: takes floating elements, not {x.dtype.name}")
    if ord is None or ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord not in _ORDERS:
        named = ", ".join(map(repr, _ORDERS))
        raise OptionError(f"matrix_norm: ord {ord!r} is not 'fro' or one of {named}")
    if isinstance(ord, str):
        found = reduction.sum(svdvals(x), -1)
    else:
        size = abs(ord)
        sums = svdvals(x) if size == 2 else reduction.sum(abs(x), -2 if size == 1 else -1)
        found = (reduction.max if ord > 0 else reduction.min)(sums, -1)
    return expand_dims(expand_dims(found, -1), -1) if keepdims else found


_ORDERS = ("nuc", 1, -1, 2, -2, math.inf, -math.inf)


def cond(x: Tensor, p: Order | None = None) -> Tensor:
    """Computes the condition numbers of matrices: the norm times that of the inverse.

    x: matrices (..., n, n), float32 or float64; for 2 and -2 they need not be square.
    p: an `ord` of `matrix_norm`; None is 2.
    Returns: the condition numbers (...,).
    Raises: what `matrix_norm` and `inv` raise.
    Source: PyTorch's documentation, `torch.linalg.cond`.
    """
    if p is None or p in (2, -2):
        values = svdvals(x)
        most, least = values[..., 0], values[..., -1]
        return least / most if p == -2 else most / least
    return matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p)


def matrix_rank(
    x: Tensor, *, rtol: Bound = None, atol: Bound = None, hermitian: bool = False
) -> Tensor:
    """Counts the singular values that are not 0.

    x: matrices (..., m, n), float32 or float64.
    rtol, atol: which of them count as 0, as for `pinv`.
    hermitian: whether the matrices are symmetric, of which the lower half is read.
    Returns: the ranks, int32 (...,).
    Raises: ShapeError and DTypeError for other tensors.
    Source: Python array API standard 2024.12, `linalg.matrix_rank`.
    """
    return _rank(_sizes(x, hermitian), x, rtol, atol)


def _rank(values: Tensor, x: Tensor, rtol: Bound, atol: Bound = None) -> Tensor:
    if not values.size:
        return zeros(values.shape[:-1], "int32")
    least = reduction.max(values, -1) * _relative(x, rtol, atol)
    if atol is not None:
        least = elementwise.maximum(least, asarray(atol).astype(least.dtype))
    return reduction.sum((values > expand_dims(least, -1)).astype("int32"), -1)


# ---- products -----------------------------------------------------------------------------------


def matrix_power(x: Tensor, n: int) -> Tensor:
    """Computes the n-th powers of square matrices.

    x: matrices (..., n, n).
    n: how many factors there are; the inverses are multiplied if it is negative.
    Returns: the powers, of the shape of x.
    Raises: ShapeError for other tensors; what `inv` raises if n is negative.
    Source: Python array API standard 2024.12, `linalg.matrix_power`.
    """
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"matrix_power: the matrices are not square: {x.shape}")
    if n < 0:
        return matrix_power(inv(x), -n)
    result: Tensor | None = None
    while n:
        if n & 1:
            result = x if result is None else matmul(result, x)
        n >>= 1
        x = matmul(x, x) if n else x
    return _identity(x) if result is None else result


def matrix_exp(x: Tensor) -> Tensor:
    """Computes the exponentials of square matrices: the sums of x^k / k!.

    x: matrices (..., n, n), float32 or float64.
    Returns: the exponentials, of the shape of x.
    Raises: ShapeError and DTypeError for other tensors.
    Source: PyTorch's documentation, `torch.linalg.matrix_exp`.
    """
    x = _given("matrix_exp", x, square=True)
    return Tensor(make(records.matrix_exp, x.node))


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Multiplies matrices, in the order that takes the fewest multiplications.

    tensors: two matrices or more, of lengths that fit; the first and the last may be vectors.
    Returns: their product.
    Raises: ShapeError for fewer than two, and for other tensors.
    Source: Cormen et al., "Introduction to Algorithms", matrix-chain multiplication.
    """
    shapes = [x.shape for x in tensors]
    if len(tensors) < 2 or any(
        x.ndim != 2 and (x.ndim != 1 or 0 < number < len(tensors) - 1)
        for number, x in enumerate(tensors)
    ):
        raise ShapeError(
            f"multi_dot: takes two or more matrices, of which the ends may be vectors, not {shapes}"
        )
    first = shapes[0][0] if tensors[0].ndim == 2 else 1
    sizes = [first, *(x.shape[-1] if x.ndim == 2 else 1 for x in tensors)]
    count = len(tensors)
    cost = {(i, i): 0 for i in range(count)}
    cut: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j], cut[i, j] = builtins.min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return tensors[i]
        return matmul(product(i, cut[i, j]), product(cut[i, j] + 1, j))

    return product(0, count - 1)


def tensordot(x1: Tensor, x2: Tensor, *, axes: int | Sequence[Sequence[int]] = 2) -> Tensor:
    """Sums products over axes of two tensors.

    x1, x2: the tensors.
    axes: how many of the last axes of x1 and of the first axes of x2; or two lists, of axes of x1
      and of x2.
    Returns: the sums, with the other axes of x1, then those of x2.
    Raises: ShapeError for axes of different lengths; AxisError for an axis that a tensor doesn't
      have.
    Source: Python array API standard 2024.12, `linalg.tensordot`.
    """
    return products.tensordot(x1, x2, axes)


def outer(x1: Tensor, x2: Tensor) -> Tensor:
    """Multiplies each element of one vector by each of another.

    x1: a vector (m,).
    x2: a vector (n,).
    Returns: the products (m, n), in the promoted type.
    Raises: ShapeError for other tensors.
    Source: Python array API standard 2024.12, `linalg.outer`.
    """
    return products.outer(x1, x2)


def cross(x1: Tensor, x2: Tensor, *, axis: int = -1) -> Tensor:
    """Computes the cross products of vectors of three elements along an axis.

    x1, x2: the vectors, 3 long along the axis; the other axes broadcast.
    axis: the axis.
    Returns: the cross products, of the broadcast shape.
    Raises: ShapeError for an axis of another length, and for shapes that do not broadcast;
      AxisError for an axis that a tensor doesn't have.
    Source: Python array API standard 2024.12, `linalg.cross`.
    """
    axis_index = check_axis(axis, builtins.min(x1.ndim, x2.ndim), "cross")
    last = axis_index - builtins.min(x1.ndim, x2.ndim)
    for x in (x1, x2):
        if x.shape[last] != 3:
            raise ShapeError(f"cross: axis {axis} of {x1.shape} and {x2.shape} must have 3")
    first, second = broadcast_arrays(x1, x2)
    return products.cross(first, second, last)


def diagonal(x: Tensor, *, offset: int = 0) -> Tensor:
    """Takes a diagonal of the last two axes, as the last axis of the result.

    x: matrices (..., m, n).
    offset: which diagonal: 0 is the main one, positive ones are above it.
    Returns: the diagonals (..., k), in the type of x.
    Raises: ShapeError for fewer than two axes.
    Source: Python array API standard 2024.12, `linalg.diagonal`.
    """
    if x.ndim < 2:
        raise ShapeError(f"diagonal: takes matrices, at least two axes, not {x.shape}")
    return shapes.diagonal(x, offset, x.ndim - 2, x.ndim - 1)


def trace(x: Tensor, *, offset: int = 0, dtype: DType | str | None = None) -> Tensor:
    """Sums a diagonal of the last two axes.

    x: matrices (..., m, n).
    offset: which diagonal: 0 is the main one, positive ones are above it.
    dtype: the type in which elements are added, and of the result; None is as for `sum`.
    Returns: the sums (...,).
    Raises: ShapeError for fewer than two axes.
    Source: Python array API standard 2024.12, `linalg.trace`.
    """
    return reduction.sum(diagonal(x, offset=offset), -1, dtype=dtype)


__all__ = [
    "CholeskyExResult",
    "EighResult",
    "InvExResult",
    "LstsqResult",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cholesky_ex",
    "cholesky_solve",
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
    "matrix_transpose",
    "multi_dot",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
