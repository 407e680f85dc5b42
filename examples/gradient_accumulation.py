"""Gradient accumulation: four small batches act as a large one that would not fit into memory.

PYTHONPATH=py .venv/bin/python examples/gradient_accumulation.py
python3 build.py run examples/gradient_accumulation.py --device webgpu

Gradients add up until the optimiser forgets them. Of two equal networks, one learns from large
batches and one from their quarters; they end with the same parameters.
"""

import copy

import tallow as tl
import tallow.nn.functional as F
from tallow import nn, optim

tl.manual_seed(0)
BATCH, PARTS = 64, 4

large = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
small = copy.deepcopy(large)
large_optimizer = optim.SGD(large.parameters(), lr=0.1, momentum=0.9)
small_optimizer = optim.SGD(small.parameters(), lr=0.1, momentum=0.9)


@tl.jit
def large_step(x, y):
    loss = F.mse_loss(large(x), y)
    loss.backward()
    large_optimizer.step()
    large_optimizer.zero_grad()
    return loss


@tl.jit
def accumulate(x, y):
    """Adds its gradients to those that the parameters have from earlier calls."""
    loss = F.mse_loss(small(x), y) / PARTS  # so that the sum is the mean over the large batch
    loss.backward()
    return loss


@tl.jit
def small_step():
    small_optimizer.step()
    small_optimizer.zero_grad()


inputs = tl.randn(8 * BATCH, 4).realize()
targets = tl.tanh(inputs.sum(dim=1, keepdim=True)).realize()

for epoch in range(10):
    for x, y in zip(inputs.split(BATCH), targets.split(BATCH), strict=True):
        loss = large_step(x, y)
        parts = zip(x.chunk(PARTS), y.chunk(PARTS), strict=True)
        small_loss = sum(accumulate(*part) for part in parts)
        small_step()
    print(f"epoch {epoch}  loss {loss.item():.4f} and {small_loss.item():.4f}")

pairs = zip(large.parameters(), small.parameters(), strict=True)
apart = max((one - other).abs().max().item() for one, other in pairs)
print(f"the parameters differ by {apart:.1e} at most, computed on {loss.device}")
assert apart < 1e-4
assert loss.item() < 0.05
