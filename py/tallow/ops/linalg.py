"""Solutions of linear systems and factorisations of matrices, which NumPy computes by LAPACK.

Operands are floating matrices in the last two axes, a batch of them in those before. An op has one
result: where there are several, such as U, S and Vh, each matrix of the batch has them in a row,
their elements one behind the other; `parts` of a record's shapes says how long they are.

Names have a dot, which names of users' ops have not: this file is imported when linear algebra is
first asked for, and a user's op may be there before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core import dtype as dt
from ..core.dtype import DType
from ..core.shape import Shape, size_of
from ..errors import DTypeError, LinAlgError, ShapeError
from .kinds import Apart, Attrs, Spec

if TYPE_CHECKING:
    from ..arrays import Array, Function, NumPy


@dataclass(frozen=True, eq=False)
class Hosted(Apart):
    """What no device has a kernel for: NumPy computes it, whatever the device. rule(operands,
    attrs): the shape rule."""

    rule: Callable[[Sequence[Spec], Attrs], Spec]

    def infer(self, operands: Sequence[Spec], attrs: Attrs) -> Spec:
        return self.rule(operands, attrs)


def check_matrices(name: str, shape: Shape, dtype: DType, square: bool = False) -> None:
    """Raises ShapeError for what has no matrices in its last two axes, or none that are square;
    DTypeError for elements that are neither float32 nor float64."""
    if len(shape) < 2:
        raise ShapeError(f"{name}: takes matrices, at least two axes, not {shape}")
    if square and shape[-1] != shape[-2]:
        raise ShapeError(f"{name}: the matrices are not square: {shape}")
    if dtype not in (dt.float32, dt.float64):
        raise DTypeError(
            f"{name}: takes float32 or float64, not {dtype.name}; cast it, for example with "
            ".astype('float32')"
        )


# Why: docs/decisions/engine.md, "Several results of an op are packed into one"
def _packed(np: NumPy, batch: Shape, *parts: Array) -> Array:
    rows = [part.reshape(*batch, size_of(part.shape[len(batch) :])) for part in parts]
    return np.concatenate(rows, axis=-1)


def _length(parts: Sequence[Shape]) -> int:
    return sum(map(size_of, parts))


def _refused(np: NumPy, a: Array, function: Function) -> tuple[Array, str]:
    """The first matrix of a batch that a function of NumPy's refuses, and words for it."""
    for at in np.ndindex(a.shape[:-2]):
        try:
            function(a[at])
        except np.linalg.LinAlgError:
            where = f" at {[*at]} of {a.shape}" if at else f" {a.shape}"
            return a[at], where
    return a.reshape(-1, *a.shape[-2:])[0], f" {a.shape}"


def _without(np: NumPy, a: Array, result: Array, function: Function) -> Array:
    """The results of the matrices that a function of NumPy's takes; NaN for the others."""
    for at in np.ndindex(a.shape[:-2]):
        try:
            result[at] = function(at)
        except np.linalg.LinAlgError:
            result[at] = np.nan
    return result


# ---- systems ------------------------------------------------------------------------------------


def _solve_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (a, dtype), (b, other) = operands
    check_matrices(attrs["what"], a, dtype, square=True)
    if dtype != other:
        raise DTypeError(f"{attrs['what']}: matrices of {dtype.name}, right sides of {other.name}")
    if len(a) != len(b) or a[:-1] != b[:-1]:
        raise ShapeError(f"{attrs['what']}: right sides {b} do not fit matrices {a}")
    return b, dtype


def _solve(np: NumPy, a: Array, b: Array, what: str, strict: bool) -> Array:
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        if not strict:
            return _without(np, a, np.empty_like(b), lambda at: np.linalg.solve(a[at], b[at]))
        one, where = _refused(np, a, np.linalg.inv)
        rank = np.linalg.matrix_rank(one)
        raise LinAlgError(
            f"{what}: the matrix{where} is singular: it has {len(one)} rows and the rank {rank}; "
            "take pinv or lstsq, or add a small number to its diagonal"
        ) from None


