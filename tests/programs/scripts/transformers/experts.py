"""A sparse mixture of experts: the two best of four, with a loss for balance."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w1 = nn.Linear(dim, dim * 2, bias=False)
        self.w2 = nn.Linear(dim * 2, dim, bias=False)
        self.w3 = nn.Linear(dim, dim * 2, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class MoE(nn.Module):
    def __init__(self, dim, num_experts=4, top_k=2):
        super().__init__()
        self.experts = nn.ModuleList([Expert(dim) for _ in range(num_experts)])
        self.gate = nn.Linear(dim, num_experts, bias=False)
        self.top_k = top_k
        self.num_experts = num_experts
        self.aux = None

    def forward(self, x):
        shape = x.shape
        x = x.view(-1, shape[-1])
        logits = self.gate(x)
        probs = F.softmax(logits, dim=1, dtype=torch.float)
        weights, selected = torch.topk(probs, self.top_k, dim=-1)
        weights /= weights.sum(dim=-1, keepdim=True)
        weights = weights.to(x.dtype)
        out = torch.zeros_like(x)
        mask = F.one_hot(selected, num_classes=self.num_experts).permute(2, 1, 0)
        for i, expert in enumerate(self.experts):
            which, tokens = torch.where(mask[i])
            if tokens.shape[0] == 0:
                continue
            current = expert(x[None, tokens].reshape(-1, shape[-1])) * weights[tokens, which, None]
            out.index_add_(0, tokens, current.to(x.dtype))
        share = torch.mean(mask.float().sum(1), dim=1)
        self.aux = self.num_experts * torch.sum(share * probs.mean(0)) / self.top_k
        return out.reshape(shape)


class Model(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.inp = nn.Linear(4, dim)
        self.moe = MoE(dim)
        self.norm = nn.RMSNorm(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        h = self.inp(x)
        return self.out(self.norm(h + self.moe(h)))


rng = np.random.default_rng(17)
model = Model()
for name, p in model.named_parameters():
    if "norm" not in name:
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.4, p.shape)))
x = torch.tensor(rng.normal(size=(6, 8, 4)), dtype=torch.float)
y = torch.where(x[..., :1] > 0, x[..., 1:2].sin(), x[..., 2:3].abs())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(10):
    optimizer.zero_grad()
    task = F.huber_loss(model(x), y, delta=0.5)
    loss = task + 0.01 * model.moe.aux
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss {task.item():.6f}, balance loss {model.moe.aux.item():.4f}")
load = torch.bincount(model.moe.gate(model.inp(x)).view(-1, 4).argmax(-1), minlength=4)
print(load.shape, load.sum().item())
