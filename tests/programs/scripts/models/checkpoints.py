"""Training that is saved, stopped, loaded and continued; with a moving average by deepcopy."""

import copy
import io
import os
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 12, bias=False), nn.BatchNorm1d(12), nn.ReLU())
        self.heads = nn.ModuleDict({"mean": nn.Linear(12, 1), "scale": nn.Linear(12, 1)})
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def forward(self, x):
        if self.training:
            self.seen += len(x)
        h = self.encoder(x)
        return self.heads["mean"](h), F.softplus(self.heads["scale"](h)) + 1e-3


class EMA:
    def __init__(self, model, decay):
        self.module = copy.deepcopy(model)
        self.module.eval()
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        current = model.state_dict()
        for k, ema_v in self.module.state_dict().items():
            if ema_v.dtype.is_floating_point:
                ema_v.copy_(self.decay * ema_v + (1.0 - self.decay) * current[k].detach())
            else:
                ema_v.copy_(current[k])


rng = np.random.default_rng(44)
x = torch.from_numpy(rng.normal(size=(32, 6))).float()
y = x[:, :1].sin() + 0.2 * x[:, 1:2]
model = Model()
for p in model.parameters():
    if p.dim() > 1:
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.3, p.shape)))
    elif p is not model.encoder[1].weight:
        p.data.zero_()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2, amsgrad=True)
scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=3, T_mult=2)
ema = EMA(model, 0.8)


def train(steps, model, optimizer, scheduler, ema):
    for _ in range(steps):
        model.train()
        mean, scale = model(x)
        loss = F.gaussian_nll_loss(mean, y, scale**2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        ema.update(model)
        print(f"loss {loss.item():.6f} lr {scheduler.get_last_lr()[0]:.6f}")


train(4, model, optimizer, scheduler, ema)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "checkpoint.pth.tar")
    torch.save(
        {
            "epoch": 4,
            "model_state_dict": model.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "ema": ema.module.state_dict(),
            "config": {"lr": 2e-2, "name": "a run", "widths": [6, 12]},
        },
        path,
    )
    print(Path(path).exists(), os.path.getsize(path) > 1000)
    train(3, model, optimizer, scheduler, ema)

    print("again, from the file")
    again = Model()
    other = torch.optim.AdamW(again.parameters(), lr=1.0, amsgrad=True)
    schedule = CosineAnnealingWarmRestarts(other, T_0=3, T_mult=2)
    average = EMA(again, 0.8)
    checkpoint = torch.load(path, map_location=torch.device("cpu"), weights_only=True)
    again.load_state_dict(checkpoint["model_state_dict"])
    other.load_state_dict(checkpoint["optimizer_state_dict"])
    schedule.load_state_dict(checkpoint["scheduler"])
    average.module.load_state_dict(checkpoint["ema"])
    print(checkpoint["epoch"], checkpoint["config"])
    train(3, again, other, schedule, average)

    buffer = io.BytesIO()
    torch.save(again.state_dict(), Path(folder) / "last.pt")
    whole = Model()
    print(whole.load_state_dict(torch.load(Path(folder) / "last.pt", map_location="cpu")))
    torch.save([torch.arange(3), {"k": torch.ones(2, dtype=torch.float16)}], buffer)
    buffer.seek(0)
    print(torch.load(buffer))

for mine, theirs in zip(model.state_dict().items(), whole.state_dict().items()):
    assert mine[0] == theirs[0] and torch.allclose(mine[1], theirs[1], atol=1e-6), mine[0]
with torch.no_grad():
    mean, scale = average.module(x)
    print(f"average's loss {F.gaussian_nll_loss(mean, y, scale**2).item():.6f}")
print(model.seen, whole.seen.item())
