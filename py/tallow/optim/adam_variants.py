"""Adam with another first moment, or other first steps: NAdam, RAdam, Adan."""

from __future__ import annotations

import math

from .. import functions as f
from ..nn.parameter import Parameter
from ..tensor import Tensor
from .adam import decayed, filled, running
from .checks import check, torch_options
from .group import Group
from .optimizer import Changes, Optimizer, Params


class _Variant(Optimizer):
    """What NAdam and RAdam share: the settings."""

    def __init__(
        self, params: Params, lr: float, betas: tuple[float, float], eps: float,
        weight_decay: float, maximize: bool, decoupled_weight_decay: bool,
        options: dict[str, bool | None], **own: float,
    ) -> None:  # fmt: skip
        name = type(self).__name__
        check(name, lr=(lr, 0, math.inf), eps=(eps, 0, math.inf))
        check(name, weight_decay=(weight_decay, 0, math.inf))
        check(name, beta1=(betas[0], 0, 1), beta2=(betas[1], 0, 1))
        super().__init__(
            params,
            {
                "lr": float(lr), "betas": tuple(betas), "eps": float(eps),
                "weight_decay": float(weight_decay), **own, "maximize": maximize,
                "decoupled_weight_decay": decoupled_weight_decay, **torch_options(name, options),
            },
        )  # fmt: skip


class NAdam(_Variant):
    """Adam with Nesterov's momentum, which grows at first (Dozat 2016, "Incorporating Nesterov
    Momentum into Adam").

    momentum_decay: how fast the momentum comes near to the first of betas: at step t it is that
    times 1 - 0.96 ** (t * momentum_decay) / 2. weight_decay is added to the gradient; with
    decoupled_weight_decay it is taken from the parameter. foreach and capturable change nothing.
    """

    _shared = ("step", "mu_product")

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check("NAdam", momentum_decay=(momentum_decay, 0, math.inf))
        super().__init__(
            params, lr, betas, eps, weight_decay, maximize, decoupled_weight_decay,
            {"foreach": foreach, "capturable": capturable, "differentiable": differentiable},
            momentum_decay=float(momentum_decay),
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        value, gradient = decayed(group, p, gradient)
        count, steps = self._count(p)
        product = self._state(p, "mu_product", 1.0)
        mean, square = self._state(p, "exp_avg"), self._state(p, "exp_avg_sq")
        new_mean = running(group, 0, mean, gradient)
        new_square = running(group, 1, square, gradient * gradient)
        speed = group.tensor("momentum_decay") * math.log(0.96)

        def momentum(step: Tensor) -> Tensor:
            return group.tensor("betas", 0) * (1.0 - 0.5 * f.exp(step * speed))

        now, next = momentum(steps), momentum(steps + 1.0)
        new_product = product * now
        size = f.sqrt(new_square / filled(group, 1, steps)) + group.fixed("eps")
        lr = group.tensor("lr")
        ahead = gradient * (lr * (1.0 - now) / (1.0 - new_product))
        ahead = ahead + new_mean * (lr * next / (1.0 - new_product * next))
        return [
            (count, steps), (product, new_product), (mean, new_mean), (square, new_square),
            (p, value - ahead / size),
        ]  # fmt: skip


class RAdam(_Variant):
    """Adam that divides by the size of gradients only once enough of them are known, and then by
    more at first (Liu et al. 2020, "On the Variance of the Adaptive Learning Rate and Beyond").

    weight_decay is added to the gradient; with decoupled_weight_decay it is taken from the
    parameter. foreach and capturable change nothing.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, maximize, decoupled_weight_decay,
            {"foreach": foreach, "capturable": capturable, "differentiable": differentiable},
        )  # fmt: skip

    def _update(self, group: Group, p: Parameter, gradient: Tensor) -> Changes:
        value, gradient = decayed(group, p, gradient)
        count, steps = self._count(p)
        mean, square = self._state(p, "exp_avg"), self._state(p, "exp_avg_sq")
        new_mean = running(group, 0, mean, gradient)
        new_square = running(group, 1, square, gradient * gradient)
        known = filled(group, 1, steps)
        longest, length = self._lengths(group, steps, known)
        # Both are at least 5 where they are used; elsewhere the root would be of negative numbers.
        most, now = f.maximum(longest, 5.0), f.maximum(length, 5.0)
        share = (now - 4.0) * (now - 2.0) * most / ((most - 4.0) * (most - 2.0) * now)
        scale = f.sqrt(share * known) / (f.sqrt(new_square) + group.fixed("eps"))
        rate = group.tensor("lr") / filled(group, 0, steps)
        step = new_mean * rate * f.where(length > 5.0, scale, 1.0)
        return [(count, steps), (mean, new_mean), (square, new_square), (p, value - step)]

    @staticmethod
    def _lengths(group: Group, steps: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """Of how many gradients the mean of squares is, at last and at this step: the paper's
        rho_inf = 2 / (1 - beta) - 1 and rho_t = rho_inf - 2 t beta ** t / (1 - beta ** t).

        At first, that is a small difference of large numbers. With h = -log(beta) / 2 it equals
        t + L(h) - t L(t h), where L(x) = coth(x) - 1 / x, whose series converges fast.
        """
        longest = 2.0 / group.rest("betas", 1) - 1.0
        half = group.log("betas", 1) * -0.5

        def langevin(x: Tensor) -> Tensor:
            y = x * x
            return x * (1 / 3 - y * (1 / 45 - y * (2 / 945 - y * (1 / 4725 - y * (2 / 93555)))))

        done = steps * half
        at_first = steps * (1.0 - langevin(f.minimum(done, 0.5))) + langevin(f.minimum(half, 0.5))
        later = longest - 2.0 * steps * (1.0 - known) / known
        return longest, f.where(done < 0.5, at_first, later)


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
        new_mean = running(group, 0, mean, gradient)
        new_change = running(group, 1, change, difference)
        new_square = running(group, 2, square, ahead * ahead)
        size = f.sqrt(new_square / filled(group, 2, steps)) + group.fixed("eps")
        forward = new_mean / filled(group, 0, steps)
        forward = forward + new_change * b2 / filled(group, 1, steps)
        lr = group.tensor("lr")
        moved = (p - forward / size * lr) / (1.0 + lr * group.tensor("weight_decay"))
        return [
            (count, steps), (mean, new_mean), (change, new_change), (square, new_square),
            (last, gradient), (p, moved),
        ]  # fmt: skip
