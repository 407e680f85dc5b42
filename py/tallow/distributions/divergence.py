"""Kullback and Leibler's divergence (1951) of two distributions, by pairs of families."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .. import functions as f
from ..errors import OptionError
from ..functional import softplus
from ..tensor import Tensor
from .continuous import Exponential, Laplace, LogNormal, Normal, Uniform
from .discrete import Bernoulli, Categorical, weighed
from .distribution import Distribution
from .independent import Independent

Formula = TypeVar("Formula", bound=Callable[..., Tensor])

_FORMULAS: dict[tuple[type[Distribution], type[Distribution]], Callable[..., Tensor]] = {}


def register_kl(
    type_p: type[Distribution], type_q: type[Distribution]
) -> Callable[[Formula], Formula]:
    """Decorates the function of p and q that computes the divergence of such distributions."""

    def register(formula: Formula) -> Formula:
        _FORMULAS[type_p, type_q] = formula
        return formula

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean of log p - log q over draws of p, in the batch's shape. Raises OptionError for
    families without a formula."""
    for left in type(p).__mro__:
        for right in type(q).__mro__:
            if (left, right) in _FORMULAS:
                return _FORMULAS[left, right](p, q)
    names = f"{type(p).__name__} and {type(q).__name__}"
    raise OptionError(f"kl_divergence: there is no formula for {names}; add it with register_kl")


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = f.square(p.scale / q.scale)
    return 0.5 * (ratio + f.square((p.loc - q.loc) / q.scale) - 1.0 - f.log(ratio))


@register_kl(LogNormal, LogNormal)
def _log_normal(p: LogNormal, q: LogNormal) -> Tensor:
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
    return ones + weighed(1.0 - p.probs, softplus(q.logits) - softplus(p.logits))


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    return f.sum(weighed(p.probs, p.logits - q.logits), axis=-1)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise OptionError(
            f"kl_divergence: Independent of {p.reinterpreted_batch_ndims} and of "
            f"{q.reinterpreted_batch_ndims} axes"
        )
    return p.added(kl_divergence(p.base_dist, q.base_dist))
