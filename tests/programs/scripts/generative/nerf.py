"""A tiny radiance field: rays, positional encoding, volume rendering."""

from typing import Tuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def meshgrid_xy(tensor1: torch.Tensor, tensor2: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
    ii, jj = torch.meshgrid(tensor1, tensor2, indexing="ij")
    return ii.transpose(-1, -2), jj.transpose(-1, -2)


def cumprod_exclusive(tensor: torch.Tensor) -> torch.Tensor:
    cumprod = torch.cumprod(tensor, -1)
    cumprod = torch.roll(cumprod, 1, -1)
    cumprod[..., 0] = 1.0
    return cumprod


def get_ray_bundle(height: int, width: int, focal_length: float, tform_cam2world: torch.Tensor):
    ii, jj = meshgrid_xy(
        torch.arange(width).to(tform_cam2world), torch.arange(height).to(tform_cam2world)
    )
    directions = torch.stack(
        [
            (ii - width * 0.5) / focal_length,
            -(jj - height * 0.5) / focal_length,
            -torch.ones_like(ii),
        ],
        dim=-1,
    )
    ray_directions = torch.sum(directions[..., None, :] * tform_cam2world[:3, :3], dim=-1)
    ray_origins = tform_cam2world[:3, -1].expand(ray_directions.shape)
    return ray_origins, ray_directions


def query_points(origins, directions, near, far, num_samples, jitter=None):
    depth_values = torch.linspace(near, far, num_samples).to(origins)
    if jitter is not None:
        noise_shape = list(origins.shape[:-1]) + [num_samples]
        depth_values = depth_values + jitter.reshape(noise_shape) * (far - near) / num_samples
    points = origins[..., None, :] + directions[..., None, :] * depth_values[..., :, None]
    return points, depth_values


def positional_encoding(tensor, num_encoding_functions=4, include_input=True):
    encoding = [tensor] if include_input else []
    frequency_bands = 2.0 ** torch.linspace(0.0, num_encoding_functions - 1, num_encoding_functions)
    for freq in frequency_bands:
        for func in [torch.sin, torch.cos]:
            encoding.append(func(tensor * freq))
    return torch.cat(encoding, dim=-1)


def render_volume_density(radiance_field, ray_origins, depth_values):
    sigma_a = F.relu(radiance_field[..., 3])
    rgb = torch.sigmoid(radiance_field[..., :3])
    one_e_10 = torch.tensor([1e10], dtype=ray_origins.dtype, device=ray_origins.device)
    dists = torch.cat(
        (
            depth_values[..., 1:] - depth_values[..., :-1],
            one_e_10.expand(depth_values[..., :1].shape),
        ),
        dim=-1,
    )
    alpha = 1.0 - torch.exp(-sigma_a * dists)
    weights = alpha * cumprod_exclusive(1.0 - alpha + 1e-10)
    rgb_map = (weights[..., None] * rgb).sum(dim=-2)
    depth_map = (weights * depth_values).sum(dim=-1)
    acc_map = weights.sum(-1)
    return rgb_map, depth_map, acc_map


class VeryTinyNerfModel(torch.nn.Module):
    def __init__(self, filter_size=24, num_encoding_functions=3):
        super(VeryTinyNerfModel, self).__init__()
        self.layer1 = torch.nn.Linear(3 + 3 * 2 * num_encoding_functions, filter_size)
        self.layer2 = torch.nn.Linear(filter_size, filter_size)
        self.layer3 = torch.nn.Linear(filter_size, 4)
        self.relu = torch.nn.functional.relu

    def forward(self, x):
        x = self.relu(self.layer1(x))
        x = self.relu(self.layer2(x))
        return self.layer3(x)


def get_minibatches(inputs, chunksize=512):
    return [inputs[i : i + chunksize] for i in range(0, inputs.shape[0], chunksize)]


np.random.seed(9)
height, width, focal = 10, 10, 12.0
poses = []
for angle in (0.0, 0.3, 0.6):
    c, s = np.cos(angle), np.sin(angle)
    poses.append([[c, 0, s, 4 * s], [0, 1, 0, 0], [-s, 0, c, 4 * c], [0, 0, 0, 1]])
poses = torch.tensor(poses)
y, x = np.mgrid[0:height, 0:width]
disc = ((x - 5) ** 2 + (y - 5) ** 2 < 9)[..., None]
images = torch.from_numpy(
    np.stack([disc * np.array([0.9, 0.1 * i, 0.3]) for i in range(3)])
).float()

model = VeryTinyNerfModel()
for p in model.parameters():
    p.data.copy_(torch.from_numpy(np.random.uniform(-0.25, 0.25, p.shape)))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for i in range(9):
    target = images[i % 3]
    ray_origins, ray_directions = get_ray_bundle(height, width, focal, poses[i % 3].float())
    jitter = torch.from_numpy(np.random.rand(height, width, 6)).float()
    points, depths = query_points(ray_origins, ray_directions, 2.0, 6.0, 6, jitter)
    encoded = positional_encoding(points.reshape((-1, 3)), num_encoding_functions=3)
    predictions = torch.cat([model(batch) for batch in get_minibatches(encoded)], dim=0)
    field = torch.reshape(predictions, list(points.shape[:-1]) + [predictions.shape[-1]])
    rgb, depth, _ = render_volume_density(field, ray_origins, depths)
    loss = torch.nn.functional.mse_loss(rgb, target)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    psnr = -10.0 * torch.log10(loss)
    print("Iteration", i, f"loss: {loss.item():.6f}", "PSNR above zero:", psnr.item() > 0)
