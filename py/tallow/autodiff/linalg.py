"""Derivatives of solutions of linear systems and of factorisations of matrices.

A packed result (ops/linalg.py) has a packed gradient. The rules are made of products and of these
ops, so that they can be differentiated in turn.

Sources: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", 2008 (systems, determinants, eigenvalues, singular values); Murray,
"Differentiation of the Cholesky decomposition", 2016; Seeger et al., "Auto-differentiating linear
algebra", 2017 (QR); Townsend, "Differentiating the singular value decomposition", 2016; Golub and
Pereyra, "The differentiation of pseudo-inverses", 1973; Najfeld and Havel, "Derivatives of the
matrix exponential and their computation", 1995.
"""

from __future__ import annotations

from .. import functions as f
from ..errors import GradientError
from ..functions.linear_algebra import unpacked
from ..graph import make
from ..ops import linalg as ops
from ..tensor import Tensor
from .rules import Gradients, rule


def _solution(a: Tensor, b: Tensor, what: str) -> Tensor:
    return Tensor(make(ops.solve, a.node, b.node, what=what, strict=True))


def _spread(x: Tensor, axis: int) -> Tensor:
    """Values that are to scale the rows (axis -1) or the columns (-2) of matrices."""
    return f.expand_dims(x, axis)


def _main(x: Tensor) -> Tensor:
    """Where the main diagonal of square matrices is."""
    return f.eye(x.shape[-1], dtype=x.dtype) > 0


def _lower(x: Tensor) -> Tensor:
    """The lower triangle, with half of the diagonal."""
    return f.where(_main(x), x * 0.5, f.tril(x))


def _over(x: Tensor, divisor: Tensor) -> Tensor:
    """x / divisor, and 0 for 0 / 0."""
    nothing = f.logical_and(f.equal(x, 0.0), f.equal(divisor, 0.0))
    return f.where(nothing, 0.0, x / f.where(nothing, 1.0, divisor))


@rule(ops.solve)
def _solve(gradient: Tensor, y: Tensor, a: Tensor, b: Tensor, what: str, strict: bool) -> Gradients:
    of_b = _solution(a.mT, gradient, what)
    return [-(of_b @ y.mT), of_b]


@rule(ops.slogdet)
def _slogdet(gradient: Tensor, y: Tensor, a: Tensor) -> Gradients:
    one = f.broadcast_to(f.eye(a.shape[-1], dtype=a.dtype), a.shape)
    inverse = _solution(a.mT, one, "the gradient of slogdet")
    return [f.reshape(gradient[..., 1], (*a.shape[:-2], 1, 1)) * inverse]


@rule(ops.pinv)
def _pinv(gradient: Tensor, y: Tensor, a: Tensor, rtol: Tensor, hermitian: bool) -> Gradients:
    """The shorter side of the matrix is that of the intermediate products."""
    back, other = gradient.mT, y.mT
    if a.shape[-2] <= a.shape[-1]:
        k = back @ y
        ahead = k @ other
        found = -(y @ k).mT + ahead - (a @ y) @ ahead + (other @ y) @ (back - k @ a)
    else:
        k = y @ back
        ahead = other @ k
        found = -(k @ y).mT + (back - a @ k) @ y @ other + ahead - (ahead @ y) @ a
    return [found, None]


@rule(ops.cholesky)
def _cholesky(gradient: Tensor, y: Tensor, a: Tensor, strict: bool) -> Gradients:
    middle = _lower(y.mT @ gradient)
    half = _solution(y.mT, middle, "the gradient of cholesky")
    whole = _solution(y.mT, half.mT, "the gradient of cholesky")
    return [(whole + whole.mT) * 0.5]


