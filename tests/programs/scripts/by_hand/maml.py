"""MAML on sines: an inner step by autograd.grad, the outer one through it."""

from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap

rng = np.random.default_rng(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(1, 16)
        self.fc2 = nn.Linear(16, 16)
        self.fc3 = nn.Linear(16, 1)

    def forward(self, x):
        x = torch.tanh(self.fc1(x))
        x = torch.tanh(self.fc2(x))
        return self.fc3(x)


def sample_tasks(outer_batch_size, inner_batch_size):
    amplitudes = rng.uniform(0.1, 5.0, outer_batch_size)
    phases = rng.uniform(0, np.pi, outer_batch_size)
    xs = rng.uniform(-5.0, 5.0, (2, outer_batch_size, inner_batch_size, 1))
    ys = amplitudes[:, None, None] * np.sin(xs + phases[:, None, None])
    return [torch.tensor(a, dtype=torch.float) for a in (xs[0], ys[0], xs[1], ys[1])]


model = Net()
for p in model.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.4, p.shape)))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
alpha = 0.02

for it in range(5):
    opt.zero_grad()
    losses = []
    x1, y1, x2, y2 = sample_tasks(4, 8)
    for i in range(4):
        params = OrderedDict(model.named_parameters())
        for _ in range(2):
            loss = F.mse_loss(functional_call(model, params, (x1[i],)), y1[i])
            grads = torch.autograd.grad(loss, params.values(), create_graph=True)
            params = OrderedDict(
                (name, param - alpha * g) for (name, param), g in zip(params.items(), grads)
            )
        losses.append(F.mse_loss(functional_call(model, params, (x2[i],)), y2[i]))
    loss = torch.stack(losses).mean()
    loss.backward()
    opt.step()
    print(f"{it} loss {loss.item():.6f}")

# The same with transformations of functions.
params = dict(model.named_parameters())


def task_loss(params, x, y):
    return torch.mean((functional_call(model, params, x) - y) ** 2)


def adapted_loss(x1, y1, x2, y2):
    grads = grad(task_loss)(params, x1, y1)
    new_params = {k: params[k] - alpha * g for k, g in grads.items()}
    return task_loss(new_params, x2, y2)


for it in range(3):
    x1, y1, x2, y2 = sample_tasks(4, 8)
    loss = vmap(adapted_loss)(x1, y1, x2, y2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{it} vmapped loss {loss.item():.6f}")
