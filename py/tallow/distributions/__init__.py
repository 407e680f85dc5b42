"""Probability distributions to draw from and to differentiate through, under PyTorch's names."""

from . import constraints, transforms
from .constraint_registry import biject_to, transform_to
from .continuous import (
    Cauchy,
    Exponential,
    GeneralizedPareto,
    Gumbel,
    Laplace,
    Normal,
    Uniform,
    VonMises,
)
from .counts import Binomial, Geometric, Multinomial, NegativeBinomial, Poisson
from .discrete import (
    Bernoulli,
    Categorical,
    ContinuousBernoulli,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from .distribution import Distribution, ExponentialFamily
from .divergence import kl_divergence, register_kl
from .gamma import Beta, Chi2, Dirichlet, FisherSnedecor, Gamma, StudentT
from .independent import Independent
from .mixture import MixtureSameFamily
from .multivariate import (
    LKJCholesky,
    LowRankMultivariateNormal,
    MultivariateNormal,
    Wishart,
)
from .powers import InverseGamma, Kumaraswamy, Pareto, Weibull
from .relaxed import ExpRelaxedCategorical as ExpRelaxedCategorical
from .relaxed import LogitRelaxedBernoulli as LogitRelaxedBernoulli
from .relaxed import RelaxedBernoulli, RelaxedOneHotCategorical
from .transformed import (
    HalfCauchy,
    HalfNormal,
    LogisticNormal,
    LogNormal,
    TransformedDistribution,
)
from .transforms import *  # noqa: F403

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli",
    "Dirichlet", "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma",
    "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent",
    "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal",
    "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto",
    "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT",
    "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart", "biject_to",
    "constraints", "kl_divergence", "register_kl", "transform_to", "transforms",
    *transforms.__all__,
]  # fmt: skip
