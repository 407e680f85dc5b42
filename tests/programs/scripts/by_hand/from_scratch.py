"""A network without torch.nn: one's own module, linear layer, optimiser and batch normalisation."""

import numpy as np
import torch

g = np.random.default_rng(2147483647)
words = "anna emma olivia ava isabella sophia mia amelia mila ella luna nora lily eva".split()
chars = sorted(list(set("".join(words))))
stoi = {s: i + 1 for i, s in enumerate(chars)}
stoi["."] = 0
vocab_size = len(stoi)
block_size = 3


def build_dataset(words):
    X, Y = [], []
    for w in words:
        context = [0] * block_size
        for ch in w + ".":
            ix = stoi[ch]
            X.append(context)
            Y.append(ix)
            context = context[1:] + [ix]
    return torch.tensor(X), torch.tensor(Y)


class Linear:
    def __init__(self, fan_in, fan_out, bias=True):
        self.weight = torch.tensor(g.normal(size=(fan_in, fan_out)) / fan_in**0.5).float()
        self.bias = torch.zeros(fan_out) if bias else None

    def __call__(self, x):
        self.out = x @ self.weight
        if self.bias is not None:
            self.out += self.bias
        return self.out

    def parameters(self):
        return [self.weight] + ([] if self.bias is None else [self.bias])


class BatchNorm1d:
    def __init__(self, dim, eps=1e-5, momentum=0.1):
        self.eps = eps
        self.momentum = momentum
        self.training = True
        self.gamma = torch.ones(dim)
        self.beta = torch.zeros(dim)
        self.running_mean = torch.zeros(dim)
        self.running_var = torch.ones(dim)

    def __call__(self, x):
        if self.training:
            xmean = x.mean(0, keepdim=True)
            xvar = x.var(0, keepdim=True)
        else:
            xmean = self.running_mean
            xvar = self.running_var
        xhat = (x - xmean) / torch.sqrt(xvar + self.eps)
        self.out = self.gamma * xhat + self.beta
        if self.training:
            with torch.no_grad():
                self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * xmean
                self.running_var = (1 - self.momentum) * self.running_var + self.momentum * xvar
        return self.out

    def parameters(self):
        return [self.gamma, self.beta]


class Tanh:
    def __call__(self, x):
        self.out = torch.tanh(x)
        return self.out

    def parameters(self):
        return []


Xtr, Ytr = build_dataset(words)
print(Xtr.shape, Ytr.shape)
n_embd, n_hidden = 4, 16
C = torch.from_numpy(g.normal(size=(vocab_size, n_embd))).float()
layers = [
    *(Linear(n_embd * block_size, n_hidden, bias=False), BatchNorm1d(n_hidden), Tanh()),
    *(Linear(n_hidden, n_hidden, bias=False), BatchNorm1d(n_hidden), Tanh()),
    *(Linear(n_hidden, vocab_size, bias=False), BatchNorm1d(vocab_size)),
]
with torch.no_grad():
    layers[-1].gamma *= 0.1
    for layer in layers[:-1]:
        if isinstance(layer, Linear):
            layer.weight *= 5 / 3
parameters = [C] + [p for layer in layers for p in layer.parameters()]
print(sum(p.nelement() for p in parameters))
for p in parameters:
    p.requires_grad = True

ud = []
for i in range(8):
    ix = torch.from_numpy(g.integers(0, Xtr.shape[0], (24,)))
    Xb, Yb = Xtr[ix], Ytr[ix]
    emb = C[Xb]
    x = emb.view(emb.shape[0], -1)
    for layer in layers:
        x = layer(x)
    loss = torch.nn.functional.cross_entropy(x, Yb)
    for layer in layers:
        layer.out.retain_grad()
    for p in parameters:
        p.grad = None
    loss.backward()
    lr = 0.1 if i < 6 else 0.01
    for p in parameters:
        p.data += -lr * p.grad
    print(f"{i:7d}/{8:7d}: loss {loss.item():.5f}")
    with torch.no_grad():
        ud.append([((lr * p.grad).std() / p.data.std()).log10().item() for p in parameters])
print(len(ud), layers[0].out.grad.shape)

for layer in layers:
    layer.training = False
with torch.no_grad():
    x = C[Xtr].view(Xtr.shape[0], -1)
    for layer in layers:
        x = layer(x)
    print(f"train loss {torch.nn.functional.cross_entropy(x, Ytr).item():.5f}")

# The same gradient by hand, for the last layer.
logits = x.detach().requires_grad_()
loss = torch.nn.functional.cross_entropy(logits, Ytr)
loss.backward()
dlogits = torch.softmax(logits, 1).detach()
dlogits[range(len(Ytr)), Ytr] -= 1
dlogits /= len(Ytr)
print("exact:", torch.allclose(dlogits, logits.grad, atol=1e-6))
