"""Kullback and Leibler's divergence (1951) of two distributions, by pairs of families.

Between two families it is the mean of -log q over draws of p, less the entropy of p; that mean
follows from a few means of p: of x, its square, log(x), log(1 - x) and exp(-x / scale).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from .. import functions as f
from ..errors import MissingError, OptionError, ShapeError
from ..functional import softplus
from ..functions.gamma import digamma, lgamma
from ..functions.special import xlogy
from ..tensor import Tensor, host_values
from .continuous import Cauchy, Exponential, Gumbel, Laplace, Normal, Uniform
from .counts import Binomial, Geometric, Poisson
from .discrete import Bernoulli, Categorical, ContinuousBernoulli, weighed
from .distribution import EULER, HALF_LOG_TAU, Distribution, ExponentialFamily
from .gamma import Beta, Dirichlet, Gamma
from .independent import Independent
from .multivariate import LowRankMultivariateNormal, MultivariateNormal
from .powers import Pareto
from .transformed import HalfNormal, TransformedDistribution
from .utils import sum_rightmost

Formula = TypeVar("Formula", bound=Callable[..., Tensor])

_FORMULAS: dict[tuple[type[Distribution], type[Distribution]], Callable[..., Tensor]] = {}


def register_kl(
    type_p: type[Distribution], type_q: type[Distribution]
) -> Callable[[Formula], Formula]:
    """Decorates the function of p and q that computes the divergence of such distributions. Raises
    OptionError for what is no class of distributions."""
    for given in (type_p, type_q):
        if not isinstance(given, type) or not issubclass(given, Distribution):
            raise OptionError(f"register_kl: {given!r} is no class of distributions")

    def register(formula: Formula) -> Formula:
        _FORMULAS[type_p, type_q] = formula
        return formula

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean of log p - log q over draws of p, in the batch's shape. Raises MissingError for
    families without a formula."""
    for left in type(p).__mro__:
        for right in type(q).__mro__:
            if (left, right) in _FORMULAS:
                return _FORMULAS[left, right](p, q)
    raise _none(p, q)


def _none(p: Distribution, q: Distribution) -> MissingError:
    names = f"{type(p).__name__} and {type(q).__name__}"
    return MissingError(f"kl_divergence: there is no formula for {names}; add it with register_kl")


