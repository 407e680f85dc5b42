"""Transforms made of others, and of the shape of their arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import add, mul

from ... import functions as f
from ...core.shape import Shape
from ...errors import OptionError, ShapeError
from ...functions.selection import narrow, select
from ...tensor import Tensor
from .. import constraints
from ..constraints import Constraint, dependent_property
from ..utils import lazy_property, sum_rightmost
from .base import Sign, Transform, widened


class ComposeTransform(Transform):
    """Several transforms, one after the other."""

    _made_of = ("parts",)

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @dependent_property
    def domain(self) -> Constraint:
        if not self.parts:
            return constraints.real
        axes = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            axes += part.domain.event_dim - part.codomain.event_dim
            axes = max(axes, part.domain.event_dim)
        return widened(self.parts[0].domain, axes)

    @dependent_property
    def codomain(self) -> Constraint:
        if not self.parts:
            return constraints.real
        axes = self.parts[0].domain.event_dim
        for part in self.parts:
            axes += part.codomain.event_dim - part.domain.event_dim
            axes = max(axes, part.codomain.event_dim)
        return widened(self.parts[-1].codomain, axes)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Sign:
        return reduce(mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Transform:
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def inverted(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part.inverted(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return f.zeros_like(x)
        between = [x]
        for part in self.parts[:-1]:
            between.append(part(between[-1]))
        between.append(y)
        terms: list[Tensor] = []
        axes = self.domain.event_dim
        for part, first, second in zip(self.parts, between[:-1], between[1:], strict=True):
            term = part.log_abs_det_jacobian(first, second)
            terms.append(sum_rightmost(term, axes - part.domain.event_dim))
            axes += part.codomain.event_dim - part.domain.event_dim
        return reduce(add, terms)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return tuple(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return tuple(shape)

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts!r})"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """Another transform, of whose arguments the last axes belong to one value."""

    _made_of = ("base_transform", "reinterpreted_batch_ndims")

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @dependent_property
    def domain(self) -> Constraint:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @dependent_property
    def codomain(self) -> Constraint:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.base_transform.bijective

    @property
    def sign(self) -> Sign:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        self._check(x, self.domain)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        self._check(y, self.codomain)
        return self.base_transform.inverted(y)

    def _check(self, x: Tensor, region: Constraint) -> None:
        if x.ndim < region.event_dim:
            raise ShapeError(f"{self!r}: a value has {region.event_dim} axes, not {x.ndim}")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """The last axes in another shape. Raises OptionError for one of another number of elements."""

    _made_of = ("in_shape", "out_shape")
    bijective = True

    def __init__(
        self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = tuple(in_shape), tuple(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise OptionError(f"ReshapeTransform: {self.in_shape} and {self.out_shape} differ")

    @dependent_property
    def domain(self) -> Constraint:
        return constraints.independent(constraints.real, len(self.in_shape))

    @dependent_property
    def codomain(self) -> Constraint:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return f.reshape(x, self.forward_shape(x.shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return f.reshape(y, self.inverse_shape(y.shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return f.zeros(x.shape[: x.ndim - len(self.in_shape)], x.dtype)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        return self._changed(tuple(shape), self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        return self._changed(tuple(shape), self.out_shape, self.in_shape)

    def _changed(self, shape: Shape, old: Shape, new: Shape) -> Shape:
        kept = len(shape) - len(old)
        if kept < 0 or shape[kept:] != old:
            raise ShapeError(f"{self!r}: {shape} does not end with {old}")
        return (*shape[:kept], *new)

    def __repr__(self) -> str:
        return f"ReshapeTransform({self.in_shape}, {self.out_shape})"


class _Several(Transform):
    """Transforms side by side along an axis."""

    dim: int
    transforms: list[Transform]

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(each.bijective for each in self.transforms)

    def _pieces(self, x: Tensor) -> list[Tensor]:
        raise NotImplementedError

    def _joined(self, pieces: list[Tensor]) -> Tensor:
        raise NotImplementedError

    def _call(self, x: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._pieces(x), strict=True)
        return self._joined([each(piece) for each, piece in pairs])

    def _inverse(self, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._pieces(y), strict=True)
        return self._joined([each.inverted(piece) for each, piece in pairs])


class CatTransform(_Several):
    """A transform for each of several pieces along an axis, of these lengths (1 by default). Raises
    OptionError for another number of lengths."""

    _made_of = ("transforms", "dim", "lengths")

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) if cache_size else each for each in tseq]
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.dim = dim
        if len(self.lengths) != len(self.transforms):
            raise OptionError(
                f"CatTransform: {len(self.lengths)} lengths of {len(self.transforms)} transforms"
            )

    @lazy_property
    def length(self) -> int:
        """That of all pieces."""
        return sum(self.lengths)

    @property
    def event_dim(self) -> int:
        return max(each.event_dim for each in self.transforms)

    @dependent_property
    def domain(self) -> Constraint:
        return constraints.cat([each.domain for each in self.transforms], self.dim, self.lengths)

    @dependent_property
    def codomain(self) -> Constraint:
        return constraints.cat([each.codomain for each in self.transforms], self.dim, self.lengths)

    def _pieces(self, x: Tensor) -> list[Tensor]:
        if not -x.ndim <= self.dim < x.ndim or x.shape[self.dim] != self.length:
            raise ShapeError(f"CatTransform: {x.shape} has no {self.length} along {self.dim}")
        starts = [sum(self.lengths[:n]) for n in range(len(self.lengths))]
        pairs = zip(starts, self.lengths, strict=True)
        return [narrow(x, self.dim, start, length) for start, length in pairs]

    def _joined(self, pieces: list[Tensor]) -> Tensor:
        return f.concat(pieces, axis=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found: list[Tensor] = []
        for each, first, second in zip(
            self.transforms, self._pieces(x), self._pieces(y), strict=True
        ):
            term = each.log_abs_det_jacobian(first, second)
            found.append(sum_rightmost(term, self.event_dim - each.event_dim))
        axis = (self.dim - x.ndim if self.dim >= 0 else self.dim) + self.event_dim
        return f.concat(found, axis=axis) if axis < 0 else reduce(add, found)


class StackTransform(_Several):
    """A transform for each slice along an axis."""

    _made_of = ("transforms", "dim")

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) if cache_size else each for each in tseq]
        self.dim = dim

    @dependent_property
    def domain(self) -> Constraint:
        return constraints.stack([each.domain for each in self.transforms], self.dim)

    @dependent_property
    def codomain(self) -> Constraint:
        return constraints.stack([each.codomain for each in self.transforms], self.dim)

    def _pieces(self, x: Tensor) -> list[Tensor]:
        count = len(self.transforms)
        if not -x.ndim <= self.dim < x.ndim or x.shape[self.dim] != count:
            raise ShapeError(f"StackTransform: {x.shape} has no {count} along {self.dim}")
        return [select(x, self.dim, n) for n in range(count)]

    def _joined(self, pieces: list[Tensor]) -> Tensor:
        return f.stack(pieces, axis=self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        triples = zip(self.transforms, self._pieces(x), self._pieces(y), strict=True)
        return self._joined([each.log_abs_det_jacobian(a, b) for each, a, b in triples])