solve = Hosted("linalg.solve", _solve, _solve_rule)
"""The x with a @ x = b: a (..., n, n), b (..., n, k), batches of one shape. what: the function that
asks, for errors. strict: whether a singular matrix is an error; its results are NaN otherwise."""


def _slogdet_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((shape, dtype),) = operands
    check_matrices("slogdet", shape, dtype, square=True)
    return (*shape[:-2], 2), dtype


def _slogdet(np: NumPy, a: Array) -> Array:
    return np.stack(np.linalg.slogdet(a), axis=-1)


slogdet = Hosted("linalg.slogdet", _slogdet, _slogdet_rule)
"""The sign of the determinant, and the logarithm of its size: (..., 2)."""


def _pinv_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (shape, dtype), (rtol, other) = operands
    check_matrices("pinv", shape, dtype, square=attrs["hermitian"])
    if rtol != shape[:-2] or other != dtype:
        raise ShapeError(f"pinv: bounds {rtol} of {other.name} for {shape} of {dtype.name}")
    return (*shape[:-2], shape[-1], shape[-2]), dtype


def _pinv(np: NumPy, a: Array, rtol: Array, hermitian: bool) -> Array:
    try:
        return np.linalg.pinv(a, rtol, hermitian=hermitian)
    except np.linalg.LinAlgError:
        raise _unsettled("pinv", np, a) from None


pinv = Hosted("linalg.pinv", _pinv, _pinv_rule)
"""The pseudoinverses (..., n, m) of (..., m, n): singular values up to rtol (...,) times the
largest count as 0. hermitian: whether the matrices are symmetric; their lower half is read then."""


# ---- factorisations -----------------------------------------------------------------------------


def _unsettled(name: str, np: NumPy, a: Array) -> LinAlgError:
    wrong = int((~np.isfinite(a)).sum())
    why = f"{wrong} elements are NaN or infinite" if wrong else "the iteration does not converge"
    return LinAlgError(f"{name}: a matrix of {a.shape} cannot be factorised: {why}")


def _cholesky_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((shape, dtype),) = operands
    check_matrices("cholesky", shape, dtype, square=True)
    return shape, dtype


def _cholesky(np: NumPy, a: Array, strict: bool) -> Array:
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        if not strict:
            return _without(np, a, np.empty_like(a), lambda at: np.linalg.cholesky(a[at]))
        one, where = _refused(np, a, np.linalg.cholesky)
        least = f"its least eigenvalue is {np.linalg.eigvalsh(one)[0]:.4g}"
        raise LinAlgError(
            f"cholesky: the matrix{where} is not positive-definite: "
            f"{least if np.isfinite(one).all() else 'it has NaN or infinite elements'}; "
            "all eigenvalues must be above 0: add a larger number to its diagonal"
        ) from None


cholesky = Hosted("linalg.cholesky", _cholesky, _cholesky_rule)
"""The lower triangular L with L @ L.mT the symmetric matrix, whose lower half is read. strict: as
of `solve`, for a matrix that is not positive-definite."""


def qr_parts(shape: Shape, complete: bool) -> tuple[Shape, Shape]:
    """The shapes of Q and R of one matrix."""
    rows, columns = shape[-2:]
    inner = rows if complete else min(rows, columns)
    return (rows, inner), (inner, columns)


def _qr_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((shape, dtype),) = operands
    check_matrices("qr", shape, dtype)
    return (*shape[:-2], _length(qr_parts(shape, attrs["complete"]))), dtype


def _qr(np: NumPy, a: Array, complete: bool) -> Array:
    return _packed(np, a.shape[:-2], *np.linalg.qr(a, "complete" if complete else "reduced"))


