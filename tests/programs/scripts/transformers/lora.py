"""LoRA: frozen linear layers, replaced by ones with a low-rank addition."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, linear: nn.Linear, rank: int, alpha: float):
        super().__init__()
        self.linear = linear
        self.rank = rank
        self.alpha = alpha
        self.scaling = alpha / rank
        device, dtype = linear.weight.device, linear.weight.dtype
        self.lora_A = nn.Parameter(
            torch.empty(rank, linear.in_features, device=device, dtype=dtype)
        )
        self.lora_B = nn.Parameter(torch.zeros(linear.out_features, rank, device=device))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def forward(self, x):
        return self.linear(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling

    @torch.no_grad()
    def merge(self):
        self.linear.weight += (self.lora_B @ self.lora_A) * self.scaling
        return self.linear

    def extra_repr(self):
        return f"rank={self.rank}, alpha={self.alpha}"


def replace_linears(model, rank, alpha, only=("q", "v")):
    for name, module in model.named_children():
        if isinstance(module, nn.Linear) and name in only:
            setattr(model, name, LoRALinear(module, rank, alpha))
        else:
            replace_linears(module, rank, alpha, only)


def merge_back(model):
    for name, module in list(model.named_children()):
        if isinstance(module, LoRALinear):
            setattr(model, name, module.merge())
        else:
            merge_back(module)


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        h = self.norm(x)
        return x + self.o(F.scaled_dot_product_attention(self.q(h), self.k(h), self.v(h)))


class Model(nn.Module):
    def __init__(self, dim=12, layers=2, classes=3):
        super().__init__()
        self.layers = nn.Sequential(*(Layer(dim) for _ in range(layers)))
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        return self.head(self.layers(x).mean(1))


rng = np.random.default_rng(21)
model = Model()
for p in model.parameters():
    if p.ndim == 2:
        p.data = torch.from_numpy(rng.normal(0, 0.3, p.shape).astype(np.float32))
for m in model.modules():
    if isinstance(m, nn.Linear):
        nn.init.zeros_(m.bias)
for p in model.parameters():
    p.requires_grad_(False)
replace_linears(model, rank=2, alpha=4)
for name, p in model.named_parameters():
    if "lora_A" in name:
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.3, p.shape)))
model.head.requires_grad_(True)
trainable = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
print([n for n, _ in trainable][:2], len(trainable))
print(f"{sum(p.numel() for _, p in trainable)} of {sum(p.numel() for p in model.parameters())}")
print(model.layers[0].q)

x = torch.from_numpy(rng.normal(size=(24, 5, 12)).astype(np.float32))
y = (x[:, :, 0].sum(1) > 0).long() + (x[:, :, 1].sum(1) > 1).long()
optimizer = torch.optim.Adam([p for _, p in trainable], lr=2e-2)
for step in range(10):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")
assert model.layers[0].q.linear.weight.grad is None

before = model(x)
merge_back(model)
print("merged alike:", torch.allclose(before, model(x), atol=1e-4))
print(
    {type(m).__name__ for m in model.modules()}
    == {"Model", "Sequential", "Layer", "Linear", "LayerNorm"}
)
