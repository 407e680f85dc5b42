"""A spiral of three arms, in the style of a notebook: cell after cell, no functions."""

# %%
import math

import numpy as np
import torch
from torch import nn, optim

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
seed = 12345
np.random.seed(seed)
torch.manual_seed(seed)
N = 40
D = 2
C = 3
H = 20

# %%
X = torch.zeros(N * C, D).to(device)
y = torch.zeros(N * C, dtype=torch.long).to(device)
for c in range(C):
    index = 0
    t = torch.linspace(0, 1, N)
    noise = torch.from_numpy(np.random.normal(size=N)).float() * 0.2
    inner_var = torch.linspace((2 * math.pi / C) * c, (2 * math.pi / C) * (2 + c), N) + noise
    for ix in range(N * c, N * (c + 1)):
        X[ix] = t[index] * torch.FloatTensor(
            (math.sin(inner_var[index]), math.cos(inner_var[index]))
        )
        y[ix] = c
        index += 1
print("Shapes:")
print("X:", tuple(X.size()))
print("y:", tuple(y.size()))

# %%
learning_rate = 1e-2
lambda_l2 = 1e-5
model = nn.Sequential(nn.Linear(D, H), nn.ReLU(), nn.Linear(H, C))
model.to(device)
for p in model.parameters():
    p.data = torch.tensor(np.random.uniform(-0.7, 0.7, tuple(p.shape))).float()

# %%
criterion = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, weight_decay=lambda_l2)
for t in range(15):
    y_pred = model(X)
    loss = criterion(y_pred, y)
    score, predicted = torch.max(y_pred, 1)
    acc = (y == predicted).sum().float() / len(y)
    print("[EPOCH]: %i, [LOSS]: %.6f, sensible: %s" % (t, loss.item(), 0 <= acc <= 1))
    print(f"loss {loss.item():.6f}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# %%
mesh = np.arange(-1.1, 1.1, 0.2)
xx, yy = np.meshgrid(mesh, mesh)
with torch.no_grad():
    grid = torch.from_numpy(np.vstack((xx.reshape(-1), yy.reshape(-1))).T).float()
    Z = model(grid).detach()
Z = np.argmax(Z, axis=1).reshape(xx.shape)
print(Z.shape)
