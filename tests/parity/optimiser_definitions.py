"""One step of optimisers for which nothing is recorded, as PyTorch 2 defines it, in float64: a
function of the parameter, its gradient, the state (a dict, empty at first) and the settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .case import drawn
from .training import PROBLEMS, Make, Run

Array = np.ndarray
State = dict[str, Any]


def gradients(params: list[Array]) -> list[Array]:
    """Of the loss of `training.quadratic`: bend * (d^2 + 0.01 d^4) for the way d to a
    goal."""
    found = []
    for n, p in enumerate(params):
        away = p - drawn(f"optim goal {n}", p.shape)
        bend = np.abs(drawn(f"optim bend {n}", p.shape)) * 0.3 + 0.3
        found.append(bend * (2 * away + 0.04 * away**3))
    return found


def _decayed(p: Array, g: Array, lr: float, decay: float, decoupled: bool) -> tuple[Array, Array]:
    return (p * (1 - lr * decay), g) if decoupled else (p, g + decay * p)


def _moments(g: Array, s: State, b1: float, b2: float) -> tuple[int, Array, Array]:
    """The number of the step, and both means after it."""
    s["step"] = s.get("step", 0) + 1
    s["exp_avg"] = b1 * s.get("exp_avg", 0.0) + (1 - b1) * g
    s["exp_avg_sq"] = b2 * s.get("exp_avg_sq", 0.0) + (1 - b2) * g * g
    return s["step"], s["exp_avg"], s["exp_avg_sq"]


def adadelta(
    p: Array, g: Array, s: State, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6,
    weight_decay: float = 0.0,
) -> Array:  # fmt: skip
    g = g + weight_decay * p
    s["square_avg"] = rho * s.get("square_avg", 0.0) + (1 - rho) * g * g
    before = s.get("acc_delta", 0.0)
    delta = np.sqrt(before + eps) / np.sqrt(s["square_avg"] + eps) * g
    s["acc_delta"] = rho * before + (1 - rho) * delta * delta
    return p - lr * delta


def nadam(
    p: Array, g: Array, s: State, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8, weight_decay: float = 0.0, momentum_decay: float = 4e-3,
    decoupled_weight_decay: bool = False,
) -> Array:  # fmt: skip
    b1, b2 = betas
    p, g = _decayed(p, g, lr, weight_decay, decoupled_weight_decay)
    t, mean, square = _moments(g, s, b1, b2)
    mu, mu_next = (b1 * (1 - 0.5 * 0.96 ** (n * momentum_decay)) for n in (t, t + 1))
    product = s["mu_product"] = s.get("mu_product", 1.0) * mu
    size = np.sqrt(square / (1 - b2**t)) + eps
    p = p - lr * (1 - mu) / (1 - product) * g / size
    return p - lr * mu_next / (1 - product * mu_next) * mean / size


def radam(
    p: Array, g: Array, s: State, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8, weight_decay: float = 0.0, decoupled_weight_decay: bool = False,
) -> Array:  # fmt: skip
    b1, b2 = betas
    p, g = _decayed(p, g, lr, weight_decay, decoupled_weight_decay)
    t, mean, square = _moments(g, s, b1, b2)
    step = lr * mean / (1 - b1**t)
    last, now = lengths(b2, t)
    if now > 5:
        share = (now - 4) * (now - 2) * last / ((last - 4) * (last - 2) * now)
        step = step * np.sqrt(share) * np.sqrt(1 - b2**t) / (np.sqrt(square) + eps)
    return p - step


def lengths(b2: float, t: int) -> tuple[float, float]:
    """RAdam's rho_inf and rho_t."""
    last = 2 / (1 - b2) - 1
    return last, last - 2 * t * b2**t / (1 - b2**t)


