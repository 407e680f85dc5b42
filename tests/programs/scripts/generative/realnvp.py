"""Real NVP: a normalising flow of coupling layers, for two moons."""

import numpy as np
import torch
import torch.nn as nn
from torch import distributions
from torch.nn.parameter import Parameter

random = np.random.RandomState(0)


class RealNVP(nn.Module):
    def __init__(self, nets, nett, mask, prior):
        super(RealNVP, self).__init__()
        self.prior = prior
        self.mask = nn.Parameter(mask, requires_grad=False)
        self.t = torch.nn.ModuleList([nett() for _ in range(len(mask))])
        self.s = torch.nn.ModuleList([nets() for _ in range(len(mask))])
        self.shift = Parameter(torch.zeros(2))

    def g(self, z):
        x = z
        for i in range(len(self.t)):
            x_ = x * self.mask[i]
            s = self.s[i](x_) * (1 - self.mask[i])
            t = self.t[i](x_) * (1 - self.mask[i])
            x = x_ + (1 - self.mask[i]) * (x * torch.exp(s) + t)
        return x + self.shift

    def f(self, x):
        log_det_J, z = x.new_zeros(x.shape[0]), x - self.shift
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s = self.s[i](z_) * (1 - self.mask[i])
            t = self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J -= s.sum(dim=1)
        return z, log_det_J

    def log_prob(self, x):
        z, logp = self.f(x)
        return self.prior.log_prob(z) + logp


def moons(count):
    angle = random.rand(count) * np.pi
    upper = random.rand(count) < 0.5
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return (np.stack([x, y], 1) + 0.05 * random.randn(count, 2)).astype(np.float32)


nets = lambda: nn.Sequential(
    nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 16), nn.LeakyReLU(), nn.Linear(16, 2), nn.Tanh()
)
nett = lambda: nn.Sequential(
    nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 16), nn.LeakyReLU(), nn.Linear(16, 2)
)
masks = torch.from_numpy(np.array([[0, 1], [1, 0]] * 2).astype(np.float32))
prior = distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
flow = RealNVP(nets, nett, masks, prior)
for name, p in flow.named_parameters():
    if p.requires_grad and name != "shift":
        p.data = torch.tensor(random.uniform(-0.3, 0.3, tuple(p.shape)), dtype=torch.float32)

optimizer = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad], lr=5e-3)
for t in range(15):
    loss = -flow.log_prob(torch.from_numpy(moons(64))).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    print("iter %s:" % t, "loss = %.6f" % loss.item(), f"loss {loss:.6f}")

x = torch.from_numpy(moons(16))
with torch.no_grad():
    z, _ = flow.f(x)
    print("inverts:", torch.allclose(flow.g(z), x, atol=1e-4))
