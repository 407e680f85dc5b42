"""Transforms of all numbers to a region, looked up by its class. PyTorch's names.

`biject_to` gives bijective ones, whose volumes are known; `transform_to` ones to optimise by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import MissingError, OptionError
from . import constraints, transforms
from .constraints import Constraint
from .transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """Transforms by the classes of constraints."""

    def __init__(self) -> None:
        self._registry: dict[type[Constraint], Factory] = {}

    def register(
        self, constraint: Constraint | type[Constraint], factory: Factory | None = None
    ) -> Any:
        """Registers the function that makes the transform to constraints of this class; without
        one, returns a decorator for it. Raises OptionError for what is no constraint."""
        if factory is None:
            return lambda given: self.register(constraint, given)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, Constraint):
            raise OptionError(f"register: {constraint!r} is no constraint")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """The transform to a region. Raises MissingError if there is none."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise MissingError(f"there is no transform to {constraint!r}; add one with register")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _interval(region: constraints._Between) -> Transform:
    low, high = region.lower_bound, region.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform(
        [transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)]
    )


def _above(region: constraints._Above) -> Transform:
    if isinstance(region.lower_bound, (int, float)) and region.lower_bound == 0:
        return transforms.ExpTransform()
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(region.lower_bound, 1)]
    )


def _below(region: constraints._Below) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(region.upper_bound, -1)]
    )


def _register_in(registry: ConstraintRegistry) -> None:
    """What both registries have."""

    def independent(region: constraints.independent) -> Transform:
        base = registry(region.base_constraint)
        return transforms.IndependentTransform(base, region.reinterpreted_batch_ndims)

    def cat(region: constraints.cat) -> Transform:
        parts = [registry(each) for each in region.cseq]
        return transforms.CatTransform(parts, region.dim, region.lengths)

    def stack(region: constraints.stack) -> Transform:
        return transforms.StackTransform([registry(each) for each in region.cseq], region.dim)

    registry.register(constraints.real, lambda region: transforms.identity_transform)
    registry.register(constraints.greater_than, _above)
    registry.register(constraints.greater_than_eq, _above)
    registry.register(constraints.less_than, _below)
    registry.register(constraints.interval, _interval)
    registry.register(constraints.half_open_interval, _interval)
    registry.register(constraints.corr_cholesky, lambda region: transforms.CorrCholeskyTransform())
    registry.register(constraints.independent, independent)
    registry.register(constraints.cat, cat)
    registry.register(constraints.stack, stack)


_register_in(biject_to)
_register_in(transform_to)
biject_to.register(constraints.simplex, lambda region: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda region: transforms.SoftmaxTransform())
transform_to.register(
    constraints.lower_cholesky, lambda region: transforms.LowerCholeskyTransform()
)
for _region in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_region, lambda region: transforms.PositiveDefiniteTransform())
