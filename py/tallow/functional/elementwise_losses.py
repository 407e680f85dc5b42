"""Losses of pairs: predictions and targets of one shape, or vectors beside each other.

Names, arguments and their defaults follow torch.nn.functional.
"""

from __future__ import annotations

import math

from .. import functions as f
from ..autodiff import with_gradient
from ..casting import in_float32
from ..errors import OptionError, ShapeError
from ..functions.products import norm
from ..functions.reduction import root
from ..ops.movement import reshape
from ..tensor import Tensor
from .activations import softplus

REDUCTIONS = ("none", "mean", "sum")


def reduced(loss: Tensor, reduction: str, what: str) -> Tensor:
    """The losses, their mean or their sum. Raises OptionError for another reduction."""
    if reduction not in REDUCTIONS:
        raise OptionError(f"{what}: reduction {reduction!r} is not one of {', '.join(REDUCTIONS)}")
    if reduction == "none":
        return loss
    return f.mean(loss) if reduction == "mean" else f.sum(loss)


@in_float32
def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The squared difference of predictions and targets.

    input: predictions, of any shape.
    target: targets, which broadcast with input.
    reduction: "mean", "sum" or "none" (a loss for each element).
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.mse_loss`.
    """
    difference = input - target
    return reduced(difference * difference, reduction, "mse_loss")


@in_float32
def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The absolute difference of predictions and targets.

    input: predictions, of any shape.
    target: targets, which broadcast with input.
    reduction: "mean", "sum" or "none" (a loss for each element).
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.l1_loss`.
    """
    return reduced(abs(input - target), reduction, "l1_loss")


@in_float32
def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """The squared difference / (2 * beta) where the difference is below beta, linear beyond.

    input: predictions, of any shape.
    target: targets, which broadcast with input.
    reduction: "mean", "sum" or "none" (a loss for each element).
    beta: the difference at which the loss becomes linear; with 0 it is `l1_loss`.
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: Girshick 2015.
    """
    if beta == 0:
        return l1_loss(input, target, reduction)
    size = abs(input - target)
    near = size < beta
    inner = f.where(near, size, 0.0)  # an infinite one would have no gradient
    loss = f.where(near, inner * inner * (0.5 / beta), size - 0.5 * beta)
    return reduced(loss, reduction, "smooth_l1_loss")


@in_float32
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Half the squared difference where the difference is below delta, linear beyond.

    input: predictions, of any shape.
    target: targets, which broadcast with input.
    reduction: "mean", "sum" or "none" (a loss for each element).
    delta: the difference at which the loss becomes linear.
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: Huber 1964.
    """
    size = abs(input - target)
    near = size <= delta
    inner = f.where(near, size, 0.0)  # an infinite one would have no gradient
    loss = f.where(near, inner * inner * 0.5, (size - 0.5 * delta) * delta)
    return reduced(loss, reduction, "huber_loss")


def _log(x: Tensor) -> Tensor:
    """The logarithm, -100 at least."""
    above = x > 0.0
    return f.where(above, f.maximum(f.log(f.where(above, x, 1.0)), -100.0), -100.0)


def _extremes(x: Tensor) -> tuple[float, float] | None:
    """The least and the greatest element, if the host knows the elements."""
    node = x.node
    while node.op is reshape:
        (node,) = node.inputs
    if not x.size or not (node.is_constant or node.is_buffer):
        return None
    data = node.attrs["buffer"].known if node.is_buffer else node.attrs["data"]
    return None if data is None else data.extremes()


def _check_target(what: str, input: Tensor, target: Tensor) -> None:
    if target.shape != input.shape:
        raise ShapeError(f"{what}: the target {target.shape} must have the input's {input.shape}")


@in_float32
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """-(target * log(input) + (1 - target) * log(1 - input)); logarithms end at -100.

    input: probabilities, of any shape. The loss of a computed one that is not from 0 to 1 is NaN.
    target: probabilities, in the shape of input.
    weight: factors of the losses, which broadcast with input; None is 1.
    reduction: "mean", "sum" or "none" (a loss for each element).
    Returns: a single number, or the losses of the elements.
    Raises: OptionError for an input that is not from 0 to 1, if the host knows it, and for another
      reduction; ShapeError for a target of another shape.
    Source: PyTorch, `torch.nn.functional.binary_cross_entropy`.
    """
    _check_target("binary_cross_entropy", input, target)
    found = _extremes(input)
    if found and not (found[0] >= 0 and found[1] <= 1):
        raise OptionError(
            f"binary_cross_entropy: the input must be from 0 to 1, not {found[0]} to {found[1]}; "
            "binary_cross_entropy_with_logits takes scores"
        )
    loss = -(target * _log(input) + (1.0 - target) * _log(1.0 - input))
    loss = f.where((input >= 0.0) & (input <= 1.0), loss, math.nan)

    def pull(gradient: Tensor, loss: Tensor, x: Tensor, target: Tensor) -> list[Tensor]:
        """As in PyTorch, finite where a logarithm is not."""
        slope = (x - target) / f.maximum((1.0 - x) * x, 1e-12)
        return [gradient * slope, gradient * (_log(1.0 - x) - _log(x))]

    loss = with_gradient(loss, [input, target], pull, [input, target])
    loss = loss if weight is None else loss * weight
    return reduced(loss, reduction, "binary_cross_entropy")


