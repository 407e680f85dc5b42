"""Learning rates by several paths: every well-known schedule on one small network."""

import warnings

import numpy as np
import torch
import torch.nn.functional as F
import torch.optim as optim
import torch.utils.data as data
from torch import Tensor, nn
from torch.nn import init
from torch.nn.parameter import Parameter
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import (
    CosineAnnealingLR,
    CyclicLR,
    LambdaLR,
    LinearLR,
    OneCycleLR,
    PolynomialLR,
    ReduceLROnPlateau,
    SequentialLR,
    StepLR,
)

try:
    from torch.utils.tensorboard import SummaryWriter
except ImportError:
    SummaryWriter = None
warnings.simplefilter("ignore")
rng = np.random.default_rng(88)
inputs = torch.from_numpy(rng.normal(size=(24, 4))).float()
targets = torch.from_numpy(rng.normal(size=(24, 1))).float() * 0.2 + inputs[:, :1]
start = rng.normal(0, 0.5, (8, 4)), rng.normal(0, 0.5, (1, 8))


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = Parameter(torch.empty(8, 4))
        self.second = Parameter(torch.empty(1, 8))
        init.xavier_normal_(self.first)
        init.uniform_(self.second, -1, 1)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(torch.tanh(F.linear(x, self.first)), self.second)


def warm_then_cosine(optimizer):
    warm = LinearLR(optimizer, start_factor=0.1, total_iters=2)
    return SequentialLR(optimizer, [warm, CosineAnnealingLR(optimizer, T_max=4)], milestones=[2])


schedules = {
    "StepLR": lambda o: StepLR(o, step_size=2, gamma=0.5),
    "MultiStepLR": lambda o: lr_scheduler.MultiStepLR(o, milestones=[1, 4], gamma=0.3),
    "ExponentialLR": lambda o: optim.lr_scheduler.ExponentialLR(o, 0.8),
    "CosineAnnealingLR": lambda o: CosineAnnealingLR(o, 5, eta_min=0.01),
    "LambdaLR": lambda o: LambdaLR(o, lr_lambda=[lambda epoch: 0.9**epoch]),
    "OneCycleLR": lambda o: OneCycleLR(o, max_lr=0.3, epochs=2, steps_per_epoch=3),
    "CyclicLR": lambda o: CyclicLR(o, 0.05, 0.2, step_size_up=2, mode="triangular2"),
    "PolynomialLR": lambda o: PolynomialLR(o, total_iters=6, power=2.0),
    "SequentialLR": warm_then_cosine,
    "ReduceLROnPlateau": lambda o: ReduceLROnPlateau(o, "min", factor=0.1, patience=1),
}
loader = data.DataLoader(data.TensorDataset(inputs, targets), batch_size=12)
for name, make in schedules.items():
    model = Small()
    for p, values in zip(model.parameters(), start):
        p.data = torch.from_numpy(values).float()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = make(optimizer)
    rates = []
    for epoch in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            if isinstance(scheduler, ReduceLROnPlateau):
                scheduler.step(1.0)
            else:
                scheduler.step()
            rates.append("%.5f" % optimizer.param_groups[0]["lr"])
    print(name, *rates)
    print(f"loss {loss.item():.6f}")
