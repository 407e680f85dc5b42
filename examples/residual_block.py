"""A residual block: the way around its layers, without which a deep network does not learn.

PYTHONPATH=py .venv/bin/python examples/residual_block.py
python3 build.py run examples/residual_block.py --device webgpu

Two networks of 24 layers differ in one addition, which lets gradients reach the first layer
(He et al. 2016, "Deep Residual Learning for Image Recognition").
"""

import tallow as tl
import tallow.nn.functional as F
from tallow import nn, optim


class Block(nn.Module):
    """Two layers, and the way around them if `residual`."""

    def __init__(self, width, residual):
        super().__init__()
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, width)
        self.residual = residual

    def forward(self, x):
        y = self.fc2(F.relu(self.fc1(x)))
        return F.relu(x + y if self.residual else y)


def network(residual, width=16, blocks=11):
    tl.manual_seed(0)  # both begin with the same parameters
    middle = [Block(width, residual) for _ in range(blocks)]
    return nn.Sequential(nn.Linear(2, width), *middle, nn.Linear(width, 2))


def train(model, x, y, steps=60):
    """The norm of the first layer's gradient at the first step, and the last loss."""
    optimizer = optim.Adam(model.parameters(), lr=0.003)

    @tl.jit
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        norm = (model[0].weight.grad ** 2).sum() ** 0.5
        optimizer.step()
        optimizer.zero_grad()
        return loss, norm

    _, first_norm = step(x, y)
    for _ in range(steps):
        loss, _ = step(x, y)
    return first_norm, loss


tl.manual_seed(1)
x = (2 * tl.rand(256, 2) - 1).realize()
y = (x[:, 0] * x[:, 1] > 0).int().realize()  # in which quadrants a point lies

norms, losses = {}, {}
for residual in (True, False):
    norm, loss = train(network(residual), x, y)
    norms[residual], losses[residual] = norm.item(), loss.item()
    name = "with" if residual else "without"
    print(f"{name:7} a way around: first gradient {norm.item():.1e}, last loss {loss.item():.3f}")

print(f"computed on {loss.device}; guessing has a loss of 0.693")
assert norms[True] > 100 * norms[False]
assert losses[True] < 0.2 < 0.6 < losses[False]
