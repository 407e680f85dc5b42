"""A Wasserstein GAN: a generator learns to draw points that lie around the corners of a square.

PYTHONPATH=py .venv/bin/python examples/wasserstein_gan.py
python3 build.py run examples/wasserstein_gan.py --device webgpu

The critic's gradient is part of its loss (Gulrajani et al. 2017, "Improved Training of Wasserstein
GANs"), so that a step takes the derivative of a derivative.
"""

import tallow as tl
from tallow import nn, optim

tl.manual_seed(0)
BATCH, LATENT, CRITIC_STEPS = 64, 2, 2
CORNERS = tl.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])


def network(inputs, outputs, width=64):
    layers = [nn.Linear(inputs, width), nn.LeakyReLU(0.2), nn.Linear(width, width)]
    return nn.Sequential(*layers, nn.LeakyReLU(0.2), nn.Linear(width, outputs))


generator, critic = network(LATENT, 2), network(2, 1)
generator_optimizer = optim.Adam(generator.parameters(), lr=0.005, betas=(0.0, 0.9))
critic_optimizer = optim.Adam(critic.parameters(), lr=0.005, betas=(0.0, 0.9))


def real_points(count):
    return CORNERS[tl.randint(0, 4, (count,))] + 0.1 * tl.randn(count, 2)


def generated_points(count):
    return generator(tl.randn(count, LATENT))


def gradient_penalty(real, fake):
    """How far the critic's gradient is from length 1, at places between real and generated."""
    share = tl.rand(len(real), 1)
    between = share * real + (1 - share) * fake
    gradient = tl.grad(lambda x: critic(x).sum())(between)
    length = ((gradient**2).sum(dim=1) + 1e-12).sqrt()
    return ((length - 1) ** 2).mean()


@tl.jit
def critic_step():
    real, fake = real_points(BATCH), generated_points(BATCH).detach()
    distance = critic(real).mean() - critic(fake).mean()
    loss = gradient_penalty(real, fake) - distance
    loss.backward()
    critic_optimizer.step()
    critic_optimizer.zero_grad()
    return distance


@tl.jit
def generator_step():
    loss = -critic(generated_points(BATCH)).mean()
    loss.backward()
    generator_optimizer.step()
    generator_optimizer.zero_grad()
    critic_optimizer.zero_grad()  # the loss gave it gradients, too


@tl.jit
def look():
    """The mean distance of points to the nearest corner, and the share of points of each corner."""
    with tl.no_grad():
        points = generated_points(1000)
    apart = ((points.unsqueeze(1) - CORNERS) ** 2).sum(dim=2).sqrt()
    nearest = apart.argmin(dim=1).unsqueeze(1) == tl.arange(4)
    return apart.min(dim=1).values.mean(), nearest.float().mean(dim=0)


first = look()[0].item()
for number in range(121):
    for _ in range(CRITIC_STEPS):
        distance = critic_step()
    generator_step()
    if number % 30 == 0:
        away, shares = look()
        percent = ", ".join(f"{share:.0%}" for share in shares.tolist())
        print(
            f"step {number:3}  the critic's distance {distance.item():.2f},"
            f" to corners {away.item():.2f}, at each corner {percent}"
        )

print(f"distance to corners {first:.2f}, then {away.item():.2f}, computed on {away.device}")
assert away.item() < 0.5 * first
assert min(shares.tolist()) > 0.1
