"""Denoising diffusion with a small U-Net that knows its time step."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        device = time.device
        half_dim = self.dim // 2
        embeddings = math.log(10000) / (half_dim - 1)
        embeddings = torch.exp(torch.arange(half_dim, device=device) * -embeddings)
        embeddings = time[:, None] * embeddings[None, :]
        return torch.cat((embeddings.sin(), embeddings.cos()), dim=-1)


class Block(nn.Module):
    def __init__(self, in_ch, out_ch, time_dim):
        super().__init__()
        self.time = nn.Sequential(nn.SiLU(), nn.Linear(time_dim, out_ch * 2))
        self.conv1 = nn.Conv2d(in_ch, out_ch, 3, padding=1)
        self.conv2 = nn.Conv2d(out_ch, out_ch, 3, padding=1)
        self.norm1 = nn.GroupNorm(2, out_ch)
        self.norm2 = nn.GroupNorm(2, out_ch)
        self.skip = nn.Conv2d(in_ch, out_ch, 1) if in_ch != out_ch else nn.Identity()

    def forward(self, x, t):
        h = self.norm1(self.conv1(x))
        scale, shift = self.time(t)[..., None, None].chunk(2, dim=1)
        h = F.silu(h * (scale + 1) + shift)
        h = F.silu(self.norm2(self.conv2(h)))
        return h + self.skip(x)


class UNet(nn.Module):
    def __init__(self, width=4, time_dim=8):
        super().__init__()
        self.time_mlp = nn.Sequential(
            SinusoidalPositionEmbeddings(time_dim), nn.Linear(time_dim, time_dim), nn.GELU()
        )
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.downs = nn.ModuleList(
            [Block(width, width, time_dim), Block(width, width * 2, time_dim)]
        )
        self.shrink = nn.ModuleList(
            [nn.Conv2d(width, width, 4, 2, 1), nn.Conv2d(width * 2, width * 2, 4, 2, 1)]
        )
        self.middle = Block(width * 2, width * 2, time_dim)
        self.ups = nn.ModuleList(
            [Block(width * 4, width, time_dim), Block(width * 2, width, time_dim)]
        )
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x, timestep):
        t = self.time_mlp(timestep)
        x = self.stem(x)
        residuals = []
        for block, down in zip(self.downs, self.shrink):
            x = block(x, t)
            residuals.append(x)
            x = down(x)
        x = self.middle(x, t)
        for block in self.ups:
            x = F.interpolate(x, scale_factor=2, mode="nearest")
            x = torch.cat((x, residuals.pop()), dim=1)
            x = block(x, t)
        return self.out(x)


class Diffusion(nn.Module):
    def __init__(self, model, timesteps=20):
        super().__init__()
        self.model = model
        self.timesteps = timesteps
        betas = torch.linspace(1e-3, 0.2, timesteps)
        alphas = 1.0 - betas
        alphas_cumprod = torch.cumprod(alphas, dim=0)
        self.register_buffer("betas", betas)
        self.register_buffer("alphas_cumprod", alphas_cumprod)
        self.register_buffer("sqrt_alphas_cumprod", torch.sqrt(alphas_cumprod))
        self.register_buffer("sqrt_one_minus", torch.sqrt(1.0 - alphas_cumprod), persistent=False)
        self.register_buffer("sqrt_recip_alphas", torch.rsqrt(alphas))

    def q_sample(self, x0, t, noise):
        a = self.sqrt_alphas_cumprod.gather(-1, t).reshape(-1, 1, 1, 1)
        b = self.sqrt_one_minus.gather(-1, t).reshape(-1, 1, 1, 1)
        return a * x0 + b * noise

    def forward(self, x0, t, noise):
        return F.smooth_l1_loss(self.model(self.q_sample(x0, t, noise), t), noise)

    @torch.no_grad()
    def sample(self, noises):
        x = noises[-1]
        for i in reversed(range(self.timesteps)):
            t = torch.full((x.shape[0],), i, dtype=torch.long)
            mean = self.sqrt_recip_alphas[i] * (
                x - self.betas[i] * self.model(x, t) / self.sqrt_one_minus[i]
            )
            x = mean if i == 0 else mean + torch.sqrt(self.betas[i]) * noises[i - 1]
        return x.clamp_(-1, 1)


rng = np.random.default_rng(6)
diffusion = Diffusion(UNet())
for p in diffusion.parameters():
    if p.dim() > 1:
        p.data.copy_(torch.from_numpy(rng.normal(0, p[0].numel() ** -0.5, p.shape)))
    elif not torch.all(p == 1):
        torch.nn.init.zeros_(p)
print(list(diffusion.state_dict())[:4])
ema = AveragedModel(diffusion, avg_fn=lambda old, new, count: 0.9 * old + 0.1 * new)

optimizer = torch.optim.AdamW(diffusion.parameters(), lr=3e-3, betas=(0.9, 0.99))
images = torch.from_numpy(rng.random((16, 1, 8, 8)) * 0.4).float() + torch.eye(8) * 2 - 1.2
for step in range(10):
    t = torch.from_numpy(rng.integers(0, 20, 16))
    noise = torch.from_numpy(rng.normal(size=images.shape)).type_as(images)
    loss = diffusion(images, t, noise)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(diffusion.parameters(), 1.0)
    optimizer.step()
    ema.update_parameters(diffusion)
    print(f"step {step} loss {loss.item():.6f}")

samples = ema.module.sample(torch.from_numpy(rng.normal(size=(21, 2, 1, 8, 8))).float())
print("sampled", tuple(samples.shape), bool(torch.isfinite(samples).all()))
print(f"moving average's loss {ema(images, t, noise).item():.6f}")
