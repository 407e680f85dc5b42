"""Modules, their parameters, states and optimisers, as they are printed."""

from collections import OrderedDict

import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, kernel_size=3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Dropout(p=0.2),
        )
        self.head = nn.Linear(width, 10)
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.heads = nn.ModuleList([nn.Linear(4, 2), nn.Identity()])
        self.named = nn.ModuleDict({"left": nn.Tanh(), "right": nn.GELU()})


model = Block(8)
print(model)
print(nn.Sequential(OrderedDict([("first", nn.Linear(2, 3)), ("second", nn.LeakyReLU(0.1))])))
for layer in (
    nn.Embedding(10, 3, padding_idx=0),
    nn.LSTM(4, 8, num_layers=2, batch_first=True, bidirectional=True),
    nn.GRUCell(3, 5),
    nn.LayerNorm(16),
    nn.GroupNorm(2, 8, affine=False),
    nn.ConvTranspose2d(4, 2, 4, 2, 1),
    nn.AdaptiveAvgPool2d((1, 1)),
    nn.AvgPool2d(3, stride=1),
    nn.Softmax(dim=-1),
    nn.Flatten(),
    nn.PixelShuffle(2),
    nn.Upsample(scale_factor=2, mode="nearest"),
    nn.CrossEntropyLoss(),
    nn.ZeroPad2d(1),
    nn.PReLU(),
    nn.ELU(alpha=0.5),
    nn.Hardtanh(),
    nn.Bilinear(2, 3, 4),
    nn.InstanceNorm1d(3),
):
    print(layer)
print(nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True).linear1)
for name, parameter in model.named_parameters():
    print(name, tuple(parameter.shape), parameter.requires_grad)
print([name for name, _ in model.named_buffers()])
print([name for name, _ in model.named_modules()])
print([name for name, _ in model.named_children()])
print(list(model.state_dict().keys()))
print(sum(p.numel() for p in model.parameters()), model.training, model.eval().training)
print(model.head.weight.shape, model.head.in_features, model.body[0].kernel_size)
print(isinstance(model.head.weight, nn.Parameter), type(model.head.weight).__name__)
print(model.heads[0], len(model.heads), "left" in model.named)

fixed = nn.Linear(2, 1)
with torch.no_grad():
    fixed.weight.copy_(torch.tensor([[0.5, -0.25]]))
    fixed.bias.zero_()
print(fixed.weight)
print(fixed.bias)
print(fixed.state_dict())
print(list(fixed.parameters()))
print(fixed(torch.ones(3, 2)).detach())
with torch.no_grad():
    print(nn.functional.mse_loss(fixed(torch.ones(3, 2)), torch.zeros(3, 1)))
optimizer = torch.optim.SGD(
    fixed.parameters(), lr=0.1, momentum=0.9, dampening=0.0, weight_decay=0.0
)
print(optimizer)
print(optimizer.state_dict()["state"])
try:
    fixed.load_state_dict({"weight": torch.zeros(1, 2)})
except RuntimeError as error:
    print(str(error).splitlines()[0])
print(fixed.load_state_dict({"weight": torch.zeros(1, 2)}, strict=False))
