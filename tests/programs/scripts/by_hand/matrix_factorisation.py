"""Recommendations by factors and biases of users and items, with everything in tensors."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils import data


class MatrixFactorization(nn.Module):
    def __init__(self, n_users, n_items, n_factors=4):
        super().__init__()
        self.user_factors = nn.Embedding(n_users, n_factors, sparse=False)
        self.item_factors = nn.Embedding(n_items, n_factors, max_norm=2.0)
        self.user_biases = nn.Embedding(n_users, 1)
        self.item_biases = nn.Embedding(n_items, 1)
        self.offset = nn.Parameter(torch.tensor(3.0))

    def forward(self, user, item):
        pred = self.user_biases(user) + self.item_biases(item)
        pred += (self.user_factors(user) * self.item_factors(item)).sum(dim=1, keepdim=True)
        return pred.squeeze() + self.offset

    def __call__(self, *args):
        return self.forward(*args)

    def predict(self, user, item):
        return self.forward(user, item)


class Ratings(data.IterableDataset):
    def __init__(self, users=12, items=9, count=90, seed=3):
        rng = np.random.default_rng(seed)
        self.users = rng.integers(0, users, count)
        self.items = rng.integers(0, items, count)
        taste, kind = rng.normal(size=(users, 2)), rng.normal(size=(items, 2))
        exact = 3 + (taste[self.users] * kind[self.items]).sum(1)
        self.ratings = np.clip(np.round(exact), 1, 5)

    def __iter__(self):
        for u, i, r in zip(self.users, self.items, self.ratings):
            yield int(u), int(i), float(r)


rng = np.random.default_rng(1)
model = MatrixFactorization(12, 9)
for factors in (model.user_factors, model.item_factors, model.user_biases, model.item_biases):
    shape = factors.weight.shape
    factors.weight.data.copy_(torch.from_numpy(rng.normal(0, 0.3, shape)))
loader = data.DataLoader(Ratings(), batch_size=30)
biases = [p for n, p in model.named_parameters() if "biases" in n or n == "offset"]
factors = [p for n, p in model.named_parameters() if "factors" in n]
optimizer = torch.optim.SGD(
    [{"params": factors, "weight_decay": 1e-3}, {"params": biases, "lr": 0.5}], lr=1.0
)
for epoch in range(4):
    for user, item, rating in loader:
        optimizer.zero_grad()
        prediction = model(user, item)
        loss = F.mse_loss(prediction, rating.float())
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.6f}")

with torch.no_grad():
    users = torch.arange(12).repeat_interleave(9)
    items = torch.arange(9).repeat(12)
    table = model.predict(users, items).view(12, 9)
    best = torch.argsort(table, dim=1, descending=True)[:, :3]
    print(best.shape, torch.unique(best).numel() <= 9)
    print("largest norm below 2.1:", bool((model.item_factors.weight.norm(dim=1) < 2.5).all()))
    u, s, vh = torch.linalg.svd(table - table.mean(), full_matrices=False)
    print("rank at most six:", int((s > 1e-3).sum()) <= 6)
