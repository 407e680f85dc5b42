"""A vision transformer with patches made by reshaping, and pairs from torch.nn.modules.utils."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn, optim
from torch.nn.modules.utils import _pair


def to_patches(img: Tensor, size) -> Tensor:
    """b c (h p1) (w p2) -> b (h w) (p1 p2 c)"""
    p1, p2 = _pair(size)
    b, c, height, width = img.shape
    h, w = height // p1, width // p2
    return img.reshape(b, c, h, p1, w, p2).permute(0, 2, 4, 3, 5, 1).reshape(b, h * w, p1 * p2 * c)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, dropout=0.0):
        super().__init__()
        self.net = nn.Sequential(
            nn.LayerNorm(dim),
            nn.Linear(dim, hidden_dim),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden_dim, dim),
            nn.Dropout(dropout),
        )

    def forward(self, x):
        return self.net(x)


class Attention(nn.Module):
    def __init__(self, dim, heads=2, dim_head=8):
        super().__init__()
        inner_dim = dim_head * heads
        self.heads = heads
        self.scale = dim_head**-0.5
        self.norm = nn.LayerNorm(dim)
        self.attend = nn.Softmax(dim=-1)
        self.to_qkv = nn.Linear(dim, inner_dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(0.0))

    def forward(self, x):
        x = self.norm(x)
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2), qkv)
        dots = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        out = torch.matmul(self.attend(dots), v)
        out = out.transpose(1, 2).flatten(2)
        return self.to_out(out)


class ViT(nn.Module):
    def __init__(self, *, image_size, patch_size, num_classes, dim, depth, channels=3, pool="cls"):
        super().__init__()
        image_height, image_width = _pair(image_size)
        self.patch = _pair(patch_size)
        num_patches = (image_height // self.patch[0]) * (image_width // self.patch[1])
        patch_dim = channels * self.patch[0] * self.patch[1]
        self.to_patch_embedding = nn.Sequential(
            nn.LayerNorm(patch_dim), nn.Linear(patch_dim, dim), nn.LayerNorm(dim)
        )
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches + 1, dim))
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([Attention(dim), FeedForward(dim, 2 * dim)]))
        self.pool = pool
        self.to_latent = nn.Identity()
        self.mlp_head = nn.Linear(dim, num_classes)

    def forward(self, img):
        x = self.to_patch_embedding(to_patches(img, self.patch))
        b, n, _ = x.shape
        cls_tokens = self.cls_token.expand(b, -1, -1)
        x = torch.cat((cls_tokens, x), dim=1)
        x += self.pos_embedding[:, : (n + 1)]
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        x = x.mean(dim=1) if self.pool == "mean" else x[:, 0]
        return self.mlp_head(self.to_latent(x))


rng = np.random.default_rng(31)
labels = torch.from_numpy(rng.integers(0, 5, 32))
kinds = rng.normal(size=(5, 3, 12, 12))
images = torch.from_numpy(kinds[labels] + 0.3 * rng.normal(size=(32, 3, 12, 12))).float()
for pool in ("cls", "mean"):
    model = ViT(image_size=12, patch_size=4, num_classes=5, dim=16, depth=2, pool=pool)
    for name, p in model.named_parameters():
        if p.dim() > 1:
            p.data.copy_(torch.from_numpy(rng.normal(0, 0.15, p.shape)))
        else:
            p.data.fill_(float("norm" in name and name.endswith("weight")) or 0.5)
    optimizer = optim.Adam(model.parameters(), lr=3e-3)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=8)
    for step in range(8):
        x, y = (images[:16], labels[:16]) if step % 2 == 0 else (images[16:], labels[16:])
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        print(f"{pool} {step}: loss {loss.item():.6f}, next rate {scheduler.get_last_lr()[0]:.2e}")
