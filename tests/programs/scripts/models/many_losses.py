"""A quick tour of losses and optimisers, on a network for every pair."""

import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np

rng = np.random.RandomState(15)
x = torch.tensor(rng.randn(16, 6), dtype=torch.float32)
classes = torch.tensor(rng.randint(0, 4, 16))
goal = torch.tensor(rng.rand(16, 4), dtype=torch.float32)
signs = torch.tensor(rng.choice([-1.0, 1.0], 16), dtype=torch.float32)
initial = [rng.uniform(-0.4, 0.4, s) for s in ((10, 6), (10,), (4, 10), (4,))]

losses = {
    "cross entropy": lambda out: F.cross_entropy(out, classes, label_smoothing=0.1),
    "soft targets": lambda out: F.cross_entropy(out, goal / goal.sum(1, keepdim=True)),
    "multi margin": lambda out: nn.MultiMarginLoss()(out, classes),
    "binary": lambda out: nn.BCEWithLogitsLoss(pos_weight=torch.full((4,), 2.0))(out, goal.round()),
    "soft margin": lambda out: F.soft_margin_loss(out[:, 0], signs),
    "several labels": lambda out: F.multilabel_soft_margin_loss(out, goal.round()),
    "kl": lambda out: F.kl_div(out.log_softmax(1), goal.log_softmax(1), log_target=True),
    "poisson": lambda out: nn.PoissonNLLLoss()(out, goal.mul(5).round()),
    "triplet": lambda out: F.triplet_margin_loss(out, goal, goal.roll(1, 0)),
    "cosine": lambda out: F.cosine_embedding_loss(out, goal, signs, margin=0.1),
    "ranking": lambda out: F.margin_ranking_loss(out[:, 0], out[:, 1], signs, margin=0.2),
    "hinge": lambda out: F.hinge_embedding_loss(out[:, 0].exp(), signs),
    "smooth": lambda out: nn.SmoothL1Loss(beta=0.3)(out, goal),
    "absolute": lambda out: nn.L1Loss(reduction="sum")(out, goal) / 16,
}
optimisers = [
    lambda p: optim.SGD(p, 0.1, momentum=0.9, dampening=0.1),
    lambda p: optim.Adam(p, 0.01),
    lambda p: optim.AdamW(p, 0.01, weight_decay=0.1),
    lambda p: optim.RMSprop(p, 0.01, centered=True),
    lambda p: optim.Adagrad(p, 0.05),
    lambda p: optim.Adadelta(p, 1.0),
    lambda p: optim.Adamax(p, 0.02),
    lambda p: optim.NAdam(p, 0.01),
    lambda p: optim.RAdam(p, 0.02),
    lambda p: optim.ASGD(p, 0.1),
    lambda p: optim.Rprop(p, 0.01),
]

for number, (name, loss_of) in enumerate(losses.items()):
    model = nn.Sequential(nn.Linear(6, 10), nn.SELU(), nn.Linear(10, 4))
    for p, values in zip(model.parameters(), initial):
        p.data = torch.tensor(values, dtype=torch.float32)
    optimizer = optimisers[number % len(optimisers)](model.parameters())
    for _ in range(4):
        optimizer.zero_grad()
        loss = loss_of(model(x))
        loss.backward()
        optimizer.step()
    print(f"{name} with {type(optimizer).__name__}: loss {loss.item():.6f}")
