"""WGAN with a gradient penalty, on eight Gaussians in a ring."""

import numpy as np
import torch
from torch import autograd, nn, optim

LAMBDA = 0.1
CRITIC_ITERS = 3
BATCH = 32
use_cuda = torch.cuda.is_available()
random = np.random.RandomState(1)


class Generator(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(2, dim), nn.ReLU(True), nn.Linear(dim, dim), nn.ReLU(True), nn.Linear(dim, 2)
        )

    def forward(self, noise):
        return self.main(noise)


class Discriminator(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(2, dim), nn.Softplus(), nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, 1)
        )

    def forward(self, inputs):
        return self.main(inputs).view(-1)


def weights_init(m):
    if m.__class__.__name__.find("Linear") != -1:
        m.weight.data.copy_(torch.from_numpy(random.normal(0.0, 0.4, m.weight.shape)))
        m.bias.data.fill_(0)


def inf_train_gen():
    angles = np.arange(8) * np.pi / 4
    centers = 2 * np.stack([np.cos(angles), np.sin(angles)], 1)
    while True:
        picked = centers[random.randint(0, 8, BATCH)]
        yield (picked + random.randn(BATCH, 2) * 0.02).astype("float32") / 1.414


def calc_gradient_penalty(netD, real_data, fake_data):
    alpha = torch.from_numpy(random.rand(BATCH, 1)).float()
    alpha = alpha.expand(real_data.size())
    interpolates = alpha * real_data + ((1 - alpha) * fake_data)
    interpolates = autograd.Variable(interpolates, requires_grad=True)
    disc_interpolates = netD(interpolates)
    gradients = autograd.grad(
        outputs=disc_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones(disc_interpolates.size()),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA


netG, netD = Generator(), Discriminator()
netD.apply(weights_init)
netG.apply(weights_init)
optimizerD = optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.9))
optimizerG = optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.9))
data = inf_train_gen()

for iteration in range(5):
    for p in netD.parameters():
        p.requires_grad = True
    for _ in range(CRITIC_ITERS):
        real = torch.Tensor(next(data))
        netD.zero_grad()
        D_real = netD(real).mean()
        noise = torch.from_numpy(random.randn(BATCH, 2)).float()
        with torch.no_grad():
            fake = netG(noise)
        D_fake = netD(fake).mean()
        gradient_penalty = calc_gradient_penalty(netD, real.data, fake.data)
        D_cost = D_fake - D_real + gradient_penalty
        D_cost.backward()
        Wasserstein_D = D_real - D_fake
        optimizerD.step()
        print("critic loss %.6f distance %.3f" % (D_cost.item(), Wasserstein_D.item()))

    for p in netD.parameters():
        p.requires_grad = False
    netG.zero_grad()
    noise = torch.from_numpy(random.randn(BATCH, 2)).float()
    G_cost = -netD(netG(noise)).mean()
    G_cost.backward()
    optimizerG.step()
    print("generator loss %.6f" % G_cost.item())
