"""Programs without an optimiser: the first chapters of a tutorial."""

import math

import numpy as np

from .program import program


@program("two layers by hand")
def two_layers_by_hand(t, numbers, small):
    """Two layers whose gradients are written out; autograd takes no part."""
    n, d_in, h, d_out = (4, 6, 5, 3) if small else (64, 1000, 100, 10)
    x, y = numbers.normal(n, d_in), numbers.normal(n, d_out)
    w1, w2 = numbers.normal(d_in, h), numbers.normal(h, d_out)
    rate = 1e-6

    def step():
        nonlocal w1, w2
        h = x.mm(w1)
        h_relu = h.clamp(min=0)
        y_pred = h_relu.mm(w2)
        loss = (y_pred - y).pow(2).sum().item()

        grad_y_pred = 2.0 * (y_pred - y)
        grad_w2 = h_relu.t().mm(grad_y_pred)
        grad_h_relu = grad_y_pred.mm(w2.t())
        grad_h = grad_h_relu.clone()
        grad_h[h < 0] = 0
        grad_w1 = x.t().mm(grad_h)
        w1 -= rate * grad_w1
        w2 -= rate * grad_w2
        return loss

    return step


@program("polynomial")
def polynomial(t, numbers, small):
    """A polynomial fitted to a sine: autograd, and an update under no_grad."""
    x = t.linspace(-math.pi, math.pi, 20 if small else 2000)
    y = t.sin(x)
    a, b, c, d = (t.tensor(float(v), requires_grad=True) for v in numbers.rng.normal(size=4))
    rate = 1e-6

    def step():
        y_pred = a + b * x + c * x**2 + d * x**3
        loss = (y_pred - y).pow(2).sum()
        loss.backward()
        with t.no_grad():
            for each in (a, b, c, d):
                each -= rate * each.grad
                each.grad = None
        return loss.item()

    return step


@program("linear regression")
def linear_regression(t, numbers, small):
    """A line through points, with nn.Linear and SGD."""
    x = numbers.normal(8 if small else 100, 1)
    y = 3 * x + 2 + 0.1 * numbers.normal(*x.shape)
    model = numbers.filled(t.nn.Linear(1, 1))
    criterion = t.nn.MSELoss()
    optimizer = t.optim.SGD(model.parameters(), lr=0.01)

    def step():
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


@program("logistic regression")
def logistic_regression(t, numbers, small):
    """Two classes, with parameters of its own and an accuracy that is read, too."""
    x = numbers.normal(8 if small else 500, 20)
    y = (x[:, 0] - x[:, 1] > 0).float()
    w = t.zeros(20, requires_grad=True)
    b = t.zeros(1, requires_grad=True)
    optimizer = t.optim.SGD([w, b], lr=0.1)

    def step():
        optimizer.zero_grad()
        p = t.sigmoid(x @ w + b)
        loss = -(y * t.log(p + 1e-7) + (1 - y) * t.log(1 - p + 1e-7)).mean()
        loss.backward()
        optimizer.step()
        accuracy = ((p > 0.5).float() == y).float().mean().item()
        return loss.item() + 0 * accuracy

    return step


@program("batch norm by hand")
def batch_norm_by_hand(t, numbers, small):
    """Names letter by letter: an embedding and layers as lists of plain tensors, with batch
    normalisation and running statistics written out."""
    context, emb, hidden, batch = (2, 3, 4, 4) if small else (3, 10, 100, 32)
    letters = 27
    tokens, following = numbers.below(letters, 400, context), numbers.below(letters, 400)
    C = numbers.normal(letters, emb)
    w1 = numbers.normal(context * emb, hidden, scale=0.3)
    w2 = numbers.normal(hidden, letters, scale=0.1)
    b2 = numbers.normal(letters, scale=0.1)
    gain, shift = t.ones(1, hidden), t.zeros(1, hidden)
    mean_running, std_running = t.zeros(1, hidden), t.ones(1, hidden)
    parameters = [C, w1, w2, b2, gain, shift]
    for p in parameters:
        p.requires_grad = True

    def step():
        nonlocal mean_running, std_running
        ix = t.tensor(numbers.rng.integers(0, 400, (batch,)))
        xb, yb = tokens[ix], following[ix]
        embedded = C[xb]
        h = embedded.view(embedded.shape[0], -1) @ w1
        mean, std = h.mean(0, keepdim=True), h.std(0, keepdim=True)
        h = gain * (h - mean) / std + shift
        with t.no_grad():
            mean_running = 0.999 * mean_running + 0.001 * mean
            std_running = 0.999 * std_running + 0.001 * std
        logits = t.tanh(h) @ w2 + b2
        loss = t.nn.functional.cross_entropy(logits, yb)
        for p in parameters:
            p.grad = None
        loss.backward()
        for p in parameters:
            p.data += -0.1 * p.grad
        return loss.item()

    return step


@program("moving average")
def moving_average(t, numbers, small):
    """An exponential average of the weights, kept by hand next to the network."""
    d, h = (4, 5) if small else (32, 64)
    nn = t.nn
    make = lambda: nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, 1))
    model, average = numbers.filled(make()), make()
    average.load_state_dict(model.state_dict())
    optimizer = t.optim.Adam(model.parameters(), lr=1e-3)
    x, y = numbers.normal(64, d), numbers.normal(64, 1)

    def step():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        with t.no_grad():
            for kept, p in zip(average.parameters(), model.parameters(), strict=True):
                kept.mul_(0.99).add_(p, alpha=0.01)
        return loss.item()

    return step


@program("linear layers in a loop")
def letters_by_hand(t, numbers, small):
    """A recurrent network of nn.Linear that reads a name letter by letter, as in the tutorial."""
    nn = t.nn
    letters, hidden, languages, length = (8, 5, 3, 3) if small else (57, 128, 18, 8)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.i2h = nn.Linear(letters, hidden)
            self.h2h = nn.Linear(hidden, hidden)
            self.h2o = nn.Linear(hidden, languages)
            self.softmax = nn.LogSoftmax(dim=1)

        def forward(self, letter, state):
            state = t.tanh(self.i2h(letter) + self.h2h(state))
            return self.softmax(self.h2o(state)), state

    rnn = numbers.filled(Net())
    criterion = nn.NLLLoss()
    line = t.tensor(np.eye(letters, dtype=np.float32)[numbers.rng.integers(0, letters, length)])
    line = line.unsqueeze(1)
    category = numbers.below(languages, 1)

    def step():
        state = t.zeros(1, hidden)
        rnn.zero_grad()
        for i in range(line.size()[0]):
            output, state = rnn(line[i], state)
        loss = criterion(output, category)
        loss.backward()
        for p in rnn.parameters():
            p.data.add_(p.grad.data, alpha=-0.005)
        return loss.item()

    return step
