"""Families of vectors and matrices that are given by Cholesky factors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functions as f
from ..core.shape import Shape, broadcast_shapes
from ..errors import OptionError, ShapeError
from ..functions import linalg
from ..functions.data_types import finfo
from ..functions.gamma import digamma, lgamma, mvlgamma
from ..functions.joining import diag_embed
from ..functions.products import norm
from ..functions.shapes import diagonal
from ..tensor import Tensor
from . import constraints, draws
from .distribution import Distribution, ExponentialFamily
from .gamma import Beta
from .utils import Value, floating, lazy_property


def _diagonal(x: Tensor) -> Tensor:
    return diagonal(x, 0, -2, -1)


def _solved(factor: Tensor, columns: Tensor) -> Tensor:
    """The inverse of lower triangles times columns; one triangle serves all columns at once."""
    if factor.ndim == 2 and columns.ndim > 2:
        rows, width = columns.shape[-2:]
        flat = f.reshape(f.moveaxis(columns, -2, 0), (rows, -1))
        found = linalg.solve_triangular(factor, flat, upper=False)
        return f.moveaxis(f.reshape(found, (rows, *columns.shape[:-2], width)), 0, -2)
    batch = broadcast_shapes(factor.shape[:-2], columns.shape[:-2])
    return linalg.solve_triangular(
        f.broadcast_to(factor, (*batch, *factor.shape[-2:])),
        f.broadcast_to(columns, (*batch, *columns.shape[-2:])),
        upper=False,
    )


def _times(matrix: Tensor, vectors: Tensor) -> Tensor:
    return f.squeeze(f.matmul(matrix, f.expand_dims(vectors, -1)), -1)


def _factor_of_inverse(precision: Tensor) -> Tensor:
    """The Cholesky factor of the inverse of matrices."""
    turned = linalg.cholesky(f.flip(precision, axis=(-2, -1)))
    inverse = f.flip(turned, axis=(-2, -1)).mT
    return _solved(inverse, _identity(precision))


def _identity(like: Tensor) -> Tensor:
    return f.broadcast_to(f.eye(like.shape[-1], dtype=like.dtype), like.shape)


def _inverse_of_product(factor: Tensor) -> Tensor:
    """The inverse of factors times their transposes."""
    inverse = _solved(factor, _identity(factor))
    return f.matmul(inverse.mT, inverse)


class _Gaussian(Distribution):
    """Normal vectors, along the last axis."""

    has_rsample = True
    support = constraints.real_vector
    loc: Tensor

    @property
    def half_log_det(self) -> Tensor:
        """Half the logarithm of the covariance's determinant."""
        raise self._lacks("half_log_det")

    def distances(self, columns: Tensor) -> Tensor:
        """Of columns (n, k), (k,): their squared lengths in units of standard deviations
        (Mahalanobis 1936)."""
        raise self._lacks("distances")

    @property
    def root(self) -> Tensor:
        """A matrix that times its transpose is the covariance."""
        raise self._lacks("root")

    def distance(self, vectors: Tensor) -> Tensor:
        """`distances` of vectors along the last axis."""
        return f.squeeze(self.distances(f.expand_dims(vectors, -1)), -1)

    def log_prob(self, value: Value) -> Tensor:
        away = self._validate_sample(value) - self.loc
        size = self.event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (size + self.distance(away)) - self.half_log_det

    def entropy(self) -> Tensor:
        size = 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi))
        return f.broadcast_to(size + self.half_log_det, self.batch_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc


def _given_matrix(what: str, *pairs: tuple[str, Tensor | None]) -> tuple[str, Tensor]:
    """The one that is given of several. Raises OptionError for none or more."""
    given = [(name, value) for name, value in pairs if value is not None]
    if len(given) != 1:
        names = ", ".join(name for name, _ in pairs)
        raise OptionError(f"{what}: give one of {names}")
    name, value = given[0]
    if value.ndim < 2:
        raise ShapeError(f"{what}: {name} {value.shape} is no matrix")
    return name, floating(value)[0]


def _factor(name: str, matrix: Tensor) -> Tensor:
    """The Cholesky factor of the covariance."""
    if name == "scale_tril":
        return matrix
    return _factor_of_inverse(matrix) if name == "precision_matrix" else linalg.cholesky(matrix)


class MultivariateNormal(_Gaussian):
    """Normal vectors with a covariance: of covariance_matrix, its inverse precision_matrix and its
    Cholesky factor scale_tril one is given.

    Raises OptionError for none or more of them, ShapeError for what is no vector or no matrix.
    """

    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (mean,) = floating(loc)
        if not mean.ndim:
            raise ShapeError("MultivariateNormal: loc has no axis")
        name, matrix = _given_matrix(
            "MultivariateNormal",
            ("covariance_matrix", covariance_matrix),
            ("precision_matrix", precision_matrix),
            ("scale_tril", scale_tril),
        )
        batch = broadcast_shapes(matrix.shape[:-2], mean.shape[:-1], what="MultivariateNormal")
        self.loc = f.broadcast_to(mean, (*batch, mean.shape[-1]))
        vars(self)[name] = f.broadcast_to(matrix, (*batch, *matrix.shape[-2:]))
        super().__init__(batch, mean.shape[-1:], validate_args)
        self._given = name
        self._unbroadcasted_scale_tril = _factor(name, matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return self._wide(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._wide(f.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._wide(_inverse_of_product(self._unbroadcasted_scale_tril))

    def _wide(self, matrix: Tensor) -> Tensor:
        return f.broadcast_to(matrix, (*self.batch_shape, *self.event_shape * 2))

    @property
    def half_log_det(self) -> Tensor:
        return f.sum(f.log(_diagonal(self._unbroadcasted_scale_tril)), axis=-1)

    def distances(self, columns: Tensor) -> Tensor:
        return f.sum(f.square(_solved(self._unbroadcasted_scale_tril, columns)), axis=-2)

    @property
    def root(self) -> Tensor:
        return self._unbroadcasted_scale_tril

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        noise = f.randn(self._extended_shape(sample_shape)).astype(self.loc.dtype)
        return self.loc + _times(self._unbroadcasted_scale_tril, noise)

    @property
    def variance(self) -> Tensor:
        squares = f.sum(f.square(self._unbroadcasted_scale_tril), axis=-1)
        return f.broadcast_to(squares, self._extended_shape())


class LowRankMultivariateNormal(_Gaussian):
    """Normal vectors of the covariance cov_factor @ cov_factor.mT + diag(cov_diag), where
    cov_factor (n, rank) is narrow; nothing is computed of n by n numbers but what is asked for.

    Raises ShapeError for shapes that do not fit.
    """

    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }

    def __init__(
        self,
        loc: Tensor,
        cov_factor: Tensor,
        cov_diag: Tensor,
        validate_args: bool | None = None,
    ) -> None:
        (mean,), (factor,), (diag,) = floating(loc), floating(cov_factor), floating(cov_diag)
        if not mean.ndim or factor.ndim < 2 or not diag.ndim:
            raise ShapeError("LowRankMultivariateNormal: loc and cov_diag have one axis or more, "
                             "cov_factor two")  # fmt: skip
        event = mean.shape[-1:]
        if factor.shape[-2:-1] != event or diag.shape[-1:] != event:
            raise ShapeError(
                f"LowRankMultivariateNormal: loc {mean.shape}, cov_factor {factor.shape} and "
                f"cov_diag {diag.shape} do not fit"
            )
        batch = broadcast_shapes(
            mean.shape[:-1], factor.shape[:-2], diag.shape[:-1], what="LowRankMultivariateNormal"
        )
        self.loc = f.broadcast_to(mean, batch + event)
        self.cov_factor = f.broadcast_to(factor, batch + factor.shape[-2:])
        self.cov_diag = f.broadcast_to(diag, batch + event)
        super().__init__(batch, event, validate_args)

    @lazy_property
    def _capacitance_tril(self) -> Tensor:
        """The Cholesky factor of the small matrix of Woodbury's formula (1950)."""
        inner = f.matmul(self._weighted, self.cov_factor)
        return linalg.cholesky(inner + f.eye(inner.shape[-1], dtype=inner.dtype))

    @property
    def _weighted(self) -> Tensor:
        """The factor's transpose, times the inverse of the diagonal."""
        return self.cov_factor.mT / f.expand_dims(self.cov_diag, -2)

    @property
    def half_log_det(self) -> Tensor:
        inner = f.sum(f.log(_diagonal(self._capacitance_tril)), axis=-1)
        return inner + 0.5 * f.sum(f.log(self.cov_diag), axis=-1)

    def distances(self, columns: Tensor) -> Tensor:
        plain = f.sum(f.square(columns) / f.expand_dims(self.cov_diag, -1), axis=-2)
        inner = _solved(self._capacitance_tril, f.matmul(self._weighted, columns))
        return plain - f.sum(f.square(inner), axis=-2)

    @property
    def root(self) -> Tensor:
        return f.concat([self.cov_factor, diag_embed(f.sqrt(self.cov_diag))], axis=-1)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape, kind = self._extended_shape(sample_shape), self.loc.dtype
        few = f.randn((*shape[:-1], self.cov_factor.shape[-1])).astype(kind)
        many = f.randn(shape).astype(kind)
        return self.loc + _times(self.cov_factor, few) + f.sqrt(self.cov_diag) * many

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return f.matmul(self.cov_factor, self.cov_factor.mT) + diag_embed(self.cov_diag)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        inner = _solved(self._capacitance_tril, self._weighted)
        return diag_embed(1.0 / self.cov_diag) - f.matmul(inner.mT, inner)

    @property
    def variance(self) -> Tensor:
        return f.sum(f.square(self.cov_factor), axis=-1) + self.cov_diag


class Wishart(ExponentialFamily):
    """Sums of products of df normal vectors with themselves: matrices (Bartlett 1933). Of
    covariance_matrix, precision_matrix and scale_tril, as of `MultivariateNormal`, one is given.

    Raises OptionError for none or more, or a df that is known to be too small.
    """

    has_rsample = True
    support = constraints.positive_definite
    arg_constraints = {  # noqa: RUF012
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __init__(
        self,
        df: Value,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = _given_matrix(
            "Wishart",
            ("covariance_matrix", covariance_matrix),
            ("precision_matrix", precision_matrix),
            ("scale_tril", scale_tril),
        )
        (freedom,) = floating(df)
        side = matrix.shape[-1]
        batch = broadcast_shapes(matrix.shape[:-2], freedom.shape, what="Wishart")
        self.df = f.broadcast_to(freedom, batch)
        vars(self)[name] = f.broadcast_to(matrix, (*batch, side, side))
        super().__init__(batch, (side, side), validate_args)
        if self._validate_args is not False:
            least = constraints.greater_than(float(side - 1))
            self._check_one("df", self.df, least, bool(self._validate_args))
        self._unbroadcasted_scale_tril = _factor(name, matrix)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return f.broadcast_to(self._unbroadcasted_scale_tril, self._extended_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance of the vectors."""
        factor = self._unbroadcasted_scale_tril
        return f.broadcast_to(f.matmul(factor, factor.mT), self._extended_shape())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        found = _inverse_of_product(self._unbroadcasted_scale_tril)
        return f.broadcast_to(found, self._extended_shape())

    def _wide_df(self) -> Tensor:
        return f.reshape(self.df, (*self.batch_shape, 1, 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        side, shape = self.event_shape[-1], self._extended_shape(sample_shape)
        fewer = f.expand_dims(self.df, -1) - f.arange(side).astype(self.df.dtype)
        squares = 2.0 * draws.standard_gamma(0.5 * fewer, shape[:-1])
        below = f.tril(f.randn(shape).astype(self.df.dtype), k=-1)
        factor = f.matmul(self._unbroadcasted_scale_tril, below + diag_embed(f.sqrt(squares)))
        return f.matmul(factor, factor.mT)

    def _half_log_det(self) -> Tensor:
        side = self.event_shape[-1]
        logs = f.sum(f.log(_diagonal(self._unbroadcasted_scale_tril)), axis=-1)
        return logs + 0.5 * side * math.log(2)

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        side, df = self.event_shape[-1], self.df
        inner = _solved(self._unbroadcasted_scale_tril, linalg.cholesky(value))
        trace = f.sum(f.square(inner), axis=(-2, -1))
        found = -df * self._half_log_det() - mvlgamma(df * 0.5, side)
        return found + 0.5 * (df - side - 1.0) * linalg.slogdet(value)[1] - 0.5 * trace

    def entropy(self) -> Tensor:
        side, df = self.event_shape[-1], self.df
        slope = f.zeros_like(df)
        for k in range(side):
            slope = slope + digamma(df * 0.5 - k / 2)
        found = (side + 1.0) * self._half_log_det() + mvlgamma(df * 0.5, side)
        return found - 0.5 * (df - side - 1.0) * slope + 0.5 * df * side

    @property
    def mean(self) -> Tensor:
        return self._wide_df() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """NaN where there is none."""
        factor = self._wide_df() - self.event_shape[-1] - 1.0
        return f.where(factor > 0, factor * self.covariance_matrix, math.nan)

    @property
    def variance(self) -> Tensor:
        whole = self.covariance_matrix
        diag = _diagonal(whole)
        products = f.expand_dims(diag, -1) * f.expand_dims(diag, -2)
        return self._wide_df() * (f.square(whole) + products)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        side = self.event_shape[-1]
        return -0.5 * self.precision_matrix, 0.5 * (self.df - side - 1.0)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        side = self.event_shape[-1]
        half = y + 0.5 * (side + 1)
        size = side * math.log(2) - linalg.slogdet(-2.0 * x)[1]
        return half * size + mvlgamma(half, side)


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices of side dim, whose density grows with the
    determinant to the power of concentration - 1; draws by the onion method (Lewandowski,
    Kurowicka, Joe 2009). Raises OptionError for a dim below 2."""

    arg_constraints = {"concentration": constraints.positive}  # noqa: RUF012
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Value = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise OptionError(f"LKJCholesky: dim must be 2 or more: {dim}")
        self.dim = dim
        (self.concentration,) = floating(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        kind, dim = self.concentration.dtype, self.dim
        row = f.arange(dim).astype(kind)
        before = f.maximum(row - 1.0, 0.0)
        other = f.expand_dims(self.concentration + 0.5 * (dim - 2), -1) - 0.5 * before
        parts = Beta(0.5 * before + 0.5, other, validate_args=False).sample(sample_shape)
        shape: Shape = self._extended_shape(sample_shape)
        noise = f.tril(f.randn(shape).astype(kind), k=-1)
        length = norm(noise, dim=-1, keepdim=True)
        on_sphere = noise / f.where(length == 0, 1.0, length)
        below = f.sqrt(f.expand_dims(parts, -1)) * on_sphere
        rest = f.maximum(1.0 - f.sum(f.square(below), axis=-1), finfo(kind).tiny)
        return (below + diag_embed(f.sqrt(rest))).detach()

    def log_prob(self, value: Value) -> Tensor:
        diag = _diagonal(self._validate_sample(value))[..., 1:]
        dim, a = self.dim, self.concentration
        order = f.arange(2, dim + 1).astype(a.dtype)
        powers = f.expand_dims(2.0 * (a - 1.0), -1) + float(dim) - order
        found = f.sum(powers * f.log(diag), axis=-1)
        half = a + 0.5 * (dim - 1)
        norms = mvlgamma(half - 0.5, dim - 1) - lgamma(half) * float(dim - 1)
        return found - norms - 0.5 * (dim - 1) * math.log(math.pi)


__all__ = ["LKJCholesky", "LowRankMultivariateNormal", "MultivariateNormal", "Wishart"]
