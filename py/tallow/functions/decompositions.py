"""Inverses, determinants and factorisations, as `torch` has them outside of torch.linalg: the
implementation is in linalg.py."""

from __future__ import annotations

import math

from ..core.results import printed_as
from ..tensor import Tensor
from . import elementwise, linalg
from .creation import eye
from .manipulation import broadcast_to


def inverse(input: Tensor) -> Tensor:
    """Inverts square matrices.

    input: matrices (..., n, n), float32 or float64.
    Returns: the inverses (..., n, n).
    Raises: ShapeError and DTypeError for other tensors; LinAlgError for a singular matrix, when the
      result is computed.
    Source: PyTorch's documentation, `torch.linalg.inv`.
    """
    return linalg.inv(input)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """Computes the Moore-Penrose pseudoinverses of matrices.

    input: matrices (..., m, n), float32 or float64.
    rcond: singular values up to rcond times the largest count as 0.
    Returns: the pseudoinverses (..., n, m).
    Raises: ShapeError and DTypeError for other tensors.
    Source: PyTorch's documentation, `torch.pinverse`.
    """
    return linalg.pinv(input, rtol=rcond)


@printed_as("slogdet")
def slogdet(input: Tensor) -> linalg.SlogdetResult:
    """Computes the signs of determinants and the logarithms of their absolute values.

    input: matrices (..., n, n), float32 or float64.
    Returns: (sign, logabsdet), both (...,); 0 and -inf for a singular matrix.
    Raises: ShapeError and DTypeError for other tensors.
    Source: PyTorch's documentation, `torch.slogdet`.
    """
    return linalg.slogdet(input)


def logdet(input: Tensor) -> Tensor:
    """Computes the logarithms of determinants: -inf for those that are 0, NaN for negative ones.

    input: matrices (..., n, n), float32 or float64.
    Returns: the logarithms (...,).
    Raises: ShapeError and DTypeError for other tensors.
    Source: PyTorch's documentation, `torch.logdet`.
    """
    sign, size = linalg.slogdet(input)
    return elementwise.where(sign < 0, math.nan, size)


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """Computes the triangular factors of positive-definite matrices.

    input: symmetric matrices (..., n, n), float32 or float64, of which the half that upper names is
      read.
    upper: whether the factors U are upper triangular, with U.mT @ U = input, instead of lower, with
      L @ L.mT = input.
    Returns: the factors (..., n, n).
    Raises: ShapeError and DTypeError for other tensors; LinAlgError for a matrix that is not
      positive-definite, when the result is computed.
    Source: PyTorch's documentation, `torch.cholesky`.
    """
    return linalg.cholesky(input, upper=upper)


def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """Solves A @ x = input from the Cholesky factor of A.

    input: right sides (..., n, k).
    L: Cholesky factors (..., n, n) of A.
    upper: whether the factors are upper triangular.
    Returns: the solutions (..., n, k).
    Raises: ShapeError and DTypeError for tensors that do not fit; LinAlgError for a 0 on the
      diagonal of L, when the result is computed.
    Source: PyTorch's documentation, `torch.cholesky_solve`.
    """
    return linalg.cholesky_solve(input, L, upper)


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """Computes the inverses of matrices from their Cholesky factors.

    L: Cholesky factors (..., n, n).
    upper: whether the factors are upper triangular.
    Returns: the inverses (..., n, n) of the matrices whose factors these are.
    Raises: ShapeError and DTypeError for other tensors; LinAlgError for a 0 on the diagonal of L,
      when the result is computed.
    Source: PyTorch's documentation, `torch.cholesky_inverse`.
    """
    return linalg.cholesky_solve(broadcast_to(eye(L.shape[-1], dtype=L.dtype), L.shape), L, upper)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """Computes the n-th powers of square matrices.

    input: matrices (..., n, n).
    n: how many factors there are; the inverses are multiplied if it is negative.
    Returns: the powers, of the shape of input.
    Raises: ShapeError for other tensors; as `inverse` does if n is negative.
    Source: PyTorch's documentation, `torch.matrix_power`.
    """
    return linalg.matrix_power(input, n)


def matrix_exp(input: Tensor) -> Tensor:
    """Computes the exponentials of square matrices.

    input: matrices (..., n, n), float32 or float64.
    Returns: the exponentials, of the shape of input.
    Raises: ShapeError and DTypeError for other tensors.
    Source: PyTorch's documentation, `torch.matrix_exp`.
    """
    return linalg.matrix_exp(input)


def chain_matmul(*matrices: Tensor) -> Tensor:
    """Multiplies matrices, in the order that takes the fewest multiplications.

    matrices: two matrices or more, of lengths that fit; the first and the last may be vectors.
    Returns: their product.
    Raises: ShapeError for fewer than two, and for other tensors.
    Source: PyTorch's documentation, `torch.chain_matmul`.
    """
    return linalg.multi_dot(matrices)
