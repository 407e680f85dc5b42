"""Probability distributions to draw from and to differentiate through, under PyTorch's names."""

from .continuous import Exponential, Gumbel, Laplace, LogNormal, Normal, Uniform
from .discrete import Bernoulli, Categorical, OneHotCategorical
from .distribution import Distribution
from .divergence import kl_divergence, register_kl
from .independent import Independent

__all__ = [
    "Bernoulli", "Categorical", "Distribution", "Exponential", "Gumbel", "Independent", "Laplace",
    "LogNormal", "Normal", "OneHotCategorical", "Uniform", "kl_divergence", "register_kl",
]  # fmt: skip
