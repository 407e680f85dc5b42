"""Losses: how far predictions are from targets."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functions as f
from ..casting import in_float32
from ..errors import DTypeError, OptionError, ShapeError
from ..functions.indexing import checked_indices
from ..tensor import Tensor, asarray
from .activations import log_softmax


@in_float32
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int | None = -100,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of classes under log-probabilities.

    input: log-probabilities, (n, classes, ...), or (classes,) for one target.
    target: classes, integers, (n, ...) or (). The loss of one that is no class, and that another
      device than NumPy has computed, is NaN.
    weight: a factor for each class, (classes,); None is 1.
    ignore_index: targets with this value count for nothing; None ignores none.
    reduction: "none" (a loss per target), "sum", or "mean", the sum divided by the total weight of
      the targets that count.
    Returns: a single number, or the losses in the shape of target.
    Raises: ShapeError, DTypeError or OptionError for invalid arguments, IndexRangeError for a
      target that is no class (see `checked_indices`).
    Source: PyTorch, `torch.nn.functional.nll_loss`.
    """
    return _nll(input, target, weight, ignore_index, reduction, "nll_loss")


def _nll(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int | None,
    reduction: str,
    what: str,
) -> Tensor:
    if x.ndim == 1 and not target.ndim:
        rows = f.expand_dims(x, 0), f.expand_dims(target, 0)
        losses = _nll(*rows, weight, ignore_index, reduction, what)
        return f.squeeze(losses, 0) if losses.ndim else losses
    if x.ndim < 2 or target.shape != (x.shape[0], *x.shape[2:]):
        raise ShapeError(f"{what}: targets {target.shape} for scores (n, classes, ...) {x.shape}")
    if not target.dtype.is_integer:
        raise DTypeError(f"{what}: targets must be integers, not {target.dtype.name}")
    if weight is not None and weight.shape != x.shape[1:2]:
        raise ShapeError(f"{what}: weights {weight.shape} for {x.shape[1]} classes")
    if reduction not in ("none", "sum", "mean"):
        raise OptionError(f"{what}: reduction {reduction!r} is not none, sum or mean")
    counts = None if ignore_index is None else f.not_equal(target, ignore_index)
    target = checked_indices(target, x.shape[1], f"{what}: the class", ignore_index)
    classes = target if counts is None else f.where(counts, target, 0)
    loss = -f.squeeze(f.take_along_axis(x, f.expand_dims(classes, 1), axis=1), 1)
    # All that shows a wrong class which a GPU or WebAssembly has computed, and cannot refuse.
    loss = f.where((classes >= 0) & (classes < x.shape[1]), loss, math.nan)
    weights = f.ones(target.shape, x.dtype) if weight is None else f.take(weight, classes)
    if counts is not None:
        weights = f.where(counts, weights, 0)
        loss = f.where(counts, loss, 0)
    loss = loss * weights
    if reduction == "none":
        return loss
    return f.sum(loss) if reduction == "sum" else f.sum(loss) / f.sum(weights)


