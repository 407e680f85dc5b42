"""Derivatives of reductions, which keep their axes with length 1."""

from __future__ import annotations

import math

from .. import functions as f
from ..core.shape import Shape
from ..graph import make
from ..ops import movement
from ..ops import reduce as r
from ..tensor import Tensor
from .rules import NO_DERIVATIVE, Gradients, rule


def spread(x: Tensor, shape: Shape) -> Tensor:
    """Axes of length 1 repeated to a shape of the same rank."""
    return x if x.shape == shape else Tensor(make(movement.expand, x.node, shape=shape))


@rule(r.sum_)
def _sum(gradient: Tensor, y: Tensor, x: Tensor, axes: Shape) -> Gradients:
    return [spread(gradient, x.shape)]


@rule(r.max_, r.min_)
def _extremum(gradient: Tensor, y: Tensor, x: Tensor, axes: Shape) -> Gradients:
    """Elements that are equally extreme share the gradient, as in PyTorch's amax."""
    winners = f.equal(x, spread(y, x.shape)).astype(x.dtype)
    each = gradient / f.sum(winners, axes, True)
    return [winners * spread(each, x.shape)]


@rule(r.prod)
def _prod(gradient: Tensor, y: Tensor, x: Tensor, axes: Shape) -> Gradients:
    """The product of all others: of those before and of those behind, so that zeros do no harm.
    Where another element is 0 and the rest overflows, it is 0, too."""
    order = [axis for axis in range(x.ndim) if axis not in axes] + list(axes)
    moved = f.permute_dims(x, order)
    kept = moved.shape[: x.ndim - len(axes)]
    rows = f.reshape(moved, (*kept, math.prod(x.shape[axis] for axis in axes)))
    before = f.cumulative_prod(rows, -1, include_initial=True)[..., :-1]
    behind = f.flip(f.cumulative_prod(f.flip(rows, -1), -1, include_initial=True)[..., :-1], -1)
    others = before * behind
    nothing = f.equal(rows, 0).astype(x.dtype)
    zeros = f.sum(nothing, -1, True) - nothing
    endless = f.any(f.isinf(rows) | f.isnan(rows), -1, True)
    others = f.where(f.isnan(others) & ~endless & (zeros > 0), 0.0, others)
    others = f.reshape(others, moved.shape)
    inverse = [order.index(axis) for axis in range(x.ndim)]
    return [f.permute_dims(others, inverse) * spread(gradient, x.shape)]


NO_DERIVATIVE[r.argmax] = NO_DERIVATIVE[r.argmin] = "its results are indices"
