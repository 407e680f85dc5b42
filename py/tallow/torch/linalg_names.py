"""`torch.svd` and `torch.qr`, which mean something else than torch.linalg's functions."""

from __future__ import annotations

from typing import NamedTuple

from ..core.results import printed_as
from ..tensor import Tensor
from . import linalg
from .calls import put_out


class SVD(NamedTuple):
    """A matrix is U @ diag(S) @ V.mT."""

    U: Tensor
    S: Tensor
    V: Tensor


class QR(NamedTuple):
    """A matrix is Q @ R."""

    Q: Tensor
    R: Tensor


@printed_as("svd")
def svd(
    input: Tensor,
    some: bool = True,
    compute_uv: bool = True,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> SVD:
    """The singular values S of matrices and their vectors, the columns of U and V: unlike
    torch.linalg.svd, which gives V transposed. some: as many vectors as values."""
    if not compute_uv:
        values = linalg.svdvals(input)
        rows, columns = input.shape[-2:]
        batch = tuple(input.shape[:-2])
        found = SVD(input.new_zeros(*batch, rows, rows), values,
                    input.new_zeros(*batch, columns, columns))  # fmt: skip
    else:
        u, s, vh = linalg.svd(input, full_matrices=not some)
        found = SVD(u, s, vh.mT)
    if out is not None:
        put_out(out, found)
    return found


@printed_as("qr")
def qr(input: Tensor, some: bool = True, *, out: tuple[Tensor, ...] | None = None) -> QR:
    """An orthogonal and an upper triangular matrix; some: no more columns than the matrix has
    rows or columns."""
    found = QR(*linalg.qr(input, "reduced" if some else "complete"))
    if out is not None:
        put_out(out, found)
    return found
