"""Derivatives of sorting and scattering."""

from __future__ import annotations

from .. import functions as f
from ..functions.arrange import scatter_rows
from ..graph import make
from ..ops import arrange, gather, source, trees
from ..tensor import Tensor
from .rules import NO_DERIVATIVE, Gradients, rule

NO_DERIVATIVE[trees.walk_trees] = "its results are leaves, which stay the same nearby"
NO_DERIVATIVE[arrange.argsort] = "its results are indices; that of sort goes through a gather"


def _rows(x: Tensor, indices: Tensor) -> Tensor:
    """x (b, n, s) at the indices (b, j): (b, j, s)."""
    batch, count, length = x.shape
    line = Tensor(make(source.iota, shape=indices.shape, dtype=indices.dtype, axis=0))
    flat = f.reshape(x, (batch * count, length))
    return Tensor(make(gather.take, flat.node, (indices + line * count).node, axis=0))


@rule(arrange.scatter)
def _scatter(
    gradient: Tensor, y: Tensor, data: Tensor, indices: Tensor, updates: Tensor, reduction: str
) -> Gradients:
    of_rows = _rows(gradient, indices)
    if reduction == "add":
        return [gradient, None, of_rows]
    if reduction == "none":
        # The last update of an index won: its number is what a scatter of numbers leaves there.
        ones = f.ones((*updates.shape[:2], 1), data.dtype)
        written = scatter_rows(f.zeros((*data.shape[:2], 1), data.dtype), indices, ones, "none")
        numbers = Tensor(make(source.iota, shape=ones.shape, dtype=ones.dtype, axis=1))
        last = scatter_rows(
            f.full((*data.shape[:2], 1), -1.0, data.dtype), indices, numbers, "none"
        )
        won = f.equal(_rows(last, indices), numbers)
        return [gradient * (1.0 - written), None, f.where(won, of_rows, 0.0)]
    if reduction == "mul":
        # All factors but one's own: the product without zeros, if there is no other zero.
        first, second = f.equal(data, 0.0), f.equal(updates, 0.0)
        factors = f.where(first, 1.0, data), f.where(second, 1.0, updates)
        product = scatter_rows(factors[0], indices, factors[1], "mul")
        zeros = scatter_rows(first.astype(data.dtype), indices, second.astype(data.dtype), "add")

        def others(product: Tensor, zeros: Tensor, own: Tensor, factor: Tensor) -> Tensor:
            return f.where(f.equal(zeros, own.astype(zeros.dtype)), product / factor, 0.0)

        at_rows = _rows(product, indices), _rows(zeros, indices)
        return [
            gradient * others(product, zeros, first, factors[0]),
            None,
            of_rows * others(*at_rows, second, factors[1]),
        ]
    # Of equally extreme elements, each gets its share.
    first = f.equal(data, y).astype(data.dtype)
    second = f.equal(updates, _rows(y, indices)).astype(data.dtype)
    count = scatter_rows(first, indices, second, "add")
    share = gradient / count
    return [first * share, None, second * _rows(share, indices)]
