"""Optimisers as their authors wrote them in PyTorch's first years: factors before tensors, and a
state of tensors that are changed in place. Beside them, two of PyTorch's for large tables."""

import math

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.optim.optimizer import Optimizer


class Centred(Optimizer):
    """Adam whose second average is that of what the first one did not expect."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
        super(Centred, self).__init__(params, defaults)

    def step(self, closure=None):
        loss = None if closure is None else closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad.data
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["mean"] = torch.zeros_like(p.data)
                    state["spread"] = torch.zeros_like(p.data)
                mean, spread = state["mean"], state["spread"]
                first, second = group["betas"]
                state["step"] += 1
                if group["weight_decay"] != 0:
                    grad.add_(group["weight_decay"], p.data)
                mean.mul_(first).add_(1 - first, grad)
                surprise = grad - mean
                spread.mul_(second).addcmul_(1 - second, surprise, surprise).add_(group["eps"])
                bias = 1 - first ** state["step"]
                rate = group["lr"] * math.sqrt(1 - second ** state["step"]) / bias
                p.data.addcdiv_(-rate, mean, spread.sqrt().add_(group["eps"]))
        return loss


class Words(nn.Module):
    """A table of words whose mean is told apart by a small network, of which one place is empty."""

    def __init__(self, count, size, normed):
        super(Words, self).__init__()
        self.table = nn.Embedding(count, size, sparse=not normed)
        self.layers = nn.ModuleList(
            [nn.Linear(size, 16), nn.BatchNorm1d(16) if normed else None, nn.Linear(16, 3)]
        )
        self.scales = nn.ParameterList([nn.ParameterList([torch.ones(16), torch.zeros(16)])])
        for name, p in self.named_parameters():
            p.decays = name.endswith("weight")

    def forward(self, words):
        first, norm, last = self.layers
        hidden = first(self.table(words).mean(1))
        if norm is not None:
            hidden = norm(hidden)
        scale, shift = self.scales[0]
        return last(torch.tanh(hidden * scale + shift))


def filled(model, seed):
    draw = np.random.RandomState(seed)
    for name, p in model.named_parameters():
        if p.dim() > 1:
            p.data.copy_(torch.from_numpy(draw.standard_normal(tuple(p.size())) * 0.4))
        elif name.endswith("bias"):
            p.data.zero_()
    return model


def optimisers(name, model):
    if name == "centred":
        marked = [p for p in model.parameters() if p.decays]
        others = [p for p in model.parameters() if not p.decays]
        groups = [{"params": marked, "weight_decay": 0.01}, {"params": others}]
        return [Centred(groups, lr=0.02)]
    if name == "adafactor":
        return [torch.optim.Adafactor(model.parameters(), lr=0.1)]
    table = list(model.table.parameters())
    others = [p for name, p in model.named_parameters() if not name.startswith("table")]
    return [torch.optim.SparseAdam(table, lr=0.05), torch.optim.Adam(others, lr=0.05)]


draw = np.random.RandomState(1)
words = Variable(torch.from_numpy(draw.randint(0, 12, (24, 4))))
labels = Variable(torch.LongTensor((words.numpy().sum(1) % 3).tolist()))
mask = torch.from_numpy((words.numpy()[:, 0] < 9).astype(np.uint8))

for name in ("centred", "adafactor", "sparse"):
    model = filled(Words(12, 8, name != "sparse"), 2)
    steps = optimisers(name, model)
    for epoch in range(8):
        for each in steps:
            each.zero_grad()
        apart = nn.functional.cross_entropy(model(words), labels, reduction="none")
        loss = torch.where(mask.bool(), apart, torch.div(1.0, 1.0 + apart)).mean()
        loss.backward()
        for each in steps:
            each.step()
        print("%s epoch %d loss: %.6f" % (name, epoch, loss.item()))
    frozen = model.layers[-1].weight.detach_()
    print(name, "frozen:", not frozen.requires_grad, len(list(model.scales.parameters())))