# ---- within a family -----------------------------------------------------------------------------


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = f.square(p.scale / q.scale)
    return 0.5 * (ratio + f.square((p.loc - q.loc) / q.scale) - 1.0 - f.log(ratio))


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, f.abs(p.loc - q.loc)
    return -f.log(ratio) + distance / q.scale + ratio * f.exp(-distance / p.scale) - 1.0


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1.0 - f.log(ratio)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    found = f.log((q.high - q.low) / (p.high - p.low))
    return f.where((q.low > p.low) | (q.high < p.high), float("inf"), found)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    ones = weighed(p.probs, softplus(-q.logits) - softplus(-p.logits))
    ones = f.where((q.probs == 0) & (p.probs != 0), math.inf, ones)
    zeros = weighed(1.0 - p.probs, softplus(q.logits) - softplus(p.logits))
    return ones + f.where((q.probs == 1) & (p.probs != 1), math.inf, zeros)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    parts = weighed(p.probs, p.logits - q.logits)
    return f.sum(f.where((q.probs == 0) & (p.probs != 0), math.inf, parts), axis=-1)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """Chyzak and Nielsen 2019."""
    apart = f.square(p.scale + q.scale) + f.square(p.loc - q.loc)
    return f.log(apart) - f.log(4.0 * p.scale * q.scale)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return -p.entropy() - _under_beta(p, q)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = f.sum(a, axis=-1, keepdims=True)
    norms = f.sum(lgamma(b) - lgamma(a) + (a - b) * (digamma(a) - digamma(total)), axis=-1)
    return norms + lgamma(f.squeeze(total, -1)) - lgamma(f.sum(b, axis=-1))


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    return (
        q.concentration * f.log(p.rate / q.rate)
        + lgamma(q.concentration)
        - lgamma(p.concentration)
        + (p.concentration - q.concentration) * digamma(p.concentration)
        + (q.rate - p.rate) * p.concentration / p.rate
    )


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    """Raises MissingError if q has more attempts than p; they are read."""
    (fewer,) = host_values([f.any(p.total_count < q.total_count)])
    if fewer.item():
        raise MissingError("kl_divergence: Binomial with fewer attempts than the other")
    once = p.probs * (p.logits - q.logits) + f.log1p(-p.probs) - f.log1p(-q.probs)
    return f.where(p.total_count > q.total_count, math.inf, p.total_count * once)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - f.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (f.log(p.rate) - f.log(q.rate)) - (p.rate - q.rate)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    found = q.alpha * f.log(p.scale / q.scale) - f.log(ratio) + ratio - 1.0
    return f.where(p.scale < q.scale, math.inf, found)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The divergence of Bregman of the normalizers (Nielsen and Nock 2010). Raises MissingError for
    two families."""
    if type(p) is not type(q):
        raise _none(p, q)
    normalizer, means = p.log_normalizer_and_means()
    found = q._log_normalizer(*q._natural_params) - normalizer
    for mine, other, mean in zip(p._natural_params, q._natural_params, means, strict=True):
        axes = mine.ndim - len(p.batch_shape)
        found = found - sum_rightmost((other - mine) * mean, axes)
    return found


def _gaussians(
    p: MultivariateNormal | LowRankMultivariateNormal,
    q: MultivariateNormal | LowRankMultivariateNormal,
) -> Tensor:
    """Raises ShapeError for vectors of different lengths."""
    if p.event_shape != q.event_shape:
        raise ShapeError(f"kl_divergence: vectors {p.event_shape} and {q.event_shape}")
    trace = f.sum(q.distances(p.root), axis=-1)
    apart = trace + q.distance(q.loc - p.loc) - p.event_shape[0]
    return q.half_log_det - p.half_log_det + 0.5 * apart


for _one in (MultivariateNormal, LowRankMultivariateNormal):
    for _two in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_one, _two)(_gaussians)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """That of the bases. Raises MissingError for different transforms."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise _none(p, q)
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise MissingError(
            f"kl_divergence: Independent of {p.reinterpreted_batch_ndims} and of "
            f"{q.reinterpreted_batch_ndims} axes"
        )
    return p.added(kl_divergence(p.base_dist, q.base_dist))


# ---- between families ----------------------------------------------------------------------------


def _log_mean(p: Distribution) -> Tensor:
    """The mean of log(x)."""
    if isinstance(p, Beta):
        return digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0)
    if isinstance(p, Exponential):
        return -EULER - f.log(p.rate)
    if isinstance(p, Gamma):
        return digamma(p.concentration) - f.log(p.rate)
    if isinstance(p, Pareto):
        return f.log(p.scale) + 1.0 / p.alpha
    assert isinstance(p, Uniform)
    return (xlogy(p.high, p.high) - xlogy(p.low, p.low)) / (p.high - p.low) - 1.0


def _log_rest(p: Distribution) -> Tensor:
    """The mean of log(1 - x)."""
    if isinstance(p, Beta):
        return digamma(p.concentration0) - digamma(p.concentration1 + p.concentration0)
    assert isinstance(p, Uniform)
    return _log_mean(Uniform(1.0 - p.high, 1.0 - p.low, validate_args=False))


def _fall(p: Distribution, scale: Tensor) -> Tensor:
    """The logarithm of the mean of exp(-x / scale)."""
    if isinstance(p, Exponential):
        return -f.log1p(1.0 / (p.rate * scale))
    if isinstance(p, Gamma):
        return -p.concentration * f.log1p(1.0 / (p.rate * scale))
    if isinstance(p, Gumbel):
        return lgamma(1.0 + p.scale / scale) - p.loc / scale
    if isinstance(p, Normal):
        return -p.loc / scale + 0.5 * f.square(p.scale / scale)
    assert isinstance(p, Uniform)
    width = (p.high - p.low) / scale
    return -p.low / scale + f.log(-f.expm1(-width) / width)


def _under_normal(p: Distribution, q: Normal) -> Tensor:
    """The mean of log q over draws of p, as below."""
    apart = p.variance + f.square(p.mean - q.loc)
    found = -f.log(q.scale) - HALF_LOG_TAU - 0.5 * apart / f.square(q.scale)
    return f.where(f.isnan(apart), -math.inf, found) if isinstance(p, Pareto) else found


