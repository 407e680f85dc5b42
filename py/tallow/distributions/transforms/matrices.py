"""Transforms of whole vectors and matrices: to parts of 1, and to triangles."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ... import functional
from ... import functions as f
from ...core.shape import Shape
from ...errors import ShapeError
from ...functions import linalg
from ...functions.data_types import finfo
from ...functions.joining import diag_embed
from ...functions.shapes import diagonal
from ...tensor import Tensor
from .. import constraints
from ..utils import tril_matrix_to_vec, vec_to_tril_matrix
from .base import Transform, last_axes
from .elementwise import clipped_sigmoid


class SoftmaxTransform(Transform):
    """exp(x), divided by its sum along the last axis; not bijective."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return functional.softmax(x, axis=-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.log(y)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        last_axes(shape, 1, self)
        return tuple(shape)

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """Parts of 1, of which there is one more than numbers along the last axis: each number says how
    much of what is left the next part takes."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _offsets(count: int, like: Tensor) -> Tensor:
        """With these, zeros give equal parts."""
        return f.log(f.arange(count, 0, -1).astype(like.dtype))

    def _call(self, x: Tensor) -> Tensor:
        taken = clipped_sigmoid(x - self._offsets(x.shape[-1], x))
        left = f.cumulative_prod(1.0 - taken, axis=-1)
        one = f.ones((*x.shape[:-1], 1), x.dtype)
        return f.concat([taken, one], axis=-1) * f.concat([one, left], axis=-1)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = y[..., :-1]
        left = f.maximum(1.0 - f.cumulative_sum(parts, axis=-1), finfo(y.dtype).tiny)
        return f.log(parts) - f.log(left) + self._offsets(parts.shape[-1], y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """That of all parts but the last."""
        moved = x - self._offsets(x.shape[-1], x)
        return f.sum(-functional.softplus(moved) + f.log(y[..., :-1]), axis=-1)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        return (*shape[:-1], last_axes(shape, 1, self)[0] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        return (*shape[:-1], last_axes(shape, 1, self)[0] - 1)


class CorrCholeskyTransform(Transform):
    """The Cholesky factor of a correlation matrix of side d, of d (d - 1) / 2 numbers: tanh of them
    are partial correlations (Lewandowski, Kurowicka, Joe 2009)."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        partial = f.clip(f.tanh(x), -1 + eps, 1 - eps)
        r = vec_to_tril_matrix(partial, -1)
        # What of the unit is left in a row, before each column.
        left = f.cumulative_prod(f.sqrt(1.0 - r * r), axis=-1)
        r = r + f.eye(r.shape[-1], dtype=r.dtype)
        ones = f.ones((*left.shape[:-1], 1), left.dtype)
        return r * f.concat([ones, left[..., :-1]], axis=-1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = 1.0 - f.cumulative_sum(y * y, axis=-1)
        before = f.concat([f.ones((*left.shape[:-1], 1), left.dtype), left[..., :-1]], axis=-1)
        partial = tril_matrix_to_vec(y, -1) / f.sqrt(tril_matrix_to_vec(before, -1))
        return f.atanh(partial)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """That of the numbers below the diagonal of y."""
        left = 1.0 - f.cumulative_sum(y * y, axis=-1)
        side = y.shape[-1]
        stretched = -2.0 * (x + functional.softplus(-2.0 * x) - math.log(2.0))
        found = f.sum(stretched, axis=-1)
        if side < 3:
            return found
        return found + 0.5 * f.sum(f.log(tril_matrix_to_vec(left, -2)), axis=-1)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        count = last_axes(shape, 1, self)[0]
        side = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if side * (side - 1) // 2 != count:
            raise ShapeError(f"{self!r}: {count} numbers make no triangle")
        return (*shape[:-1], side, side)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        rows, columns = last_axes(shape, 2, self)
        if rows != columns:
            raise ShapeError(f"{self!r}: {tuple(shape)} is not square")
        return (*shape[:-2], rows * (rows - 1) // 2)


class LowerCholeskyTransform(Transform):
    """Lower triangles, with e to the power of the diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return f.tril(x, k=-1) + diag_embed(f.exp(diagonal(x, 0, -2, -1)))

    def _inverse(self, y: Tensor) -> Tensor:
        return f.tril(y, k=-1) + diag_embed(f.log(diagonal(y, 0, -2, -1)))


class PositiveDefiniteTransform(Transform):
    """Lower triangles as of `LowerCholeskyTransform`, times their transposes."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return f.matmul(factor, factor.mT)

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inverted(linalg.cholesky(y))
