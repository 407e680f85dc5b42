"""Adam, AdamW and Adamax."""

from __future__ import annotations

import math

from .. import functions as f
from ..nn.parameter import Parameter
from ..runtime.variable import Variable
from ..tensor import Tensor
from .checks import check, torch_options
from .group import Group
from .optimizer import Changes, Optimizer, Params


def filled(group: Group, index: int, count: Tensor) -> Tensor:
    """1 - beta ** count: how much of a mean that began with zeros is there. By expm1, since the
    power is near to 1 at first, and the difference would have few digits."""
    return -f.expm1(count * group.log("betas", index))


def running(group: Group, index: int, mean: Tensor, value: Tensor) -> Tensor:
    """A running mean, and `value` counted in with 1 - beta."""
    return mean + (value - mean) * group.rest("betas", index)


def decayed(group: Group, p: Parameter, gradient: Tensor) -> tuple[Tensor, Tensor]:
    """The parameter and its gradient, one of which the decay of weights has changed."""
    value = Tensor(p.node)
    if group.used("weight_decay"):
        decay = group.tensor("weight_decay")
        if group.fixed("decoupled_weight_decay"):
            return value * (1.0 - group.tensor("lr") * decay), gradient
        return value, gradient + value * decay
    return value, gradient


class Adam(Optimizer):
    """Steps along the mean of gradients, divided by the root of the mean of their squares (Kingma
    and Ba 2015).

    weight_decay is added to the gradient; with decoupled_weight_decay it is taken from the
    parameter, as in AdamW. amsgrad: divides by the largest mean of squares so far (Reddi et al.
    2018). maximize: steps along the gradient. foreach, capturable and fused change nothing.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        name = type(self).__name__
        check(name, lr=(lr, 0, math.inf), eps=(eps, 0, math.inf))
        check(name, weight_decay=(weight_decay, 0, math.inf))
        check(name, beta1=(betas[0], 0, 1), beta2=(betas[1], 0, 1))
        super().__init__(
            params,
            {
                "lr": float(lr), "betas": tuple(betas), "eps": float(eps),
                "weight_decay": float(weight_decay), "amsgrad": amsgrad, "maximize": maximize,
                "decoupled_weight_decay": decoupled_weight_decay,
                **torch_options(name, {
                    "foreach": foreach, "capturable": capturable,
                    "differentiable": differentiable, "fused": fused,
                }),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        lr = group.tensor("lr")
        value, gradient = decayed(group, p, gradient)
        count, steps = self._count(p)
        mean, square = self._state(p, "exp_avg"), self._state(p, "exp_avg_sq")
        new_mean = running(group, 0, mean, gradient)
        new_square = running(group, 1, square, gradient * gradient)
        changes: list[tuple[Variable, Tensor]] = [(count, steps)]
        root = new_square
        if group.fixed("amsgrad"):
            largest = self._state(p, "max_exp_avg_sq")
            root = f.maximum(largest, new_square)
            changes.append((largest, root))
        size = f.sqrt(root) * f.reciprocal(f.sqrt(filled(group, 1, steps))) + group.fixed("eps")
        rate = lr / filled(group, 0, steps)
        return [
            *changes, (mean, new_mean), (square, new_square), (p, value - new_mean / size * rate)
        ]  # fmt: skip


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter itself (Loshchilov and Hutter 2019)."""

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
            capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=True,
        )  # fmt: skip


class Adamax(Optimizer):
    """Adam with the largest gradient instead of the root of the mean of squares (Kingma, Ba)."""

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check("Adamax", lr=(lr, 0, math.inf), eps=(eps, 0, math.inf))
        check("Adamax", beta1=(betas[0], 0, 1), beta2=(betas[1], 0, 1))
        check("Adamax", weight_decay=(weight_decay, 0, math.inf))
        super().__init__(
            params,
            {
                "lr": float(lr), "betas": tuple(betas), "eps": float(eps),
                "weight_decay": float(weight_decay), "maximize": maximize,
                **torch_options("Adamax", {
                    "foreach": foreach, "differentiable": differentiable, "capturable": capturable,
                }),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        if group.used("weight_decay"):
            gradient = gradient + p * group.tensor("weight_decay")
        count, steps = self._count(p)
        mean, largest = self._state(p, "exp_avg"), self._state(p, "exp_inf")
        new_mean = running(group, 0, mean, gradient)
        shrunk = largest * group.tensor("betas", 1)
        new_largest = f.maximum(shrunk, f.abs(gradient) + group.fixed("eps"))
        rate = group.tensor("lr") / filled(group, 0, steps)
        return [
            (count, steps), (mean, new_mean), (largest, new_largest),
            (p, p - new_mean / new_largest * rate),
        ]  # fmt: skip
