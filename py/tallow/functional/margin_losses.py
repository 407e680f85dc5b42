"""Losses of classes and labels by margins, and of several labels at once.

Names, arguments and their defaults follow torch.nn.functional. Scores are (n, classes), or
(classes,) for one example.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import functions as f
from ..casting import in_float32
from ..errors import DTypeError, OptionError, ShapeError
from ..functions.indexing import checked_indices
from ..tensor import Tensor
from .activations import logsigmoid
from .elementwise_losses import pairwise_distance, reduced


@in_float32
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far the target's score fails to be above each other one by the margin, summed and divided
    by the number of classes.

    input: scores, (n, classes) or (classes,).
    target: classes, integers, (n,) or ().
    p: 1, or 2 for the squares of these distances.
    margin: how far above the others the target's score must be.
    weight: a factor for each class, (classes,); None is 1.
    reduction: "mean", "sum" or "none" (a loss for each target).
    Returns: a single number, or the losses, (n,) or ().
    Raises: ShapeError, DTypeError or OptionError for invalid arguments, IndexRangeError for a
      target that is no class.
    Source: Crammer and Singer 2001.
    """
    if input.ndim == 1 and not target.ndim:
        rows = f.expand_dims(input, 0), f.expand_dims(target, 0)
        kept = "sum" if reduction == "none" else reduction
        return multi_margin_loss(*rows, p, margin, weight, kept)
    if input.ndim != 2 or target.shape != input.shape[:1]:
        raise ShapeError(f"multi_margin_loss: targets {target.shape} for scores {input.shape}")
    if not target.dtype.is_integer:
        raise DTypeError(f"multi_margin_loss: targets must be integers, not {target.dtype.name}")
    if p not in (1, 2):
        raise OptionError(f"multi_margin_loss: p must be 1 or 2, not {p}")
    classes = input.shape[1]
    if weight is not None and weight.shape != (classes,):
        raise ShapeError(f"multi_margin_loss: weights {weight.shape} for {classes} classes")
    target = checked_indices(target, classes, "multi_margin_loss: the class")
    column = f.expand_dims(target, 1)
    short = f.maximum(margin - f.take_along_axis(input, column, axis=1) + input, 0.0)
    short = short * short if p == 2 else short
    if weight is not None:
        short = short * f.expand_dims(f.take(weight, target), 1)
    others = f.not_equal(column, f.arange(classes))
    loss = f.sum(f.where(others, short, 0.0), 1) * (1 / classes)
    return reduced(loss, reduction, "multi_margin_loss")


@in_float32
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """How far the score of each label fails to be above that of each class that is no label, by a
    margin of 1, summed and divided by the number of classes.

    input: scores, (n, classes) or (classes,).
    target: integers, in the shape of input: the labels, and -1 behind the last.
    reduction: "mean", "sum" or "none" (a loss for each example).
    Returns: a single number, or the losses, (n,) or ().
    Raises: ShapeError or DTypeError for other targets, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.multilabel_margin_loss`.
    """
    if input.ndim == 1 and target.ndim == 1:
        rows = f.expand_dims(input, 0), f.expand_dims(target, 0)
        kept = "sum" if reduction == "none" else reduction
        return multilabel_margin_loss(*rows, kept)
    if input.ndim != 2 or target.shape != input.shape:
        raise ShapeError(f"multilabel_margin_loss: targets {target.shape} for {input.shape}")
    if not target.dtype.is_integer:
        raise DTypeError(
            f"multilabel_margin_loss: targets must be integers, not {target.dtype.name}"
        )
    classes = input.shape[1]
    ended = f.cumulative_sum((target < 0).astype("int32"), axis=1) > 0
    labels = f.where(ended, 0, target)
    scores = f.take_along_axis(input, labels, axis=1)
    short = f.maximum(1 - (f.expand_dims(scores, 2) - f.expand_dims(input, 1)), 0.0)
    counts = f.logical_not(f.expand_dims(ended, 2))  # (n, label, 1)
    named = f.equal(f.expand_dims(labels, 2), f.arange(classes)) & counts
    others = f.logical_not(f.any(named, axis=1, keepdims=True))
    loss = f.sum(f.where(counts & others, short, 0.0), (1, 2)) * (1 / classes)
    return reduced(loss, reduction, "multilabel_margin_loss")


@in_float32
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """The binary cross entropy of each class's score, averaged over the classes, the last axis.

    input: scores, (..., classes).
    target: 0 and 1, in the shape of input.
    weight: a factor for each class, (classes,); None is 1.
    reduction: "mean", "sum" or "none" (a loss for each example).
    Returns: a single number, or the losses, in the shape of input without the last axis.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.multilabel_soft_margin_loss`.
    """
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    return reduced(f.mean(loss, -1), reduction, "multilabel_soft_margin_loss")


@in_float32
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """As `triplet_margin_loss`, by a distance of one's own.

    anchor: vectors, in a shape that the distance takes.
    positive: vectors that should be close to the anchors, in the same shape.
    negative: vectors that should be far from the anchors, in the same shape.
    distance_function: gives the distances of two tensors of vectors; None is `pairwise_distance`.
    margin: how much closer the positive must be.
    swap: the negative's distance to the positive counts if it is less than that to the anchor.
    reduction: "mean", "sum" or "none" (a loss for each anchor).
    Returns: a single number, or the losses of the anchors.
    Raises: OptionError for another reduction, and what the distance raises.
    Source: PyTorch, `torch.nn.functional.triplet_margin_with_distance_loss`.
    """
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = f.minimum(far, distance(positive, negative))
    return reduced(
        f.maximum(near - far + margin, 0.0), reduction, "triplet_margin_with_distance_loss"
    )
