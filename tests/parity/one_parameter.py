"""An optimiser of one parameter, and an optimiser of one's own."""

from __future__ import annotations

import tallow as tl
from tallow import nn, optim


def stepping(make=optim.SGD, **options):
    p = nn.Parameter([1.0])
    optimizer = make([p], **{"lr": 0.5, **options})
    p.grad = tl.asarray([1.0])
    return p, optimizer


class Counting(optim.Optimizer):
    """A step of its own, which keeps numbers and tensors."""

    def __init__(self, params, lr: float = 0.5) -> None:
        super().__init__(params, {"lr": lr})

    def step(self, closure=None) -> None:
        with tl.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if not state:
                        state["times"], state["mean"] = 0, tl.zeros_like(p)
                    state["times"] += 1
                    state["mean"] = state["mean"] * 0.5 + p.grad
                    p.add_(state["mean"], alpha=-group["lr"] / state["times"])
