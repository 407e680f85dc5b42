"""A learner: validation, metrics, early stopping, and a run that goes on from its checkpoint.

PYTHONPATH=py .venv/bin/python examples/learner.py
python3 build.py run examples/learner.py --device webgpu
"""

import math
import tempfile

import tallow as tl
from tallow import nn, optim
from tallow.data import DataLoader, TensorDataset

tl.manual_seed(0)


def moons(count):
    """Points (count, 2) on two half circles that reach into each other; on which each lies."""
    which = tl.randint(0, 2, (count,))
    angle = math.pi * tl.rand(count)
    x = tl.where(which == 0, tl.cos(angle), 1 - tl.cos(angle))
    y = tl.where(which == 0, tl.sin(angle), 0.5 - tl.sin(angle))
    points = tl.stack([x, y], axis=-1) + 0.2 * tl.randn(count, 2)
    return TensorDataset(points.realize(), which.realize())


def learner(folder):
    """A network that knows nothing yet, and what trains it."""
    model = nn.Sequential(
        nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
    )
    optimizer = optim.AdamW(model.parameters(), lr=0.01)
    return tl.train.Learner(
        model, optimizer, nn.functional.cross_entropy, metrics=["accuracy", "f1"],
        checkpoints=folder, early_stopping=5, seed=0,
    )  # fmt: skip


train = DataLoader(moons(512), batch_size=64, shuffle=True, seed=1)
valid = DataLoader(moons(256), batch_size=256)
folder = tempfile.mkdtemp()
learner(folder).fit(train, valid, epochs=4)

again = learner(folder)  # as another process would, tomorrow
again.resume(train, valid, epochs=12)
measured = again.evaluate(valid)
device = again.predict(valid).device
print(f"{len(again.history)} epochs on {device}: {measured['accuracy']:.1%} right")
assert len(again.history) > 4 and measured["accuracy"] > 0.94
