"""Regression by a Gaussian process: Cholesky factors, a triangular solve, learned kernel."""

import math

import numpy as np
import torch
from torch.distributions import MultivariateNormal, constraints, transform_to

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(2)


class Kernel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_length = torch.nn.Parameter(torch.tensor(0.0))
        self.log_scale = torch.nn.Parameter(torch.tensor(0.3))
        self.raw_noise = torch.nn.Parameter(torch.tensor(-1.0))

    @property
    def noise(self):
        return transform_to(constraints.positive)(self.raw_noise)

    def forward(self, a, b):
        distance = torch.cdist(a / self.log_length.exp(), b / self.log_length.exp())
        return self.log_scale.exp() * torch.exp(-0.5 * distance**2)


def negative_log_likelihood(kernel, x, y):
    K = kernel(x, x) + kernel.noise * torch.eye(len(x))
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(y.unsqueeze(-1), L).squeeze(-1)
    fit = 0.5 * torch.dot(y, alpha)
    size = torch.log(torch.diagonal(L)).sum()
    return fit + size + 0.5 * len(x) * math.log(2 * math.pi)


x = torch.from_numpy(np.sort(rng.uniform(-3, 3, 20))).unsqueeze(-1)
y = torch.sin(2 * x.squeeze(-1)) + 0.1 * torch.from_numpy(rng.normal(size=20))
kernel = Kernel()
optimizer = torch.optim.Adam(kernel.parameters(), lr=0.1)
for i in range(12):
    optimizer.zero_grad()
    loss = negative_log_likelihood(kernel, x, y)
    loss.backward()
    optimizer.step()
    print("Iter %d - loss: %.5f  lengthscale: %.3f" % (i, loss.item(), kernel.log_length.exp()))

with torch.no_grad():
    test = torch.linspace(-3, 3, 7)[:, None]
    K = kernel(x, x) + kernel.noise * torch.eye(len(x))
    L = torch.linalg.cholesky(K)
    Ks = kernel(x, test)
    mean = Ks.T @ torch.cholesky_solve(y[:, None], L)
    v = torch.linalg.solve_triangular(L, Ks, upper=False)
    covariance = kernel(test, test) - v.T @ v
    exact = MultivariateNormal(torch.zeros(20), covariance_matrix=K).log_prob(y)
    print("test loss: %.5f" % (mean.squeeze() - torch.sin(2 * test.squeeze())).square().mean())
    print("by distribution, loss: %.5f" % -exact.item())
    print("positive:", bool((covariance.diagonal() > 0).all()), torch.slogdet(K)[0].item())
torch.set_default_dtype(torch.float32)
