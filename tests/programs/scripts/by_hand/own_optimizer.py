"""Optimisers of one's own, as subclasses of torch.optim.Optimizer: Lion, and SGD with a lookahead."""

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import required


class Lion(Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        if not 0.0 <= lr:
            raise ValueError("Invalid learning rate: {}".format(lr))
        defaults = dict(lr=lr, betas=betas, weight_decay=weight_decay)
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                grad = p.grad
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                exp_avg = state["exp_avg"]
                beta1, beta2 = group["betas"]
                update = exp_avg * beta1 + grad * (1 - beta1)
                p.add_(update.sign_(), alpha=-group["lr"])
                exp_avg.mul_(beta2).add_(grad, alpha=1 - beta2)
        return loss


class Lookahead(Optimizer):
    def __init__(self, params, lr=required, k=3, alpha=0.5, momentum=0.0):
        super().__init__(params, {"lr": lr, "k": k, "alpha": alpha, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "slow" not in state:
                    state["slow"] = torch.clone(p).detach()
                    state["step"] = 0
                    state["buffer"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                state["step"] += 1
                state["buffer"].mul_(group["momentum"]).add_(p.grad)
                p.add_(state["buffer"], alpha=-group["lr"])
                if state["step"] % group["k"] == 0:
                    state["slow"].lerp_(p, group["alpha"])
                    p.copy_(state["slow"])


rng = np.random.default_rng(99)
x = torch.from_numpy(rng.normal(size=(40, 5)).astype(np.float32))
y = (x[:, :1] * x[:, 1:2]).tanh() + 0.3 * x[:, 2:3]
start = [rng.normal(0, 0.4, s).astype(np.float32) for s in ((12, 5), (12,), (1, 12), (1,))]


def fresh():
    model = nn.Sequential(nn.Linear(5, 12), nn.Softsign(), nn.Linear(12, 1))
    for p, value in zip(model.parameters(), start):
        p.data.copy_(torch.from_numpy(value))
    return model


for make in (
    lambda ps: Lion(ps, lr=0.02, weight_decay=0.1),
    lambda ps: Lookahead(ps, lr=0.1, momentum=0.8),
):
    model = fresh()
    optimizer = make(model.parameters())
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[4, 7], gamma=0.5)
    for step in range(8):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(
            f"{type(optimizer).__name__} loss {loss.item():.6f} lr {scheduler.get_last_lr()[0]:.4f}"
        )
    kept = optimizer.state_dict()
    print(sorted(kept), len(kept["state"]), kept["param_groups"][0]["params"])
    optimizer.load_state_dict(kept)

model = fresh()
optimizer = Lion(model.parameters(), lr=0.02)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for step in range(3):
    print(f"closure loss {optimizer.step(closure).item():.6f}")
