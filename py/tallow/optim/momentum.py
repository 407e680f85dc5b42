"""Optimisers whose steps are as long for all elements: SGD, Lion."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functions as f
from ..errors import OptionError
from ..nn.parameter import Parameter
from ..runtime.variable import Variable
from ..tensor import Tensor
from .optimizer import Group, Optimizer, Params, check

Changes = Sequence[tuple[Variable, Tensor]]


class SGD(Optimizer):
    """Steps against the gradient, or along a running sum of gradients (Polyak 1964).

    dampening: how much less a new gradient counts in that sum, from the second step on. nesterov:
    looks ahead (Nesterov 1983), as in Sutskever et al. 2013.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        check("SGD", lr=(lr, 0, math.inf), momentum=(momentum, 0, math.inf))
        check("SGD", weight_decay=(weight_decay, 0, math.inf))
        if nesterov and (momentum <= 0 or dampening != 0):
            raise OptionError("SGD: nesterov needs a momentum above 0 and no dampening")
        super().__init__(
            params,
            {
                "lr": float(lr), "momentum": float(momentum), "dampening": float(dampening),
                "weight_decay": float(weight_decay), "nesterov": nesterov, "maximize": maximize,
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        lr = group.tensor("lr")
        if group["weight_decay"]:
            gradient = gradient + p * group.tensor("weight_decay")
        if not group["momentum"]:
            return [(p, p - gradient * lr)]
        momentum = group.tensor("momentum")
        buffer = self._state(p, "momentum_buffer")
        share = gradient * (1.0 - group["dampening"])
        changes: list[tuple[Variable, Tensor]] = []
        if group["dampening"]:  # the first gradient counts in full
            count, steps = self._count(p)
            share = f.where(steps > 1.0, share, gradient)
            changes.append((count, steps))
        total = buffer * momentum + share
        step = gradient + total * momentum if group["nesterov"] else total
        return [*changes, (buffer, total), (p, p - step * lr)]


class Lion(Optimizer):
    """Steps of one length, by the sign of a mean of gradients (Chen et al. 2023, "Symbolic
    Discovery of Optimization Algorithms")."""

    def __init__(
        self,
        params: Params,
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
    ) -> None:
        check("Lion", lr=(lr, 0, math.inf), weight_decay=(weight_decay, 0, math.inf))
        check("Lion", beta1=(betas[0], 0, 1), beta2=(betas[1], 0, 1))
        settings = {"lr": float(lr), "betas": tuple(betas), "weight_decay": float(weight_decay)}
        super().__init__(params, settings)

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        first, second = group["betas"]
        mean = self._state(p, "exp_avg")
        direction = f.sign(mean * first + gradient * (1 - first))
        lr = group.tensor("lr")
        kept = p * (1.0 - lr * group.tensor("weight_decay"))
        new_mean = mean * second + gradient * (1 - second)
        return [(mean, new_mean), (p, kept - direction * lr)]
