"""Optimisers whose steps are as long for all elements: SGD, ASGD, Lion."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .. import functions as f
from ..errors import OptionError
from ..nn.parameter import Parameter
from ..runtime.variable import Variable
from ..tensor import Tensor
from .checks import check, torch_options
from .group import Group
from .optimizer import Changes, Optimizer, Params


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
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
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
                **torch_options("SGD", {
                    "foreach": foreach, "differentiable": differentiable, "fused": fused,
                }),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        lr = group.tensor("lr")
        if group.used("weight_decay"):
            gradient = gradient + p * group.tensor("weight_decay")
        if not group.used("momentum"):
            return [(p, p - gradient * lr)]
        momentum = group.tensor("momentum")
        buffer = self._state(p, "momentum_buffer")
        share = gradient
        changes: list[tuple[Variable, Tensor]] = []
        if group.used("dampening"):  # the first gradient counts in full
            count, steps = self._count(p)
            share = f.where(steps > 1.0, gradient * group.rest("dampening"), gradient)
            changes.append((count, steps))
        total = buffer * momentum + share
        step = gradient + total * momentum if group.fixed("nesterov") else total
        return [*changes, (buffer, total), (p, p - step * lr)]

    def _given(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """PyTorch counts no steps: there has been one if there is a buffer."""
        counted = any(group["dampening"] for group in self.param_groups)
        if counted and values.get("momentum_buffer") is not None:
            return {"step": 1.0, **values}
        return values


class ASGD(Optimizer):
    """Steps against the gradient that become shorter, and the mean of the parameters behind them
    (Polyak and Juditsky 1992, "Acceleration of Stochastic Approximation by Averaging").

    The step n + 1 has the rate lr / (1 + lambd * lr * n) ** alpha, and takes lambd times that rate
    of the parameter. state[p]["ax"] is the parameter itself up to step t0, and then the mean of its
    values. foreach and capturable change nothing.
    """

    _shared = ("step", "eta", "mu")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check("ASGD", lr=(lr, 0, math.inf), weight_decay=(weight_decay, 0, math.inf))
        super().__init__(
            params,
            {
                "lr": float(lr), "lambd": float(lambd), "alpha": float(alpha), "t0": float(t0),
                "weight_decay": float(weight_decay), "maximize": maximize,
                **torch_options("ASGD", {
                    "foreach": foreach, "differentiable": differentiable, "capturable": capturable,
                }),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        if group.used("weight_decay"):
            gradient = gradient + p * group.tensor("weight_decay")
        count, steps = self._count(p)
        lr, lambd = group.tensor("lr"), group.tensor("lambd")
        eta, mu = self._state(p, "eta", 0.0), self._state(p, "mu", 1.0)
        mean = self._state(p, "ax")
        rate = f.where(steps > 1.0, eta, lr)
        moved = p * (1.0 - lambd * rate) - gradient * rate
        new_mean = mean + (moved - mean) * mu
        new_eta = lr * f.exp(f.log1p(lambd * lr * steps) * -group.tensor("alpha"))
        new_mu = 1.0 / f.maximum(steps - group.tensor("t0"), 1.0)
        return [
            (count, steps), (eta, new_eta), (mu, new_mu),
            (mean, f.where(mu < 1.0, new_mean, moved)), (p, moved),
        ]  # fmt: skip


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
        mean = self._state(p, "exp_avg")
        away = gradient - mean
        direction = f.sign(mean + away * group.rest("betas", 0))
        lr = group.tensor("lr")
        kept = p * (1.0 - lr * group.tensor("weight_decay"))
        new_mean = mean + away * group.rest("betas", 1)
        return [(mean, new_mean), (p, kept - direction * lr)]
