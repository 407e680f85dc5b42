"""A training loop of one's own: shuffled batches, validation, early stopping, the best kept.

PYTHONPATH=py .venv/bin/python examples/training_loop.py
python3 build.py run examples/training_loop.py --device webgpu
"""

import math

import tallow as tl
import tallow.nn.functional as F
from tallow import nn, optim

tl.manual_seed(0)


def moons(count):
    """Points (count, 2) on two half circles that reach into each other; on which each lies."""
    which = tl.randint(0, 2, (count,))
    angle = math.pi * tl.rand(count)
    x = tl.where(which == 0, tl.cos(angle), 1 - tl.cos(angle))
    y = tl.where(which == 0, tl.sin(angle), 0.5 - tl.sin(angle))
    points = tl.stack([x, y], axis=-1) + 0.2 * tl.randn(count, 2)
    return points.realize(), which.realize()


class Learner:
    """Trains a classifier; `fit` ends with the parameters that did best on the validation data."""

    def __init__(self, model, optimizer, batch=64, patience=3):
        self.model, self.optimizer = model, optimizer
        self.batch, self.patience = batch, patience

    @tl.jit
    def training_step(self, x, y):
        scores = self.model(x)
        loss = F.cross_entropy(scores, y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss, (scores.argmax(dim=1) == y).float().mean()

    @tl.jit
    def validation_step(self, x, y):
        with tl.no_grad():
            scores = self.model(x)
            return F.cross_entropy(scores, y), (scores.argmax(dim=1) == y).float().mean()

    def epoch(self, x, y):
        """The mean loss and accuracy over all batches, in a new order."""
        self.model.train()
        order = tl.randperm(len(x)).realize()
        results = [self.training_step(x[some], y[some]) for some in order.split(self.batch)]
        losses, accuracies = zip(*results, strict=True)
        return tl.stack(losses).mean().item(), tl.stack(accuracies).mean().item()

    def validate(self, x, y):
        self.model.eval()  # no dropout
        loss, accuracy = self.validation_step(x, y)
        return loss.item(), accuracy.item()

    def fit(self, training, validation, epochs):
        best, best_epoch, state = math.inf, 0, self.model.state_dict()
        for epoch in range(1, epochs + 1):
            loss, accuracy = self.epoch(*training)
            other_loss, other_accuracy = self.validate(*validation)
            print(
                f"epoch {epoch:2}  training: loss {loss:.3f}, {accuracy:.1%} right"
                f"  validation: loss {other_loss:.3f}, {other_accuracy:.1%} right"
            )
            if other_loss < best:
                best, best_epoch, state = other_loss, epoch, self.model.state_dict()
            elif epoch - best_epoch >= self.patience:
                print(f"no better since epoch {best_epoch}")
                break
        self.model.load_state_dict(state)
        return best


training, validation = moons(512), moons(256)
model = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)
)
learner = Learner(model, optim.AdamW(model.parameters(), lr=0.01))
best = learner.fit(training, validation, epochs=20)
loss, accuracy = learner.validate(*validation)
print(f"kept: loss {loss:.3f}, {accuracy:.1%} right, computed on {validation[0].device}")
assert abs(loss - best) < 1e-5 and accuracy > 0.94
