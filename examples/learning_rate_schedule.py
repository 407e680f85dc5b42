"""A learning-rate schedule: the rate rises for 20 steps, then falls along half a cosine.

PYTHONPATH=py .venv/bin/python examples/learning_rate_schedule.py
python3 build.py run examples/learning_rate_schedule.py --device webgpu

The rate is a variable on the device, so that changing it compiles nothing again.
"""

import tallow as tl
import tallow.nn.functional as F
from tallow import nn, optim
from tallow.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

tl.manual_seed(0)
WARM_UP, STEPS = 20, 200

x = tl.linspace(-3, 3, 256).unsqueeze(1).realize()
y = tl.sin(2 * x).realize()

model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = optim.Adam(model.parameters(), lr=0.03)
warm_up = LinearLR(optimizer, start_factor=0.05, total_iters=WARM_UP)
cosine = CosineAnnealingLR(optimizer, T_max=STEPS - WARM_UP)
scheduler = SequentialLR(optimizer, [warm_up, cosine], milestones=[WARM_UP])


@tl.jit
def step(x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


rates = []
for number in range(STEPS):
    rates += scheduler.get_last_lr()
    loss = step(x, y)
    scheduler.step()
    if number % 20 == 0:
        bar = "#" * round(1000 * rates[-1])
        print(f"step {number:3}  loss {loss.item():.5f}  rate {rates[-1]:.4f} {bar}")

print(f"the last loss is {loss.item():.5f}, with {step.plans} plan, computed on {loss.device}")
assert max(rates) == rates[WARM_UP] and rates[-1] < 0.001
assert step.plans == 1
assert loss.item() < 0.01