@in_float32
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int | None = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The negative log-likelihood of targets under scores.

    input: scores, (n, classes, ...), or (classes,) for one target.
    target: classes, integers, (n, ...) or (); or probabilities, in the shape of input.
    weight: a factor for each class, (classes,); None is 1.
    ignore_index: classes with this value count for nothing; None ignores none.
    reduction: "none" (a loss per target), "sum", or "mean". For classes that is the sum divided by
      the total weight of the targets that count, for probabilities the sum divided by the number of
      targets.
    label_smoothing: how much of each target is spread evenly over all classes, 0 to 1.
    Returns: a single number, or the losses in the shape of the targets.
    Raises: ShapeError, DTypeError or OptionError for invalid arguments, IndexRangeError for a
      target that is no class (see `checked_indices`).
    Source: PyTorch, `torch.nn.functional.cross_entropy`; Szegedy et al. 2016, for label smoothing.
    """
    if not 0 <= label_smoothing <= 1:
        raise OptionError(f"cross_entropy: label_smoothing {label_smoothing} is not in 0 to 1")
    x = input
    if x.ndim == 1:
        rows = f.expand_dims(x, 0), f.expand_dims(target, 0)
        kept = "sum" if reduction == "none" else reduction
        return cross_entropy(*rows, weight, ignore_index, kept, label_smoothing)
    scores = log_softmax(x, 1)
    classes = x.shape[1]
    if target.dtype.is_floating:
        if target.shape != x.shape:
            raise ShapeError(f"cross_entropy: probabilities {target.shape} for scores {x.shape}")
        spread = target * (1 - label_smoothing) + label_smoothing / classes
        weighted = scores if weight is None else scores * _of_classes(weight, x)
        losses = -f.sum(weighted * spread, 1)
        if reduction == "mean":
            return f.sum(losses) * (1 / losses.size if losses.size else math.nan)
        return losses if reduction == "none" else f.sum(losses)
    loss = _nll(scores, target, weight, ignore_index, reduction, "cross_entropy")
    if not label_smoothing:
        return loss
    smooth = -f.sum(scores if weight is None else scores * _of_classes(weight, x), 1)
    counted = f.ones(target.shape, x.dtype)
    if ignore_index is not None:
        counted = f.not_equal(target, ignore_index).astype(x.dtype)
        smooth = smooth * counted
    if reduction != "none":
        smooth = f.sum(smooth)
    if reduction == "mean":
        if weight is not None:
            known = f.where(counted > 0, target, 0)
            counted = counted * f.take(weight, known)
        smooth = smooth / f.sum(counted)
    return loss * (1 - label_smoothing) + smooth * (label_smoothing / classes)


def _of_classes(weight: Tensor, x: Tensor) -> Tensor:
    return f.reshape(weight, (-1, *(1,) * (x.ndim - 2)))


@in_float32
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification: the negative log-likelihood of label sequences, summed
    over all alignments.

    log_probs: log-probabilities, (time, n, classes), or (time, classes) for one sequence.
    targets: labels, integers without `blank`: (n, most labels), or all labels in a line, one
      sequence after the other, for which the lengths are read.
    input_lengths: how many steps count, (n,) or ().
    target_lengths: how many labels count, (n,) or ().
    blank: the class of no label.
    reduction: "none" (a loss per sequence), "sum", or "mean", which divides each loss by its number
      of labels first.
    zero_infinity: losses of targets that are too long for their input are 0, not infinite.
    Returns: a single number, or the losses, (n,) or ().
    Raises: ShapeError for other shapes, OptionError for another reduction.
    Source: Graves et al. 2006.
    """
    input_lengths, target_lengths = asarray(input_lengths), asarray(target_lengths)
    if log_probs.ndim == 2:
        rows = f.expand_dims(log_probs, 1), f.reshape(targets, (1, -1))
        lengths = f.reshape(input_lengths, (1,)), f.reshape(target_lengths, (1,))
        loss = ctc_loss(*rows, *lengths, blank, reduction, zero_infinity)
        return f.squeeze(loss, 0) if loss.ndim else loss
    if log_probs.ndim == 3 and targets.ndim == 1:
        targets = _in_rows(targets, target_lengths)
    if log_probs.ndim != 3 or targets.ndim != 2 or targets.shape[0] != log_probs.shape[1]:
        raise ShapeError(
            f"ctc_loss: log_probs {log_probs.shape} must be (time, n, classes), "
            f"targets {targets.shape} (n, labels)"
        )
    time, n, _ = log_probs.shape
    labels = targets.shape[1]
    states = 2 * labels + 1
    blanks = f.full((n, labels), blank, targets.dtype)
    pairs = f.reshape(f.stack([blanks, targets], 2), (n, 2 * labels))
    path = f.concat([pairs, f.full((n, 1), blank, targets.dtype)], 1)
    least = -1e30  # a logarithm of 0 whose differences stay numbers
    two_before = f.pad(path, [(0, 0), (2, 0)], blank)[:, :states]
    may_skip = f.logical_and(f.not_equal(path, blank), f.not_equal(path, two_before))
    numbers = f.reshape(f.arange(states), (1, states))
    ends = f.expand_dims(target_lengths.astype("int32") * 2, 1)
    emitted = f.take_along_axis(
        log_probs, f.broadcast_to(f.expand_dims(path, 0), (time, n, states)), axis=2
    )
    if not time:  # a step that counts for nothing
        emitted = f.zeros((1, n, states), log_probs.dtype)
    begin = f.logical_and(numbers < 2, numbers <= ends)
    alpha = f.where(begin, emitted[0], least)
    for t in range(1, time):
        one = f.pad(alpha, [(0, 0), (1, 0)], least)[:, :states]
        two = f.where(may_skip, f.pad(alpha, [(0, 0), (2, 0)], least)[:, :states], least)
        new = f.maximum(_log_sum([alpha, one, two]) + emitted[t], least)
        alpha = f.where(f.expand_dims(f.greater(input_lengths, t), 1), new, alpha)
    last = f.where(f.equal(numbers, ends), alpha, least)
    other = f.where(f.equal(numbers, ends - 1), alpha, least)
    losses = -_log_sum([f.max(last, 1), f.max(other, 1)])
    losses = f.where(f.equal(input_lengths, 0), _of_no_input(target_lengths), losses)
    impossible = losses > -least / 2
    losses = f.where(impossible, 0.0 if zero_infinity else float("inf"), losses)
    if reduction == "none":
        return losses
    if reduction == "sum":
        return f.sum(losses)
    if reduction != "mean":
        raise OptionError(f"ctc_loss: reduction {reduction!r} is not none, sum or mean")
    return f.mean(losses / f.maximum(target_lengths, 1).astype(losses.dtype))


def _of_no_input(target_lengths: Tensor) -> Tensor:
    """The losses where no step counts: no label is certain, others are impossible."""
    return f.where(f.equal(target_lengths, 0), 0.0, float("inf"))


def _in_rows(targets: Tensor, lengths: Tensor) -> Tensor:
    """Targets in a line as rows of the longest; what is behind a shorter one counts for nothing."""
    counts = [int(count) for count in lengths.tolist()]
    if sum(counts) != targets.shape[0]:
        raise ShapeError(f"ctc_loss: {targets.shape[0]} targets for the lengths {counts}")
    starts = [sum(counts[:row]) for row in range(len(counts))]
    last = max(targets.shape[0] - 1, 0)
    indices = [[min(at + i, last) for i in range(max(counts))] for at in starts]
    return f.take(targets, asarray(indices))


def _log_sum(parts: list[Tensor]) -> Tensor:
    """log(sum(exp(parts)))."""
    peak = parts[0]
    for part in parts[1:]:
        peak = f.maximum(peak, part)
    peak = peak.detach()
    total = f.exp(parts[0] - peak)
    for part in parts[1:]:
        total = total + f.exp(part - peak)
    return f.log(total) + peak
