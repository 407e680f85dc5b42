"""The adaptive softmax: many classes, most of them rare (Grave et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from .. import functions as f
from ..errors import OptionError, ShapeError
from ..functional import log_softmax
from ..functions.indexing import checked_indices
from ..tensor import Tensor
from .containers import ModuleList, Sequential
from .linear import Linear
from .module import Module


class AdaptiveLogSoftmaxResult(NamedTuple):
    """The log-probability of each target, and the mean of their negatives."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-softmax over n_classes, which stand in the order of their frequency.

    cutoffs: the first classes of the clusters; what comes before the first is the head's. `head`
    scores its classes and the clusters; `tail` has, for each cluster, a linear layer to
    in_features / div_value ** (i + 1) elements and one to its classes. head_bias: whether the head
    has a bias. Raises OptionError for cutoffs that do not grow from 1 to n_classes - 1.

    Unlike PyTorch, it computes every cluster for every example, and chooses.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: str | None = None,
        dtype: str | None = None,
    ) -> None:
        super().__init__()
        ends = list(cutoffs)
        if not ends or ends != sorted(set(ends)) or ends[0] < 1 or ends[-1] >= n_classes:
            raise OptionError(
                f"AdaptiveLogSoftmaxWithLoss: cutoffs {ends} must be different numbers from 1 to "
                f"{n_classes - 1}, in order"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*ends, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i, (start, end) in enumerate(pairwise(self.cutoffs)):
            hidden = int(in_features // div_value ** (i + 1))
            first = Linear(in_features, hidden, False, device, dtype)
            self.tail.append(Sequential(first, Linear(hidden, end - start, False, device, dtype)))

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for layer in cluster.children():
                layer.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> AdaptiveLogSoftmaxResult:
        """input (n, in_features) and targets (n,), integers, or one of each. Gives the targets'
        log-probabilities (n,) and the mean of their negatives. Raises ShapeError for other shapes,
        IndexRangeError for a target that is no class (see `checked_indices`)."""
        if target.ndim > 1 or input.shape != (*target.shape, self.in_features):
            raise ShapeError(
                f"AdaptiveLogSoftmaxWithLoss: targets {target.shape} for an input {input.shape} of "
                f"{self.in_features} features"
            )
        single = not target.ndim
        rows = f.expand_dims(input, 0) if single else input
        classes = checked_indices(
            f.reshape(target, (-1,)), self.n_classes, "AdaptiveLogSoftmaxWithLoss: the class"
        )
        column = f.expand_dims(classes, 1)
        output = f.squeeze(f.take_along_axis(self.log_prob(rows), column, axis=1), 1)
        loss = -f.mean(output)
        return AdaptiveLogSoftmaxResult(f.squeeze(output, 0) if single else output, loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes, (n, n_classes)."""
        head = log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            at = self.shortlist_size + i
            parts.append(log_softmax(cluster(input), 1) + head[:, at : at + 1])
        return f.concat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each example, (n,); int32."""
        return f.argmax(self.log_prob(input), 1)
