"""Regression as it was written in 2017: Variables, torch.Tensor and their data."""

from __future__ import print_function

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable

np.random.seed(1)
use_cuda = torch.cuda.is_available()
W_target = torch.from_numpy(np.random.randn(4, 1)).float() * 5
b_target = torch.from_numpy(np.random.randn(1)).float() * 5


def make_features(x):
    x = x.unsqueeze(1)
    return torch.cat([x**i for i in range(1, 5)], 1)


def f(x):
    return x.mm(W_target) + b_target[0]


def get_batch(batch_size=32):
    random = torch.Tensor(batch_size).normal_()
    random.copy_(torch.from_numpy(np.random.randn(batch_size)))
    x = make_features(random)
    y = f(x)
    return Variable(x), Variable(y)


fc = nn.Linear(W_target.size(0), 1)
fc.weight.data.fill_(0.1)
fc.bias.data.zero_()
if use_cuda:
    fc.cuda()
loss_fn = nn.SmoothL1Loss()

for batch_idx in range(15):
    batch_x, batch_y = get_batch()
    if use_cuda:
        batch_x, batch_y = batch_x.cuda(), batch_y.cuda()
    fc.zero_grad()
    output = loss_fn(fc(batch_x), batch_y)
    loss = output.data
    output.backward()
    for param in fc.parameters():
        param.data.add_(-0.1 * param.grad.data)
    print("batch %d loss %.6f" % (batch_idx, loss))

params = fc.weight.data.view(-1).tolist()
print(len(params), type(params[0]).__name__)

# By hand, with torch.mm and clamp.
dtype = torch.FloatTensor
N, D_in, H, D_out = 16, 20, 8, 4
x = Variable(torch.from_numpy(np.random.randn(N, D_in)).type(dtype), requires_grad=False)
y = Variable(torch.from_numpy(np.random.randn(N, D_out)).type(dtype), requires_grad=False)
w1 = Variable(torch.from_numpy(np.random.randn(D_in, H) * 0.3).type(dtype), requires_grad=True)
w2 = Variable(torch.from_numpy(np.random.randn(H, D_out) * 0.3).type(dtype), requires_grad=True)
for t in range(8):
    y_pred = x.mm(w1).clamp(min=0).mm(w2)
    loss = (y_pred - y).pow(2).sum()
    print("t %d loss %.5f" % (t, loss.data.item()))
    if t > 0:
        w1.grad.data.zero_()
        w2.grad.data.zero_()
    loss.backward()
    w1.data -= 1e-3 * w1.grad.data
    w2.data -= 1e-3 * w2.grad.data
print(isinstance(x, Variable), x.data.type(), w1.grad.data.size())
