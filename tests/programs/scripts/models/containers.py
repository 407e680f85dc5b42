"""Lists and dictionaries of modules and parameters, and what may be done with them."""

from functools import partial

import numpy as np
import torch
from torch import Tensor, nn, optim
from torch.nn import init
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class MultiExit(nn.Module):
    choices: nn.ModuleDict

    def __init__(self, width: int = 10, depth: int = 3) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(depth):
            self.layers.append(nn.Linear(6 if i == 0 else width, width))
        self.layers.extend([nn.Linear(width, width)])
        self.exits = nn.ModuleList([nn.Linear(width, 2) for _ in range(depth + 1)])
        self.choices = nn.ModuleDict(
            [["lrelu", nn.LeakyReLU()], ["prelu", nn.PReLU()], ["celu", nn.CELU(0.9)]]
        )
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(width)) for _ in range(depth + 1)])
        self.extra = nn.ParameterDict(
            {"left": nn.Parameter(torch.zeros(width)), "right": nn.Parameter(torch.zeros(width))}
        )
        self.unused: Tensor
        self.register_parameter("nothing", None)

    def forward(self, x: Tensor, act: str):
        outputs = []
        for i, (layer, scale) in enumerate(zip(self.layers, self.scales)):
            side = self.extra["left"] if i % 2 == 0 else self.extra["right"]
            x = self.choices[act](layer(x)) * scale + side
            outputs.append(self.exits[i](x))
        return outputs


rng = np.random.default_rng(70)
model = MultiExit()
print(len(model.layers), len(model.scales), list(model.choices), list(model.extra.keys()))
print(model.layers[1:3], model.nothing)
norm = partial(nn.LayerNorm, eps=1e-6)
model.layers.insert(0, nn.Sequential(norm(6), nn.Identity()))
del model.layers[0]


@torch.no_grad()
def init_weights(m):
    if type(m) is nn.Linear:
        init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="leaky_relu")
        m.weight.copy_(torch.from_numpy(rng.normal(0, 0.35, m.weight.shape)))
        m.bias.fill_(0.01)


model.apply(init_weights)
x = torch.from_numpy(rng.normal(size=(20, 6)).astype("float32"))
y = (x[:, 0] * x[:, 1] > 0).long()
groups = [
    {"params": model.layers.parameters(), "lr": 0.1},
    {"params": list(model.exits.parameters()) + list(model.choices.parameters())},
    {"params": [*model.scales, *model.extra.values()], "lr": 0.02, "momentum": 0.0},
]
optimizer = optim.SGD(groups, lr=0.05, momentum=0.8)
gamma = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
for step in range(9):
    outputs = model(x, ("lrelu", "prelu", "celu")[step % 3])
    losses = [nn.functional.cross_entropy(out, y) for out in outputs]
    loss = sum(w * part for w, part in zip((0.1, 0.2, 0.3, 0.4), losses))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    gamma.step()
    print(f"step {step} loss {loss.item():.6f}", ["%.4f" % rate for rate in gamma.get_last_lr()])

flat = parameters_to_vector(model.parameters())
print(flat.shape)
vector_to_parameters(flat * 0.5, model.parameters())
print(f"halved loss {nn.functional.cross_entropy(model(x, 'celu')[-1], y).item():.6f}")
model.half().float()
print({p.dtype for p in model.parameters()}, next(model.parameters()).device)
print(model.get_submodule("choices.prelu"), model.get_parameter("layers.0.bias").shape)
optimizer.add_param_group({"params": [torch.nn.Parameter(torch.zeros(1))]})
print([len(g["params"]) for g in optimizer.param_groups])
