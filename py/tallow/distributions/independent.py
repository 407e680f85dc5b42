"""Several variables as one."""

from __future__ import annotations

from collections.abc import Sequence

from .. import functions as f
from ..errors import OptionError
from ..tensor import Tensor
from .distribution import Distribution, Value


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
        super().__init__(whole[:kept], (*whole[kept:], *base_distribution.event_shape))

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def added(self, x: Tensor) -> Tensor:
        """The sum over the axes that belong to one draw."""
        return f.sum(x, axis=tuple(range(-self.reinterpreted_batch_ndims, 0)))

    def log_prob(self, value: Value) -> Tensor:
        return self.added(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        return self.added(self.base_dist.entropy())

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance
