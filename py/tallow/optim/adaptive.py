"""Optimisers that divide each element's step by the size of its gradients so far: Adagrad, RMSprop,
Adadelta."""

from __future__ import annotations

import math

from .. import functions as f
from ..nn.parameter import Parameter
from ..runtime.variable import Variable
from ..tensor import Tensor
from .checks import check, torch_options
from .group import Group
from .optimizer import Changes, Optimizer, Params


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients (Duchi et al. 2011)."""

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check("Adagrad", lr=(lr, 0, math.inf), lr_decay=(lr_decay, 0, math.inf))
        check("Adagrad", weight_decay=(weight_decay, 0, math.inf), eps=(eps, 0, math.inf))
        check("Adagrad", initial_accumulator_value=(initial_accumulator_value, 0, math.inf))
        super().__init__(
            params,
            {
                "lr": float(lr), "lr_decay": float(lr_decay), "eps": float(eps),
                "weight_decay": float(weight_decay), "maximize": maximize,
                "initial_accumulator_value": float(initial_accumulator_value),
                **torch_options("Adagrad", {
                    "foreach": foreach, "differentiable": differentiable, "fused": fused,
                }),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        if group.used("weight_decay"):
            gradient = gradient + p * group.tensor("weight_decay")
        count, steps = self._count(p)
        start = f.full(p.shape, group["initial_accumulator_value"], p.dtype)
        total = self._state(p, "sum", start)
        new_total = total + gradient * gradient
        rate = group.tensor("lr")
        if group.used("lr_decay"):
            rate = rate / (1.0 + (steps - 1.0) * group.tensor("lr_decay"))
        step = gradient / (f.sqrt(new_total) + group.fixed("eps")) * rate
        return [(count, steps), (total, new_total), (p, p - step)]


class RMSprop(Optimizer):
    """Steps divided by the root of the mean of squared gradients (Hinton 2012, lecture 6e).

    centered: the variance of the gradients instead. momentum: as of SGD, behind the division.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check("RMSprop", lr=(lr, 0, math.inf), alpha=(alpha, 0, math.inf))
        check("RMSprop", eps=(eps, 0, math.inf), momentum=(momentum, 0, math.inf))
        check("RMSprop", weight_decay=(weight_decay, 0, math.inf))
        super().__init__(
            params,
            {
                "lr": float(lr), "alpha": float(alpha), "eps": float(eps),
                "weight_decay": float(weight_decay), "momentum": float(momentum),
                "centered": centered, "maximize": maximize,
                **torch_options("RMSprop", {
                    "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
                }),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        share = group.rest("alpha")
        if group.used("weight_decay"):
            gradient = gradient + p * group.tensor("weight_decay")
        count, steps = self._count(p)
        square = self._state(p, "square_avg")
        new_square = square + (gradient * gradient - square) * share
        changes: list[tuple[Variable, Tensor]] = [(count, steps), (square, new_square)]
        spread = new_square
        if group.fixed("centered"):
            mean = self._state(p, "grad_avg")
            new_mean = mean + (gradient - mean) * share
            changes.append((mean, new_mean))
            spread = new_square - new_mean * new_mean
        step = gradient / (f.sqrt(spread) + group.fixed("eps"))
        if group.used("momentum"):
            buffer = self._state(p, "momentum_buffer")
            step = buffer * group.tensor("momentum") + step
            changes.append((buffer, step))
        return [*changes, (p, p - step * group.tensor("lr"))]


class Adadelta(Optimizer):
    """Steps as large as the root of the mean of squared steps so far, divided by that of squared
    gradients (Zeiler 2012). rho: how much of both means is kept at each step."""

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check("Adadelta", lr=(lr, 0, math.inf), rho=(rho, 0, 1), eps=(eps, 0, math.inf))
        check("Adadelta", weight_decay=(weight_decay, 0, math.inf))
        super().__init__(
            params,
            {
                "lr": float(lr), "rho": float(rho), "eps": float(eps),
                "weight_decay": float(weight_decay), "maximize": maximize,
                **torch_options("Adadelta", {
                    "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
                }),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        share, eps = group.rest("rho"), group.fixed("eps")
        if group.used("weight_decay"):
            gradient = gradient + p * group.tensor("weight_decay")
        count, steps = self._count(p)
        square, moved = self._state(p, "square_avg"), self._state(p, "acc_delta")
        new_square = square + (gradient * gradient - square) * share
        step = f.sqrt(moved + eps) / f.sqrt(new_square + eps) * gradient
        new_moved = moved + (step * step - moved) * share
        return [
            (count, steps), (square, new_square), (moved, new_moved),
            (p, p - step * group.tensor("lr")),
        ]  # fmt: skip
