"""Families of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functional
from .. import functions as f
from ..core.shape import Shape
from ..errors import MissingError, OptionError
from ..functions.gamma import lgamma
from ..functions.special import xlogy
from ..tensor import Tensor, host_values
from . import constraints, draws
from .constraints import Constraint, dependent_property
from .discrete import Categorical, Chances
from .distribution import Distribution, ExponentialFamily
from .utils import Value, broadcast_all, floating


class Poisson(ExponentialFamily):
    """How often something happens in a unit of time that happens `rate` times on average."""

    arg_constraints = {"rate": constraints.nonnegative}  # noqa: RUF012
    support = constraints.nonnegative_integer

    def __init__(self, rate: Value, validate_args: bool | None = None) -> None:
        (self.rate,) = floating(rate)
        super().__init__(self.rate.shape, (), validate_args)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return draws.poisson_draws(self.rate, self._extended_shape(sample_shape))

    def log_prob(self, value: Value) -> Tensor:
        (count,) = floating(self._validate_sample(value))
        return xlogy(count, self.rate) - self.rate - draws.log_factorial(count)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return f.floor(self.rate)

    @property
    def variance(self) -> Tensor:
        return self.rate

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (f.log(self.rate),)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return f.exp(natural_params[0])


class Geometric(Chances):
    """How many attempts fail before the first that succeeds. Raises OptionError for a probability
    that is known to be 0."""

    support = constraints.nonnegative_integer

    def __init__(
        self,
        probs: Value | None = None,
        logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(probs, logits, validate_args)
        if self._by_probs and self._validate_args is not False:
            self._check_one("probs", self.probs, constraints.positive, bool(self._validate_args))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        probs = self.probs.detach()
        even = f.rand(self._extended_shape(sample_shape))
        return f.floor(f.log(even) / f.log1p(-probs)).astype(probs.dtype)

    def log_prob(self, value: Value) -> Tensor:
        (count,) = floating(self._validate_sample(value))
        fails = f.where((self.probs == 1) & (count == 0), 0.0, self.probs)
        return count * f.log1p(-fails) + f.log(self.probs)

    def entropy(self) -> Tensor:
        loss = functional.binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none"
        )
        return loss / self.probs

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return f.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs


class _Attempts(Chances):
    """A family of a number of attempts, which broadcasts to the chances."""

    total_count: Tensor

    def __init__(
        self,
        total_count: Value,
        probs: Value | None = None,
        logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = self._given(probs, logits)
        self.total_count, given = broadcast_all(total_count, given)
        self.total_count = self.total_count.astype(given.dtype)
        vars(self)["probs" if self._by_probs else "logits"] = given
        Distribution.__init__(self, given.shape, (), validate_args)


class Binomial(_Attempts):
    """How many of total_count attempts succeed."""

    has_enumerate_support = True
    arg_constraints = {  # noqa: RUF012
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    def __init__(
        self,
        total_count: Value = 1,
        probs: Value | None = None,
        logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return draws.binomial_draws(self.total_count, self.probs, shape)

    def log_prob(self, value: Value) -> Tensor:
        (count,) = floating(self._validate_sample(value))
        n, logits = self.total_count, self.logits
        ways = lgamma(n + 1.0) - lgamma(count + 1.0) - lgamma(n - count + 1.0)
        # n log(1 + exp(logits)), without overflow.
        scale = n * (f.maximum(logits, 0.0) + f.log1p(f.exp(-f.abs(logits))))
        return count * logits + ways - scale

    def _same_count(self, what: str) -> int:
        """The number of attempts, which is read. Raises MissingError if it differs."""
        least, most = host_values([f.min(self.total_count), f.max(self.total_count)])
        if least.item() != most.item():
            raise MissingError(f"{what}: total_count differs from {least.item()} to {most.item()}")
        return int(most.item())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All counts, along a first axis. Raises MissingError if total_count differs."""
        count = self._same_count("enumerate_support")
        return self._listed(f.arange(count + 1).astype(self.probs.dtype), expand)

    def entropy(self) -> Tensor:
        """The sum over all counts. Raises MissingError if total_count differs."""
        logs = self.log_prob(self.enumerate_support(False))
        return -f.sum(f.exp(logs) * logs, axis=0)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return f.minimum(f.floor((self.total_count + 1.0) * self.probs), self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1.0 - self.probs)


class NegativeBinomial(_Attempts):
    """How many attempts succeed before total_count, which need not be whole, have failed."""

    arg_constraints = {  # noqa: RUF012
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        count = f.where(self.total_count > 0, self.total_count, 1.0)
        rate = draws.standard_gamma(count, shape) * f.exp(self.logits)
        rate = f.where(self.total_count > 0, rate, 0.0)
        return draws.poisson_draws(rate.detach(), shape)

    def log_prob(self, value: Value) -> Tensor:
        (count,) = floating(self._validate_sample(value))
        n, logits = self.total_count, self.logits
        chances = -n * functional.softplus(logits) - count * functional.softplus(-logits)
        held = f.where(n + count == 0, 1.0, n)
        ways = lgamma(held + count) - lgamma(1.0 + count) - lgamma(held)
        return chances + f.where(n + count == 0, 0.0, ways)

    @property
    def mean(self) -> Tensor:
        return self.total_count * f.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return f.maximum(f.floor((self.total_count - 1.0) * f.exp(self.logits)), 0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / functional.sigmoid(-self.logits)


class Multinomial(Distribution):
    """How many of total_count draws fall on each of the categories along the last axis. probs and
    logits as of `Categorical`.

    Raises OptionError for a negative total_count, or one that is not whole.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int) or total_count < 0:
            raise OptionError(f"Multinomial: total_count {total_count!r} is no number of draws")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits, validate_args)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Shape:
        """The shape of the probabilities."""
        return self._categorical.param_shape

    @dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Constraint:
        return constraints.multinomial(self.total_count)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        index = self._categorical.sample((self.total_count, *sample_shape))
        found = functional.one_hot(index, self.event_shape[-1])
        return f.sum(found.astype(self.probs.dtype), axis=0)

    def log_prob(self, value: Value) -> Tensor:
        (count,) = floating(self._validate_sample(value))
        never = (count == 0) & f.isinf(self.logits)
        logs = f.sum(f.where(never, 0.0, self.logits) * count, axis=-1)
        ways = draws.log_factorial(f.sum(count, axis=-1))
        return ways - f.sum(draws.log_factorial(count), axis=-1) + logs

    def entropy(self) -> Tensor:
        n = self.total_count
        found = n * self._categorical.entropy() - math.lgamma(n + 1)
        if n < 2:
            return found
        binomial = Binomial(n, self.probs, validate_args=False)
        counts = f.arange(1, n + 1).astype(self.probs.dtype)
        counts = f.reshape(counts, (-1, *(1,) * self.probs.ndim))
        shares = f.exp(binomial.log_prob(counts))
        return found + f.sum(shares * draws.log_factorial(counts), axis=(0, -1))

    @property
    def mean(self) -> Tensor:
        return self.probs * float(self.total_count)

    @property
    def variance(self) -> Tensor:
        return float(self.total_count) * self.probs * (1.0 - self.probs)


__all__ = ["Binomial", "Geometric", "Multinomial", "NegativeBinomial", "Poisson"]
