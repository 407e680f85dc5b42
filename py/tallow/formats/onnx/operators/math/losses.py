"""Losses."""

from __future__ import annotations

from ..... import functional as nn
from .....compile.passes.fold import host_value
from .....errors import OnnxFormatError
from .....tensor import Tensor
from ...call import Call
from ...registry import operator


def _loss(call: Call, log_prob: Tensor, target: Tensor, weight: Tensor | None) -> Tensor:
    ignored = call.get("ignore_index", int, None)
    known = host_value(target.node)
    if known is not None and log_prob.ndim > 1:
        wrong = [c for c in known.flat() if c != ignored and not 0 <= c < log_prob.shape[1]]
        if wrong:
            raise OnnxFormatError(
                f"the target {wrong[0]} is not one of {log_prob.shape[1]} classes"
            )
    reduction = call.choice("reduction", "mean", "sum", "none")
    return nn.nll_loss(log_prob, target, weight, ignored, reduction).astype(log_prob.dtype)


@operator("NegativeLogLikelihoodLoss", since=12)
def _negative_log_likelihood_loss(
    call: Call, x: Tensor, target: Tensor, weight: Tensor | None = None
) -> Tensor:
    return _loss(call, x, target, weight)


@operator("SoftmaxCrossEntropyLoss", since=12)
def softmax_cross_entropy_loss(
    call: Call, scores: Tensor, labels: Tensor, weights: Tensor | None = None
) -> list[Tensor]:
    """The loss, and the logarithms of the probabilities."""
    log_prob = nn.log_softmax(scores, 1)
    return [_loss(call, log_prob, labels, weights), log_prob]
