"""Transforms of each number on its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from ... import functional
from ... import functions as f
from ...core.shape import Shape, broadcast_shapes
from ...functions.data_types import finfo
from ...tensor import Tensor
from .. import constraints
from ..constraints import Constraint, dependent_property
from ..utils import Value, sum_rightmost
from .base import Growing, Sign, Transform, widened

if TYPE_CHECKING:
    from ..distribution import Distribution


class ExpTransform(Growing):
    """e to the power of x."""

    codomain = constraints.positive

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
    _made_of = ("exponent",)
    bijective = True

    def __init__(self, exponent: Value, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

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


def _sign_of(x: Value) -> Sign:
    return f.sign(x) if isinstance(x, Tensor) else (x > 0) - (x < 0)


def _with(shape: Sequence[int], *values: Value) -> Shape:
    return broadcast_shapes(tuple(shape), *(x.shape for x in values if isinstance(x, Tensor)))


class SigmoidTransform(Growing):
    """1 / (1 + exp(-x)), kept off 0 and 1."""

    codomain = constraints.unit_interval

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


class SoftplusTransform(Growing):
    """log(1 + exp(x))."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return functional.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return f.log(-f.expm1(-y)) + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -functional.softplus(-x)


class TanhTransform(Growing):
    """The hyperbolic tangent."""

    codomain = constraints.interval(-1.0, 1.0)

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

    _made_of = ("loc", "scale")
    bijective = True

    def __init__(self, loc: Value, scale: Value, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.loc, self.scale, self._event_dim, cache_size)

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @dependent_property
    def domain(self) -> Constraint:
        return widened(constraints.real, self._event_dim)

    @dependent_property
    def codomain(self) -> Constraint:
        return widened(constraints.real, self._event_dim)

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


class CumulativeDistributionTransform(Growing):
    """The distribution function of a distribution on the line."""

    codomain = constraints.unit_interval
    _made_of = ("distribution",)

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @dependent_property
    def domain(self) -> Constraint:
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
