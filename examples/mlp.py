"""A multilayer perceptron learns to tell apart the three arms of a spiral.

PYTHONPATH=py .venv/bin/python examples/mlp.py
python3 build.py run examples/mlp.py --device webgpu
"""

import math

import tallow as tl
import tallow.nn.functional as F
from tallow import nn, optim

tl.manual_seed(0)


class MLP(nn.Module):
    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, outputs)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def spirals(count):
    """Points (3 count, 2) and the number of the arm on which each lies."""
    radius = tl.rand(3, count)
    arm = tl.arange(3).unsqueeze(1)
    angle = 4 * radius + arm * (2 * math.pi / 3) + 0.1 * tl.randn(3, count)
    points = tl.stack([radius * tl.sin(angle), radius * tl.cos(angle)], axis=-1)
    return points.reshape(-1, 2).realize(), arm.expand(3, count).flatten().realize()


points, arms = spirals(100)
model = MLP(2, 64, 3)
optimizer = optim.AdamW(model.parameters(), lr=0.01)


@tl.jit
def step(x, y):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


for number in range(201):
    loss = step(points, arms)  # does not wait for the device
    if number % 40 == 0:
        print(f"step {number:3}  loss {loss.item():.3f}")

unseen, truth = spirals(100)
with tl.no_grad():
    accuracy = (model(unseen).argmax(dim=1) == truth).float().mean()
print(f"{accuracy.item():.1%} of new points are right, computed on {loss.device}")
assert accuracy.item() > 0.95
