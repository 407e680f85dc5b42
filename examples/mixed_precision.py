"""Mixed precision: products in float16, parameters in float32, and a loss scale between them.

PYTHONPATH=py .venv/bin/python examples/mixed_precision.py
python3 build.py run examples/mixed_precision.py --device webgpu

Small gradients become 0 in float16. `GradScaler` multiplies the loss, and so the gradients, and
divides before the step. A step whose gradients overflow is left out, and the scale halved
(Micikevicius et al. 2018, "Mixed Precision Training").
"""

import math

import tallow as tl
import tallow.nn.functional as F
from tallow import nn, optim

tl.manual_seed(0)

model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = optim.AdamW(model.parameters(), lr=0.003)
device = tl.default_device()
half = tl.amp.is_autocast_available(device)  # elsewhere all stays float32
scaler = tl.amp.GradScaler(device, init_scale=2.0**24)  # too large, so that it has to adapt


@tl.jit
def step(x, y):
    with tl.amp.autocast(device, dtype=tl.float16, enabled=half):
        scores = model(x)
        loss = F.cross_entropy(scores, y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)  # so that the norm is that of the true gradients
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return loss, (scores.argmax(dim=1) == y).float().mean()


def classes(count):
    """Points (count, 16) around four centres, and the number of the centre of each."""
    which = tl.randint(0, 4, (count,))
    return (centres[which] + tl.randn(count, 16)).realize(), which.realize()


centres = (1.5 * tl.randn(4, 16)).realize()
for number in range(101):
    loss, accuracy = step(*classes(128))
    if number % 20 == 0:
        print(
            f"step {number:3}  loss {loss.item():.3f}, {accuracy.item():.1%} right,"
            f" the scale is 2^{math.log2(scaler.get_scale()):.0f}"
        )

print(f"products in {'float16' if half else 'float32'}; computed on {loss.device}")
assert model[0].weight.dtype == tl.float32
assert accuracy.item() > 0.9
assert math.isfinite(loss.item())
