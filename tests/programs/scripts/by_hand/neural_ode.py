"""A neural ordinary differential equation, integrated with Runge and Kutta's fourth order."""

import argparse
import time

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser("ODE demo")
parser.add_argument("--data_size", type=int, default=50)
parser.add_argument("--batch_time", type=int, default=5)
parser.add_argument("--batch_size", type=int, default=10)
parser.add_argument("--niters", type=int, default=8)
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
device = torch.device("cuda:" + str(args.gpu) if torch.cuda.is_available() else "cpu")

true_y0 = torch.tensor([[2.0, 0.0]]).to(device)
t = torch.linspace(0.0, 5.0, args.data_size).to(device)
true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]]).to(device)


def odeint(func, y0, t):
    ys = [y0]
    y = y0
    for t0, t1 in zip(t[:-1], t[1:]):
        h = t1 - t0
        k1 = func(t0, y)
        k2 = func(t0 + h / 2, y + h * k1 / 2)
        k3 = func(t0 + h / 2, y + h * k2 / 2)
        k4 = func(t1, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        ys.append(y)
    return torch.stack(ys, dim=0)


class Lambda(nn.Module):
    def forward(self, t, y):
        return torch.mm(y**3, true_A)


with torch.no_grad():
    true_y = odeint(Lambda(), true_y0, t)
rng = np.random.RandomState(0)


def get_batch():
    s = torch.from_numpy(
        rng.choice(np.arange(args.data_size - args.batch_time), args.batch_size, replace=False)
    )
    batch_y0 = true_y[s]
    batch_t = t[: args.batch_time]
    batch_y = torch.stack([true_y[s + i] for i in range(args.batch_time)], dim=0)
    return batch_y0.to(device), batch_t.to(device), batch_y.to(device)


class ODEFunc(nn.Module):
    def __init__(self):
        super(ODEFunc, self).__init__()
        self.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                m.weight.data.copy_(torch.from_numpy(rng.normal(0, 0.3, m.weight.shape)))
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        return self.net(y**3)


class RunningAverageMeter(object):
    """Computes and stores the average and current value."""

    def __init__(self, momentum=0.99):
        self.momentum = momentum
        self.reset()

    def reset(self):
        self.val = None
        self.avg = 0

    def update(self, val):
        if self.val is None:
            self.avg = val
        else:
            self.avg = self.avg * self.momentum + val * (1 - self.momentum)
        self.val = val


if __name__ == "__main__":
    func = ODEFunc().to(device)
    optimizer = optim.RMSprop(func.parameters(), lr=3e-3)
    end = time.time()
    time_meter = RunningAverageMeter(0.97)
    loss_meter = RunningAverageMeter(0.97)
    for itr in range(1, args.niters + 1):
        optimizer.zero_grad()
        batch_y0, batch_t, batch_y = get_batch()
        pred_y = odeint(func, batch_y0, batch_t).to(device)
        loss = torch.mean(torch.abs(pred_y - batch_y))
        loss.backward()
        optimizer.step()
        time_meter.update(time.time() - end)
        loss_meter.update(loss.item())
        print("Iter {:04d} | loss {:.6f}".format(itr, loss.item()))
        end = time.time()
    with torch.no_grad():
        pred_y = odeint(func, true_y0, t[:10])
        loss = torch.mean(torch.abs(pred_y - true_y[:10]))
        print("Iter {:04d} | Total loss {:.6f}".format(itr, loss.item()))
