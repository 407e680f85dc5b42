"""Losses: how far predictions are from targets."""

from __future__ import annotations

from .. import functions as f
from ..errors import DTypeError, OptionError, ShapeError
from ..tensor import Tensor
from .activations import log_softmax


def nll_loss(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int | None = -100,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of targets (n, ...), integers, under log-probabilities x
    (n, classes, ...).

    weight: one factor per class. ignore_index: targets with this value are ignored. reduction:
    "none" (a loss per target), "sum", or "mean", the sum divided by the total weight of the targets
    that are not ignored. Raises ShapeError, DTypeError or OptionError for invalid arguments.
    """
    if x.ndim < 2 or target.shape != (x.shape[0], *x.shape[2:]):
        raise ShapeError(f"nll_loss: targets {target.shape} for scores (n, classes, ...) {x.shape}")
    if not target.dtype.is_integer:
        raise DTypeError(f"nll_loss: targets must be integers, not {target.dtype.name}")
    if weight is not None and weight.shape != x.shape[1:2]:
        raise ShapeError(f"nll_loss: weights {weight.shape} for {x.shape[1]} classes")
    if reduction not in ("none", "sum", "mean"):
        raise OptionError(f"nll_loss: reduction {reduction!r} is not none, sum or mean")
    counts = None if ignore_index is None else f.not_equal(target, ignore_index)
    classes = target if counts is None else f.where(counts, target, 0)
    loss = -f.squeeze(f.take_along_axis(x, f.expand_dims(classes, 1), axis=1), 1)
    weights = f.ones(target.shape, x.dtype) if weight is None else f.take(weight, classes)
    if counts is not None:
        weights = f.where(counts, weights, 0)
        loss = f.where(counts, loss, 0)
    loss = loss * weights
    if reduction == "none":
        return loss
    return f.sum(loss) if reduction == "sum" else f.sum(loss) / f.sum(weights)


def cross_entropy(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int | None = -100,
    reduction: str = "mean",
) -> Tensor:
    """`nll_loss` of the log-softmax of scores x (n, classes, ...)."""
    return nll_loss(log_softmax(x, 1), target, weight, ignore_index, reduction)
