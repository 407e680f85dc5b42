"""A temporal convolutional network on the adding problem, with weight norm and causal padding."""

import warnings

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import weight_norm

warnings.simplefilter("ignore")


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super(Chomp1d, self).__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, : -self.chomp_size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, n_inputs, n_outputs, kernel_size, stride, dilation, padding, dropout=0.0):
        super(TemporalBlock, self).__init__()
        self.conv1 = weight_norm(
            nn.Conv1d(
                *(n_inputs, n_outputs, kernel_size),
                stride=stride,
                padding=padding,
                dilation=dilation,
            )
        )
        self.conv2 = weight_norm(
            nn.Conv1d(
                *(n_outputs, n_outputs, kernel_size),
                stride=stride,
                padding=padding,
                dilation=dilation,
            )
        )
        self.net = nn.Sequential(
            *(self.conv1, Chomp1d(padding), nn.ReLU(), nn.Dropout(dropout)),
            *(self.conv2, Chomp1d(padding), nn.ReLU(), nn.Dropout(dropout)),
        )
        self.downsample = nn.Conv1d(n_inputs, n_outputs, 1) if n_inputs != n_outputs else None
        self.relu = nn.ReLU()

    def forward(self, x):
        out = self.net(x)
        res = x if self.downsample is None else self.downsample(x)
        return self.relu(out + res)


class TCN(nn.Module):
    def __init__(self, input_size, output_size, num_channels, kernel_size=2):
        super(TCN, self).__init__()
        layers = []
        for i in range(len(num_channels)):
            dilation_size = 2**i
            in_channels = input_size if i == 0 else num_channels[i - 1]
            layers.append(
                TemporalBlock(
                    *(in_channels, num_channels[i], kernel_size),
                    stride=1,
                    dilation=dilation_size,
                    padding=(kernel_size - 1) * dilation_size,
                )
            )
        self.tcn = nn.Sequential(*layers)
        self.linear = nn.Linear(num_channels[-1], output_size)

    def forward(self, x):
        return self.linear(self.tcn(x)[:, :, -1])


def data_generator(rng, N, seq_length):
    X_num = torch.from_numpy(rng.rand(N, 1, seq_length)).float()
    X_mask = torch.zeros([N, 1, seq_length])
    Y = torch.zeros([N, 1])
    for i in range(N):
        positions = rng.choice(seq_length, size=2, replace=False)
        X_mask[i, 0, positions[0]] = 1
        X_mask[i, 0, positions[1]] = 1
        Y[i, 0] = X_num[i, 0, positions[0]] + X_num[i, 0, positions[1]]
    return torch.cat((X_num, X_mask), dim=1), Y


rng = np.random.RandomState(1111)
X_train, Y_train = data_generator(rng, 48, 16)
model = TCN(2, 1, [6, 6, 6], kernel_size=3)
for name, p in model.named_parameters():
    if name.endswith("_g"):
        continue
    p.data.copy_(torch.tensor(rng.normal(0, 0.3, p.size())))
for name, p in model.named_parameters():
    if name.endswith("_g"):
        p.data.fill_(1.0)
optimizer = getattr(torch.optim, "Adam")(model.parameters(), lr=4e-3)

for ep in range(1, 4):
    model.train()
    for i in range(0, X_train.size(0), 16):
        x, y = X_train[i : (i + 16)], Y_train[i : (i + 16)]
        optimizer.zero_grad()
        output = model(x)
        loss = F.mse_loss(output, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.7)
        optimizer.step()
        print(
            "Train Epoch: {:2d}\tLearning rate: {:.4f}\tloss: {:.6f}".format(ep, 4e-3, loss.item())
        )
