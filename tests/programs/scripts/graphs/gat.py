"""Graph attention, with a dense adjacency."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class GraphAttentionLayer(nn.Module):
    def __init__(self, in_features, out_features, alpha, concat=True):
        super(GraphAttentionLayer, self).__init__()
        self.out_features = out_features
        self.concat = concat
        self.W = nn.Parameter(torch.empty(size=(in_features, out_features)))
        nn.init.xavier_uniform_(self.W.data, gain=1.414)
        self.a = nn.Parameter(torch.empty(size=(2 * out_features, 1)))
        nn.init.xavier_uniform_(self.a.data, gain=1.414)
        self.leakyrelu = nn.LeakyReLU(alpha)

    def forward(self, h, adj):
        Wh = torch.mm(h, self.W)
        Wh1 = torch.matmul(Wh, self.a[: self.out_features, :])
        Wh2 = torch.matmul(Wh, self.a[self.out_features :, :])
        e = self.leakyrelu(Wh1 + Wh2.T)
        zero_vec = -9e15 * torch.ones_like(e)
        attention = torch.where(adj > 0, e, zero_vec)
        attention = F.softmax(attention, dim=1)
        h_prime = torch.matmul(attention, Wh)
        return F.elu(h_prime) if self.concat else h_prime


class GAT(nn.Module):
    def __init__(self, nfeat, nhid, nclass, alpha, nheads):
        super(GAT, self).__init__()
        self.attentions = [GraphAttentionLayer(nfeat, nhid, alpha) for _ in range(nheads)]
        for i, attention in enumerate(self.attentions):
            self.add_module("attention_{}".format(i), attention)
        self.out_att = GraphAttentionLayer(nhid * nheads, nclass, alpha, concat=False)

    def forward(self, x, adj):
        x = torch.cat([att(x, adj) for att in self.attentions], dim=1)
        x = F.elu(self.out_att(x, adj))
        return F.log_softmax(x, dim=1)


rng = np.random.default_rng(13)
n = 24
labels = torch.from_numpy(rng.integers(0, 4, n))
near = (labels[:, None] == labels[None, :]).numpy()
adj = torch.from_numpy(
    (rng.random((n, n)) < np.where(near, 0.5, 0.08)) | np.eye(n, dtype=bool)
).float()
adj = torch.maximum(adj, adj.t())
features = torch.from_numpy(rng.random((n, 6))).float()
features = features / features.sum(1, keepdim=True)
features[:, 0] += (labels == 2).float()

model = GAT(nfeat=6, nhid=4, nclass=4, alpha=0.2, nheads=3)
names = [name for name, _ in model.named_parameters()]
print(names)
for p in model.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.5, p.shape)))
if torch.cuda.is_available():
    model.cuda()
    features, adj, labels = features.cuda(), adj.cuda(), labels.cuda()

mask = torch.arange(n) % 3 != 0
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
best, best_epoch, bad_counter = float("inf"), 0, 0
for epoch in range(12):
    optimizer.zero_grad()
    output = model(features, adj)
    loss = F.nll_loss(output[mask], labels[mask])
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        val = F.nll_loss(model(features, adj)[~mask], labels[~mask]).item()
    print(f"Epoch {epoch + 1}: loss {loss.item():.6f}, validation loss {val:.6f}")
    if val < best:
        best, best_epoch, bad_counter = val, epoch, 0
    else:
        bad_counter += 1
    if bad_counter == 100:
        break
print(epoch - best_epoch <= bad_counter)
