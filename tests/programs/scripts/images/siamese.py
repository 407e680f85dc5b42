"""Pairs of pictures, alike or not, with a contrastive loss."""

import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, count=48, seed=5):
        rng = np.random.default_rng(seed)
        kinds = rng.normal(size=(4, 1, 10, 10))
        self.first, self.second, self.same = [], [], []
        for i in range(count):
            a = rng.integers(4)
            b = a if i % 2 == 0 else (a + rng.integers(1, 4)) % 4
            self.first.append(kinds[a] + 0.3 * rng.normal(size=(1, 10, 10)))
            self.second.append(kinds[b] + 0.3 * rng.normal(size=(1, 10, 10)))
            self.same.append(float(a == b))

    def __len__(self):
        return len(self.same)

    def __getitem__(self, i):
        return {
            "first": torch.tensor(self.first[i], dtype=torch.float),
            "second": torch.tensor(self.second[i], dtype=torch.float),
            "same": self.same[i],
        }


class ContrastiveLoss(nn.Module):
    def __init__(self, margin: float = 1.0):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, same):
        distance = F.pairwise_distance(a, b, keepdim=False)
        alike = same * distance.pow(2)
        apart = (1 - same) * torch.clamp(self.margin - distance, min=0.0).pow(2)
        return torch.mean(alike + apart) / 2


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.ReflectionPad2d(1),
            nn.Conv2d(1, 4, kernel_size=3),
            nn.ReLU(inplace=True),
            nn.GroupNorm(2, 4),
            nn.Conv2d(4, 8, kernel_size=3, stride=2),
            nn.LeakyReLU(0.1, inplace=True),
        )
        self.fc = nn.Sequential(nn.LazyLinear(16), nn.Tanh(), nn.Linear(16, 3))

    def embed(self, x):
        return F.normalize(self.fc(self.cnn(x).flatten(1)), dim=-1)

    def forward(self, a, b):
        return self.embed(a), self.embed(b)


loader = DataLoader(Pairs(), batch_size=16, shuffle=False, num_workers=0, drop_last=True)
net = Siamese()
net(torch.zeros(1, 1, 10, 10), torch.zeros(1, 1, 10, 10))
rng = np.random.default_rng(0)
for name, p in net.named_parameters():
    if p.dim() > 1:
        bound = 1 / np.sqrt(p[0].numel())
        p.data.copy_(torch.from_numpy(rng.uniform(-bound, bound, size=p.shape)))
    elif name.endswith("bias"):
        p.data.fill_(0.01)

criterion = ContrastiveLoss(margin=1.2)
optimizer = optim.RMSprop(net.parameters(), lr=2e-3, alpha=0.9)
for epoch in range(4):
    for batch in loader:
        a, b = net(batch["first"], batch["second"])
        loss = criterion(a, b, batch["same"].float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"Epoch {epoch}: loss {loss.item():.6f}")

net.eval()
with torch.no_grad():
    batch = next(iter(loader))
    a, b = net(batch["first"], batch["second"])
    cosine = F.cosine_similarity(a, b)
    print("alike:", bool((cosine[::2].mean() > cosine[1::2].mean()).item()))
