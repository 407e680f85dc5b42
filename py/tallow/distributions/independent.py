"""Several variables as one."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import OptionError
from ..tensor import Tensor
from . import constraints
from .constraints import Constraint, dependent_property
from .distribution import Distribution
from .utils import Value, sum_rightmost


class Independent(Distribution):
    """Another distribution, of whose batch the last axes belong to one draw: log-probabilities and
    entropies are added up along them."""

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        whole, count = base_distribution.batch_shape, reinterpreted_batch_ndims
        if not 0 <= count <= len(whole):
            raise OptionError(
                f"Independent: reinterpreted_batch_ndims={count}, but the batch {whole} has "
                f"{len(whole)} axes"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        kept = len(whole) - count
        event = (*whole[kept:], *base_distribution.event_shape)
        super().__init__(whole[:kept], event, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    @dependent_property
    def support(self) -> Constraint:
        region, count = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(region, count) if count else region

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def added(self, x: Tensor) -> Tensor:
        """The sum over the axes that belong to one draw."""
        return sum_rightmost(x, self.reinterpreted_batch_ndims)

    def log_prob(self, value: Value) -> Tensor:
        return self.added(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        return self.added(self.base_dist.entropy())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Raises MissingError if axes of the batch belong to one draw."""
        if self.reinterpreted_batch_ndims:
            raise self._lacks("enumerate_support")
        return self.base_dist.enumerate_support(expand)

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
