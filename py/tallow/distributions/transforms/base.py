"""What all transforms are, and what several of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from ... import functions as f
from ...core.shape import Shape
from ...errors import MissingError, OptionError, ShapeError
from ...tensor import Tensor
from .. import constraints
from ..constraints import Constraint, dependent_property

Sign = int | Tensor


class Transform:
    """A function of tensors. domain, codomain: where its arguments and its results lie. bijective:
    whether `inv` undoes it everywhere.

    cache_size: 1 keeps the last argument with its result, so that the inverse of that very result
    is that very argument; 0 keeps nothing. Raises OptionError for another number.
    """

    _made_of: ClassVar[tuple[str, ...]] = ()
    """The attributes that the constructor is given, in its order."""

    bijective: bool = False
    domain: Constraint = constraints.real
    codomain: Constraint = constraints.real

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise OptionError(f"{type(self).__name__}: cache_size {cache_size} is not 0 or 1")
        self._cache_size = cache_size
        self._inv: Transform | None = None
        self._cached: tuple[Tensor, Tensor] | None = None

    @property
    def event_dim(self) -> int:
        """How many of the last axes make up one value. Raises OptionError if that differs between
        arguments and results."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise OptionError(f"{self!r}: ask domain.event_dim or codomain.event_dim")
        return self.domain.event_dim

    @property
    def inv(self) -> Transform:
        """The inverse, of which `inv` is this transform."""
        if self._inv is None:
            self._inv = _Inverse(self)
        return self._inv

    @property
    def sign(self) -> Sign:
        """1 for a transform that grows, -1 for one that falls. Raises MissingError for others."""
        raise MissingError(f"{self!r} has no sign")

    def with_cache(self, cache_size: int = 1) -> Self:
        """This transform, or the same one with such a cache."""
        return self if cache_size == self._cache_size else self._again(cache_size)

    def _again(self, cache_size: int) -> Self:
        if not self._made_of and type(self).__init__ is not Transform.__init__:
            raise MissingError(f"{type(self).__name__} has no with_cache")
        kind: Callable[..., Self] = type(self)
        return kind(*self._made(), cache_size=cache_size)

    def _made(self) -> list[Any]:
        return [getattr(self, name) for name in self._made_of]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transform) or type(self) is not type(other):
            return False
        return self is other or bool(self._same(other))

    __hash__ = object.__hash__

    def _same(self, other: Transform) -> bool:
        """Whether another one of this class is the same function."""
        if not self._made_of:
            return type(self).__init__ is Transform.__init__
        return all(map(_equal, self._made(), other._made()))

    def __call__(self, x: Tensor) -> Tensor:
        if not self._cache_size:
            return self._call(x)
        if self._cached is not None and self._cached[0] is x:
            return self._cached[1]
        y = self._call(x)
        self._cached = x, y
        return y

    def inverted(self, y: Tensor) -> Tensor:
        """The argument of which y is the result."""
        if not self._cache_size:
            return self._inverse(y)
        if self._cached is not None and self._cached[1] is y:
            return self._cached[0]
        x = self._inverse(y)
        self._cached = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise MissingError(f"{self!r} has no value")

    def _inverse(self, y: Tensor) -> Tensor:
        raise MissingError(f"{self!r} has no inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of the size of the determinant of dy / dx, at an argument and its result.
        Raises MissingError for a transform that has none."""
        raise MissingError(f"{self!r} has no log_abs_det_jacobian")

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        """The shape of results of arguments of a shape. Raises ShapeError if there are none."""
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        """The shape of arguments with results of a shape. Raises ShapeError if there are none."""
        return tuple(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor) or isinstance(other, Tensor):
        return one is other or bool(f.all(f.equal(one, other)))
    return bool(one == other)


class Growing(Transform):
    """A transform of numbers that grows everywhere."""

    bijective = True

    @property
    def sign(self) -> Sign:
        return 1


class _Inverse(Transform):
    """The inverse of another transform."""

    _made_of = ("forward",)

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self.forward = self._inv = transform

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.forward.bijective

    @dependent_property
    def domain(self) -> Constraint:
        return self.forward.codomain

    @dependent_property
    def codomain(self) -> Constraint:
        return self.forward.domain

    @property
    def sign(self) -> Sign:
        return self.forward.sign

    def _again(self, cache_size: int) -> Self:
        return type(self)(self.forward.with_cache(cache_size))

    def __call__(self, x: Tensor) -> Tensor:
        return self.forward.inverted(x)

    def inverted(self, y: Tensor) -> Tensor:
        return self.forward(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self.forward.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        return self.forward.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        return self.forward.forward_shape(shape)

    def __repr__(self) -> str:
        return f"Inverse({self.forward!r})"


def widened(region: Constraint, axes: int) -> Constraint:
    """A region of which a value has at least so many axes."""
    more = axes - region.event_dim
    return constraints.independent(region, more) if more else region


def last_axes(shape: Sequence[int], count: int, transform: Transform) -> Shape:
    """The last axes of a shape. Raises ShapeError if there are not as many."""
    if len(shape) < count:
        raise ShapeError(f"{transform!r}: {tuple(shape)} has fewer than {count} axes")
    return tuple(shape[len(shape) - count :])
