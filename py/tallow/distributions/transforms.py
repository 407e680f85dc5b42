"""Functions between regions, with their inverses and the logarithms of how they stretch volumes.
PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import add, mul
from typing import TYPE_CHECKING, Self

from .. import functional
from .. import functions as f
from ..errors import MissingError, OptionError, ShapeError
from ..functions import linalg
from ..functions.data_types import finfo
from ..functions.torch_elements import diagonal, narrow, select
from ..functions.torch_shapes import diag_embed
from ..shape import Shape
from ..tensor import Tensor
from . import constraints
from .constraints import Constraint, dependent_property
from .utils import (
    Value,
    lazy_property,
    sum_rightmost,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)

if TYPE_CHECKING:
    from .distribution import Distribution

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform",
    "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform",
    "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
    "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip

Sign = int | Tensor


class Transform:
    """A function of tensors. domain, codomain: where its arguments and its results lie. bijective:
    whether `inv` undoes it everywhere.

    cache_size: 1 keeps the last argument with its result, so that the inverse of that very result
    is that very argument; 0 keeps nothing. Raises OptionError for another number.
    """

    bijective: bool = False
    domain: Constraint = constraints.real
    codomain: Constraint = constraints.real

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise OptionError(f"{type(self).__name__}: cache_size {cache_size} is not 0 or 1")
        self._cache_size = cache_size
        self._inv: Transform | None = None
        self._cached: tuple[Tensor, Tensor] | None = None

    @property
    def event_dim(self) -> int:
        """How many of the last axes make up one value. Raises OptionError if that differs between
        arguments and results."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise OptionError(f"{self!r}: ask domain.event_dim or codomain.event_dim")
        return self.domain.event_dim

    @property
    def inv(self) -> Transform:
        """The inverse, of which `inv` is this transform."""
        if self._inv is None:
            self._inv = _Inverse(self)
        return self._inv

    @property
    def sign(self) -> Sign:
        """1 for a transform that grows, -1 for one that falls. Raises MissingError for others."""
        raise MissingError(f"{self!r} has no sign")

    def with_cache(self, cache_size: int = 1) -> Self:
        """This transform, or the same one with such a cache."""
        return self if cache_size == self._cache_size else self._again(cache_size)

    def _again(self, cache_size: int) -> Self:
        if type(self).__init__ is not Transform.__init__:
            raise MissingError(f"{type(self).__name__} has no with_cache")
        return type(self)(cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transform) or type(self) is not type(other):
            return False
        return self is other or bool(self._same(other))

    __hash__ = object.__hash__

    def _same(self, other: Transform) -> bool:
        """Whether another one of this class is the same function."""
        return type(self).__init__ is Transform.__init__

    def __call__(self, x: Tensor) -> Tensor:
        if not self._cache_size:
            return self._call(x)
        if self._cached is not None and self._cached[0] is x:
            return self._cached[1]
        y = self._call(x)
        self._cached = x, y
        return y

    def inverted(self, y: Tensor) -> Tensor:
        """The argument of which y is the result."""
        if not self._cache_size:
            return self._inverse(y)
        if self._cached is not None and self._cached[1] is y:
            return self._cached[0]
        x = self._inverse(y)
        self._cached = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise MissingError(f"{self!r} has no value")

    def _inverse(self, y: Tensor) -> Tensor:
        raise MissingError(f"{self!r} has no inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of the size of the determinant of dy / dx, at an argument and its result.
        Raises MissingError for a transform that has none."""
        raise MissingError(f"{self!r} has no log_abs_det_jacobian")

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        """The shape of results of arguments of a shape. Raises ShapeError if there are none."""
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        """The shape of arguments with results of a shape. Raises ShapeError if there are none."""
        return tuple(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    """The inverse of another transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self.forward = self._inv = transform

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.forward.bijective

    @dependent_property
    def domain(self) -> Constraint:
        return self.forward.codomain

    @dependent_property
    def codomain(self) -> Constraint:
        return self.forward.domain

    @property
    def sign(self) -> Sign:
        return self.forward.sign

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.forward.with_cache(cache_size))

    def _same(self, other: Transform) -> bool:
        return isinstance(other, _Inverse) and self.forward == other.forward

    def __call__(self, x: Tensor) -> Tensor:
        return self.forward.inverted(x)

    def inverted(self, y: Tensor) -> Tensor:
        return self.forward(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self.forward.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        return self.forward.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        return self.forward.forward_shape(shape)

    def __repr__(self) -> str:
        return f"Inverse({self.forward!r})"


def _widened(region: Constraint, axes: int) -> Constraint:
    more = axes - region.event_dim
    return constraints.independent(region, more) if more else region


class ComposeTransform(Transform):
    """Several transforms, one after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.parts, cache_size)

    def _same(self, other: Transform) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @dependent_property
    def domain(self) -> Constraint:
        if not self.parts:
            return constraints.real
        axes = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            axes += part.domain.event_dim - part.codomain.event_dim
            axes = max(axes, part.domain.event_dim)
        return _widened(self.parts[0].domain, axes)

    @dependent_property
    def codomain(self) -> Constraint:
        if not self.parts:
            return constraints.real
        axes = self.parts[0].domain.event_dim
        for part in self.parts:
            axes += part.codomain.event_dim - part.domain.event_dim
            axes = max(axes, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, axes)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Sign:
        return reduce(mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Transform:
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def inverted(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part.inverted(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return f.zeros_like(x)
        between = [x]
        for part in self.parts[:-1]:
            between.append(part(between[-1]))
        between.append(y)
        terms: list[Tensor] = []
        axes = self.domain.event_dim
        for part, first, second in zip(self.parts, between[:-1], between[1:], strict=True):
            term = part.log_abs_det_jacobian(first, second)
            terms.append(sum_rightmost(term, axes - part.domain.event_dim))
            axes += part.codomain.event_dim - part.domain.event_dim
        return reduce(add, terms)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return tuple(shape)

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts!r})"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """Another transform, of whose arguments the last axes belong to one value."""

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    def _same(self, other: Transform) -> bool:
        return (
            isinstance(other, IndependentTransform)
            and self.base_transform == other.base_transform
            and self.reinterpreted_batch_ndims == other.reinterpreted_batch_ndims
        )

    @dependent_property
    def domain(self) -> Constraint:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @dependent_property
    def codomain(self) -> Constraint:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.base_transform.bijective

    @property
    def sign(self) -> Sign:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        self._check(x, self.domain)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        self._check(y, self.codomain)
        return self.base_transform.inverted(y)

    def _check(self, x: Tensor, region: Constraint) -> None:
        if x.ndim < region.event_dim:
            raise ShapeError(f"{self!r}: a value has {region.event_dim} axes, not {x.ndim}")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """The last axes in another shape. Raises OptionError for one of another number of elements."""

    bijective = True

    def __init__(
        self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise OptionError(f"ReshapeTransform: {self.in_shape} and {self.out_shape} differ")

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.in_shape, self.out_shape, cache_size)

    def _same(self, other: Transform) -> bool:
        return isinstance(other, ReshapeTransform) and (self.in_shape, self.out_shape) == (
            other.in_shape,
            other.out_shape,
        )

    @dependent_property
    def domain(self) -> Constraint:
        return constraints.independent(constraints.real, len(self.in_shape))

    @dependent_property
    def codomain(self) -> Constraint:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return f.reshape(x, self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return f.reshape(y, self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return f.zeros(x.shape[: x.ndim - len(self.in_shape)], x.dtype)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        return self._changed(tuple(shape), self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        return self._changed(tuple(shape), self.out_shape, self.in_shape)

    def _changed(self, shape: Shape, old: Shape, new: Shape) -> Shape:
        kept = len(shape) - len(old)
        if kept < 0 or shape[kept:] != old:
            raise ShapeError(f"{self!r}: {shape} does not end with {old}")
        return (*shape[:kept], *new)

    def __repr__(self) -> str:
        return f"ReshapeTransform({self.in_shape}, {self.out_shape})"


class ExpTransform(Transform):
    """e to the power of x."""

    codomain = constraints.positive
    bijective = True

    @property
    def sign(self) -> Sign:
        return 1

    def _call(self, x: Tensor) -> Tensor:
        return f.exp(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.log(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """x to the power of an exponent."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Value, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.exponent, cache_size)

    def _same(self, other: Transform) -> bool:
        return isinstance(other, PowerTransform) and _equal(self.exponent, other.exponent)

    @property
    def sign(self) -> Sign:
        return _sign_of(self.exponent)

    def _call(self, x: Tensor) -> Tensor:
        return f.pow(x, self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.pow(y, 1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return f.log(f.abs(self.exponent * y / x))

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        return _with(shape, self.exponent)

    inverse_shape = forward_shape


def _equal(one: Value, other: Value) -> bool:
    if isinstance(one, Tensor) or isinstance(other, Tensor):
        return one is other or bool(f.all(f.equal(one, other)))
    return one == other


def _sign_of(x: Value) -> Sign:
    return f.sign(x) if isinstance(x, Tensor) else (x > 0) - (x < 0)


def _with(shape: Sequence[int], *values: Value) -> Shape:
    from ..shape import broadcast_shapes

    return broadcast_shapes(tuple(shape), *(x.shape for x in values if isinstance(x, Tensor)))


class SigmoidTransform(Transform):
    """1 / (1 + exp(-x)), kept off 0 and 1."""

    codomain = constraints.unit_interval
    bijective = True

    @property
    def sign(self) -> Sign:
        return 1

    def _call(self, x: Tensor) -> Tensor:
        return clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = finfo(y.dtype)
        kept = f.clip(y, limits.tiny, 1.0 - limits.eps)
        return f.log(kept) - f.log1p(-kept)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -functional.softplus(-x) - functional.softplus(x)


def clipped_sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), kept off 0 and 1."""
    limits = finfo(x.dtype)
    return f.clip(functional.sigmoid(x), limits.tiny, 1.0 - limits.eps)


class SoftplusTransform(Transform):
    """log(1 + exp(x))."""

    codomain = constraints.positive
    bijective = True

    @property
    def sign(self) -> Sign:
        return 1

    def _call(self, x: Tensor) -> Tensor:
        return functional.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.log(-f.expm1(-y)) + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -functional.softplus(-x)


class TanhTransform(Transform):
    """The hyperbolic tangent."""

    codomain = constraints.interval(-1.0, 1.0)
    bijective = True

    @property
    def sign(self) -> Sign:
        return 1

    def _call(self, x: Tensor) -> Tensor:
        return f.tanh(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - functional.softplus(-2.0 * x))


class AbsTransform(Transform):
    """The size of x; `inv` gives the positive argument."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return f.abs(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """loc + scale * x; event_dim: how many of the last axes make up one value."""

    bijective = True

    def __init__(self, loc: Value, scale: Value, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.loc, self.scale, self._event_dim, cache_size)

    def _same(self, other: Transform) -> bool:
        return (
            isinstance(other, AffineTransform)
            and _equal(self.loc, other.loc)
            and _equal(self.scale, other.scale)
        )

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @dependent_property
    def domain(self) -> Constraint:
        return _widened(constraints.real, self._event_dim)

    @dependent_property
    def codomain(self) -> Constraint:
        return _widened(constraints.real, self._event_dim)

    @property
    def sign(self) -> Sign:
        return _sign_of(self.scale)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            found = f.zeros_like(x) + f.log(f.abs(self.scale))
        else:
            found = f.full_like(x, math.log(abs(self.scale)))
        return sum_rightmost(found, self._event_dim)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        return _with(shape, self.loc, self.scale)

    inverse_shape = forward_shape


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
        count = _last(shape, 1, self)[0]
        side = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if side * (side - 1) // 2 != count:
            raise ShapeError(f"{self!r}: {count} numbers make no triangle")
        return (*shape[:-1], side, side)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        rows, columns = _last(shape, 2, self)
        if rows != columns:
            raise ShapeError(f"{self!r}: {tuple(shape)} is not square")
        return (*shape[:-2], rows * (rows - 1) // 2)


def _last(shape: Sequence[int], count: int, transform: Transform) -> Shape:
    """The last axes of a shape. Raises ShapeError if there are not as many."""
    if len(shape) < count:
        raise ShapeError(f"{transform!r}: {tuple(shape)} has fewer than {count} axes")
    return tuple(shape[len(shape) - count :])


class SoftmaxTransform(Transform):
    """exp(x), divided by its sum along the last axis; not bijective."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return functional.softmax(x, axis=-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.log(y)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        _last(shape, 1, self)
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
        return (*shape[:-1], _last(shape, 1, self)[0] + 1)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        return (*shape[:-1], _last(shape, 1, self)[0] - 1)


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


class _Several(Transform):
    """Transforms side by side along an axis."""

    dim: int
    transforms: list[Transform]

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(each.bijective for each in self.transforms)

    def _pieces(self, x: Tensor) -> list[Tensor]:
        raise NotImplementedError

    def _joined(self, pieces: list[Tensor]) -> Tensor:
        raise NotImplementedError

    def _call(self, x: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._pieces(x), strict=True)
        return self._joined([each(piece) for each, piece in pairs])

    def _inverse(self, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._pieces(y), strict=True)
        return self._joined([each.inverted(piece) for each, piece in pairs])


class CatTransform(_Several):
    """A transform for each of several pieces along an axis, of these lengths (1 by default). Raises
    OptionError for another number of lengths."""

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) if cache_size else each for each in tseq]
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.dim = dim
        if len(self.lengths) != len(self.transforms):
            raise OptionError(
                f"CatTransform: {len(self.lengths)} lengths of {len(self.transforms)} transforms"
            )

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.transforms, self.dim, self.lengths, cache_size)

    def _same(self, other: Transform) -> bool:
        return isinstance(other, CatTransform) and (self.transforms, self.dim, self.lengths) == (
            other.transforms,
            other.dim,
            other.lengths,
        )

    @lazy_property
    def length(self) -> int:
        """That of all pieces."""
        return sum(self.lengths)

    @property
    def event_dim(self) -> int:
        return max(each.event_dim for each in self.transforms)

    @dependent_property
    def domain(self) -> Constraint:
        return constraints.cat([each.domain for each in self.transforms], self.dim, self.lengths)

    @dependent_property
    def codomain(self) -> Constraint:
        return constraints.cat([each.codomain for each in self.transforms], self.dim, self.lengths)

    def _pieces(self, x: Tensor) -> list[Tensor]:
        if not -x.ndim <= self.dim < x.ndim or x.shape[self.dim] != self.length:
            raise ShapeError(f"CatTransform: {x.shape} has no {self.length} along {self.dim}")
        starts = [sum(self.lengths[:n]) for n in range(len(self.lengths))]
        pairs = zip(starts, self.lengths, strict=True)
        return [narrow(x, self.dim, start, length) for start, length in pairs]

    def _joined(self, pieces: list[Tensor]) -> Tensor:
        return f.concat(pieces, axis=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found: list[Tensor] = []
        for each, first, second in zip(
            self.transforms, self._pieces(x), self._pieces(y), strict=True
        ):
            term = each.log_abs_det_jacobian(first, second)
            found.append(sum_rightmost(term, self.event_dim - each.event_dim))
        axis = (self.dim - x.ndim if self.dim >= 0 else self.dim) + self.event_dim
        return f.concat(found, axis=axis) if axis < 0 else reduce(add, found)


class StackTransform(_Several):
    """A transform for each slice along an axis."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) if cache_size else each for each in tseq]
        self.dim = dim

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.transforms, self.dim, cache_size)

    def _same(self, other: Transform) -> bool:
        return isinstance(other, StackTransform) and (self.transforms, self.dim) == (
            other.transforms,
            other.dim,
        )

    @dependent_property
    def domain(self) -> Constraint:
        return constraints.stack([each.domain for each in self.transforms], self.dim)

    @dependent_property
    def codomain(self) -> Constraint:
        return constraints.stack([each.codomain for each in self.transforms], self.dim)

    def _pieces(self, x: Tensor) -> list[Tensor]:
        count = len(self.transforms)
        if not -x.ndim <= self.dim < x.ndim or x.shape[self.dim] != count:
            raise ShapeError(f"StackTransform: {x.shape} has no {count} along {self.dim}")
        return [select(x, self.dim, n) for n in range(count)]

    def _joined(self, pieces: list[Tensor]) -> Tensor:
        return f.stack(pieces, axis=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        triples = zip(self.transforms, self._pieces(x), self._pieces(y), strict=True)
        return self._joined([each.log_abs_det_jacobian(a, b) for each, a, b in triples])


class CumulativeDistributionTransform(Transform):
    """The distribution function of a distribution on the line."""

    codomain = constraints.unit_interval
    bijective = True

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @dependent_property
    def domain(self) -> Constraint:
        return self.distribution.support

    @property
    def sign(self) -> Sign:
        return 1

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.distribution, cache_size)

    def _same(self, other: Transform) -> bool:
        return (
            isinstance(other, CumulativeDistributionTransform)
            and self.distribution is other.distribution
        )

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
