"""What all distributions have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from typing import ClassVar, Self

from .. import functions as f
from ..autodiff.everything import grad
from ..compile.passes.fold import MAX_ELEMENTS, host_value
from ..core.hostarray import HostArray
from ..core.shape import Shape, broadcast_shapes
from ..errors import MissingError, OptionError, ShapeError
from ..grad_mode import no_grad
from ..graph import Node
from ..ops import movement
from ..tensor import Tensor, asarray
from .constraints import Constraint, dependent, is_dependent
from .utils import Value, sum_rightmost

_SMALL = 3  # ops between what the host has and a value that is looked at


def _host_data(node: Node) -> HostArray | None:
    """The data behind a node that only broadcasts them."""
    while node.op in (movement.reshape, movement.expand):
        node = node.inputs[0]
    data: HostArray | None = node.attrs["data"] if node.is_constant else None
    return data if data is not None and data.size <= MAX_ELEMENTS else None


def wrong(holds: Tensor, value: Tensor, looks: bool) -> bool:
    """Whether a condition on a value is known not to hold. looks: computes it, if need be."""
    if looks:
        return not bool(f.all(holds))
    if value.node.depth > _SMALL:
        return False
    found = host_value(f.all(holds).node)
    return found is not None and not found.item()


def outside(region: Constraint, value: Tensor, looks: bool) -> bool:
    """Whether a value is known to lie outside of a region. looks: computes it, if need be."""
    if not looks:
        data = _host_data(value.node)
        if data is None and value.node.depth > _SMALL:
            return False
        if data is not None and data.size:
            answers = [region.holds(number) for number in data.flat()]
            if None not in answers:
                return not all(answers)
    return wrong(region.check(value), value, looks)


class Distribution:
    """Independent variables of one family.

    batch_shape: of the parameters, one distribution for each. event_shape: of one draw. A value
    whose probability is asked for has the shape sample_shape + batch_shape + event_shape, or one
    that broadcasts to it.

    validate_args: True looks at parameters and values, which waits for the device, and raises
    OptionError, a ValueError, for those outside of their constraints. False looks at none. By
    default those are looked at that the host has: numbers, and small tensors that nothing computes.
    """

    has_rsample: bool = False
    """Whether gradients pass draws, from `rsample`, to the parameters."""

    has_enumerate_support: bool = False
    """Whether all values can be listed, by `enumerate_support`."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {}
    """The regions in which parameters lie, by their names."""

    support: Constraint = dependent
    """The region in which draws lie."""

    _alike: ClassVar[tuple[str, ...]] = ()
    """Parameters that are the same for the whole batch."""

    _default_validate_args: ClassVar[bool | None] = None

    @staticmethod
    def set_default_validate_args(value: bool | None) -> None:
        """What `validate_args` is where it is not given; None is as before any call."""
        if value not in (True, False, None):
            raise OptionError(f"set_default_validate_args: {value!r} is not True, False or None")
        Distribution._default_validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = (),
        event_shape: Sequence[int] = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape: Shape = tuple(batch_shape)
        self._event_shape: Shape = tuple(event_shape)
        default = Distribution._default_validate_args
        self._validate_args = default if validate_args is None else validate_args
        if self._validate_args is not False:
            self._check_parameters(bool(self._validate_args))

    def _check_parameters(self, looks: bool) -> None:
        for name, constraint in self.arg_constraints.items():
            value = vars(self).get(name)
            if value is None or is_dependent(constraint):
                continue
            self._check_one(name, asarray(value), constraint, looks)

    def _check_one(self, name: str, value: Tensor, constraint: Constraint, looks: bool) -> None:
        if outside(constraint, value, looks):
            raise OptionError(
                f"{type(self).__name__}: {name} must lie in {constraint!r}, and does not: {value!r}"
            )

    @property
    def batch_shape(self) -> Shape:
        """The shape of the parameters: one distribution for each."""
        return self._batch_shape

    @property
    def event_shape(self) -> Shape:
        """The shape of one draw."""
        return self._event_shape

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}(batch_shape={self.batch_shape}, event_shape={self.event_shape})"

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Shape:
        return (*sample_shape, *self.batch_shape, *self.event_shape)

    def _validate_sample(self, value: Value) -> Tensor:
        """A value as a tensor. Raises ShapeError if it does not fit the batch and the event,
        OptionError if it is known to lie outside of the support."""
        tensor = asarray(value)
        axes = len(self.event_shape)
        if tensor.shape[tensor.ndim - axes :] != self.event_shape and axes:
            shape = tensor.shape
            ends = zip(reversed(shape), reversed(self.event_shape), strict=False)
            if len(shape) < axes or any(a != b and 1 not in (a, b) for a, b in ends):
                raise ShapeError(
                    f"{type(self).__name__}: a value {shape} does not end with {self.event_shape}"
                )
        broadcast_shapes(tensor.shape, self._extended_shape(), what=f"{type(self).__name__}: value")
        if self._validate_args is not False:
            self._check_value(tensor, bool(self._validate_args))
        return tensor

    def _check_value(self, value: Tensor, looks: bool) -> None:
        try:
            support = self.support
        except MissingError:
            return
        if not is_dependent(support) and outside(support, value, looks):
            raise OptionError(
                f"{type(self).__name__}: a value must lie in {support!r}, and does not: {value!r}"
            )

    def expand(self, batch_shape: Sequence[int], _instance: object = None) -> Self:
        """The same distributions, broadcast to another batch shape. Raises ShapeError."""
        own, wanted = self.batch_shape, tuple(batch_shape)
        new = copy(self)
        for name, value in vars(self).items():
            if name in self._alike:
                continue
            if isinstance(value, Tensor) and value.shape[: len(own)] == own:
                made: Tensor | Distribution = f.broadcast_to(
                    f.reshape(value, (*(1,) * (len(wanted) - len(own)), *value.shape)),
                    (*wanted, *value.shape[len(own) :]),
                )
            elif isinstance(value, Distribution) and value.batch_shape[: len(own)] == own:
                made = value.expand((*wanted, *value.batch_shape[len(own) :]))
            else:
                continue
            setattr(new, name, made)
        new._batch_shape = wanted
        return new

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draws, sample_shape + batch_shape + event_shape, through which no gradient passes."""
        with no_grad():
            return self.rsample(sample_shape).detach()

    def sample_n(self, n: int) -> Tensor:
        """n draws."""
        return self.sample((n,))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draws through which gradients pass to the parameters. Raises MissingError for a family
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

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a first axis; expand: of the whole batch, or with axes of length 1."""
        raise self._lacks("enumerate_support")

    def _listed(self, values: Tensor, expand: bool) -> Tensor:
        """Values along a first axis, for the batch."""
        found = f.reshape(values, (-1, *(1,) * len(self.batch_shape)))
        return f.broadcast_to(found, (found.shape[0], *self.batch_shape)) if expand else found

    @property
    def mean(self) -> Tensor:
        """The mean of draws. Raises MissingError for a family that has none."""
        raise self._lacks("mean")

    @property
    def mode(self) -> Tensor:
        """The value of the greatest density. Raises MissingError for a family that has none."""
        raise self._lacks("mode")

    @property
    def variance(self) -> Tensor:
        """The variance of draws. Raises MissingError for a family that has none."""
        raise self._lacks("variance")

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return f.sqrt(self.variance)

    def perplexity(self) -> Tensor:
        """e to the entropy."""
        return f.exp(self.entropy())

    def _lacks(self, what: str) -> MissingError:
        return MissingError(f"{type(self).__name__} has no {what}")


class ExponentialFamily(Distribution):
    """Families whose density is h(x) exp(<natural parameters, t(x)> - A(natural parameters)), of
    which entropy and divergence follow from the derivatives of A (Nielsen and Nock 2010)."""

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise self._lacks("_natural_params")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise self._lacks("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Value:
        raise self._lacks("_mean_carrier_measure")

    def log_normalizer_and_means(self) -> tuple[Tensor, list[Tensor]]:
        """A at the natural parameters, and its derivatives by them: the means of t(x)."""
        natural = self._natural_params
        normalizer = self._log_normalizer(*natural)
        argnums = tuple(range(len(natural)))

        def total(*given: Tensor) -> Tensor:
            return f.sum(self._log_normalizer(*given))

        return normalizer, list(grad(total, argnums)(*natural))

    def entropy(self) -> Tensor:
        normalizer, means = self.log_normalizer_and_means()
        found = normalizer - self._mean_carrier_measure
        for value, mean in zip(self._natural_params, means, strict=True):
            found = found - sum_rightmost(value * mean, value.ndim - len(self.batch_shape))
        return found


HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
EULER = 0.5772156649015329
"""Euler's constant."""