def asgd(
    p: Array, g: Array, s: State, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
    t0: float = 1e6, weight_decay: float = 0.0,
) -> Array:  # fmt: skip
    t = s["step"] = s.get("step", 0) + 1
    eta, mu, ax = s.get("eta", lr), s.get("mu", 1.0), s.get("ax", 0.0)
    p, g = p * (1 - lambd * eta), g + weight_decay * p
    p = p - eta * g
    s["ax"] = p if mu == 1 else ax + (p - ax) * mu
    s["eta"], s["mu"] = lr / (1 + lambd * lr * t) ** alpha, 1 / max(1, t - t0)
    return p


def rprop(
    p: Array, g: Array, s: State, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
    step_sizes: tuple[float, float] = (1e-6, 50),
) -> Array:  # fmt: skip
    agrees = g * s.get("prev", 0.0)
    factor = np.where(agrees > 0, etas[1], np.where(agrees < 0, etas[0], 1.0))
    s["step_size"] = np.clip(s.get("step_size", lr) * factor, *step_sizes)
    s["prev"] = np.where(agrees < 0, 0.0, g)
    return p - np.sign(s["prev"]) * s["step_size"]


DEFINITIONS: dict[str, Callable[..., Array]] = {
    "Adadelta": adadelta, "NAdam": nadam, "RAdam": radam, "ASGD": asgd, "Rprop": rprop,
}  # fmt: skip

DEFINED: dict[str, tuple[str, dict[str, Any]]] = {
    "adadelta": ("Adadelta", {}),
    "adadelta all": ("Adadelta", {"lr": 0.5, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1}),
    "adadelta maximize": ("Adadelta", {"lr": 0.5, "maximize": True}),
    "nadam": ("NAdam", {"lr": 0.05}),
    "nadam default": ("NAdam", {}),
    "nadam all": ("NAdam", {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.1,
                            "momentum_decay": 0.05}),
    "nadam decoupled": ("NAdam", {"lr": 0.05, "weight_decay": 0.2,
                                  "decoupled_weight_decay": True, "maximize": True}),
    "radam": ("RAdam", {"lr": 0.05}),
    "radam default": ("RAdam", {}),
    "radam all": ("RAdam", {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.1}),
    "radam decoupled": ("RAdam", {"lr": 0.05, "betas": (0.9, 0.9), "weight_decay": 0.2,
                                  "decoupled_weight_decay": True, "maximize": True}),
    "radam never": ("RAdam", {"lr": 0.05, "betas": (0.9, 0.5)}),
    "asgd": ("ASGD", {"lr": 0.1}),
    "asgd default": ("ASGD", {}),
    "asgd all": ("ASGD", {"lr": 0.2, "lambd": 0.1, "alpha": 0.5, "t0": 4, "weight_decay": 0.1}),
    "asgd maximize": ("ASGD", {"lr": 0.01, "maximize": True}),
    "rprop": ("Rprop", {"lr": 0.05}),
    "rprop default": ("Rprop", {}),
    "rprop all": ("Rprop", {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (0.01, 0.4)}),
    "rprop maximize": ("Rprop", {"maximize": True}),
}  # fmt: skip
"""The optimiser and its settings."""


def make_of(case: str) -> Make:
    """Makes the optimiser of a case."""
    name, options = DEFINED[case]
    return lambda o, params: getattr(o, name)(params, **options)


def run_of(t: Any, case: str, mode: str = "eager", starts: Any = None) -> Run:
    """Trains the problem `quadratic` with it."""
    return Run(t, make_of(case), PROBLEMS["quadratic"], mode, starts)


def trajectory(
    case: str, starts: list[Array], rates: list[float]
) -> tuple[list[Array], list[State]]:
    """All parameters after each step with these rates, and the state at the end."""
    name, options = DEFINED[case]
    settings = {key: value for key, value in options.items() if key not in ("maximize", "lr")}
    sign = -1.0 if options.get("maximize") else 1.0
    params = [x.astype(np.float64) for x in starts]
    states: list[State] = [{} for _ in starts]
    found = []
    for rate in rates:
        slopes = gradients(params)
        params = [
            DEFINITIONS[name](p, sign * g, s, lr=rate, **settings)
            for p, g, s in zip(params, slopes, states, strict=True)
        ]
        found.append(np.concatenate([p.ravel() for p in params]))
    return found, states