@in_float32
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of the sigmoid of scores, without overflow.

    input: scores, of any shape.
    target: probabilities, in the shape of input.
    weight: factors of the losses, which broadcast with input; None is 1.
    reduction: "mean", "sum" or "none" (a loss for each element).
    pos_weight: a factor of the positive part, which broadcasts with input; None is 1.
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for a target of another shape, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.binary_cross_entropy_with_logits`.
    """
    _check_target("binary_cross_entropy_with_logits", input, target)
    negative = softplus(-input)
    if pos_weight is not None:
        negative = negative * ((pos_weight - 1.0) * target + 1.0)
    loss = (1.0 - target) * input + negative
    loss = loss if weight is None else loss * weight
    return reduced(loss, reduction, "binary_cross_entropy_with_logits")


@in_float32
def sigmoid_focal_loss(
    inputs: Tensor,
    targets: Tensor,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "none",
) -> Tensor:
    """Binary cross entropy of scores, less of it where they are right.

    inputs: scores, of any shape.
    targets: 0 and 1, in the shape of inputs.
    alpha: how much positive targets count, and 1 - alpha negative ones; below 0, all count alike.
    gamma: how much less an example counts the better its score is; 0 weighs all alike.
    reduction: "mean", "sum" or "none" (a loss for each element).
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for targets of another shape, OptionError for another reduction.
    Source: Lin et al. 2017; `torchvision.ops.sigmoid_focal_loss`.
    """
    entropy = binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    right = f.exp(-entropy)
    loss = entropy * f.pow(1.0 - right, gamma)
    if alpha >= 0:
        loss = loss * (targets * alpha + (1.0 - targets) * (1 - alpha))
    return reduced(loss, reduction, "sigmoid_focal_loss")


@in_float32
def kl_div(
    input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """target * (log(target) - input), the Kullback-Leibler divergence from log-probabilities.

    input: log-probabilities, of any shape.
    target: probabilities, which broadcast with input.
    reduction: "mean", "sum", "none" (a loss for each element) or "batchmean", the sum divided by
      the length of the first axis, which is the divergence by its definition.
    log_target: targets are logarithms too.
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.kl_div`.
    """
    if log_target:
        loss = f.exp(target) * (target - input)
    else:
        absent = f.equal(target, 0)
        entropy = target * f.log(f.where(absent, 1.0, target))  # NaN of negative numbers
        loss = f.where(absent, 0.0, entropy) - target * input
    if reduction == "batchmean":
        return f.sum(loss) * (1 / input.shape[0] if input.shape[0] else math.nan)
    return reduced(loss, reduction, "kl_div")


@in_float32
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of counts under rates, or under their logarithms.

    input: rates or their logarithms, of any shape.
    target: counts, which broadcast with input.
    log_input: the input is logarithms of rates.
    full: adds Stirling's approximation of log(target!).
    eps: what is added to a rate before its logarithm is taken.
    reduction: "mean", "sum" or "none" (a loss for each element).
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.poisson_nll_loss`.
    """
    rate, logarithm = (f.exp(input), input) if log_input else (input, f.log(input + eps))
    loss = rate - target * logarithm
    if full:
        large = target > 1
        safe = f.where(large, target, 2.0)
        stirling = safe * f.log(safe) - safe + f.log(safe * (2 * math.pi)) * 0.5
        loss = loss + f.where(large, stirling, 0.0)
    return reduced(loss, reduction, "poisson_nll_loss")


