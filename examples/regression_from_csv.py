"""Regression from a CSV file: reads it with Python's csv, trains, and reports the error.

PYTHONPATH=py .venv/bin/python examples/regression_from_csv.py
python3 build.py run examples/regression_from_csv.py --device webgpu

The file is made here, of invented flats, so that the example needs no other. To read your own
with `build.py run`, add `--file yours.csv`, and open it under that name.
"""

import csv
import random
import tempfile
from pathlib import Path

import tallow as tl
import tallow.nn.functional as F
from tallow import nn, optim

tl.manual_seed(0)
NOISE = 10


def write_flats(path, count):
    """Rents that follow a rule, give or take NOISE, which no prediction can know."""
    drawn = random.Random(0)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["area", "floor", "centre_km", "rent"])
        for _ in range(count):
            area, floor, centre = drawn.uniform(20, 120), drawn.randrange(8), drawn.uniform(0, 15)
            rent = area * (8 + 10 / (1 + centre)) + 15 * floor + drawn.gauss(0, NOISE)
            writer.writerow([f"{area:.1f}", floor, f"{centre:.2f}", f"{rent:.2f}"])


def read_csv(path, target):
    """The columns but the target (rows, columns), and the target (rows, 1)."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != target]
    features = [[float(row[name]) for name in names] for row in rows]
    return tl.tensor(features), tl.tensor([[float(row[target])] for row in rows])


path = Path(tempfile.mkdtemp()) / "flats.csv"
write_flats(path, 800)
x, y = read_csv(path, target="rent")
known, unseen = slice(0, 600), slice(600, None)

# Networks learn best from numbers around 0. What is subtracted and divided comes from the
# training rows alone.
x_mean, x_std = x[known].mean(dim=0), x[known].std(dim=0)
y_mean, y_std = y[known].mean(dim=0), y[known].std(dim=0)
x, y_scaled = ((x - x_mean) / x_std).realize(), ((y - y_mean) / y_std).realize()

model = nn.Sequential(nn.Linear(3, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1))
optimizer = optim.Adam(model.parameters(), lr=0.01)


@tl.jit
def step(x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


@tl.jit
def rmse(x, y):
    """The root of the mean squared error, in the unit of the target."""
    with tl.no_grad():
        return F.mse_loss(model(x) * y_std + y_mean, y).sqrt()


for number in range(301):
    loss = step(x[known], y_scaled[known])
    if number % 60 == 0:
        error = rmse(x[unseen], y[unseen]).item()
        print(f"step {number:3}  loss {loss.item():.4f}  RMSE {error:.1f}")

guess = y[unseen].std().item()
print(f"RMSE {error:.1f}; of the mean {guess:.1f}, of the rule {NOISE}; computed on {loss.device}")
assert error < 2 * NOISE < 0.1 * guess
