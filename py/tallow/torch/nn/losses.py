"""Losses with the arguments that PyTorch has kept from its first versions: `size_average` and
`reduce`, which `reduction` has replaced, lie among the positional ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import tallow.nn
from tallow import functional

from ...errors import ArgumentError
from ...nn.loss import _Loss

_OLD = "size_average reduce reduction"
_SETTINGS = {
    "binary_cross_entropy": f"weight {_OLD}",
    "binary_cross_entropy_with_logits": f"weight {_OLD} pos_weight",
    "cosine_embedding_loss": f"margin {_OLD}",
    "cross_entropy": "weight size_average ignore_index reduce reduction label_smoothing",
    "hinge_embedding_loss": f"margin {_OLD}",
    "kl_div": f"{_OLD} log_target",
    "l1_loss": _OLD,
    "margin_ranking_loss": f"margin {_OLD}",
    "mse_loss": _OLD,
    "multi_margin_loss": f"p margin weight {_OLD}",
    "multilabel_margin_loss": _OLD,
    "multilabel_soft_margin_loss": f"weight {_OLD}",
    "nll_loss": "weight size_average ignore_index reduce reduction",
    "poisson_nll_loss": "log_input full size_average eps reduce reduction",
    "smooth_l1_loss": f"{_OLD} beta",
    "soft_margin_loss": _OLD,
    "triplet_margin_loss": f"margin p eps swap {_OLD}",
}
"""The arguments behind the tensors, in PyTorch's order."""

_THREE = ("cosine_embedding_loss", "margin_ranking_loss", "triplet_margin_loss")
"""Losses of three tensors; the others take an input and a target."""

_MODULES = {
    "BCELoss": "binary_cross_entropy", "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CosineEmbeddingLoss": "cosine_embedding_loss", "CrossEntropyLoss": "cross_entropy",
    "HingeEmbeddingLoss": "hinge_embedding_loss", "KLDivLoss": "kl_div", "L1Loss": "l1_loss",
    "MSELoss": "mse_loss", "MarginRankingLoss": "margin_ranking_loss",
    "MultiLabelMarginLoss": "multilabel_margin_loss",
    "MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss",
    "MultiMarginLoss": "multi_margin_loss", "NLLLoss": "nll_loss",
    "PoissonNLLLoss": "poisson_nll_loss", "SmoothL1Loss": "smooth_l1_loss",
    "SoftMarginLoss": "soft_margin_loss", "TripletMarginLoss": "triplet_margin_loss",
}  # fmt: skip


def _settings(what: str, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a loss by name, with `reduction` for what the old arguments say."""
    names = _SETTINGS[what].split()
    if len(given) > len(names):
        raise ArgumentError(f"{what}() takes {', '.join(names)} behind the tensors")
    found = {**dict(zip(names, given, strict=False)), **named}
    size_average, reduce = found.pop("size_average", None), found.pop("reduce", None)
    if size_average is not None or reduce is not None:
        mean = size_average is None or size_average
        found["reduction"] = "none" if reduce is False else "mean" if mean else "sum"
    return found


def _function(name: str) -> Callable[..., Any]:
    own = getattr(functional, name)
    count = 3 if name in _THREE else 2

    @wraps(own)
    def loss(*args: Any, **options: Any) -> Any:
        if len(args) <= count and not {"size_average", "reduce"} & options.keys():
            return own(*args, **options)
        return own(*args[:count], **_settings(name, args[count:], options))

    return loss


def _module(name: str) -> type:
    own: type[_Loss] = getattr(tallow.nn, name)

    def begin(self: _Loss, *args: object, **options: object) -> None:
        own.__init__(self, **_settings(_MODULES[name], args, options))

    members = {"__init__": begin, "__doc__": own.__doc__, "__module__": "tallow.torch.nn"}
    return type(name, (own,), members)


FUNCTIONS = {name: _function(name) for name in _SETTINGS}
MODULES = {name: _module(name) for name in _MODULES}
