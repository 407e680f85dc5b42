"""Optimisers that scale each element's step by its gradients so far."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functions as f
from ..nn.parameter import Parameter
from ..runtime.variable import Variable
from ..tensor import Tensor
from .optimizer import Group, Optimizer, Params, check

Changes = Sequence[tuple[Variable, Tensor]]


def _power(base: float, count: Tensor) -> Tensor:
    """base ** count, as the step count is a tensor."""
    return f.exp(count * math.log(base)) if base > 0 else f.zeros((), count.dtype)


class Adam(Optimizer):
    """Steps along the mean of gradients, divided by the root of the mean of their squares (Kingma
    and Ba 2015). weight_decay is added to the gradient; AdamW takes it from the parameter."""

    _decoupled = False

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
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
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        first, second = group["betas"]
        lr = group.tensor("lr")
        value = Tensor(p.node)
        if group["weight_decay"]:
            decay = group.tensor("weight_decay")
            if self._decoupled:
                value = value * (1.0 - lr * decay)
            else:
                gradient = gradient + value * decay
        count, steps = self._count(p)
        mean, square = self._state(p, "exp_avg"), self._state(p, "exp_avg_sq")
        new_mean = mean * first + gradient * (1 - first)
        new_square = square * second + gradient * gradient * (1 - second)
        changes: list[tuple[Variable, Tensor]] = [(count, steps)]
        root = new_square
        if group["amsgrad"]:
            largest = self._state(p, "max_exp_avg_sq")
            root = f.maximum(largest, new_square)
            changes.append((largest, root))
        size = f.sqrt(root) * f.reciprocal(f.sqrt(1.0 - _power(second, steps))) + group["eps"]
        rate = lr / (1.0 - _power(first, steps))
        return [
            *changes, (mean, new_mean), (square, new_square), (p, value - new_mean / size * rate)
        ]  # fmt: skip


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter itself (Loshchilov and Hutter 2019)."""

    _decoupled = True

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
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class Adamax(Optimizer):
    """Adam with the largest gradient instead of the root of the mean of squares (Kingma, Ba)."""

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        check("Adamax", lr=(lr, 0, math.inf), eps=(eps, 0, math.inf))
        check("Adamax", beta1=(betas[0], 0, 1), beta2=(betas[1], 0, 1))
        check("Adamax", weight_decay=(weight_decay, 0, math.inf))
        super().__init__(
            params,
            {
                "lr": float(lr), "betas": tuple(betas), "eps": float(eps),
                "weight_decay": float(weight_decay), "maximize": maximize,
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        first, second = group["betas"]
        if group["weight_decay"]:
            gradient = gradient + p * group.tensor("weight_decay")
        count, steps = self._count(p)
        mean, largest = self._state(p, "exp_avg"), self._state(p, "exp_inf")
        new_mean = mean * first + gradient * (1 - first)
        new_largest = f.maximum(largest * second, f.abs(gradient) + group["eps"])
        rate = group.tensor("lr") / (1.0 - _power(first, steps))
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
        *,
        maximize: bool = False,
    ) -> None:
        check("Adagrad", lr=(lr, 0, math.inf), lr_decay=(lr_decay, 0, math.inf))
        check("Adagrad", weight_decay=(weight_decay, 0, math.inf), eps=(eps, 0, math.inf))
        super().__init__(
            params,
            {
                "lr": float(lr), "lr_decay": float(lr_decay), "eps": float(eps),
                "weight_decay": float(weight_decay), "maximize": maximize,
                "initial_accumulator_value": float(initial_accumulator_value),
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        if group["weight_decay"]:
            gradient = gradient + p * group.tensor("weight_decay")
        count, steps = self._count(p)
        start = f.full(p.shape, group["initial_accumulator_value"], p.dtype)
        total = self._state(p, "sum", start)
        new_total = total + gradient * gradient
        rate = group.tensor("lr") / (1.0 + (steps - 1.0) * group["lr_decay"])
        step = gradient / (f.sqrt(new_total) + group["eps"]) * rate
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
        *,
        maximize: bool = False,
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
            },
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        alpha = group["alpha"]
        if group["weight_decay"]:
            gradient = gradient + p * group.tensor("weight_decay")
        count, steps = self._count(p)
        square = self._state(p, "square_avg")
        new_square = square * alpha + gradient * gradient * (1 - alpha)
        changes: list[tuple[Variable, Tensor]] = [(count, steps), (square, new_square)]
        spread = new_square
        if group["centered"]:
            mean = self._state(p, "grad_avg")
            new_mean = mean * alpha + gradient * (1 - alpha)
            changes.append((mean, new_mean))
            spread = new_square - new_mean * new_mean
        step = gradient / (f.sqrt(spread) + group["eps"])
        if group["momentum"]:
            buffer = self._state(p, "momentum_buffer")
            step = buffer * group["momentum"] + step
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
        b1, b2, b3 = group["betas"]
        count, steps = self._count(p)
        mean, change = self._state(p, "exp_avg"), self._state(p, "exp_avg_diff")
        square, last = self._state(p, "exp_avg_sq"), self._state(p, "previous_grad")
        difference = f.where(steps > 1.0, gradient - last, 0.0)
        ahead = gradient + difference * b2
        new_mean = mean * b1 + gradient * (1 - b1)
        new_change = change * b2 + difference * (1 - b2)
        new_square = square * b3 + ahead * ahead * (1 - b3)
        size = f.sqrt(new_square / (1.0 - _power(b3, steps))) + group["eps"]
        forward = new_mean / (1.0 - _power(b1, steps))
        forward = forward + new_change * b2 / (1.0 - _power(b2, steps))
        lr = group.tensor("lr")
        moved = (p - forward / size * lr) / (1.0 + lr * group.tensor("weight_decay"))
        return [
            (count, steps), (mean, new_mean), (change, new_change), (square, new_square),
            (last, gradient), (p, moved),
        ]  # fmt: skip
