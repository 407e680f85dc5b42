"""Muon: steps along matrices whose singular values are all about 1."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .. import functions as f
from ..errors import OptionError
from ..nn.parameter import Parameter
from ..tensor import Tensor
from .checks import check
from .group import Group
from .optimizer import Changes, Optimizer, Params

_FITTINGS = (None, "original", "match_rms_adamw")


class Muon(Optimizer):
    """Momentum, made orthogonal (Jordan et al. 2024, "Muon: an optimizer for hidden layers"), for
    the matrices of a network; give embeddings, biases and the last layer to AdamW.

    nesterov: looks ahead. ns_coefficients, ns_steps: of the iteration. adjust_lr_fn: "original"
    (also None) multiplies the rate of a matrix (rows, columns) by sqrt(max(1, rows / columns));
    "match_rms_adamw" by 0.2 sqrt(max(rows, columns)), so that steps are as long as AdamW's (Liu et
    al. 2025, "Muon is Scalable for LLM Training").

    The iteration computes in float32, where PyTorch rounds to bfloat16: steps differ from its in
    the third digit. Raises OptionError for a parameter that is not a matrix.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check("Muon", lr=(lr, 0, math.inf), momentum=(momentum, 0, math.inf))
        check("Muon", weight_decay=(weight_decay, 0, math.inf), ns_steps=(ns_steps, 0, 99))
        if len(ns_coefficients) != 3:
            raise OptionError(f"Muon: ns_coefficients must be three numbers, not {ns_coefficients}")
        if adjust_lr_fn not in _FITTINGS:
            raise OptionError(f"Muon: adjust_lr_fn {adjust_lr_fn!r} is none of {_FITTINGS}")
        super().__init__(
            params,
            {
                "lr": float(lr), "weight_decay": float(weight_decay), "momentum": float(momentum),
                "nesterov": nesterov, "ns_coefficients": tuple(ns_coefficients), "eps": float(eps),
                "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
            },
        )  # fmt: skip

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Adds matrices, with settings of their own where the dict has them."""
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            if p.ndim != 2:
                self.param_groups.pop()
                raise OptionError(
                    f"Muon: optimises matrices; {p.name} has the shape {p.shape}, give it to "
                    "another optimiser such as AdamW"
                )

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        buffer = self._state(p, "momentum_buffer")
        momentum = group.tensor("momentum")
        mean = buffer + (gradient - buffer) * group.rest("momentum")
        ahead = gradient + (mean - gradient) * momentum if group.fixed("nesterov") else mean
        rows, columns = p.shape
        longer = math.sqrt(max(1.0, rows / columns))
        if group.fixed("adjust_lr_fn") == "match_rms_adamw":
            longer = 0.2 * math.sqrt(max(rows, columns))
        step = orthogonalized(
            ahead, group.fixed("ns_coefficients"), group.fixed("ns_steps"), group.fixed("eps")
        )
        lr = group.tensor("lr")
        kept = p * (1.0 - lr * group.tensor("weight_decay"))
        return [(buffer, mean), (p, kept - step * (lr * longer))]


def orthogonalized(
    matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Tensor:
    """The matrix with all its singular values brought to about 1, by so many steps of a polynomial
    of degree 5 in it (Newton and Schulz)."""
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x = (matrix.mT if tall else matrix).astype("float32")
    x = x / f.maximum(f.sqrt(f.sum(x * x)), eps)
    for _ in range(steps):
        gram = x @ x.mT
        x = x * a + (gram * b + (gram @ gram) * c) @ x
    return x.mT if tall else x
