"""Inverses, determinants and factorisations, as `torch` has them outside of torch.linalg: the
implementation is in linalg.py."""

from __future__ import annotations

import math

from ..tensor import Tensor
from . import elementwise, linalg
from .creation import eye
from .manipulation import broadcast_to


def inverse(input: Tensor) -> Tensor:
    """The inverses of square matrices. LinAlgError for a singular one, when it is computed."""
    return linalg.inv(input)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudoinverses; singular values up to rcond times the largest count as 0."""
    return linalg.pinv(input, rtol=rcond)


def slogdet(input: Tensor) -> linalg.SlogdetResult:
    """(sign, logabsdet) of square matrices."""
    return linalg.slogdet(input)


def logdet(input: Tensor) -> Tensor:
    """The logarithms of determinants: -inf for those that are 0, NaN for negative ones."""
    sign, size = linalg.slogdet(input)
    return elementwise.where(sign < 0, math.nan, size)


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The triangular factors of positive-definite matrices. LinAlgError for others, when they are
    computed."""
    return linalg.cholesky(input, upper=upper)


def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The solution of A @ x = input from the Cholesky factor L of A."""
    return linalg.cholesky_solve(input, L, upper)


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverses of matrices from their Cholesky factors."""
    return linalg.cholesky_solve(broadcast_to(eye(L.shape[-1], dtype=L.dtype), L.shape), L, upper)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """The n-th powers of square matrices, those of the inverses if n is negative."""
    return linalg.matrix_power(input, n)


def matrix_exp(input: Tensor) -> Tensor:
    """The exponentials of square matrices."""
    return linalg.matrix_exp(input)


def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of matrices, in the order that takes the fewest multiplications."""
    return linalg.multi_dot(matrices)
