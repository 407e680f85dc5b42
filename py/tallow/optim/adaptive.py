"""Optimisers that scale each element's step by its gradients so far."""

from __future__ import annotations

import math

from .. import functions as f
from ..nn.parameter import Parameter
from ..runtime.variable import Variable
from ..tensor import Tensor
from .group import Group
from .optimizer import Changes, Optimizer, Params, check, torch_options


def _filled(group: Group, index: int, count: Tensor) -> Tensor:
    """1 - beta ** count: how much of a mean that began with zeros is there. By expm1, since the
    power is near to 1 at first, and the difference would have few digits."""
    return -f.expm1(count * group.log("betas", index))


def _mean(group: Group, index: int, mean: Tensor, value: Tensor) -> Tensor:
    """A running mean, and `value` counted in with 1 - beta."""
    return mean + (value - mean) * group.rest("betas", index)


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
        value = Tensor(p.node)
        if group.used("weight_decay"):
            decay = group.tensor("weight_decay")
            if group.fixed("decoupled_weight_decay"):
                value = value * (1.0 - lr * decay)
            else:
                gradient = gradient + value * decay
        count, steps = self._count(p)
        mean, square = self._state(p, "exp_avg"), self._state(p, "exp_avg_sq")
        new_mean = _mean(group, 0, mean, gradient)
        new_square = _mean(group, 1, square, gradient * gradient)
        changes: list[tuple[Variable, Tensor]] = [(count, steps)]
        root = new_square
        if group.fixed("amsgrad"):
            largest = self._state(p, "max_exp_avg_sq")
            root = f.maximum(largest, new_square)
            changes.append((largest, root))
        size = f.sqrt(root) * f.reciprocal(f.sqrt(_filled(group, 1, steps))) + group.fixed("eps")
        rate = lr / _filled(group, 0, steps)
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
        new_mean = _mean(group, 0, mean, gradient)
        shrunk = largest * group.tensor("betas", 1)
        new_largest = f.maximum(shrunk, f.abs(gradient) + group.fixed("eps"))
        rate = group.tensor("lr") / _filled(group, 0, steps)
        return [
            (count, steps), (mean, new_mean), (largest, new_largest),
            (p, p - new_mean / new_largest * rate),
        ]  # fmt: skip


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


class Adan(Optimizer):
    """Adam with Nesterov's look ahead, from differences of gradients (Xie et al. 2022).

    betas: of the gradients, of their differences, of the squares, as the paper's 1 - beta.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float, float] = (0.98, 0.92, 0.99),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        check("Adan", lr=(lr, 0, math.inf), eps=(eps, 0, math.inf))
        check("Adan", weight_decay=(weight_decay, 0, math.inf))
        check("Adan", beta1=(betas[0], 0, 1), beta2=(betas[1], 0, 1), beta3=(betas[2], 0, 1))
        super().__init__(
            params,
            {
                "lr": float(lr), "betas": tuple(betas), "eps": float(eps),
                "weight_decay": float(weight_decay),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        b2 = group.tensor("betas", 1)
        count, steps = self._count(p)
        mean, change = self._state(p, "exp_avg"), self._state(p, "exp_avg_diff")
        square, last = self._state(p, "exp_avg_sq"), self._state(p, "previous_grad")
        difference = f.where(steps > 1.0, gradient - last, 0.0)
        ahead = gradient + difference * b2
        new_mean = _mean(group, 0, mean, gradient)
        new_change = _mean(group, 1, change, difference)
        new_square = _mean(group, 2, square, ahead * ahead)
        size = f.sqrt(new_square / _filled(group, 2, steps)) + group.fixed("eps")
        forward = new_mean / _filled(group, 0, steps)
        forward = forward + new_change * b2 / _filled(group, 1, steps)
        lr = group.tensor("lr")
        moved = (p - forward / size * lr) / (1.0 + lr * group.tensor("weight_decay"))
        return [
            (count, steps), (mean, new_mean), (change, new_change), (square, new_square),
            (last, gradient), (p, moved),
        ]  # fmt: skip
