"""Distributions that PyTorch and Tallow make alike: see record.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Build = Callable[[Any, Callable[[Any], Any]], Any]

COUNTS = [[0.0, 1.0, 2.0], [3.0, 5.0, 4.0]]
INSIDE = [[0.1, 0.5, 0.7], [0.2, 0.35, 0.95]]
POSITIVE = [[0.1, 0.5, 1.7], [2.0, 3.5, 9.0]]
LINE = [[-2.0, 0.5, 1.7], [-0.3, 3.5, -7.0]]
SHARES = [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]

# The distribution, of the module and a function that makes tensors; values; what it does not have.
CASES: dict[str, tuple[Build, Any]] = {
    "Bernoulli": (lambda d, x: d.Bernoulli(x([0.1, 0.6, 0.8])), [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]),
    "Bernoulli-logits": (lambda d, x: d.Bernoulli(logits=x([-2.0, 0.6, 3.0])), [[0.0, 1.0, 1.0]]),
    "Beta": (lambda d, x: d.Beta(x([0.5, 2.0, 3.5]), x([1.5, 1.0, 4.0])), INSIDE),
    "Binomial": (lambda d, x: d.Binomial(6, x([0.1, 0.5, 0.95])), COUNTS),
    "Binomial-logits": (lambda d, x: d.Binomial(6, logits=x([-3.0, 0.5, 2.0])), COUNTS),
    "Categorical": (lambda d, x: d.Categorical(x([[1.0, 3.0, 4.0], [2.0, 2.0, 4.5]])), [0, 2]),
    "Categorical-logits": (lambda d, x: d.Categorical(logits=x([0.3, -1.0, 2.0])), [0, 2, 1]),
    "Cauchy": (lambda d, x: d.Cauchy(x([0.0, 1.0, -1.0]), x([1.0, 0.3, 2.0])), LINE),
    "Chi2": (lambda d, x: d.Chi2(x([0.7, 2.0, 9.0])), POSITIVE),
    "ContinuousBernoulli": (lambda d, x: d.ContinuousBernoulli(x([0.1, 0.5, 0.8])), INSIDE),
    "ContinuousBernoulli-logits": (
        lambda d, x: d.ContinuousBernoulli(logits=x([-2.0, 0.001, 0.8])), INSIDE,
    ),
    "Dirichlet": (lambda d, x: d.Dirichlet(x([[0.5, 2.0, 3.0], [0.3, 0.7, 0.2]])), SHARES),
    "Exponential": (lambda d, x: d.Exponential(x([0.4, 1.0, 3.0])), POSITIVE),
    "FisherSnedecor": (
        lambda d, x: d.FisherSnedecor(x([1.5, 3.0, 5.0]), x([1.0, 3.0, 9.0])), POSITIVE,
    ),
    "Gamma": (lambda d, x: d.Gamma(x([0.4, 1.0, 12.0]), x([0.5, 2.0, 3.0])), POSITIVE),
    "GeneralizedPareto": (
        lambda d, x: d.GeneralizedPareto(
            x([0.0, 0.1, 0.2]), x([1.0, 2.0, 3.0]), x([0.0, 0.4, -0.2])
        ),
        [[0.1, 0.5, 1.7], [2.0, 3.5, 5.0]],
    ),
    "Geometric": (lambda d, x: d.Geometric(x([0.1, 0.5, 0.9])), COUNTS),
    "Geometric-logits": (lambda d, x: d.Geometric(logits=x([-1.0, 0.5, 2.0])), COUNTS),
    "Gumbel": (lambda d, x: d.Gumbel(x([0.0, 1.0, -1.0]), x([1.0, 0.8, 2.0])), LINE),
    "HalfCauchy": (lambda d, x: d.HalfCauchy(x([1.0, 0.3, 2.0])), POSITIVE),
    "HalfNormal": (lambda d, x: d.HalfNormal(x([1.0, 0.8, 2.0])), POSITIVE),
    "Independent": (
        lambda d, x: d.Independent(d.Normal(x([0.0, 1.0, -1.0]), x([1.0, 0.8, 2.0])), 1), LINE,
    ),
    "InverseGamma": (
        lambda d, x: d.InverseGamma(x([0.4, 1.5, 12.0]), x([0.5, 2.0, 3.0])), POSITIVE,
    ),
    "Kumaraswamy": (lambda d, x: d.Kumaraswamy(x([0.5, 2.0, 3.5]), x([1.5, 1.0, 4.0])), INSIDE),
    "Laplace": (lambda d, x: d.Laplace(x([0.0, 1.0, -1.0]), x([1.0, 0.3, 2.0])), LINE),
    "LogNormal": (lambda d, x: d.LogNormal(x([0.0, 1.0, -1.0]), x([1.0, 0.3, 0.5])), POSITIVE),
    "LogisticNormal": (lambda d, x: d.LogisticNormal(x([0.0, 1.0]), x([1.0, 0.3])), SHARES),
    "MixtureSameFamily": (
        lambda d, x: d.MixtureSameFamily(
            d.Categorical(x([0.2, 0.5, 0.3])),
            d.Normal(x([0.0, 1.0, -1.0]), x([1.0, 0.3, 2.0])),
        ),
        LINE,
    ),
    "MixtureSameFamily-vectors": (
        lambda d, x: d.MixtureSameFamily(
            d.Categorical(x([0.2, 0.8])),
            d.Independent(d.Normal(x([[0.0, 1.0, -1.0], [1.0, 0.0, 3.0]]), x([1.0, 0.3, 2.0])), 1),
        ),
        LINE,
    ),
    "Multinomial": (lambda d, x: d.Multinomial(4, x([[1.0, 3.0, 4.0]])), [[1.0, 1.0, 2.0]]),
    "Multinomial-logits": (
        lambda d, x: d.Multinomial(7, logits=x([1.0, 0.0, -2.0])), [[2.0, 1.0, 4.0]],
    ),
    "NegativeBinomial": (
        lambda d, x: d.NegativeBinomial(x([1.0, 2.5, 6.0]), x([0.1, 0.5, 0.8])), COUNTS,
    ),
    "NegativeBinomial-logits": (
        lambda d, x: d.NegativeBinomial(3.0, logits=x([-1.0, 0.5, 0.8])), COUNTS,
    ),
    "Normal": (lambda d, x: d.Normal(x([0.0, 1.0, -1.0]), x([1.0, 0.8, 2.0])), LINE),
    "OneHotCategorical": (
        lambda d, x: d.OneHotCategorical(x([0.2, 0.5, 0.3])), [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
    ),
    "Pareto": (
        lambda d, x: d.Pareto(x([1.0, 0.3, 2.0]), x([0.7, 1.5, 3.0])),
        [[1.2, 0.5, 2.7], [2.0, 3.5, 9.0]],
    ),
    "Poisson": (lambda d, x: d.Poisson(x([0.3, 4.0, 20.5])), COUNTS),
    "RelaxedBernoulli": (lambda d, x: d.RelaxedBernoulli(x(0.7), x([0.1, 0.6, 0.8])), INSIDE),
    "RelaxedBernoulli-logits": (
        lambda d, x: d.RelaxedBernoulli(x(0.7), logits=x([-1.0, 0.6, 0.8])), INSIDE,
    ),
    "RelaxedOneHotCategorical": (
        lambda d, x: d.RelaxedOneHotCategorical(x(0.7), x([0.2, 0.5, 0.3])), SHARES,
    ),
    "StudentT": (
        lambda d, x: d.StudentT(x([0.7, 1.5, 9.0]), x([0.0, 1.0, -1.0]), x([1.0, 0.8, 2.0])), LINE,
    ),
    "TransformedDistribution": (
        lambda d, x: d.TransformedDistribution(
            d.Uniform(x([0.0, 0.0, 0.0]), x(1.0)),
            [d.SigmoidTransform().inv, d.AffineTransform(x([1.0, 0.0, 2.0]), x([2.0, -1.5, 0.5]))],
        ),
        LINE,
    ),
    "Uniform": (lambda d, x: d.Uniform(x([-9.0, 0.0, -8.0]), x([1.0, 4.0, 2.0])), LINE),
    "VonMises": (lambda d, x: d.VonMises(x([0.0, 1.0, -1.0]), x([0.2, 3.0, 50.0])), LINE),
    "Weibull": (lambda d, x: d.Weibull(x([1.0, 0.3, 2.0]), x([1.2, 1.5, 3.0])), POSITIVE),
}  # fmt: skip

COVARIANCE = [[2.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 0.7]]
FACTOR = [[1.3, 0.0, 0.0], [0.5, 0.8, 0.0], [-0.7, 0.2, 2.1]]
MATRIX = [[1.5, 0.2, 0.1], [0.2, 2.5, -0.6], [0.1, -0.6, 1.2]]
NARROW = [[1.0, 0.3], [-0.5, 0.2], [0.7, 1.4]]
CORRELATIONS = [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [-0.48, 0.6, 0.64]]

MATRICES: dict[str, tuple[Build, Any]] = {
    "LKJCholesky": (lambda d, x: d.LKJCholesky(3, x([0.5, 1.0, 4.0])), CORRELATIONS),
    "LowRankMultivariateNormal": (
        lambda d, x: d.LowRankMultivariateNormal(x([0.0, 1.0, 2.0]), x(NARROW), x([0.5, 1.0, 0.1])),
        LINE,
    ),
    "MultivariateNormal": (
        lambda d, x: d.MultivariateNormal(x([0.0, 1.0, 2.0]), x(COVARIANCE)), LINE,
    ),
    "MultivariateNormal-batch": (
        lambda d, x: d.MultivariateNormal(x([[0.0, 1.0, 2.0]]), scale_tril=x([FACTOR, FACTOR])),
        [LINE, LINE],
    ),
    "MultivariateNormal-precision": (
        lambda d, x: d.MultivariateNormal(x([0.0, 1.0, 2.0]), precision_matrix=x(COVARIANCE)), LINE,
    ),
    "Wishart": (lambda d, x: d.Wishart(x([3.5, 6.0]), x(COVARIANCE)), MATRIX),
    "Wishart-tril": (lambda d, x: d.Wishart(x(5.0), scale_tril=x(FACTOR)), MATRIX),
}  # fmt: skip

PAIRED: dict[str, tuple[Build, Build]] = {
    "Bernoulli": (lambda d, x: d.Bernoulli(x([0.1, 0.6])), lambda d, x: d.Bernoulli(x([0.3, 0.5]))),
    "Beta": (
        lambda d, x: d.Beta(x([0.5, 2.0]), x([1.5, 1.0])),
        lambda d, x: d.Beta(x([1.5, 0.7]), x([2.5, 3.0])),
    ),
    "Binomial": (
        lambda d, x: d.Binomial(5, x([0.1, 0.6])), lambda d, x: d.Binomial(5, x([0.3, 0.5])),
    ),
    "Categorical": (
        lambda d, x: d.Categorical(x([0.2, 0.8])), lambda d, x: d.Categorical(x([0.4, 0.6])),
    ),
    "Cauchy": (
        lambda d, x: d.Cauchy(x([0.2, 0.8]), x([1.0, 2.0])),
        lambda d, x: d.Cauchy(x([0.0, -0.8]), x([0.7, 2.5])),
    ),
    "ContinuousBernoulli": (
        lambda d, x: d.ContinuousBernoulli(x([0.1, 0.6])),
        lambda d, x: d.ContinuousBernoulli(x([0.3, 0.8])),
    ),
    "Dirichlet": (
        lambda d, x: d.Dirichlet(x([0.2, 0.8, 3.0])), lambda d, x: d.Dirichlet(x([2.2, 0.3, 1.0])),
    ),
    "Exponential": (
        lambda d, x: d.Exponential(x([0.2, 1.8])), lambda d, x: d.Exponential(x([0.7, 1.0])),
    ),
    "Gamma": (
        lambda d, x: d.Gamma(x([0.2, 1.8]), x([1.0, 0.5])),
        lambda d, x: d.Gamma(x([0.7, 1.0]), x([2.0, 0.3])),
    ),
    "Geometric": (
        lambda d, x: d.Geometric(x([0.2, 0.8])), lambda d, x: d.Geometric(x([0.4, 0.6])),
    ),
    "Gumbel": (
        lambda d, x: d.Gumbel(x([0.2, 1.8]), x([1.0, 0.5])),
        lambda d, x: d.Gumbel(x([0.7, 1.0]), x([2.0, 0.8])),
    ),
    "HalfNormal": (
        lambda d, x: d.HalfNormal(x([0.2, 0.8])), lambda d, x: d.HalfNormal(x([0.4, 0.6])),
    ),
    "Laplace": (
        lambda d, x: d.Laplace(x([0.2, 1.8]), x([1.0, 0.5])),
        lambda d, x: d.Laplace(x([0.7, 1.0]), x([2.0, 0.3])),
    ),
    "LogNormal": (
        lambda d, x: d.LogNormal(x([0.2, 1.8]), x([1.0, 0.5])),
        lambda d, x: d.LogNormal(x([0.7, 1.0]), x([2.0, 0.3])),
    ),
    "LowRankMultivariateNormal": (
        lambda d, x: d.LowRankMultivariateNormal(x([0.0, 1.0, 2.0]), x(NARROW), x([0.5, 1.0, 0.1])),
        lambda d, x: d.LowRankMultivariateNormal(x([0.5, 1.0, 0.0]), x(NARROW), x([1.5, 0.3, 0.4])),
    ),
    "MultivariateNormal": (
        lambda d, x: d.MultivariateNormal(x([[0.0, 1.0, 2.0]]), x(COVARIANCE)),
        lambda d, x: d.MultivariateNormal(x([1.0, 1.0, 0.0]), scale_tril=x([FACTOR, FACTOR])),
    ),
    "Normal": (
        lambda d, x: d.Normal(x([0.2, 1.8]), x([1.0, 0.5])),
        lambda d, x: d.Normal(x([0.7, 1.0]), x([2.0, 0.3])),
    ),
    "OneHotCategorical": (
        lambda d, x: d.OneHotCategorical(x([0.2, 0.8])),
        lambda d, x: d.OneHotCategorical(x([0.4, 0.6])),
    ),
    "Pareto": (
        lambda d, x: d.Pareto(x([1.2, 1.8]), x([3.0, 1.5])),
        lambda d, x: d.Pareto(x([0.1, 2.0]), x([2.0, 0.3])),
    ),
    "Poisson": (lambda d, x: d.Poisson(x([0.2, 5.8])), lambda d, x: d.Poisson(x([0.4, 3.6]))),
    "Wishart": (
        lambda d, x: d.Wishart(x(3.5), x(COVARIANCE)),
        lambda d, x: d.Wishart(x(4.5), scale_tril=x(FACTOR)),
    ),
    "Uniform": (
        lambda d, x: d.Uniform(x([0.2, 0.3]), x([0.9, 0.5])),
        lambda d, x: d.Uniform(x([-0.1, 0.4]), x([2.0, 0.6])),
    ),
}  # fmt: skip
"""Two members of each family: a divergence is that of a first one from a second one."""

NUMBERS = ("entropy", "mean", "mode", "variance", "stddev", "cdf", "icdf", "enumerate_support",
           "covariance_matrix", "precision_matrix", "scale_tril")  # fmt: skip


def asked(one: Any, name: str, values: Any, shares: Any) -> Any:
    """One of NUMBERS."""
    found = getattr(one, name)
    if not callable(found):
        return found
    return found(values) if name == "cdf" else found(shares) if name == "icdf" else found()


def shares_for(one: Any) -> np.ndarray:
    """Probabilities for icdf, of the batch."""
    return np.linspace(0.05, 0.9, int(np.prod(one.batch_shape)) or 1, dtype=np.float32).reshape(
        tuple(one.batch_shape)
    )
