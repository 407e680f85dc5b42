"""Whole graphs in one batch: messages along edges, added by scatter_add, pooled by graph."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def scatter_mean(src, index, dim_size):
    total = src.new_zeros(dim_size, src.size(-1)).index_add(0, index, src)
    count = torch.zeros(dim_size).scatter_add_(0, index, torch.ones_like(index, dtype=torch.float))
    return total / count.clamp(min=1).unsqueeze(-1)


class EdgeConv(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * dim + 1, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.update = nn.GRUCell(dim, dim)

    def forward(self, x, edge_index, edge_attr):
        source, target = edge_index
        pairs = torch.cat([x[source], x[target], edge_attr], dim=-1)
        messages = self.message(pairs)
        index = target.unsqueeze(-1).expand_as(messages)
        summed = torch.zeros_like(x).scatter_add(0, index, messages)
        highest = torch.full_like(x, -1e4).scatter_reduce(0, index, messages, reduce="amax")
        return self.update(summed + torch.where(highest > -1e4, highest, 0.0), x)


class Net(nn.Module):
    def __init__(self, kinds=5, dim=8, layers=2):
        super().__init__()
        self.embed = nn.Embedding(kinds, dim)
        self.convs = nn.ModuleList(EdgeConv(dim) for _ in range(layers))
        self.readout = nn.Bilinear(dim, dim, 1)

    def forward(self, z, edge_index, edge_attr, batch, graphs):
        x = self.embed(z)
        for conv in self.convs:
            x = conv(x, edge_index, edge_attr)
        pooled = scatter_mean(x, batch, graphs)
        return self.readout(pooled, pooled).squeeze(-1)


rng = np.random.default_rng(50)


def collate(graphs):
    z, edges, attrs, batch, offset = [], [], [], [], 0
    for number, (kinds, edge, length) in enumerate(graphs):
        z.append(kinds)
        edges.append(edge + offset)
        attrs.append(length)
        batch.append(np.full(len(kinds), number))
        offset += len(kinds)
    return (
        torch.from_numpy(np.concatenate(z)),
        torch.from_numpy(np.concatenate(edges, 1)),
        torch.from_numpy(np.concatenate(attrs)).float().unsqueeze(-1),
        torch.from_numpy(np.concatenate(batch)),
        len(graphs),
    )


def random_graph():
    n = rng.integers(4, 8)
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n])
    chord = rng.integers(0, n, (2, 3))
    edge = np.concatenate([ring, ring[::-1], chord], 1)
    return rng.integers(0, 5, n), edge, rng.random(edge.shape[1])


graphs = [random_graph() for _ in range(24)]
goal = torch.tensor([float((k == 2).sum()) - 0.5 * len(k) for k, _, _ in graphs])
goal = (goal - goal.mean()) / goal.std()
model = Net()
for p in model.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.25, tuple(p.shape))))
optimizer = torch.optim.Adamax(model.parameters(), lr=0.02)
for epoch in range(4):
    for start in range(0, 24, 8):
        batch = collate(graphs[start : start + 8])
        loss = F.l1_loss(model(*batch), goal[start : start + 8])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} nodes {batch[0].numel()} loss {loss.item():.6f}")