@in_float32
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of targets under normal distributions.

    input: the means, of any shape.
    target: the targets, which broadcast with input.
    var: a number, or variances: of the input's shape, of that without the last axis, or with one
      axis of length 1. Below eps they count as eps.
    full: adds the constant log(2 * pi) / 2.
    eps: the least variance.
    reduction: "mean", "sum" or "none" (a loss for each element).
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for other variances, OptionError for negative ones, if the host knows them,
      and for another reduction.
    Source: Nix and Weigend 1994.
    """
    var = var if isinstance(var, Tensor) else f.full(input.shape, var, input.dtype)
    found = _extremes(var)
    if found and found[0] < 0:
        raise OptionError(f"gaussian_nll_loss: the variance {found[0]} is negative")
    if var.shape != input.shape and var.shape == input.shape[:-1]:
        var = f.expand_dims(var, -1)
    others = [n for n, size in zip(var.shape, input.shape, strict=False) if n != size]
    if var.ndim != input.ndim or others not in ([], [1]):
        raise ShapeError(f"gaussian_nll_loss: variances {var.shape} for the input {input.shape}")
    clamped = f.maximum(var, eps).detach() + (var - var.detach())
    difference = input - target
    loss = (f.log(clamped) + difference * difference / clamped) * 0.5
    loss = loss + 0.5 * math.log(2 * math.pi) if full else loss
    return reduced(loss, reduction, "gaussian_nll_loss")


@in_float32
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """The input where the target is 1; how far it is below the margin where it is -1.

    As in PyTorch, another target gives the sum of both.

    input: distances, of any shape.
    target: 1 and -1, in a shape that broadcasts with input.
    margin: the distance from which on a target of -1 costs nothing.
    reduction: "mean", "sum" or "none" (a loss for each element).
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.hinge_embedding_loss`.
    """
    above = f.where(f.equal(target, -1), 0.0, input)
    loss = above + f.where(f.equal(target, 1), 0.0, f.maximum(margin - input, 0.0))
    return reduced(loss, reduction, "hinge_embedding_loss")


@in_float32
def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * input)), for targets of 1 and -1.

    input: scores, of any shape.
    target: 1 and -1, in a shape that broadcasts with input.
    reduction: "mean", "sum" or "none" (a loss for each element).
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.soft_margin_loss`.
    """
    return reduced(softplus(-(target * input)), reduction, "soft_margin_loss")


@in_float32
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """How far the first input fails to be above the second (target 1) or below it (-1).

    input1: scores, of any shape.
    input2: the scores to compare with, which broadcast with input1.
    target: 1 and -1, in a shape that broadcasts with the inputs.
    margin: how far above or below it must be.
    reduction: "mean", "sum" or "none" (a loss for each element).
    Returns: a single number, or the losses of the elements.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.margin_ranking_loss`.
    """
    loss = f.maximum(-target * (input1 - input2) + margin, 0.0)
    return reduced(loss, reduction, "margin_ranking_loss")


@in_float32
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis.

    x1: vectors, of any shape with an axis or more.
    x2: vectors, which broadcast with x1.
    dim: the axis of the vectors.
    eps: the least length that a vector counts with.
    Returns: the cosines, in the shape of both without that axis.
    Raises: ShapeError for shapes that do not broadcast, AxisError for an axis that they don't have.
    Source: PyTorch, `torch.nn.functional.cosine_similarity`.
    """
    first, second = f.broadcast_arrays(x1, x2)
    return f.sum(_of_length_1(first, dim, eps) * _of_length_1(second, dim, eps), dim)


def _of_length_1(x: Tensor, dim: int, eps: float) -> Tensor:
    """Vectors along an axis divided by their length, eps at least."""
    length = root(f.sum(x * x, dim, True))
    # The gradient of a length that is less than eps is that of the length, as in PyTorch.
    return x / (f.maximum(length, eps).detach() + (length - length.detach()))


@in_float32
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """1 - cosine where the target is 1; how far the cosine is above the margin where it is -1; 0
    for another target.

    input1: vectors along the last axis, (n, features) or (features,).
    input2: the vectors to compare with, which broadcast with input1.
    target: 1 and -1, (n,) or ().
    margin: the cosine up to which a target of -1 costs nothing.
    reduction: "mean", "sum" or "none" (a loss for each pair).
    Returns: a single number, or the losses of the pairs.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: PyTorch, `torch.nn.functional.cosine_embedding_loss`.
    """
    cosine = cosine_similarity(input1, input2, dim=-1, eps=1e-6)
    apart = f.where(f.equal(target, -1), f.maximum(cosine - margin, 0.0), 0.0)
    loss = f.where(f.equal(target, 1), 1.0 - cosine, apart)
    return reduced(loss, reduction, "cosine_embedding_loss")


@in_float32
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of the difference of vectors along the last axis.

    x1: vectors, (..., features).
    x2: vectors, which broadcast with x1.
    p: which norm; 2 is the Euclidean distance.
    eps: what is added to each difference first.
    keepdim: keeps the last axis, with length 1.
    Returns: the distances, in the shape of both without the last axis.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch, `torch.nn.functional.pairwise_distance`.
    """
    return norm(x1 - x2 + eps, p, -1, keepdim)


@in_float32
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """How far an anchor fails to be closer, by the margin, to the positive than to the negative.

    anchor: vectors, (..., features).
    positive: vectors that should be close to the anchors, in the same shape.
    negative: vectors that should be far from the anchors, in the same shape.
    margin: how much closer the positive must be.
    p: the norm that measures distances; 2 is the Euclidean distance.
    eps: what is added to each difference first.
    swap: the negative's distance to the positive counts if it is less than that to the anchor.
    reduction: "mean", "sum" or "none" (a loss for each anchor).
    Returns: a single number, or the losses of the anchors.
    Raises: ShapeError for shapes that do not broadcast, OptionError for another reduction.
    Source: Balntas et al. 2016.
    """
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = f.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced(f.maximum(near - far + margin, 0.0), reduction, "triplet_margin_loss")