@rule(ops.qr)
def _qr(gradient: Tensor, y: Tensor, a: Tensor, complete: bool) -> Gradients:
    if complete:
        raise GradientError(
            f"qr: the complete Q of matrices {a.shape} has no derivative: its last columns are any "
            "that complete the others; take mode='reduced'"
        )
    parts = ops.qr_parts(a.shape, False)
    (of_q, of_r), (q, r) = unpacked(gradient, parts), unpacked(y, parts)
    rows = q.shape[-1]
    if a.shape[-1] == rows:
        return [_tall(of_q, of_r, q, r)]
    # The first columns are factorised, and Q.mT turns the others.
    rest = a[..., rows:]
    of_rest = of_r[..., rows:]
    first = _tall(of_q + rest @ of_rest.mT, of_r[..., :rows], q, r[..., :rows])
    return [f.concat([first, q @ of_rest], -1)]


def _tall(of_q: Tensor, of_r: Tensor, q: Tensor, r: Tensor) -> Tensor:
    """Of matrices with no more columns than rows."""
    middle = f.triu(of_r @ r.mT - q.mT @ of_q)
    both = middle + middle.mT
    found = of_q + q @ f.where(_main(both), both * 0.5, both)
    return _solution(r, found.mT, "the gradient of qr").mT


@rule(ops.eigh)
def _eigh(gradient: Tensor, y: Tensor, a: Tensor, lower: bool, vectors: bool) -> Gradients:
    if not vectors:
        both = Tensor(make(ops.eigh, a.node, lower=lower, vectors=True))
        _, vs = unpacked(both, ops.eigh_parts(a.shape, True))
        return [vs * _spread(gradient, -2) @ vs.mT]
    parts = ops.eigh_parts(a.shape, True)
    (of_values, of_vectors), (values, vs) = unpacked(gradient, parts), unpacked(y, parts)
    turned = vs.mT @ of_vectors
    main = _main(turned)
    apart = _spread(values, -2) - _spread(values, -1)
    middle = _over(f.where(main, 0.0, turned), apart)
    middle = f.where(main, _spread(of_values, -1), middle)
    found = vs @ middle @ vs.mT
    return [(found + found.mT) * 0.5]


@rule(ops.svd)
def _svd(gradient: Tensor, y: Tensor, a: Tensor, full: bool, vectors: bool) -> Gradients:
    if full:
        raise GradientError(
            f"svd: the full U and Vh of matrices {a.shape} have no derivative: their last vectors "
            "are any that complete the others; give full_matrices=False, or take svdvals"
        )
    if not vectors:
        whole = Tensor(make(ops.svd, a.node, full=False, vectors=True))
        u, _, vh = unpacked(whole, ops.svd_parts(a.shape, False, True))
        return [u * _spread(gradient, -2) @ vh]
    parts = ops.svd_parts(a.shape, False, True)
    (of_u, of_s, of_vh), (u, s, vh) = unpacked(gradient, parts), unpacked(y, parts)
    rows, columns = a.shape[-2:]
    left, right = u.mT @ of_u, vh @ of_vh.mT
    across, down = _spread(s, -2), _spread(s, -1)
    apart = (across - down) * (across + down)
    middle = _over(left - left.mT, apart) * across + down * _over(right - right.mT, apart)
    middle = f.where(_main(middle), _spread(of_s, -1), middle)
    if rows > columns:
        return [(u @ middle + _over(of_u - u @ left, across)) @ vh]
    if columns > rows:
        return [u @ (middle @ vh + _over(of_vh - right.mT @ vh, down))]
    return [u @ middle @ vh]


@rule(ops.matrix_exp)
def _matrix_exp(gradient: Tensor, y: Tensor, a: Tensor) -> Gradients:
    """The exponential of [[a, e], [0, a]] has the derivative in the direction e in its corner."""
    size, turned = a.shape[-1], a.mT
    above = f.concat([turned, gradient], -1)
    below = f.concat([f.zeros_like(turned), turned], -1)
    both = Tensor(make(ops.matrix_exp, f.concat([above, below], -2).node))
    return [both[..., :size, size:]]
