"""Programs over graphs, whose neighbours stand in a dense matrix."""

import numpy as np

from .program import program


def _neighbours(t, numbers, count):
    links = numbers.rng.random((count, count)) < 4 / count
    links = links | links.T | np.eye(count, dtype=bool)
    return t.tensor(links.astype(np.float32))


@program("gcn")
def gcn(t, numbers, small):
    """Nodes in classes, of which some are known: two products with the normalised matrix."""
    nn, F = t.nn, t.nn.functional
    count, features, hidden, classes = (6, 4, 3, 2) if small else (200, 64, 16, 7)
    links = _neighbours(t, numbers, count)
    degrees = links.sum(1).pow(-0.5)
    adjacency = degrees.unsqueeze(1) * links * degrees.unsqueeze(0)

    class Layer(nn.Module):
        def __init__(self, before, after):
            super().__init__()
            self.weight = nn.Parameter(numbers.normal(before, after))
            self.bias = nn.Parameter(t.zeros(after))

        def forward(self, x, adj):
            return t.mm(adj, t.mm(x, self.weight)) + self.bias

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.gc1, self.gc2 = Layer(features, hidden), Layer(hidden, classes)

        def forward(self, x, adj):
            x = F.relu(self.gc1(x, adj))
            return F.log_softmax(self.gc2(x, adj), dim=1)

    model = numbers.filled(Net())
    optimizer = t.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    x, y = numbers.normal(count, features), numbers.below(classes, count)
    known = t.arange(count // 2)

    def step():
        model.train()
        optimizer.zero_grad()
        output = model(x, adjacency)
        loss = F.nll_loss(output[known], y[known])
        right = (output[known].max(1)[1] == y[known]).float().mean().item()
        loss.backward()
        optimizer.step()
        return loss.item() + 0 * right

    return step


@program("gat")
def gat(t, numbers, small):
    """Attention over neighbours, a few heads of it."""
    nn, F = t.nn, t.nn.functional
    count, features, hidden, classes, heads = (6, 4, 3, 2, 2) if small else (100, 32, 8, 7, 4)
    adjacency = _neighbours(t, numbers, count)

    class Layer(nn.Module):
        def __init__(self, before, after, concat):
            super().__init__()
            self.after, self.concat = after, concat
            self.W = nn.Parameter(numbers.normal(before, after))
            self.a = nn.Parameter(numbers.normal(2 * after, 1))
            self.leaky = nn.LeakyReLU(0.2)

        def forward(self, h, adj):
            wh = t.mm(h, self.W)
            left = t.matmul(wh, self.a[: self.after, :])
            right = t.matmul(wh, self.a[self.after :, :])
            e = self.leaky(left + right.T)
            attention = t.where(adj > 0, e, -9e15 * t.ones_like(e))
            out = t.matmul(F.softmax(attention, dim=1), wh)
            return F.elu(out) if self.concat else out

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.heads = nn.ModuleList([Layer(features, hidden, True) for _ in range(heads)])
            self.out = Layer(hidden * heads, classes, False)

        def forward(self, x, adj):
            x = t.cat([head(x, adj) for head in self.heads], dim=1)
            return F.log_softmax(F.elu(self.out(x, adj)), dim=1)

    model = numbers.filled(Net())
    optimizer = t.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4)
    x, y = numbers.normal(count, features), numbers.below(classes, count)

    def step():
        optimizer.zero_grad()
        loss = F.nll_loss(model(x, adjacency), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step
