"""Regions of values: what parameters must satisfy, and where draws lie. PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import functions as f
from ..errors import MissingError, OptionError, ShapeError
from ..functions.data_types import finfo
from ..functions.products import norm
from ..functions.selection import narrow, select
from ..functions.shapes import diagonal
from ..tensor import Tensor, asarray

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
    "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky",
    "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector",
    "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip

Bound = Tensor | float


def _joined(holds: Tensor, count: int) -> Tensor:
    """Whether it holds all over the last axes."""
    return f.all(holds, axis=tuple(range(-count, 0))) if count else holds


class Constraint:
    """A region. is_discrete: whether it consists of separate values. event_dim: how many of the
    last axes make up one value."""

    _discrete: bool | None = False
    _axes: int | None = 0

    @property
    def is_discrete(self) -> bool:
        """Whether it consists of separate values."""
        if self._discrete is None:
            raise MissingError("is_discrete follows from the parameters of a distribution")
        return self._discrete

    @property
    def event_dim(self) -> int:
        """How many of the last axes make up one value."""
        if self._axes is None:
            raise MissingError("event_dim follows from the parameters of a distribution")
        return self._axes

    def check(self, value: Tensor) -> Tensor:
        """Where values lie in the region: truth values, without the last event_dim axes."""
        raise MissingError(f"{self!r} has no check")

    def holds(self, number: float) -> bool | None:
        """Whether a number lies in the region; None where that is not known without tensors."""
        return None

    def _described(self) -> str:
        return ""

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}({self._described()})"


class _Dependent(Constraint):
    """A region that follows from other parameters."""

    def __init__(self, *, is_discrete: bool | None = None, event_dim: int | None = None) -> None:
        self._discrete, self._axes = is_discrete, event_dim

    def __call__(
        self, *, is_discrete: bool | None = None, event_dim: int | None = None
    ) -> _Dependent:
        """The same, with what is known of it."""
        return _Dependent(
            is_discrete=self._discrete if is_discrete is None else is_discrete,
            event_dim=self._axes if event_dim is None else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        """Raises OptionError."""
        raise OptionError("a dependent constraint checks nothing: ask the distribution for its own")


class dependent_property(property, Constraint):  # noqa: N801 - PyTorch's name
    """A property that gives a region; of the class, a region that follows from parameters."""

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: bool | None = None,
        event_dim: int | None = None,
    ) -> None:
        super().__init__(fn)
        self._discrete, self._axes = is_discrete, event_dim

    def __call__(self, fn: Callable[..., Any]) -> dependent_property:
        """Decorates, with options."""
        return dependent_property(fn, is_discrete=self._discrete, event_dim=self._axes)


def is_dependent(constraint: object) -> bool:
    """Whether a region follows from other parameters."""
    return isinstance(constraint, (_Dependent, dependent_property))


class independent(Constraint):  # noqa: N801
    """Another region, of which the last axes belong to one value."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        if reinterpreted_batch_ndims < 0:
            raise OptionError(f"independent: {reinterpreted_batch_ndims} axes")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def holds(self, number: float) -> bool | None:
        return self.base_constraint.holds(number)

    def check(self, value: Tensor) -> Tensor:
        """Raises ShapeError for a value of too few axes."""
        holds = self.base_constraint.check(value)
        if holds.ndim < self.reinterpreted_batch_ndims:
            raise ShapeError(f"{self!r}: a value has {self.event_dim} axes, not {value.ndim}")
        return _joined(holds, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The region of all components of a mixture, of which a value has no axis."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        """Raises ShapeError for a value of too few axes."""
        if value.ndim < self.event_dim:
            raise ShapeError(f"{self!r}: a value has {self.event_dim} axes, not {value.ndim}")
        holds = self.base_constraint.check(f.expand_dims(value, -1 - self.event_dim))
        return _joined(holds, holds.ndim - (value.ndim - self.event_dim))

    def _described(self) -> str:
        return repr(self.base_constraint)


class _Boolean(Constraint):
    """0 or 1."""

    _discrete = True

    def holds(self, number: float) -> bool | None:
        return number in (0, 1)

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """1 at one index of the last axis, 0 elsewhere."""

    _discrete, _axes = True, 1

    def check(self, value: Tensor) -> Tensor:
        truths = f.all((value == 0) | (value == 1), axis=-1)
        return truths & (f.sum(value, axis=-1) == 1)


class _Bounded(Constraint):
    """A region between bounds."""

    lower_bound: Bound
    upper_bound: Bound

    def _described(self) -> str:
        names = [name for name in ("lower_bound", "upper_bound") if name in vars(self)]
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)


def _within(number: float, low: Bound, high: Bound, also: bool | Tensor = True) -> bool | None:
    """Whether a number lies between two; None if one is a tensor."""
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        return None
    return low <= number <= high and bool(also)


class _Above(_Bounded):
    def __init__(self, lower_bound: Bound) -> None:
        self.lower_bound = lower_bound


class _Below(_Bounded):
    def __init__(self, upper_bound: Bound) -> None:
        self.upper_bound = upper_bound


class _Between(_Bounded):
    def __init__(self, lower_bound: Bound, upper_bound: Bound) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound


class _IntegerInterval(_Between):
    """Whole numbers, both bounds included."""

    _discrete = True

    def holds(self, number: float) -> bool | None:
        return _within(number, self.lower_bound, self.upper_bound, number % 1 == 0)

    def check(self, value: Tensor) -> Tensor:
        within = (value >= self.lower_bound) & (value <= self.upper_bound)
        return within & (value % 1 == 0)


class _IntegerGreaterThan(_Above):
    """Whole numbers from a bound on."""

    _discrete = True

    def holds(self, number: float) -> bool | None:
        return _within(number, self.lower_bound, math.inf, number % 1 == 0)

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Real(Constraint):
    """All numbers and infinities."""

    def holds(self, number: float) -> bool | None:
        return number == number

    def check(self, value: Tensor) -> Tensor:
        return f.equal(value, value)


class _GreaterThan(_Above):
    """More than a bound."""

    def holds(self, number: float) -> bool | None:
        return _within(number, self.lower_bound, math.inf, number != self.lower_bound)

    def check(self, value: Tensor) -> Tensor:
        return value > self.lower_bound


class _GreaterThanEq(_Above):
    """At least a bound."""

    def holds(self, number: float) -> bool | None:
        return _within(number, self.lower_bound, math.inf)

    def check(self, value: Tensor) -> Tensor:
        return value >= self.lower_bound


class _LessThan(_Below):
    """Less than a bound."""

    def holds(self, number: float) -> bool | None:
        return _within(number, -math.inf, self.upper_bound, number != self.upper_bound)

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Between):
    """Both bounds included."""

    def holds(self, number: float) -> bool | None:
        return _within(number, self.lower_bound, self.upper_bound)

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """The upper bound excluded."""

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Numbers of at least 0 along the last axis, which add up to 1."""

    _axes = 1

    def check(self, value: Tensor) -> Tensor:
        total = f.sum(value, axis=-1)
        return f.all(value >= 0, axis=-1) & (f.abs(total - 1.0) < 1e-6)


class _Multinomial(Constraint):
    """Counts along the last axis, which add up to a number at most."""

    _discrete, _axes = True, 1

    def __init__(self, upper_bound: Bound) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return f.all(value >= 0, axis=-1) & (f.sum(value, axis=-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    """Matrices with zeros above the diagonal."""

    _axes = 2

    def check(self, value: Tensor) -> Tensor:
        rows, columns = value.shape[-2:]
        below = [[column <= row for column in range(columns)] for row in range(rows)]
        return _joined(f.where(asarray(below), True, f.equal(value, 0)), 2)


class _LowerCholesky(_LowerTriangular):
    """Such matrices with a positive diagonal."""

    def check(self, value: Tensor) -> Tensor:
        positive = f.all(diagonal(value, 0, -2, -1) > 0, axis=-1)
        return super().check(value) & positive


class _CorrCholesky(_LowerCholesky):
    """Such matrices whose rows have the length 1."""

    def check(self, value: Tensor) -> Tensor:
        allowed = finfo(value.dtype).eps * value.shape[-1] * 10
        lengths = norm(value.detach(), dim=-1)
        return super().check(value) & f.all(f.abs(lengths - 1.0) <= allowed, axis=-1)


class _Square(Constraint):
    """Square matrices."""

    _axes = 2

    def check(self, value: Tensor) -> Tensor:
        return f.full(value.shape[:-2], value.shape[-2] == value.shape[-1], "bool")


class _Symmetric(_Square):
    """Matrices that equal their transposes."""

    def check(self, value: Tensor) -> Tensor:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        apart = f.abs(value - value.mT)
        return _joined(apart <= 1e-6 + 1e-5 * f.abs(value), 2)


def pivots(matrix: Tensor) -> Tensor:
    """What Gauss's elimination of symmetric matrices leaves on the diagonal; all are positive for
    those that are positive definite, and for no others."""
    found: list[Tensor] = []
    rest = matrix
    for _ in range(matrix.shape[-1]):
        found.append(rest[..., 0, 0])
        column = rest[..., 1:, :1]
        pivot = rest[..., :1, :1]
        rest = rest[..., 1:, 1:] - column * column.mT / f.where(pivot == 0, 1.0, pivot)
    return f.stack(found, axis=-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices whose eigenvalues are positive."""

    def check(self, value: Tensor) -> Tensor:
        holds = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return holds
        return holds & f.all(pivots(value) > 0, axis=-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without a negative eigenvalue, but for what rounding leaves."""

    def check(self, value: Tensor) -> Tensor:
        holds = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return holds
        size = f.max(f.abs(value), axis=(-2, -1), keepdims=True)
        raised = value + f.eye(value.shape[-1], dtype=value.dtype) * size * (
            finfo(value.dtype).eps * value.shape[-1]
        )
        return holds & f.all(pivots(raised) >= 0, axis=-1)


class cat(Constraint):  # noqa: N801
    """A region for each of several pieces along an axis, of these lengths (1 by default)."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise OptionError(f"cat: {len(self.lengths)} lengths of {len(self.cseq)} constraints")

    @property
    def is_discrete(self) -> bool:
        return any(each.is_discrete for each in self.cseq)

    @property
    def event_dim(self) -> int:
        return max(each.event_dim for each in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        found: list[Tensor] = []
        start = 0
        for each, length in zip(self.cseq, self.lengths, strict=True):
            found.append(each.check(narrow(value, self.dim, start, length)))
            start += length
        return f.concat(found, axis=self.dim)


class stack(Constraint):  # noqa: N801
    """A region for each slice along an axis."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:
        return any(each.is_discrete for each in self.cseq)

    @property
    def event_dim(self) -> int:
        most = max(each.event_dim for each in self.cseq)
        return most + 1 if self.dim + most < 0 else most

    def check(self, value: Tensor) -> Tensor:
        found = [each.check(select(value, self.dim, n)) for n, each in enumerate(self.cseq)]
        return f.stack(found, axis=self.dim)


dependent = _Dependent()
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