qr = Hosted("linalg.qr", _qr, _qr_rule)
"""Q with orthonormal columns and the upper triangular R, packed: their product is the matrix.
complete: whether Q is square."""


def eigh_parts(shape: Shape, vectors: bool) -> tuple[Shape, ...]:
    """The shapes of the eigenvalues and, with vectors, the eigenvectors of one matrix."""
    return (shape[-1:], shape[-2:]) if vectors else (shape[-1:],)


def _eigh_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((shape, dtype),) = operands
    check_matrices("eigh", shape, dtype, square=True)
    return (*shape[:-2], _length(eigh_parts(shape, attrs["vectors"]))), dtype


def _eigh(np: NumPy, a: Array, lower: bool, vectors: bool) -> Array:
    half = "L" if lower else "U"
    try:
        if not vectors:
            return np.linalg.eigvalsh(a, half)
        return _packed(np, a.shape[:-2], *np.linalg.eigh(a, half))
    except np.linalg.LinAlgError:
        raise _unsettled("eigh", np, a) from None


eigh = Hosted("linalg.eigh", _eigh, _eigh_rule)
"""The eigenvalues of symmetric matrices, in ascending order, and with `vectors` the eigenvectors, a
column each, packed. lower: which half is read."""


def svd_parts(shape: Shape, full: bool, vectors: bool) -> tuple[Shape, ...]:
    """The shapes of U, S and Vh of one matrix, or that of S alone."""
    rows, columns = shape[-2:]
    inner = min(rows, columns)
    if not vectors:
        return ((inner,),)
    if full:
        return (rows, rows), (inner,), (columns, columns)
    return (rows, inner), (inner,), (inner, columns)


def _svd_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((shape, dtype),) = operands
    check_matrices("svd", shape, dtype)
    return (*shape[:-2], _length(svd_parts(shape, attrs["full"], attrs["vectors"]))), dtype


def _svd(np: NumPy, a: Array, full: bool, vectors: bool) -> Array:
    try:
        if not vectors:
            values: Array = np.linalg.svd(a, compute_uv=False)
            return values
        return _packed(np, a.shape[:-2], *np.linalg.svd(a, full))
    except np.linalg.LinAlgError:
        raise _unsettled("svd", np, a) from None


svd = Hosted("linalg.svd", _svd, _svd_rule)
"""U, the singular values in descending order, and Vh, packed: U * S @ Vh is the matrix. full:
whether U and Vh are square. vectors: False gives the singular values alone."""


# ---- the exponential ----------------------------------------------------------------------------


def _exp_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((shape, dtype),) = operands
    check_matrices("matrix_exp", shape, dtype, square=True)
    return shape, dtype


_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
    129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0,
    960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
"""The coefficients of the numerator of the Padé approximant of order 13."""

_NORM = 5.371920351148152
"""The largest norm of a matrix for which its error is below that of float64."""


def _exp(np: NumPy, a: Array) -> Array:
    x = a.astype(np.float64)
    norm = abs(x).sum(-2).max(-1, initial=0.0)
    finite = np.isfinite(norm)
    halvings = np.ceil(np.log2(np.maximum(np.where(finite, norm, 1.0) / _NORM, 1.0))).astype(int)
    x = np.where(finite[..., None, None], x, 0.0) * 2.0 ** -halvings[..., None, None]
    one, b = np.eye(a.shape[-1]), _PADE
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = (
        x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one
    )
    even = (
        x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    )
    odd = x @ odd
    result = np.linalg.solve(even - odd, even + odd)
    for number in range(int(halvings.max(initial=0))):
        result = np.where((halvings > number)[..., None, None], result @ result, result)
    return np.where(finite[..., None, None], result, np.nan).astype(a.dtype)


matrix_exp = Hosted("linalg.matrix_exp", _exp, _exp_rule)
"""The exponentials of square matrices, by scaling and squaring: Higham, "The scaling and squaring
method for the matrix exponential revisited", 2005."""
