"""What all distributions have."""

from __future__ import annotations

from collections.abc import Sequence

from .. import functions as f
from ..errors import OptionError
from ..grad_mode import no_grad
from ..shape import Shape
from ..tensor import Tensor, asarray

Value = Tensor | float


def floating(*values: Value) -> list[Tensor]:
    """Tensors of one shape; numbers become float32."""
    tensors = [each if isinstance(each, Tensor) else asarray(float(each)) for each in values]
    return f.broadcast_arrays(*tensors)


class Distribution:
    """Independent variables of one family.

    batch_shape: of the parameters, one distribution for each. event_shape: of one draw. A value
    whose probability is asked for has the shape sample_shape + batch_shape + event_shape, or one
    that broadcasts to it. Parameters are not checked: to look at them would wait for the device.
    """

    has_rsample = False
    """Whether gradients pass draws, from `rsample`, to the parameters."""

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = ()) -> None:
        self.batch_shape: Shape = tuple(batch_shape)
        self.event_shape: Shape = tuple(event_shape)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(batch_shape={self.batch_shape}, event_shape={self.event_shape})"

    def _drawn_shape(self, sample_shape: Sequence[int]) -> Shape:
        return (*sample_shape, *self.batch_shape, *self.event_shape)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draws, sample_shape + batch_shape + event_shape, through which no gradient passes."""
        with no_grad():
            return self.rsample(sample_shape).detach()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draws through which gradients pass to the parameters. Raises OptionError for a family
        that has none."""
        raise self._lacks("rsample")

    def log_prob(self, value: Value) -> Tensor:
        """The logarithm of the probability, or of its density, at a value."""
        raise self._lacks("log_prob")

    def entropy(self) -> Tensor:
        """The entropy in nats, in the batch's shape."""
        raise self._lacks("entropy")

    def cdf(self, value: Value) -> Tensor:
        """The probability of at most this value."""
        raise self._lacks("cdf")

    def icdf(self, value: Value) -> Tensor:
        """The value below which a draw is with this probability."""
        raise self._lacks("icdf")

    @property
    def mean(self) -> Tensor:
        raise self._lacks("mean")

    @property
    def mode(self) -> Tensor:
        raise self._lacks("mode")

    @property
    def variance(self) -> Tensor:
        raise self._lacks("variance")

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return f.sqrt(self.variance)

    def perplexity(self) -> Tensor:
        """e to the entropy."""
        return f.exp(self.entropy())

    def _lacks(self, what: str) -> OptionError:
        return OptionError(f"{type(self).__name__} has no {what}")