def _under_exponential(p: Distribution, q: Exponential) -> Tensor:
    return f.log(q.rate) - q.rate * p.mean


def _under_gamma(p: Distribution, q: Gamma) -> Tensor:
    a = q.concentration
    return a * f.log(q.rate) - lgamma(a) + (a - 1.0) * _log_mean(p) - q.rate * p.mean


def _under_beta(p: Distribution, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    norm = lgamma(a + b) - lgamma(a) - lgamma(b)
    return norm + (a - 1.0) * _log_mean(p) + (b - 1.0) * _log_rest(p)


def _under_continuous_bernoulli(p: Distribution, q: ContinuousBernoulli) -> Tensor:
    return q.log_norm() + p.mean * q.logits + f.log1p(-q.probs)


def _under_uniform(p: Distribution, q: Uniform) -> Tensor:
    return -f.log(q.high - q.low)


def _under_gumbel(p: Distribution, q: Gumbel) -> Tensor:
    away = (p.mean - q.loc) / q.scale
    return -f.log(q.scale) - away - f.exp(_fall(p, q.scale) + q.loc / q.scale)


def _under_pareto(p: Distribution, q: Pareto) -> Tensor:
    return f.log(q.alpha) + q.alpha * f.log(q.scale) - (q.alpha + 1.0) * _log_mean(p)


def _under_laplace(p: Normal, q: Laplace) -> Tensor:
    away = (p.loc - q.loc) / p.scale
    size = math.sqrt(2 / math.pi) * f.exp(-0.5 * f.square(away))
    size = size + away * f.erf(away * math.sqrt(0.5))
    return -f.log(2.0 * q.scale) - size * p.scale / q.scale


def _under_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return p.probs * f.log(q.rate) - q.rate


_UNDER: dict[type[Distribution], tuple[Callable[..., Tensor], tuple[type[Distribution], ...]]] = {
    Normal: (
        _under_normal,
        (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform),
    ),
    Exponential: (_under_exponential, (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform)),
    Gamma: (_under_gamma, (Beta, Exponential, Pareto, Uniform)),
    Beta: (_under_beta, (Uniform,)),
    ContinuousBernoulli: (_under_continuous_bernoulli, (Beta, Uniform)),
    Uniform: (_under_uniform, (Beta, ContinuousBernoulli)),
    Gumbel: (_under_gumbel, (Exponential, Gamma, Gumbel, Normal, Uniform)),
    Pareto: (_under_pareto, (Uniform,)),
    Laplace: (_under_laplace, (Normal,)),
    Poisson: (_under_poisson, (Bernoulli,)),
}
"""The mean of log q over draws of p, by the family of q, and the families of p for which it is."""

_ENDS: dict[type[Distribution], Callable[..., tuple[Tensor | float, Tensor | float]]] = {
    Beta: lambda q: (0.0, 1.0),
    ContinuousBernoulli: lambda q: (0.0, 1.0),
    Exponential: lambda q: (0.0, math.inf),
    Gamma: lambda q: (0.0, math.inf),
    Pareto: lambda q: (q.scale, math.inf),
    Uniform: lambda q: (q.low, q.high),
}
"""Where a family lies, if not on the whole line."""


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    return -p.entropy() - _under_continuous_bernoulli(p, q)


def _between(p: Distribution, q: Distribution) -> Tensor:
    """Infinite where p has draws that q has not."""
    family = next(kind for kind in type(q).__mro__ if kind in _UNDER)
    found = -p.entropy() - _UNDER[family][0](p, q)
    if isinstance(p, (Uniform, Beta, ContinuousBernoulli)) and family in _ENDS:
        low, high = (p.low, p.high) if isinstance(p, Uniform) else (f.zeros_like(found), 1.0)
        least, most = _ENDS[family](q)
        return f.where((low < least) | (high > most), math.inf, found)
    return found


def _infinite(p: Distribution, q: Distribution) -> Tensor:
    return f.full_like(p.mean, math.inf)


for _family, (_, _families) in _UNDER.items():
    for _other in _families:
        register_kl(_other, _family)(_between)

_ENDLESS: dict[type[Distribution], tuple[type[Distribution], ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}
"""Families of p whose draws those of q do not reach."""

for _family, _families in _ENDLESS.items():
    for _other in _families:
        register_kl(_family, _other)(_infinite)
