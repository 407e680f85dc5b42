"""Graph convolutions on a small social network, with a sparse adjacency."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


class GraphConvolution(Module):
    def __init__(self, in_features, out_features, bias=True):
        super(GraphConvolution, self).__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.FloatTensor(out_features))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        if self.bias is not None:
            self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.spmm(adj, support)
        if self.bias is not None:
            return output + self.bias
        else:
            return output

    def __repr__(self):
        return "%s (%d -> %d)" % (self.__class__.__name__, self.in_features, self.out_features)


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super(GCN, self).__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, training=self.training)
        x = self.gc2(x, adj)
        return F.log_softmax(x, dim=1)


def load_data(n=30, seed=42):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 3, n)
    likely = np.where(labels[:, None] == labels[None], 0.4, 0.05)
    adj = np.triu(rng.rand(n, n) < likely, 1).astype(np.float32)
    adj = adj + adj.T + np.eye(n, dtype=np.float32)
    adj = adj / adj.sum(1, keepdims=True)
    features = np.eye(3)[labels] * 0.5 + rng.rand(n, 3)
    rows, cols = np.nonzero(adj)
    indices = torch.from_numpy(np.vstack((rows, cols)).astype(np.int64))
    values = torch.from_numpy(adj[rows, cols])
    adj = torch.sparse_coo_tensor(indices, values, torch.Size(adj.shape))
    return adj, torch.FloatTensor(features), torch.LongTensor(labels), rng


def accuracy(output, labels):
    preds = output.max(1)[1].type_as(labels)
    correct = preds.eq(labels).double()
    return correct.sum() / len(labels)


adj, features, labels, rng = load_data()
idx_train = torch.LongTensor(range(15))
idx_val = torch.LongTensor(range(15, 30))
model = GCN(nfeat=features.shape[1], nhid=8, nclass=labels.max().item() + 1, dropout=0.0)
for p in model.parameters():
    p.data.copy_(torch.from_numpy(rng.uniform(-0.6, 0.6, p.shape)))
print(model)
optimizer = optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4)

for epoch in range(8):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    loss_train.backward()
    optimizer.step()
    model.eval()
    output = model(features, adj)
    loss_val = F.nll_loss(output[idx_val], labels[idx_val])
    acc_val = accuracy(output[idx_val], labels[idx_val])
    print(
        "Epoch: {:04d}".format(epoch + 1),
        "train loss: {:.6f}".format(loss_train.item()),
        "val loss: {:.6f}".format(loss_val.item()),
        "sensible: {}".format(0 <= acc_val.item() <= 1),
    )
