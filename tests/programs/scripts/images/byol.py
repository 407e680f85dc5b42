"""BYOL: an online network predicts what its own moving average says about another view."""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def loss_fn(x, y):
    x = F.normalize(x, dim=-1, p=2)
    y = F.normalize(y, dim=-1, p=2)
    return 2 - 2 * (x * y).sum(dim=-1)


class EMA:
    def __init__(self, beta):
        super().__init__()
        self.beta = beta

    def update_average(self, old, new):
        if old is None:
            return new
        return old * self.beta + (1 - self.beta) * new


def update_moving_average(ema_updater, ma_model, current_model):
    for current_params, ma_params in zip(current_model.parameters(), ma_model.parameters()):
        old_weight, up_weight = ma_params.data, current_params.data
        ma_params.data = ema_updater.update_average(old_weight, up_weight)


def set_requires_grad(model, val):
    for p in model.parameters():
        p.requires_grad = val


def MLP(dim, projection_size, hidden_size=32):
    return nn.Sequential(
        nn.Linear(dim, hidden_size, bias=False),
        nn.BatchNorm1d(hidden_size),
        nn.ReLU(inplace=True),
        nn.Linear(hidden_size, projection_size, bias=False),
    )


class BYOL(nn.Module):
    def __init__(self, encoder, dim, projection_size=8, moving_average_decay=0.9):
        super().__init__()
        self.online_encoder = nn.Sequential(encoder, MLP(dim, projection_size))
        self.online_predictor = MLP(projection_size, projection_size)
        self.target_encoder = None
        self.target_ema_updater = EMA(moving_average_decay)

    def start_target(self):
        self.target_encoder = copy.deepcopy(self.online_encoder)
        set_requires_grad(self.target_encoder, False)

    def forward(self, image_one, image_two):
        images = torch.cat((image_one, image_two), dim=0)
        predictions = self.online_predictor(self.online_encoder(images))
        pred_one, pred_two = predictions.chunk(2, dim=0)
        with torch.no_grad():
            target_one, target_two = self.target_encoder(images).detach().chunk(2, dim=0)
        return (loss_fn(pred_one, target_two) + loss_fn(pred_two, target_one)).mean()


rng = np.random.default_rng(2)
encoder = nn.Sequential(
    nn.Conv2d(1, 6, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten()
)
learner = BYOL(encoder, 24)
for p in learner.parameters():
    if p.ndim > 1:
        p.data.copy_(torch.as_tensor(rng.normal(0, 0.25, p.shape), dtype=p.dtype))
    elif p is encoder[0].bias:
        nn.init.zeros_(p)
learner.start_target()
opt = torch.optim.AdamW(learner.parameters(), lr=3e-3)

images = torch.as_tensor(rng.random((16, 1, 8, 8)), dtype=torch.float32)
for step in range(8):
    noise = torch.as_tensor(rng.normal(0, 0.1, (2, 16, 1, 8, 8)), dtype=torch.float32)
    one = images + noise[0]
    two = torch.roll(images, shifts=1, dims=-1) + noise[1]
    loss = learner(one, two)
    opt.zero_grad()
    loss.backward()
    opt.step()
    update_moving_average(
        learner.target_ema_updater, learner.target_encoder, learner.online_encoder
    )
    print(f"step {step}: loss {loss.item():.6f}")
