"""The loss of the RNN transducer."""

from __future__ import annotations

from .. import functions as f
from ..autodiff import with_gradient
from ..casting import in_float32
from ..errors import DTypeError, ShapeError
from ..tensor import Tensor
from .activations import log_softmax
from .elementwise_losses import reduced

_LEAST = -1e30
"""A logarithm of 0 whose differences stay numbers."""


@in_float32
def rnnt_loss(
    logits: Tensor,
    targets: Tensor,
    logit_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = -1,
    clamp: float = -1,
    reduction: str = "mean",
    fused_log_softmax: bool = True,
) -> Tensor:
    """The negative log-likelihood of label sequences under an RNN transducer, summed over all
    alignments.

    logits: scores, (n, time, most labels + 1, classes).
    targets: labels, integers, (n, most labels).
    logit_lengths: how many steps count, (n,).
    target_lengths: how many labels count, (n,).
    blank: the class of no label; negative ones count from the end.
    clamp: above 0, the gradients of the logits stay within -clamp and clamp.
    reduction: "none" (a loss per sequence), "sum", or "mean" over the sequences.
    fused_log_softmax: False for logits that are log-probabilities already.
    Returns: a single number, or the losses, (n,).
    Raises: ShapeError for shapes that do not fit and for a blank that is no class, DTypeError for
      targets that are not integers, OptionError for another reduction.
    Source: Graves 2012, "Sequence Transduction with Recurrent Neural Networks"; torchaudio's
      function of this name.
    """
    if logits.ndim != 4 or targets.shape != (logits.shape[0], logits.shape[2] - 1):
        raise ShapeError(
            f"rnnt_loss: targets {targets.shape} for logits (n, time, labels + 1, classes) "
            f"{logits.shape}"
        )
    n, time, states, classes = logits.shape
    for what, lengths in (("logit_lengths", logit_lengths), ("target_lengths", target_lengths)):
        if lengths.shape != (n,):
            raise ShapeError(f"rnnt_loss: {what} {lengths.shape} for {n} sequences")
    if not targets.dtype.is_integer:
        raise DTypeError(f"rnnt_loss: targets must be integers, not {targets.dtype.name}")
    if not -classes <= blank < classes:
        raise ShapeError(f"rnnt_loss: the blank {blank} is not among {classes} classes")
    scores = _clamped(logits, clamp) if clamp > 0 else logits
    scores = log_softmax(scores, -1) if fused_log_softmax else scores
    silent = scores[..., blank % classes]  # (n, time, states): no label, one step further
    labels = f.expand_dims(f.expand_dims(targets, 1), -1)
    labels = f.broadcast_to(labels, (n, time, states - 1, 1))
    spoken = f.squeeze(f.take_along_axis(scores[:, :, :-1], labels, axis=-1), -1)
    spoken = f.pad(spoken, [(0, 0), (0, 0), (1, 0)], _LEAST)  # of the label that leads to a state

    # Diagonal d has the states u at the times d - u, which depend on diagonal d - 1 alone.
    diagonals = time + states - 1
    at = f.reshape(f.arange(diagonals), (-1, 1)) - f.reshape(f.arange(states), (1, -1))
    before = f.broadcast_to(f.clip(at - 1, 0, time - 1), (n, diagonals, states))
    now = f.broadcast_to(f.clip(at, 0, time - 1), (n, diagonals, states))
    steps = f.where(at >= 1, f.take_along_axis(silent, before, axis=1), _LEAST)
    emitted = f.take_along_axis(spoken, now, axis=1)
    first = f.broadcast_to(f.equal(f.arange(states), 0), (n, states))
    alpha = f.where(first, 0.0, _LEAST)
    reached = [alpha]
    for d in range(1, diagonals):
        stayed = alpha + steps[:, d]
        came = f.pad(alpha, [(0, 0), (1, 0)], _LEAST)[:, :states] + emitted[:, d]
        possible = (at[d] >= 0) & (at[d] < time)
        alpha = f.where(possible, f.maximum(_log_add(stayed, came), _LEAST), _LEAST)
        reached.append(alpha)
    ends, lasts = target_lengths.astype("int32"), logit_lengths.astype("int32") - 1
    flat = f.reshape(f.stack(reached, 1), (n, diagonals * states))
    final = f.expand_dims((lasts + ends) * states + ends, 1)
    last = f.expand_dims(lasts * states + ends, 1)
    whole = f.take_along_axis(flat, final, axis=1)
    leaving = f.take_along_axis(f.reshape(silent, (n, time * states)), last, axis=1)
    return reduced(-f.squeeze(whole + leaving, 1), reduction, "rnnt_loss")


def _clamped(logits: Tensor, most: float) -> Tensor:
    """The logits, whose gradient stays within -most and most."""

    def pull(gradient: Tensor, result: Tensor) -> list[Tensor]:
        return [f.clip(gradient, -most, most)]

    return with_gradient(logits + 0.0, [logits], pull)


def _log_add(a: Tensor, b: Tensor) -> Tensor:
    """log(exp(a) + exp(b))."""
    peak = f.maximum(a, b).detach()
    return f.log(f.exp(a - peak) + f.exp(b - peak)) + peak
